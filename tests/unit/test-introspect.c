/* SPDX-License-Identifier: Apache-2.0 */
/* The introspection adapter: its receipts, its errors, and what a principal does not see. */
#include "kernel/schema/schema.h"
#include "tests/fixture/builtin.h"
#include "tests/fixture/world.h"

#include "kernel/base/encode.h"
#include "kernel/read/introspect.h"

/* A reader that may or may not see the manifest, and sees the keys of `cell` that begin with
 * `a`. */
struct eyes {
	struct wfs_introspector introspector; /* first: open_view casts back */
	struct world_fixture *fixture;
	struct wfs_introspect_filter filter;
	bool sees_manifest;
};

static int open_view(const struct wfs_introspector *introspector, uint64_t height,
	struct wfs_view *ret_view, struct wfs_error *error)
{
	const struct eyes *eyes = (const struct eyes *)introspector;

	return wfs_view_open(eyes->fixture->world, height, ret_view, error);
}

static bool sees_manifest(const struct wfs_introspect_filter *filter)
{
	return ((const struct eyes *)((const char *)filter - offsetof(struct eyes, filter)))
		->sees_manifest;
}

static bool sees_reducer(const struct wfs_introspect_filter *filter, struct wfs_bytes name)
{
	(void)filter;
	return wfs_bytes_equal(name, wfs_bytes_text("cell"));
}

static bool sees_cell(
	const struct wfs_introspect_filter *filter, struct wfs_bytes reducer, struct wfs_bytes key)
{
	return sees_reducer(filter, reducer) && key.size > 0 && *(const char *)key.data == 'a';
}

static struct eyes eyes_of(struct world_fixture *fixture)
{
	return (struct eyes){
		.introspector = {.open = open_view},
		.fixture = fixture,
		.filter = {sees_manifest, sees_reducer, sees_cell},
	};
}

/* The answer to one question. */
struct answer {
	int r;
	json_t *payload;
	struct wfs_error error;
};

static void answer_release(struct answer *answer)
{
	json_decref(answer->payload);
}
#define AUTO_ANSWER WFS_CLEANUP(answer_release)

static struct answer ask_with(const struct eyes *eyes, enum wfs_effect effect, const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_JSON json_t *params = NULL;
	struct answer answer = {.r = 0};

	assert_int_equal(wfs_json_parse(text, strlen(text), &params, NULL), 0);
	answer.r =
		wfs_introspect(&eyes->introspector, effect, params, &answer.payload, &answer.error);
	if (answer.r)
		print_message("%s\n", answer.error.message);
	return answer;
}

static struct answer ask(struct world_fixture *fixture, enum wfs_effect effect, const char *quoted)
{
	const struct eyes eyes = eyes_of(fixture);

	return ask_with(&eyes, effect, quoted);
}

/* Asks for a reader that sees only a part. */
static struct answer peep(struct world_fixture *fixture, enum wfs_effect effect, const char *quoted)
{
	struct eyes eyes = eyes_of(fixture);

	eyes.introspector.filter = &eyes.filter;
	return ask_with(&eyes, effect, quoted);
}

static int64_t height_in(const json_t *meta)
{
	assert_true(json_is_string(json_object_get(meta, "manifest_hash")));
	return json_integer_value(json_object_get(meta, "journal_height"));
}

static void assert_state_is(const struct answer *answer, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	const char *const text = json_string_value(json_object_get(answer->payload, "state_b64"));

	assert_int_equal(answer->r, 0);
	assert_non_null(text);
	assert_int_equal(wfs_base64_decode(text, strlen(text), &bytes, NULL), 0);
	assert_string_equal(wfs_buffer_text(&bytes), expected);
}

static void assert_failed(const struct answer *answer, enum wfs_error_code code)
{
	const struct wfs_error_info *const info = wfs_error_info(code);

	assert_int_equal(answer->r, -info->number);
	assert_int_equal(answer->error.code, code);
	assert_string_equal(
		json_string_value(json_object_get(answer->payload, "code")), info->name);
	assert_string_equal(json_string_value(json_object_get(answer->payload, "message")),
		answer->error.message);
}

TEST(only_four_effects_introspect)
{
	assert_true(wfs_introspects(WFS_EFFECT_INTROSPECT_LIST_CELLS));
	assert_false(wfs_introspects(WFS_EFFECT_INTROSPECT_STATUS));
	assert_false(wfs_introspects(WFS_EFFECT_COUNT));
}

IN_WORLD(the_manifest_comes_with_where_it_stood)
{
	AUTO_ANSWER struct answer answer =
		ask(fixture, WFS_EFFECT_INTROSPECT_MANIFEST, "{'consistency':' HEAD '}");

	assert_int_equal(answer.r, 0);
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(answer.payload, "manifest"), "name")),
		"fixture");
	assert_int_equal(height_in(answer.payload), height_of(fixture));
	assert_int_equal(height_in(json_object_get(answer.payload, "meta")), height_of(fixture));
}

IN_WORLD(the_head_of_the_journal_is_meta_twice)
{
	AUTO_ANSWER struct answer answer = ask(fixture, WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, "{}");

	assert_int_equal(answer.r, 0);
	assert_int_equal(height_in(answer.payload), height_of(fixture));
	assert_int_equal(height_in(json_object_get(answer.payload, "meta")), height_of(fixture));
}

IN_WORLD(a_state_is_given_at_head_exactly_and_at_least)
{
	char params[100];
	uint64_t height;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	height = height_of(fixture);
	tell(fixture, "{'key':'a','op':'set','n':6}");
	AUTO_ANSWER struct answer head = ask(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		"{'reducer':'cell','key_b64':'YQ=='}");
	snprintf(params, sizeof(params),
		"{'reducer':'cell','key_b64':'YQ==','consistency':'exact:%d'}", (int)height);
	AUTO_ANSWER struct answer exact = ask(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE, params);
	snprintf(params, sizeof(params),
		"{'reducer':'cell','key_b64':'YQ==','consistency':'at_least:%d'}", (int)height);
	AUTO_ANSWER struct answer at_least =
		ask(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE, params);

	assert_state_is(&head, "{\"n\":6}\n");
	assert_state_is(&exact, "{\"n\":5}\n");
	assert_state_is(&at_least, "{\"n\":6}\n");
	assert_int_equal(height_in(json_object_get(exact.payload, "meta")), height);
}

IN_WORLD(a_key_that_is_not_there_has_no_state)
{
	AUTO_ANSWER struct answer answer = ask(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		"{'reducer':'cell','key_b64':'YQ=='}");

	assert_int_equal(answer.r, 0);
	assert_null(json_object_get(answer.payload, "state_b64"));
	assert_int_equal(height_in(json_object_get(answer.payload, "meta")), height_of(fixture));
}

IN_WORLD(errors_say_what_is_wrong_and_where_the_world_stood)
{
	const uint64_t height = height_of(fixture);
	static const struct {
		enum wfs_effect effect;
		const char *params;
		enum wfs_error_code code;
	} cases[] = {
		{WFS_EFFECT_INTROSPECT_MANIFEST, "{'consistency':'newest'}",
			WFS_E_INVALID_CONSISTENCY},
		{WFS_EFFECT_INTROSPECT_MANIFEST, "{'consistency':'exact:0'}",
			WFS_E_HEIGHT_UNAVAILABLE},
		{WFS_EFFECT_INTROSPECT_MANIFEST, "{'consistency':'exact:99'}",
			WFS_E_HEIGHT_UNAVAILABLE},
		{WFS_EFFECT_INTROSPECT_MANIFEST, "{'consistency':'at_least:99'}",
			WFS_E_HEIGHT_UNAVAILABLE},
		{WFS_EFFECT_INTROSPECT_MANIFEST, "{'consistency':1}", WFS_E_INVALID_ARGUMENT},
		{WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, "{'consistency':'head'}",
			WFS_E_INVALID_ARGUMENT},
		{WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{}", WFS_E_MISSING_ARGUMENT},
		{WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{'reducer':'nope'}", WFS_E_REDUCER_MISSING},
		{WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{'reducer':'cell','key_b64':'YQ'}",
			WFS_E_INVALID_ARGUMENT},
		{WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'nope'}", WFS_E_REDUCER_MISSING},
		{WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'cell','limit':1001}",
			WFS_E_INVALID_ARGUMENT},
		{WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'cell','cursor':'x'}",
			WFS_E_INVALID_ARGUMENT},
		{WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'cell','cursor':'5'}",
			WFS_E_INVALID_ARGUMENT},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		AUTO_ANSWER struct answer answer = ask(fixture, cases[i].effect, cases[i].params);

		assert_failed(&answer, cases[i].code);
		assert_int_equal(height_in(json_object_get(answer.payload, "meta")), height);
	}
}

IN_WORLD(a_member_that_is_null_is_as_if_absent)
{
	AUTO_ANSWER struct answer answer = ask(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		"{'reducer':'cell','key_b64':null,'consistency':null}");

	assert_int_equal(answer.r, 0);
	assert_null(json_object_get(answer.payload, "state_b64"));
}

IN_WORLD(the_payload_of_an_error_fits_its_schema)
{
	AUTO_ANSWER struct answer answer =
		ask(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{'reducer':'nope'}");
	WFS_AUTO_JSON json_t *schemas = wfs_builtin_schemas();
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	const json_t *definition = NULL;
	size_t i;

	json_array_foreach(schemas, i, definition) {
		if (strcmp(json_string_value(json_object_get(definition, "name")),
			    "sys/IntrospectError@1") == 0)
			break;
	}
	assert_int_equal(
		wfs_schema_new(json_object_get(definition, "schema"), NULL, "", &problems, &schema),
		0);
	assert_int_equal(wfs_schema_check(schema, answer.payload, NULL), 0);
}

IN_WORLD(an_unknown_reducer_is_told_those_there_are)
{
	AUTO_ANSWER struct answer open =
		ask(fixture, WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'nope'}");
	AUTO_ANSWER struct answer half =
		peep(fixture, WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'nope'}");

	assert_non_null(strstr(open.error.message, "(there are: cell total deep sys.*)"));
	assert_non_null(strstr(half.error.message, "(there are: cell)"));
}

IN_WORLD(cells_come_in_pages)
{
	char params[100];

	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");
	AUTO_ANSWER struct answer first =
		ask(fixture, WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'cell','limit':1}");
	assert_int_equal(first.r, 0);
	snprintf(params, sizeof(params), "{'reducer':'cell','limit':1,'cursor':'%s'}",
		json_string_value(json_object_get(first.payload, "next_cursor")));
	AUTO_ANSWER struct answer second = ask(fixture, WFS_EFFECT_INTROSPECT_LIST_CELLS, params);

	const json_t *const cells = json_object_get(second.payload, "cells");
	assert_int_equal(json_array_size(cells), 1);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(cells, 0), "key_b64")), "Yg==");
	assert_null(json_object_get(second.payload, "next_cursor"));
}

IN_WORLD(what_is_out_of_sight_is_as_if_it_were_not_there)
{
	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");
	AUTO_ANSWER struct answer seen = peep(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		"{'reducer':'cell','key_b64':'YQ=='}");
	AUTO_ANSWER struct answer unseen = peep(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
		"{'reducer':'cell','key_b64':'Yg=='}");
	AUTO_ANSWER struct answer reducer =
		peep(fixture, WFS_EFFECT_INTROSPECT_REDUCER_STATE, "{'reducer':'total'}");
	AUTO_ANSWER struct answer list =
		peep(fixture, WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'cell'}");
	AUTO_ANSWER struct answer none = peep(fixture, WFS_EFFECT_INTROSPECT_MANIFEST, "{}");

	assert_state_is(&seen, "{\"n\":0}\n");
	assert_int_equal(unseen.r, 0);
	assert_null(json_object_get(unseen.payload, "state_b64"));
	assert_failed(&reducer, WFS_E_REDUCER_MISSING);
	assert_int_equal(json_array_size(json_object_get(list.payload, "cells")), 1);
	assert_failed(&none, WFS_E_NOT_FOUND);
}

IN_WORLD(a_page_ends_when_many_cells_were_out_of_sight)
{
	char text[100];

	for (int i = 0; i * 1000 < WFS_INTROSPECT_SCAN_MAX; i++) {
		snprintf(text, sizeof(text), "{'key':'b%d','op':'emit','n':1000}", i);
		tell(fixture, text);
	}
	tell(fixture, "{'key':'a','op':'set'}");
	AUTO_ANSWER struct answer first =
		peep(fixture, WFS_EFFECT_INTROSPECT_LIST_CELLS, "{'reducer':'cell'}");
	const char *const cursor = json_string_value(json_object_get(first.payload, "next_cursor"));
	assert_non_null(cursor);
	snprintf(text, sizeof(text), "{'reducer':'cell','cursor':'%s'}", cursor);
	AUTO_ANSWER struct answer second = peep(fixture, WFS_EFFECT_INTROSPECT_LIST_CELLS, text);

	assert_int_equal(json_array_size(json_object_get(first.payload, "cells")), 0);
	assert_int_equal(json_array_size(json_object_get(second.payload, "cells")), 1);
	assert_null(json_object_get(second.payload, "next_cursor"));
}

IN_WORLD(a_manifest_in_sight_is_given)
{
	struct eyes eyes = eyes_of(fixture);

	eyes.introspector.filter = &eyes.filter;
	eyes.sees_manifest = true;
	AUTO_ANSWER struct answer answer = ask_with(&eyes, WFS_EFFECT_INTROSPECT_MANIFEST, "{}");

	assert_int_equal(answer.r, 0);
}
