/* SPDX-License-Identifier: Apache-2.0 */
/* The table of effects: definitions, typed params, receipts. */
#include "tests/fixture/json.h"

#include "kernel/base/problems.h"
#include "kernel/manifest/builtin.h"
#include "kernel/manifest/effect.h"
#include "kernel/schema/schema.h"

#define HASH "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define META "{'journal_height':2,'manifest_hash':'" HASH "'}"

static json_t *parse(const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	json_t *value;

	assert_int_equal(wfs_json_parse(text, strlen(text), &value, NULL), 0);
	return value;
}

static void assert_definition(enum wfs_effect effect, const char *expected)
{
	WFS_AUTO_JSON json_t *definition = wfs_effect_definition(effect);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FREE char *wanted = json_text(expected);

	wfs_json_write(definition, &text);
	assert_string_equal(wfs_buffer_text(&text), wanted);
}

/* Source: tests/data/seeds/4-introspection-surface. */
TEST(definitions_of_introspection_have_the_form_of_the_seed)
{
	assert_definition(WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		"{'$kind':'defeffect','cap_type':'query','name':'introspect.reducer_state',"
		"'origin_scope':'both','params':{'record':{'consistency':{'maybe':"
		"{'$comment':'head | exact:<h> | at_least:<h>; when absent: head','text':{}}},"
		"'key_b64':{'maybe':{'text':{}}},'reducer':{'text':{}}}},"
		"'receipt':{'record':{'meta':{'record':{'journal_height':{'nat':{}},"
		"'manifest_hash':{'hash':{}},'snapshot_hash':{'maybe':{'hash':{}}}}},"
		"'state_b64':{'maybe':{'text':{}}}}}}");
	assert_definition(WFS_EFFECT_WORLD_SHUTDOWN,
		"{'$kind':'defeffect','cap_type':'admin','name':'world.shutdown',"
		"'origin_scope':'plan-only','params':{'record':{}},'receipt':{'record':{}}}");
}

TEST(every_effect_has_a_definition_and_a_schema_that_compiles)
{
	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;
		WFS_AUTO_JSON json_t *definition = wfs_effect_definition(effect);
		WFS_AUTO_JSON json_t *form = wfs_effect_params_schema(effect);
		WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
		WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;

		print_message("%s\n", wfs_effect_kind(effect));
		assert_non_null(definition);
		assert_int_equal(wfs_effect_find(wfs_effect_kind(effect)), effect);
		assert_int_equal(wfs_schema_new(form, NULL, "", &problems, &schema), 0);
		assert_true(json_is_false(json_object_get(form, "additionalProperties")));
	}
	assert_int_equal(wfs_effect_find("introspect.nothing"), WFS_EFFECT_COUNT);
}

TEST(reducers_may_ask_for_what_the_kernel_answers)
{
	assert_true(wfs_effect_of_reducers(WFS_EFFECT_INTROSPECT_LIST_CELLS));
	assert_false(wfs_effect_of_reducers(WFS_EFFECT_INTROSPECT_JOURNAL));
	assert_false(wfs_effect_of_reducers(WFS_EFFECT_WORLD_GRANT));
}

TEST(members_are_listed_for_verbs)
{
	WFS_AUTO_BUFFER struct wfs_buffer usage = {0};

	wfs_form_usage(wfs_effect_params(WFS_EFFECT_INTROSPECT_LIST_CELLS), &usage);
	assert_string_equal(wfs_buffer_text(&usage), "reducer consistency? cursor? limit?");
	wfs_buffer_reset(&usage);
	wfs_form_usage(wfs_effect_params(WFS_EFFECT_INTROSPECT_JOURNAL_HEAD), &usage);
	assert_string_equal(wfs_buffer_text(&usage), "");
}

TEST(params_are_handed_out_typed)
{
	WFS_AUTO_JSON json_t *cells = parse("{'reducer':'r','limit':5}");
	WFS_AUTO_JSON json_t *mount = parse("{'dir':'/m','ctl':'/c','nest_ctl':true}");
	WFS_AUTO_JSON json_t *event = parse("{'schema':'s','value':null}");
	struct wfs_params params;

	assert_int_equal(
		wfs_effect_decode(WFS_EFFECT_INTROSPECT_LIST_CELLS, cells, &params, NULL), 0);
	assert_int_equal(params.effect, WFS_EFFECT_INTROSPECT_LIST_CELLS);
	assert_string_equal(params.introspect_list_cells.reducer, "r");
	assert_int_equal(params.introspect_list_cells.limit, 5);
	assert_null(params.introspect_list_cells.consistency);
	assert_null(params.introspect_list_cells.cursor);

	assert_int_equal(wfs_effect_decode(WFS_EFFECT_WORLD_MOUNT, mount, &params, NULL), 0);
	assert_true(params.world_mount.nest_ctl);
	assert_false(params.world_mount.allow_other);

	assert_int_equal(wfs_effect_decode(WFS_EFFECT_EVENT_EMIT, event, &params, NULL), 0);
	assert_true(json_is_null(params.event_emit.value));
	assert_null(params.event_emit.key);
}

TEST(optional_members_that_are_null_are_dropped)
{
	WFS_AUTO_JSON json_t *params = parse(
		"{'reducer':null,'limit':null,'cursor':null,'consistency':'head','other':null}");
	WFS_AUTO_JSON json_t *left = parse("{'reducer':null,'consistency':'head','other':null}");
	WFS_AUTO_JSON json_t *write = parse("{'artifact_id':'x','content':null,'price':null}");
	WFS_AUTO_JSON json_t *kept = parse("{'artifact_id':'x','content':null}");

	wfs_effect_drop_nulls(WFS_EFFECT_INTROSPECT_LIST_CELLS, params);
	wfs_effect_drop_nulls(WFS_EFFECT_ACTION_WRITE_ARTIFACT, write);

	assert_true(json_equal(params, left));
	assert_true(json_equal(write, kept)); /* content may be any value */
}

/* Every `ref` in @document names one of @schemas. */
static void assert_refs_are_known(const json_t *document, const json_t *schemas)
{
	const char *const ref = json_string_value(json_object_get(document, "ref"));
	json_t *const iterated = (json_t *)document;
	bool known = !ref;
	json_t *item;
	size_t i;

	json_array_foreach(schemas, i, item)
		known = known || strcmp(json_string_value(json_object_get(item, "name")), ref) == 0;
	if (!known)
		fail_msg("'%s' is in no schemas", ref);
	json_array_foreach(document, i, item)
		assert_refs_are_known(item, schemas);
	for (void *at = json_object_iter(iterated); at; at = json_object_iter_next(iterated, at))
		assert_refs_are_known(json_object_iter_value(at), schemas);
}

TEST(what_definitions_refer_to_is_a_built_in_schema)
{
	WFS_AUTO_JSON json_t *schemas = wfs_builtin_schemas();
	WFS_AUTO_JSON json_t *effects = wfs_builtin_effects();

	assert_int_equal(json_array_size(schemas), 6);
	assert_refs_are_known(effects, schemas);
}

TEST(an_absent_number_is_below_zero)
{
	WFS_AUTO_JSON json_t *empty = json_object();
	struct wfs_params params;

	assert_int_equal(wfs_effect_decode(WFS_EFFECT_WORLD_GC, empty, &params, NULL), 0);

	assert_int_equal(params.world_gc.since, -1);
}

static void assert_params_refused(
	enum wfs_effect effect, const char *quoted, enum wfs_error_code code, const char *says)
{
	WFS_AUTO_JSON json_t *value = parse(quoted);
	struct wfs_params params = {.effect = WFS_EFFECT_COUNT};
	struct wfs_error error = {0};

	print_message("%s\n", quoted);
	assert_int_equal(wfs_effect_decode(effect, value, &params, &error), -EINVAL);
	assert_int_equal(error.code, code);
	if (!strstr(error.message, says))
		fail_msg("'%s' does not say '%s'", error.message, says);
	assert_int_equal(params.effect, WFS_EFFECT_COUNT);
}

TEST(params_that_are_unknown_missing_or_mistyped_are_named)
{
	assert_params_refused(WFS_EFFECT_INTROSPECT_MANIFEST, "{'consistency':'head','x':1}",
		WFS_E_INVALID_ARGUMENT,
		"unknown member 'x' (introspect.manifest takes: consistency?)");
	assert_params_refused(WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, "{'x':1}", WFS_E_INVALID_ARGUMENT,
		"'x' (introspect.journal_head takes: none)");
	assert_params_refused(WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{}", WFS_E_MISSING_ARGUMENT,
		"'reducer' is missing");
	assert_params_refused(WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{'reducer':1}",
		WFS_E_INVALID_ARGUMENT, "'reducer': expected a string, got an integer");
	assert_params_refused(WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'r','limit':-1}",
		WFS_E_INVALID_ARGUMENT, "'limit'");
	assert_params_refused(WFS_EFFECT_WORLD_MOUNT, "{'dir':'/m','ctl':'/c','nest_ctl':1}",
		WFS_E_INVALID_ARGUMENT, "'nest_ctl': expected true or false");
	assert_params_refused(WFS_EFFECT_WORLD_APPLY, "{'manifest':1}", WFS_E_INVALID_ARGUMENT,
		"'manifest': expected an object");
	assert_params_refused(
		WFS_EFFECT_INTROSPECT_MANIFEST, "[]", WFS_E_INVALID_ARGUMENT, "expected an object");
}

static int check_receipt(enum wfs_effect effect, const char *quoted, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *value = parse(quoted);

	print_message("%s\n", quoted);
	return wfs_effect_check_receipt(effect, value, error);
}

TEST(receipts_that_are_as_defined_pass)
{
	assert_int_equal(
		check_receipt(WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{'meta':" META "}", NULL), 0);
	assert_int_equal(check_receipt(WFS_EFFECT_INTROSPECT_LIST_CELLS,
				 "{'cells':[{'key_b64':'','last_active_height':1,"
				 "'last_active_ns':1,'size':3,'state_hash':'" HASH "'}],"
				 "'next_cursor':'7','meta':" META "}",
				 NULL),
		0);
	assert_int_equal(check_receipt(WFS_EFFECT_WORLD_SHUTDOWN, "{}", NULL), 0);
}

TEST(receipts_that_are_not_as_defined_are_our_error)
{
	struct wfs_error error = {0};

	assert_int_equal(
		check_receipt(WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{'state_b64':'YQ=='}", &error),
		-EIO);
	assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
	assert_non_null(strstr(error.message, "introspect.reducer_state"));
	assert_non_null(strstr(error.message, "/meta"));
	assert_int_equal(check_receipt(WFS_EFFECT_WORLD_SHUTDOWN, "{'x':1}", NULL), -EIO);
	assert_int_equal(check_receipt(WFS_EFFECT_BLOB_PUT, "{'hash':'2cf2'}", NULL), -EIO);
}
