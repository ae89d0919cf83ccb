/* SPDX-License-Identifier: Apache-2.0 */
/* Forms as definitions have them, their JSON Schema, and what they refuse. */
#include "tests/fixture/json.h"
#include "tests/fixture/schema.h"

#include "kernel/manifest/shape.h"

static const struct wfs_field inner_members[] = {
	{"hash", &wfs_form_hash},
	{"flag", &wfs_form_bool, true},
	{NULL},
};
static const struct wfs_form inner = {.kind = WFS_FORM_RECORD, .fields = inner_members};
static const struct wfs_form list = {.kind = WFS_FORM_LIST, .of = &inner};
static const struct wfs_form object = {.kind = WFS_FORM_OBJECT, .ref = "test/Object@1"};
static const struct wfs_form commented = {.kind = WFS_FORM_TEXT, .comment = "a word"};
static const struct wfs_field outer_members[] = {
	{"count", &wfs_form_nat},
	{"list", &list, true},
	{"object", &object, true},
	{"word", &commented, true},
	{NULL},
};
static const struct wfs_form outer = {.kind = WFS_FORM_RECORD, .fields = outer_members};

#define HASH "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static json_t *parse(const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	json_t *value;

	assert_int_equal(wfs_json_parse(text, strlen(text), &value, NULL), 0);
	return value;
}

static void assert_document(json_t *document, const char *expected)
{
	WFS_AUTO_JSON json_t *owned = document;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FREE char *wanted = json_text(expected);

	assert_non_null(owned);
	wfs_json_write(owned, &text);
	assert_string_equal(wfs_buffer_text(&text), wanted);
}

TEST(a_shape_is_written_as_definitions_have_it)
{
	assert_document(wfs_shape_document(&outer),
		"{'record':{'count':{'nat':{}},"
		"'list':{'maybe':{'list':{'record':{'flag':{'maybe':{'bool':{}}},"
		"'hash':{'hash':{}}}}}},"
		"'object':{'maybe':{'ref':'test/Object@1'}},"
		"'word':{'maybe':{'$comment':'a word','text':{}}}}}");
}

TEST(a_shape_is_a_strict_json_schema)
{
	assert_document(wfs_form_schema(&outer, false),
		"{'additionalProperties':false,'properties':{'count':{'minimum':0,'type':'integer'}"
		","
		"'list':{'items':{'additionalProperties':false,'properties':{'flag':{'type':"
		"'boolean'},'hash':{'pattern':'^sha256:[0-9a-f]{64}$','type':'string'}},"
		"'required':['hash'],'type':'object'},'type':'array'},"
		"'object':{'type':'object'},'word':{'description':'a word','type':'string'}},"
		"'required':['count'],'type':'object'}");
}

/* Checks that the shape and its JSON Schema accept and refuse equally. */
static void assert_check(const char *quoted, const char *says)
{
	WFS_AUTO_JSON json_t *value = parse(quoted);
	WFS_AUTO_JSON json_t *definition = wfs_form_schema(&outer, false);
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	struct wfs_error error = {0};

	print_message("%s\n", quoted);
	assert_int_equal(wfs_schema_new(definition, NULL, "", &problems, &schema), 0);
	assert_int_equal(wfs_form_check(&outer, value, &error), says ? -EINVAL : 0);
	assert_int_equal(wfs_schema_check(schema, value, NULL), says ? -EINVAL : 0);
	if (!says)
		return;
	assert_int_equal(error.code, WFS_E_SCHEMA_VIOLATION);
	if (!strstr(error.message, says))
		fail_msg("'%s' does not say '%s'", error.message, says);
}

TEST(what_has_the_shape_is_taken)
{
	assert_check("{'count':0}", NULL);
	assert_check("{'count':1,'list':[{'hash':'" HASH "','flag':true}],'object':{'x':1},"
		     "'word':''}",
		NULL);
}

TEST(what_has_another_shape_is_refused_with_its_place)
{
	assert_check("[]", "/: expected an object, got array");
	assert_check("{}", "/count: expected an integer from 0, got nothing");
	assert_check("{'count':-1}", "/count: expected an integer from 0, got integer -1");
	assert_check("{'count':1.5}", "/count");
	assert_check("{'count':null}", "/count");
	assert_check("{'count':1,'more':1}", "/: expected only the members of its definition");
	assert_check("{'count':1,'word':null}", "/word: expected text, got null");
	assert_check("{'count':1,'object':[]}", "/object: expected an object");
	assert_check("{'count':1,'list':{}}", "/list: expected an array");
	assert_check(
		"{'count':1,'list':[{'hash':'" HASH "'},{}]}", "/list/1/hash: expected a hash");
	assert_check("{'count':1,'list':[{'hash':'2cf2'}]}", "/list/0/hash");
	assert_check("{'count':1,'list':[{'hash':'" HASH "','flag':1}]}",
		"/list/0/flag: expected true or false");
}
