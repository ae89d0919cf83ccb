/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders in arguments and prompts. */
#include "tests/fixture/json.h"

#include "agents/plan/placeholder.h"

/* --- which steps are named --- */

static void assert_refs(const char *value, const char *expected)
{
	WFS_AUTO_JSON json_t *json = json_of(value);
	WFS_AUTO_JSON json_t *indices =
		json_of("{'a':0,'b':1,'a.b':2,'a.b.c':3,'weird id/ä':4,'0':5}");
	json_t *const refs = json_object();

	assert_int_equal(wfs_placeholder_refs(json, indices, refs), 0);
	assert_json_is(refs, expected);
}

TEST(steps_are_named_anywhere_in_a_value)
{
	assert_refs("'${a}'", "{'a':0}");
	assert_refs("{'x':['see ${b.path} and ${a}',{'y':'${0.1}'}],'z':1}", "{'a':0,'b':1,'0':5}");
	assert_refs("['${weird id/ä.x}','${a}${a}']", "{'a':0,'weird id/ä':4}");
	assert_refs("[null,true,1,'a','$a','{a}']", "{}");
}

TEST(the_longest_known_id_counts)
{
	assert_refs("'${a.b}'", "{'a.b':2}");
	assert_refs("'${a.b.c.d}'", "{'a.b.c':3}");
	assert_refs("'${a.b.x.c}'", "{'a.b':2}");
	assert_refs("'${a.bc}'", "{'a':0}");
	assert_refs("'${ab.c}'", "{}");
}

TEST(what_is_no_placeholder_names_nobody)
{
	assert_refs("'${}'", "{}");
	assert_refs("'${a'", "{}");
	assert_refs("'$${a}'", "{}");
	assert_refs("'${.a}'", "{}");
	assert_refs("{'${a}':1}", "{}");
}

TEST(one_in_what_is_not_closed_counts)
{
	assert_refs("'${x ${a}'", "{'a':0}");
	assert_refs("'${x{${b}'", "{'b':1}");
	assert_refs("'$$${a}'", "{}");
}

/* --- filling --- */

struct world {
	json_t *values;
	size_t asked;
};

static int resolve(void *context, const char *step_id, json_t **ret_value, struct wfs_error *error)
{
	struct world *const world = context;
	json_t *const value = json_object_get(world->values, step_id);

	if (!value)
		return -ENOENT;
	world->asked++;
	if (json_is_false(value))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "step '%s' gave nothing", step_id);
	*ret_value = json_incref(value);
	return 0;
}

static struct world new_world(void)
{
	return (struct world){
		.values =
			json_of("{'a':{'list':[10,{'x':'deep'}],'text':'t','nothing':null,'':'e'},"
				"'a.b':'dotted','n':5,'s':'plain ${a.text}','bad':false,"
				"'o':{'z':1,'y':[true]}}"),
	};
}

static int fill(const json_t *value, json_t **ret_filled, struct wfs_error *error)
{
	struct world world = new_world();
	const int r = wfs_placeholder_fill(value, resolve, &world, ret_filled, error);

	json_decref(world.values);
	return r;
}

static void assert_filled(const char *value, const char *expected)
{
	WFS_AUTO_JSON json_t *json = json_of(value);
	WFS_AUTO_JSON json_t *before = json_deep_copy(json);
	struct wfs_error error = {0};
	json_t *filled = NULL;

	if (fill(json, &filled, &error) != 0)
		fail_msg("%s: %s", value, error.message);
	assert_json_is(filled, expected);
	assert_true(json_equal(json, before));
}

static void assert_not_filled(const char *value, const char *message)
{
	WFS_AUTO_JSON json_t *json = json_of(value);
	WFS_AUTO_JSON json_t *filled = NULL;
	struct wfs_error error = {0};

	assert_int_equal(fill(json, &filled, &error), -EINVAL);
	assert_string_equal(error.message, message);
	assert_null(filled);
}

TEST(one_alone_becomes_the_value)
{
	assert_filled("'${n}'", "5");
	assert_filled("'${o}'", "{'y':[true],'z':1}");
	assert_filled("{'x':['${a.list}']}", "{'x':[[10,{'x':'deep'}]]}");
	assert_filled("'${a.nothing}'", "null");
}

TEST(one_in_text_becomes_its_text)
{
	assert_filled("' ${n}'", "' 5'");
	assert_filled("'${n}${n}'", "'55'");
	assert_filled("'${a.text}!'", "'t!'");
	assert_filled("'o=${o}, ${a.nothing}'", "'o={\\'y\\':[true],\\'z\\':1}, null'");
}

TEST(paths_go_through_members_and_elements)
{
	assert_filled("'${a.list.0}'", "10");
	assert_filled("'${a.list.1.x}'", "'deep'");
	assert_filled("'${a.b}'", "'dotted'");
	assert_filled("'${a.}'", "'e'");
}

TEST(what_was_filled_in_is_not_filled_again)
{
	assert_filled("'${s}'", "'plain ${a.text}'");
	assert_filled("'-${s}'", "'-plain ${a.text}'");
}

TEST(two_dollars_are_an_escape)
{
	assert_filled("'$${n}'", "'${n}'");
	assert_filled("'a$${n} ${n}'", "'a${n} 5'");
	assert_filled("'$${'", "'${'");
	assert_filled("'$$$${n}'", "'$$${n}'");
}

TEST(other_text_stays)
{
	assert_filled("'$5 {n} ${n $n } $'", "'$5 {n} ${n $n } $'");
	assert_filled("{'${n}':[1,2.5,true,null,'']}", "{'${n}':[1,2.5,true,null,'']}");
	assert_filled("'${${n}'", "'${5'");
}

TEST(one_that_does_not_resolve_is_named)
{
	assert_not_filled(
		"['${x.y}']", "the placeholder '${x.y}' does not resolve: it names no step");
	assert_not_filled("'${}'", "the placeholder '${}' does not resolve: it names no step");
	assert_not_filled("'see ${a.list.2}'",
		"the placeholder '${a.list.2}' does not resolve: what the step gave has no such "
		"member");
	assert_not_filled("'${a.list.x}'",
		"the placeholder '${a.list.x}' does not resolve: what the step gave has no such "
		"member");
	assert_not_filled("'${a.list.}'",
		"the placeholder '${a.list.}' does not resolve: what the step gave has no such "
		"member");
	assert_not_filled("'${n.x}'",
		"the placeholder '${n.x}' does not resolve: what the step gave has no such member");
}

TEST(what_the_world_says_is_passed_on)
{
	assert_not_filled("{'x':'${bad.y}'}", "step 'bad' gave nothing");
}

TEST(each_step_is_asked_for_once)
{
	WFS_AUTO_JSON json_t *value = json_of("['${n}','${n} ${a.text}',{'x':'${a}'}]");
	WFS_AUTO_JSON json_t *filled = NULL;
	struct world world = new_world();
	struct wfs_error error = {0};

	assert_int_equal(wfs_placeholder_fill(value, resolve, &world, &filled, &error), 0);

	assert_int_equal(world.asked, 2);
	json_decref(world.values);
}

TEST(an_id_that_is_too_long_is_nobodys)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *filled = NULL;
	struct wfs_error error = {0};

	wfs_buffer_append_text(&text, "${n.");
	for (int i = 0; i < 300; i++)
		wfs_buffer_append_text(&text, i % 2 ? "." : "0");
	wfs_buffer_append_text(&text, "}");
	WFS_AUTO_JSON json_t *value = json_string(wfs_buffer_text(&text));

	assert_int_equal(fill(value, &filled, &error), -EINVAL);
	assert_non_null(strstr(error.message, "has no such member"));
	assert_int_equal(json_string_set(value, "${n\xc3\xa4}"), 0);
	assert_int_equal(fill(value, &filled, &error), -EINVAL);
	assert_non_null(strstr(error.message, "names no step"));
}

/* --- bounds --- */

/* @count: the number of elements that have a value of @size bytes */
static int fill_many(size_t count, size_t size, const char *text, struct wfs_error *error)
{
	WFS_AUTO_FREE char *large = calloc(size + 1, 1);
	WFS_AUTO_JSON json_t *value = json_array();
	WFS_AUTO_JSON json_t *filled = NULL;
	struct world world = {0};

	memset(large, 'x', size);
	world.values = json_pack("{s:s}", "l", large);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(json_array_append_new(value, json_string(text)), 0);
	const int r = wfs_placeholder_fill(value, resolve, &world, &filled, error);
	json_decref(world.values);
	return r;
}

TEST(what_is_filled_has_a_size_that_it_may_not_exceed)
{
	struct wfs_error error = {0};

	assert_int_equal(fill_many(1, WFS_PLACEHOLDER_SIZE_MAX - 4, "${l}", &error), 0);
	assert_int_equal(fill_many(1, WFS_PLACEHOLDER_SIZE_MAX - 3, "${l}", &error), -EFBIG);
	assert_string_equal(error.message,
		"with values in the place of its placeholders it has more than 4194304 bytes");
	/* Written as JSON, this would be 100 GiB. */
	assert_int_equal(fill_many(100000, 1 << 20, "${l}", &error), -EFBIG);
	assert_int_equal(fill_many(100000, 1 << 20, "-${l}", &error), -EFBIG);
	assert_int_equal(fill_many(1, 1 << 20, "${l}${l}${l}${l}", &error), -EFBIG);
}

static json_t *nested(json_t *innermost, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		innermost = json_pack("[o]", innermost);
	return innermost;
}

static int fill_nested(size_t around, size_t within, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *value = nested(json_string("${l}"), around);
	WFS_AUTO_JSON json_t *filled = NULL;
	struct world world = {.values = json_pack("{s:o}", "l", nested(json_null(), within))};
	const int r = wfs_placeholder_fill(value, resolve, &world, &filled, error);

	json_decref(world.values);
	return r;
}

TEST(what_is_filled_has_a_depth_that_it_may_not_exceed)
{
	struct wfs_error error = {0};

	assert_int_equal(fill_nested(40, 60, &error), 0);
	assert_int_equal(fill_nested(100, 0, &error), 0);
	assert_int_equal(fill_nested(41, 60, &error), -EINVAL);
	assert_string_equal(error.message, "with the value of '${l}' it has more than 100 levels");
	assert_int_equal(fill_nested(101, 0, &error), -EINVAL);
	assert_string_equal(error.message, "expected at most 100 levels");
}

TEST(a_megabyte_of_openings_is_text)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *filled = NULL;
	struct wfs_error error = {0};

	while (text.size < 1 << 20)
		wfs_buffer_append_text(&text, "${");
	WFS_AUTO_JSON json_t *value = json_string(wfs_buffer_text(&text));

	assert_int_equal(fill(value, &filled, &error), 0);
	assert_true(json_equal(filled, value));
}
