/* SPDX-License-Identifier: Apache-2.0 */
/* Forms: what is read, what is refused, and their JSON Schema. */
#include "tests/fixture/json.h"

#include "kernel/base/form.h"
#include "kernel/base/json.h"

#define HASH "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

struct order {
	const char *word;
	const char *hash;
	int64_t count;
	int64_t level;
	bool fast;
	const json_t *texts;
	const json_t *object;
	const json_t *value;
	bool last;
};

static int check_word(const char *name, const json_t *value, struct wfs_error *error)
{
	return strcmp(json_string_value(value), "bad") == 0
		? wfs_error_set(error, WFS_E_CONFLICT, "'%s' is bad", name)
		: 0;
}

static int check_all(const char *name, const json_t *value, struct wfs_error *error)
{
	return json_object_get(value, "last") && json_object_get(value, "fast")
		? wfs_error_set(error, WFS_E_CONFLICT, "%s: fast or last, not both", name)
		: 0;
}

static json_t *schema_of_word(bool strict)
{
	return json_pack("{s:[s], s:s}", "enum", "good", "type", strict ? "strict" : "loose");
}

#define AT(member) .offset = offsetof(struct order, member)
static const struct wfs_field fields[] = {
	{"word", WFS_FORM(.kind = WFS_FORM_TEXT, .then = check_word, .schema = schema_of_word), 0,
		"what", AT(word)},
	{"hash", &wfs_form_hash, WFS_OPTIONAL, AT(hash)},
	{"count", &wfs_form_nat, WFS_OPTIONAL, AT(count)},
	{"level", WFS_FORM_FROM_TO(1, 3), WFS_NULLABLE, AT(level)},
	{"fast", &wfs_form_bool, WFS_OPTIONAL, AT(fast)},
	{"texts", WFS_FORM(.kind = WFS_FORM_LIST, .of = &wfs_form_text), WFS_OPTIONAL, AT(texts)},
	{"object", WFS_FORM(.kind = WFS_FORM_OBJECT), WFS_OPTIONAL, AT(object)},
	{"value", &wfs_form_value, WFS_OPTIONAL, AT(value)},
	{"last", &wfs_form_bool, WFS_OPTIONAL, AT(last)},
	{NULL},
};
static const struct wfs_form form = {.kind = WFS_FORM_RECORD, .fields = fields, .then = check_all};

#define USAGE "word hash? count? level? fast? texts? object? value? last?"

static json_t *parse(const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	json_t *value;

	assert_int_equal(wfs_json_parse(text, strlen(text), &value, NULL), 0);
	return value;
}

static void assert_refused(const char *quoted, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_JSON json_t *object = parse(quoted);
	struct wfs_error error = {0};
	struct order order;

	print_message("%s\n", quoted);
	assert_true(wfs_form_read(&form, "an order", object, &order, &error) < 0);
	assert_int_equal(error.code, code);
	assert_string_equal(error.message, message);
	error = (struct wfs_error){0};
	assert_true(wfs_form_read(&form, "an order", object, NULL, &error) < 0);
	assert_string_equal(error.message, message);
}

static void assert_json(json_t *document, const char *expected)
{
	WFS_AUTO_JSON json_t *owned = document;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FREE char *wanted = json_text(expected);

	assert_non_null(owned);
	wfs_json_write(owned, &text);
	assert_string_equal(wfs_buffer_text(&text), wanted);
}

TEST(members_are_read_into_a_struct)
{
	WFS_AUTO_JSON json_t *object =
		parse("{'word':'w','hash':'" HASH "','count':0,'level':3,'fast':true,"
		      "'texts':['a'],'object':{},'value':null}");
	struct order order;

	assert_int_equal(wfs_form_read(&form, "an order", object, &order, NULL), 0);
	assert_string_equal(order.word, "w");
	assert_string_equal(order.hash, HASH);
	assert_int_equal(order.count, 0);
	assert_int_equal(order.level, 3);
	assert_true(order.fast);
	assert_ptr_equal(order.texts, json_object_get(object, "texts"));
	assert_ptr_equal(order.object, json_object_get(object, "object"));
	assert_true(json_is_null(order.value));
	assert_false(order.last);
}

TEST(absent_members_have_a_value)
{
	WFS_AUTO_JSON json_t *object = parse("{'word':'w','level':null}");
	struct order order;

	memset(&order, 0xff, sizeof(order));
	assert_int_equal(wfs_form_read(&form, "an order", object, &order, NULL), 0);
	assert_null(order.hash);
	assert_int_equal(order.count, -1);
	assert_int_equal(order.level, -1);
	assert_false(order.fast);
	assert_null(order.texts);
	assert_null(order.value);
	assert_false(order.last);
}

TEST(unknown_and_missing_members_are_refused_first)
{
	assert_refused("[]", WFS_E_INVALID_ARGUMENT, "expected an object, got an array");
	assert_refused("{'count':'x','other':1}", WFS_E_INVALID_ARGUMENT,
		"unknown member 'other' (an order takes: " USAGE ")");
	assert_refused("{'count':'x'}", WFS_E_MISSING_ARGUMENT,
		"'word' is missing (an order takes: " USAGE ")");
}

TEST(each_kind_refuses_other_values)
{
	assert_refused(
		"{'word':1}", WFS_E_INVALID_ARGUMENT, "'word': expected a string, got an integer");
	assert_refused("{'word':'w\\u0000'}", WFS_E_INVALID_ARGUMENT,
		"'word': expected a string without NUL characters");
	assert_refused("{'word':'w','count':-1}", WFS_E_INVALID_ARGUMENT,
		"'count': expected an integer from 0 to 9223372036854775807, got -1");
	assert_refused("{'word':'w','count':null}", WFS_E_INVALID_ARGUMENT,
		"'count': expected an integer, got null");
	assert_refused(
		"{'word':'w','fast':1}", WFS_E_INVALID_ARGUMENT, "'fast': expected true or false");
	assert_refused(
		"{'word':'w','texts':{}}", WFS_E_INVALID_ARGUMENT, "'texts': expected an array");
	assert_refused("{'word':'w','texts':['a',1]}", WFS_E_INVALID_ARGUMENT,
		"'texts': expected an array of texts");
	assert_refused(
		"{'word':'w','object':[]}", WFS_E_INVALID_ARGUMENT, "'object': expected an object");
}

TEST(a_hash_has_its_own_form)
{
	WFS_AUTO_JSON json_t *object = parse("{'word':'w','hash':'sha256:12'}");
	struct wfs_error error = {0};

	assert_int_equal(wfs_form_read(&form, "an order", object, NULL, &error), -EINVAL);
	assert_non_null(strstr(error.message, "sha256:"));
}

TEST(bounds_belong_to_the_values)
{
	assert_refused("{'word':'w','level':0}", WFS_E_INVALID_ARGUMENT,
		"'level': expected an integer from 1 to 3, got 0");
	assert_refused("{'word':'w','level':4}", WFS_E_INVALID_ARGUMENT,
		"'level': expected an integer from 1 to 3, got 4");
}

TEST(a_form_may_check_more)
{
	assert_refused("{'word':'bad','level':4}", WFS_E_CONFLICT, "'word' is bad");
	assert_refused("{'word':'w','fast':true,'last':true}", WFS_E_CONFLICT,
		"an order: fast or last, not both");
}

TEST(members_can_be_listed_apart_from_the_fields)
{
	static const struct wfs_field only[] = {{"b", &wfs_form_bool}, {NULL}};
	const struct wfs_form apart = {
		.kind = WFS_FORM_RECORD, .fields = only, .members = "a b c?"};
	WFS_AUTO_JSON json_t *object = parse("{'a':1,'b':true}");
	struct wfs_error error = {0};

	assert_int_equal(wfs_form_read(&apart, "it", object, NULL, NULL), 0);
	(void)json_object_del(object, "a");
	assert_int_equal(wfs_form_read(&apart, "it", object, NULL, &error), -EINVAL);
	assert_string_equal(error.message, "'a' is missing (it takes: a b c?)");
}

static void assert_written(const char *text, const char *expected)
{
	WFS_AUTO_JSON json_t *object = parse(text);
	struct order order;

	assert_int_equal(wfs_form_read(&form, "it", object, &order, NULL), 0);
	assert_json(wfs_form_write(&form, &order), expected);
}

TEST(what_is_read_can_be_written)
{
	const char *const all = "{'count':0,'fast':true,'hash':'" HASH "','level':3,'object':{},"
				"'texts':['x'],'value':null,'word':''}";

	assert_written(all, all);
}

TEST(what_is_absent_is_left_out_or_null)
{
	assert_written("{'last':false,'word':'good'}", "{'level':null,'word':'good'}");
}

TEST(a_struct_is_appended_as_canonical_text)
{
	static const struct wfs_field sorted_fields[] = {{"fast", &wfs_form_bool, 0, .offset = 0},
		{"last", &wfs_form_bool, 0, .offset = 1}, {NULL}};
	static const struct wfs_form sorted = {.kind = WFS_FORM_RECORD, .fields = sorted_fields};
	static const struct wfs_form empty = {.kind = WFS_FORM_RECORD, .fields = sorted_fields + 2};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const bool values[] = {true, false};

	wfs_form_append(&sorted, values, &text);
	wfs_form_append(&empty, values, &text);

	assert_string_equal(wfs_buffer_text(&text), "{\"fast\":true,\"last\":false}{}");
}

TEST(what_is_required_is_written_or_nothing_is)
{
	const struct order order = {.word = NULL};

	assert_null(wfs_form_write(&form, &order));
}

TEST(optional_nulls_are_dropped)
{
	WFS_AUTO_JSON json_t *object = parse("{'word':null,'count':null,'value':null,'x':null}");

	wfs_form_drop_nulls(&form, object);
	assert_json(json_incref(object), "{'value':null,'word':null,'x':null}");
}

TEST(a_nullable_member_may_be_null_whatever_its_kind)
{
	static const struct wfs_field any[] = {{"any", &wfs_form_value, WFS_NULLABLE}, {NULL}};
	static const struct wfs_form nullable = {.kind = WFS_FORM_RECORD, .fields = any};
	WFS_AUTO_JSON json_t *object = parse("{'any':null}");

	assert_int_equal(wfs_form_check(&nullable, object, NULL), 0);
	wfs_form_drop_nulls(&nullable, object);
	assert_json(json_incref(object), "{}");
}

static const struct wfs_form word_of_two = {.kind = WFS_FORM_TEXT, .words = "one fifty-one"};

TEST(a_text_may_be_one_of_some_words)
{
	assert_true(wfs_form_has_word(&word_of_two, "one"));
	assert_true(wfs_form_has_word(&word_of_two, "fifty-one"));
	assert_false(wfs_form_has_word(&word_of_two, ""));
	assert_false(wfs_form_has_word(&word_of_two, "fifty"));
	assert_false(wfs_form_has_word(&word_of_two, "one fifty-one"));
	assert_true(wfs_form_has_word(&wfs_form_text, "any"));
}

TEST(another_word_is_refused)
{
	static const struct wfs_field only[] = {{"w", &word_of_two}, {NULL}};
	const struct wfs_form words = {.kind = WFS_FORM_RECORD, .fields = only};
	WFS_AUTO_JSON json_t *object = parse("{'w':'two'}");
	struct wfs_error error = {0};

	assert_int_equal(wfs_form_read(&words, "it", object, NULL, &error), -EINVAL);
	assert_string_equal(error.message, "'w': expected one of: one fifty-one, got 'two'");
	assert_int_equal(wfs_form_check(&words, object, &error), -EINVAL);
	assert_string_equal(
		error.message, "/w: expected one of: one fifty-one, got string \"two\"");
}

TEST(all_members_of_an_object_may_have_one_form)
{
	const struct wfs_form counts = {.kind = WFS_FORM_OBJECT, .of = &wfs_form_nat};
	WFS_AUTO_JSON json_t *good = parse("{'a':0,'b':1}");
	WFS_AUTO_JSON json_t *bad = parse("{'a':0,'b':-1}");
	struct wfs_error error = {0};

	assert_int_equal(wfs_form_check(&counts, good, NULL), 0);
	assert_int_equal(wfs_form_check(&counts, bad, &error), -EINVAL);
	assert_string_equal(error.message, "/b: expected an integer from 0, got integer -1");
}

TEST(a_check_of_the_whole_asks_the_form_too)
{
	WFS_AUTO_JSON json_t *object = parse("{'word':'w','fast':true,'last':true}");
	struct wfs_error error = {0};

	assert_int_equal(wfs_form_check(&form, object, &error), -ESTALE);
	assert_string_equal(error.message, "/: fast or last, not both");
}

TEST(usage_names_the_fields)
{
	WFS_AUTO_BUFFER struct wfs_buffer usage = {0};

	wfs_form_usage(&form, &usage);
	assert_string_equal(wfs_buffer_text(&usage), USAGE);
}

static const struct wfs_field schema_fields[] = {
	{"level", WFS_FORM_FROM_TO(1, 3), WFS_NULLABLE, "how much"},
	{"list", WFS_FORM(.kind = WFS_FORM_LIST, .of = &wfs_form_bool)},
	{"word", WFS_FORM(.kind = WFS_FORM_TEXT, .schema = schema_of_word), WFS_OPTIONAL},
	{NULL},
};
static const struct wfs_form schema_form = {.kind = WFS_FORM_RECORD, .fields = schema_fields};

TEST(a_form_is_a_json_schema)
{
	assert_json(wfs_form_schema(&schema_form, false),
		"{'additionalProperties':false,'properties':{"
		"'level':{'description':'how much','maximum':3,'minimum':1,'type':'integer'},"
		"'list':{'items':{'type':'boolean'},'type':'array'},"
		"'word':{'enum':['good'],'type':'string'}},"
		"'required':['list'],'type':'object'}");
}

TEST(a_strict_schema_requires_all_members)
{
	assert_json(wfs_form_schema(&schema_form, true),
		"{'additionalProperties':false,'properties':{"
		"'level':{'description':'how much','maximum':3,'minimum':1,"
		"'type':['integer','null']},"
		"'list':{'items':{'type':'boolean'},'type':'array'},"
		"'word':{'enum':['good'],'type':['string','null']}},"
		"'required':['level','list','word'],'type':'object'}");
}
