/* SPDX-License-Identifier: Apache-2.0 */
/* Files of plans: what they hold, in parts and as a whole, and how much is read for that. */
#include "tests/fixture/plan-tree.h"

#include "kernel/base/clock.h"
#include "kernel/base/encode.h"

/* How many contents were read. */
static size_t read_count;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __wrap_wfs_view_content(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error);
int __real_wfs_view_content(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error);
/* NOLINTEND(readability-identifier-naming) */

int __wrap_wfs_view_content(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_content *ret_content, struct wfs_error *error)
{
	read_count++;
	return __real_wfs_view_content(view, version, range, ret_content, error);
}

/* Reads the state of a plan. @json: document of its cell; taken. Caller ends it. */
static struct wfs_document_plan plan_of(json_t *json)
{
	struct wfs_document_plan plan;

	assert_int_equal(wfs_document_read_plan(json, &plan, NULL), 0);
	return plan;
}

static struct wfs_document_plan state_of(const struct planned *planned)
{
	return plan_of(planned_document(planned, WFS_BUILTIN_PLAN, ""));
}

/* A part of the document; caller frees. @ret_size_bytes: size of the whole document */
static struct wfs_buffer part_of(
	const struct planned *planned, struct wfs_range range, uint64_t *ret_size_bytes)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(planned->fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = state_of(planned);
	struct wfs_buffer part = {0};

	read_count = 0;
	assert_int_equal(wfs_plan_document(&view, &plan, range, &part, ret_size_bytes), 0);
	return part;
}

/* The whole document; caller frees. */
static char *whole_of(const struct planned *planned)
{
	uint64_t size_bytes;
	WFS_AUTO_BUFFER struct wfs_buffer whole = part_of(planned, WFS_RANGE_ALL, &size_bytes);

	assert_int_equal(whole.size, size_bytes);
	return strndup(whole.data, whole.size);
}

static json_t *parsed_of(const struct planned *planned)
{
	WFS_AUTO_FREE char *text = whole_of(planned);
	json_t *document = NULL;

	assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	return document;
}

static json_int_t number_at(const json_t *object, const char *outer, const char *inner)
{
	return json_integer_value(json_object_get(json_object_get(object, outer), inner));
}

/* --- the document --- */

WITH_ACTORS(the_document_is_canonical_and_has_all_members)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);
	WFS_AUTO_BUFFER struct wfs_buffer canonical = {0};
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = state_of(&planned);
	char created[WFS_UTC_SIZE];
	char updated[WFS_UTC_SIZE];

	WFS_AUTO_FREE char *text = whole_of(&planned);
	WFS_AUTO_JSON json_t *document = parsed_of(&planned);

	wfs_json_write_document(document, &canonical);
	assert_string_equal(text, wfs_buffer_text(&canonical));
	wfs_clock_utc(plan.created_ns, created);
	wfs_clock_utc(plan.updated_ns, updated);
	wfs_buffer_printf(&expected,
		"{\"created_utc\":\"%s\",\"cursors\":{\"batches\":0,\"next_ready\":0,"
		"\"session_id\":\"s\"},\"goal\":\"the goal\",\"plan\":{\"created_utc\":\"%s\","
		"\"goal\":\"the goal\",\"plan_id\":\"" PLANNED_ID
		"\",\"status\":\"running\",\"steps\":[",
		created, created);
	assert_memory_equal(text, expected.data, expected.size);
	wfs_buffer_reset(&expected);
	wfs_buffer_printf(&expected,
		"]},\"plan_id\":\"" PLANNED_ID "\",\"schema_version\":1,\"status\":\"running\","
		"\"tool_results_ref\":null,\"updated_utc\":\"%s\"}\n",
		updated);
	assert_string_equal(text + strlen(text) - expected.size, wfs_buffer_text(&expected));
}

WITH_ACTORS(steps_are_those_of_the_cells)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	WFS_AUTO_JSON json_t *document = parsed_of(&planned);

	const json_t *const steps = json_object_get(json_object_get(document, "plan"), "steps");
	assert_int_equal(json_array_size(steps), 3);
	for (size_t i = 0; i < 3; i++) {
		const char suffix[] = {'.', (char)('0' + i), '\0'};
		WFS_AUTO_JSON json_t *step =
			planned_document(&planned, WFS_BUILTIN_PLAN_STEP, suffix);

		assert_true(json_equal(json_array_get(steps, i), step));
	}
}

WITH_ACTORS(results_are_counted_in_the_document)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	planned_gives(&planned, 0, "one");
	WFS_AUTO_JSON json_t *document = parsed_of(&planned);

	WFS_AUTO_JSON json_t *result = planned_document(&planned, WFS_BUILTIN_PLAN_RESULT, ".0");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	wfs_json_write_document(result, &text);
	assert_int_equal(number_at(document, "tool_results_ref", "count"), 1);
	assert_int_equal(number_at(document, "tool_results_ref", "bytes"), text.size);
}

/* The batch has two steps. After the second has begun, the next step to begin is that of the
 * next batch, which does not exist yet. */
WITH_ACTORS(the_cursor_is_the_next_step_to_be_begun)
{
	struct planned planned = planned_many(fixture, PLANNED_ID, 5);
	WFS_AUTO_JSON json_t *begun = parsed_of(&planned);

	assert_int_equal(number_at(begun, "cursors", "next_ready"), 0);
	planned_gives(&planned, 0, "one");
	planned_gives(&planned, 0, "two");
	WFS_AUTO_JSON json_t *later = parsed_of(&planned);
	assert_int_equal(number_at(later, "cursors", "next_ready"), 2);
	assert_int_equal(number_at(later, "cursors", "batches"), 1);

	/* The document of a batch whose third step has not begun. */
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_JSON json_t *batch = json_of("{'next':1,'steps':[2,4],'tools':true}");
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = state_of(&planned);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	uint64_t size_bytes;
	plan.batch = batch;
	assert_int_equal(wfs_plan_document(&view, &plan, WFS_RANGE_ALL, &text, &size_bytes), 0);
	assert_non_null(strstr(wfs_buffer_text(&text), "\"next_ready\":4,"));
}

WITH_ACTORS(the_end_is_told)
{
	const struct planned planned = planned_chat(fixture, PLANNED_ID, "a plan");

	planned_define(&planned, "g",
		json_of("[" PLANNED_STEP("n", "note", "t", "null", "", "", "0") "]"), "a draft");
	planned_answer(&planned, 0, "error", "{'code':'unavailable','message':'nobody there'}");
	WFS_AUTO_JSON json_t *failed = parsed_of(&planned);
	const json_t *plan = json_object_get(failed, "plan");
	assert_string_equal(wfs_json_text(plan, "draft"), "a draft");
	assert_string_equal(wfs_json_text(json_object_get(plan, "error"), "code"), "LLM_FAILED");
	assert_null(json_object_get(plan, "final"));
	assert_string_equal(wfs_json_text(failed, "status"), "running");
}

WITH_ACTORS(what_a_model_has_answered_is_told)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	planned_gives(&planned, 0, "one");
	planned_gives(&planned, 0, "two");
	planned_answer(&planned, 0, "ok", "{'text':'all is done','usage':null}");

	WFS_AUTO_JSON json_t *document = parsed_of(&planned);
	const json_t *const plan = json_object_get(document, "plan");
	assert_string_equal(wfs_json_text(plan, "final"), "all is done");
	assert_string_equal(wfs_json_text(plan, "status"), "done");
	assert_string_equal(wfs_json_text(document, "status"), "done");
}

#define RAW "{\"goal\": \"x\",\n \"steps\": 7, \"ä\\\\\": \"\t\"} and more"

static struct planned begin_failed(struct world_fixture *fixture)
{
	const struct planned planned = planned_chat(fixture, PLANNED_ID, RAW);

	planned_answer(&planned, -1, "error",
		"{'code':'PLAN_NORMALIZE_FAILED','goal':'x','message':'steps','plan_id':"
		"'" PLANNED_ID "','total':0}");
	return planned;
}

WITH_ACTORS(what_is_no_plan_is_kept_as_it_was_written)
{
	const struct planned planned = begin_failed(fixture);

	WFS_AUTO_JSON json_t *document = parsed_of(&planned);

	const json_t *const plan = json_object_get(document, "plan");
	assert_string_equal(wfs_json_text(document, "status"), "failed_normalize");
	assert_string_equal(wfs_json_text(plan, "raw"), RAW);
	assert_true(json_is_array(json_object_get(plan, "steps")));
	assert_int_equal(json_array_size(json_object_get(plan, "steps")), 0);
	assert_non_null(json_object_get(plan, "error"));
}

/* --- parts --- */

static void assert_part(
	const struct planned *planned, const char *whole, uint64_t offset, size_t size)
{
	const uint64_t whole_size = strlen(whole);
	const uint64_t left = offset < whole_size ? whole_size - offset : 0;
	uint64_t size_bytes;
	WFS_AUTO_BUFFER struct wfs_buffer part =
		part_of(planned, (struct wfs_range){offset, size}, &size_bytes);

	assert_int_equal(size_bytes, whole_size);
	assert_int_equal(part.size, size < left ? size : left);
	if (part.size > 0)
		assert_memory_equal(part.data, whole + offset, part.size);
}

static void assert_parts(const struct planned *planned, uint64_t step)
{
	static const size_t sizes[] = {0, 1, 2, 33, 400, SIZE_MAX};
	WFS_AUTO_FREE char *whole = whole_of(planned);

	for (uint64_t offset = 0; offset <= strlen(whole) + 2; offset += step)
		for (size_t i = 0; i < WFS_ARRAY_COUNT(sizes); i++)
			assert_part(planned, whole, offset, sizes[i]);
}

WITH_ACTORS(every_part_is_that_of_the_whole)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	assert_parts(&planned, 1);
}

WITH_ACTORS(every_part_of_what_is_no_plan_is_that_of_the_whole)
{
	const struct planned planned = begin_failed(fixture);

	assert_parts(&planned, 1);
}

WITH_ACTORS(parts_of_several_blocks_are_those_of_the_whole)
{
	const struct planned planned =
		planned_many(fixture, PLANNED_ID, (size_t)3 * WFS_PLAN_BLOCK + 1);

	assert_parts(&planned, 619);
}

WITH_ACTORS(parts_of_full_blocks_are_those_of_the_whole)
{
	const struct planned planned =
		planned_many(fixture, PLANNED_ID, (size_t)2 * WFS_PLAN_BLOCK);

	assert_parts(&planned, 619);
}

WITH_ACTORS(a_part_far_behind_the_end_is_empty)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);
	uint64_t size_bytes;

	WFS_AUTO_BUFFER struct wfs_buffer part =
		part_of(&planned, (struct wfs_range){UINT64_MAX - 1, SIZE_MAX}, &size_bytes);

	assert_int_equal(part.size, 0);
}

enum { LARGE = 10000 };

WITH_ACTORS(a_large_plan_is_read_in_parts)
{
	const struct planned planned = planned_many(fixture, PLANNED_ID, LARGE);
	const size_t blocks = (LARGE + WFS_PLAN_BLOCK - 1) / WFS_PLAN_BLOCK;
	const size_t part_size = 128 << 10;
	WFS_AUTO_BUFFER struct wfs_buffer joined = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	uint64_t size_bytes;

	part_of(&planned, (struct wfs_range){0}, &size_bytes);
	assert_int_equal(read_count, 0); /* the size alone reads no content */
	do {
		const size_t before = joined.size;
		WFS_AUTO_BUFFER struct wfs_buffer part =
			part_of(&planned, (struct wfs_range){before, part_size}, &size_bytes);

		wfs_buffer_append(&joined, part.data, part.size);
		/* A step has more than 150 bytes here. */
		assert_in_range(read_count, 1, blocks + part_size / 150);
		assert_int_equal(part.size,
			size_bytes - before < part_size ? size_bytes - before : part_size);
	} while (joined.size < size_bytes);

	assert_int_equal(wfs_json_parse(joined.data, joined.size, &document, NULL), 0);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(document, "plan"), "steps")),
		LARGE);
}

/* --- cells that do not fit --- */

/* Reads the document of a plan whose cell states a wrong number for its steps. */
static int read_wrong(const struct planned *planned, const char *member, int64_t more)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(planned->fixture, WFS_HEIGHT_HEAD);
	json_t *const json = planned_document(planned, WFS_BUILTIN_PLAN, "");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	uint64_t size_bytes;

	json_object_set_new(json, member,
		json_integer(json_integer_value(json_object_get(json, member)) + more));
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = plan_of(json);
	return wfs_plan_document(&view, &plan, WFS_RANGE_ALL, &text, &size_bytes);
}

WITH_ACTORS(a_plan_whose_sums_are_wrong_is_not_read)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	assert_int_equal(read_wrong(&planned, "steps_bytes", 0), 0);
	assert_int_equal(read_wrong(&planned, "steps_bytes", 1), -EIO);
	assert_int_equal(read_wrong(&planned, "steps_bytes", -1), -EIO);
	assert_int_equal(read_wrong(&planned, "steps_bytes", -1000000), -EIO);
	assert_int_equal(read_wrong(&planned, "defined", -1), -EIO);
	assert_int_equal(read_wrong(&planned, "defined", 1), -EIO);
	assert_int_equal(read_wrong(&planned, "defined", 1000), -EIO);
	assert_int_equal(read_wrong(&planned, "defined", -3), -EIO);
}

WITH_ACTORS(a_cell_with_other_members_than_a_plan_has_no_files)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_JSON json_t *plan = json_object();
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_int_equal(wfs_plan_write_status(&view, plan, &text), -EIO);
	assert_int_equal(wfs_plan_write_graph(&view, plan, &text), -EIO);
	assert_int_equal(text.size, 0);
}

/* --- status --- */

static void assert_status(const struct planned *planned, const char *expected)
{
	WFS_AUTO_JSON json_t *plan = planned_document(planned, WFS_BUILTIN_PLAN, "");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_int_equal(wfs_plan_write_status(NULL, plan, &text), 0);
	assert_string_equal(wfs_buffer_text(&text), expected);
}

WITH_ACTORS(the_status_tells_how_far_it_is)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	assert_status(&planned,
		"running\nrunning\ndone 0 of 3, failed 0, skipped 0\nbatches 0, tool calls 2\n");
	planned_gives(&planned, 0, "one");
	assert_status(&planned,
		"running\nrunning\ndone 1 of 3, failed 0, skipped 0\nbatches 0, tool calls 2\n");
	planned_breaks(&planned, 0);
	assert_status(&planned,
		"running\nanswering\ndone 1 of 3, failed 1, skipped 1\nbatches 1, tool calls 2\n");
	planned_answer(&planned, 0, "ok", "{'text':'half of it','usage':null}");
	assert_status(
		&planned, "partial\ndone 1 of 3, failed 1, skipped 1\nbatches 1, tool calls 2\n");
}

WITH_ACTORS(the_status_tells_of_an_error)
{
	const struct planned planned = begin_failed(fixture);

	assert_status(&planned,
		"failed_normalize\ndone 0 of 0, failed 0, skipped 0\nbatches 0, tool calls 0\n"
		"error: PLAN_NORMALIZE_FAILED: steps\n");
}

/* --- the graph --- */

static void assert_graph(const struct planned *planned, const char *expected)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(planned->fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_JSON json_t *plan = planned_document(planned, WFS_BUILTIN_PLAN, "");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	assert_int_equal(wfs_plan_write_graph(&view, plan, &text), 0);
	assert_string_equal(wfs_buffer_text(&text), expected);
}

WITH_ACTORS(the_graph_has_steps_and_edges)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	planned_gives(&planned, 0, "one");

	assert_graph(&planned,
		"digraph plan {\n"
		"\ts0 [label=\"a\\nfirst\", shape=box, color=green];\n"
		"\ts1 [label=\"b/c\\nsecond\", shape=box, color=orange];\n"
		"\ts2 [label=\"n\\nlast\", shape=note, color=gray];\n"
		"\ts0 -> s2;\n"
		"\ts1 -> s2;\n"
		"}\n");
}

#define FORTY "ääääääääääääääääääääääääääääääääääääääää"

WITH_ACTORS(labels_are_escaped_and_cut)
{
	json_t *const steps =
		json_of("[" PLANNED_STEP("x", "llm", FORTY "!", "null", "", "", "0") "]");
	json_t *const step = json_object_get(json_array_get(steps, 0), "step");
	const struct planned planned = planned_chat(fixture, PLANNED_ID, "a plan");

	json_object_set_new(step, "id", json_string("a\"\\N\n\x7f&#27;"));
	planned_define(&planned, "g", steps, NULL);

	assert_graph(&planned,
		"digraph plan {\n"
		"\ts0 [label=\"a\\\"\\\\N  &amp;#27;\\n" FORTY
		"…\", shape=ellipse, color=orange];\n"
		"}\n");
}

WITH_ACTORS(a_large_plan_is_not_drawn)
{
	const struct planned planned = planned_many(fixture, PLANNED_ID, WFS_PLAN_GRAPH_MAX + 1);
	char expected[128];

	read_count = 0;
	snprintf(expected, sizeof(expected),
		"// not drawn: the plan has %d steps, at most %d are\ndigraph plan {\n}\n",
		WFS_PLAN_GRAPH_MAX + 1, WFS_PLAN_GRAPH_MAX);

	assert_graph(&planned, expected);
}

/* --- names --- */

/* Checks the name of the file of a step with this id. */
static void assert_name(struct world_fixture *fixture, const char *id, const char *expected)
{
	json_t *const steps =
		json_of("[" PLANNED_STEP("x", "tool", "t", PLANNED_TOOL, "", "", "0") "]");
	const struct planned planned = planned_chat(fixture, PLANNED_ID, "a plan");
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_version version;
	int64_t index;

	json_object_set_new(
		json_object_get(json_array_get(steps, 0), "step"), "id", json_string(id));
	planned_define(&planned, "g", steps, NULL);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_plan_step_at(&view, wfs_bytes_text(PLANNED_ID), 0, &version), 0);
	assert_int_equal(wfs_plan_step_name(&view, &version, 12345, &name), 0);
	assert_string_equal(wfs_buffer_text(&name), expected);
	assert_true(name.size <= WFS_NAME_MAX);
	assert_true(wfs_plan_step_number(wfs_buffer_text(&name), &index));
	assert_int_equal(index, 12345);
}

WITH_ACTORS(a_name_is_number_and_id)
{
	assert_name(fixture, "fetch", "12345-fetch.json");
}

WITH_ACTORS(a_name_is_encoded)
{
	assert_name(fixture, "a/b%\n-é", "12345-a%2Fb%25%0A-é.json");
}

#define SLASHES10 "//////////"
#define ENCODED10 "%2F%2F%2F%2F%2F%2F%2F%2F%2F%2F"

/* The id may take 244 bytes of the name: 81 slashes, and no part of the next one. */
WITH_ACTORS(a_long_name_is_cut_between_characters)
{
	assert_name(fixture,
		SLASHES10 SLASHES10 SLASHES10 SLASHES10 SLASHES10 SLASHES10 SLASHES10 SLASHES10
			SLASHES10,
		"12345-" ENCODED10 ENCODED10 ENCODED10 ENCODED10 ENCODED10 ENCODED10 ENCODED10
			ENCODED10 "%2F.json");
}

#define SLASHES70 SLASHES10 SLASHES10 SLASHES10 SLASHES10 SLASHES10 SLASHES10 SLASHES10
#define ENCODED70 ENCODED10 ENCODED10 ENCODED10 ENCODED10 ENCODED10 ENCODED10 ENCODED10

/* 34 bytes are left after the slashes. */
WITH_ACTORS(a_long_name_is_cut_before_a_character_of_two_bytes)
{
	assert_name(fixture, SLASHES70 "xääääääääääääääääääääääää",
		"12345-" ENCODED70 "xääääääääääääääää.json");
}

TEST(only_one_spelling_of_a_number_is_one)
{
	static const char *const names[] = {"", "-", "-a.json", "01-a.json", "a-b.json",
		"+1-a.json", "100000-a.json", "1", "1.json", "18446744073709551616-a.json"};
	int64_t index = -1;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		print_message("'%s'\n", names[i]);
		assert_false(wfs_plan_step_number(names[i], &index));
	}
	assert_int_equal(index, -1);
	assert_true(wfs_plan_step_number("0-a.json", &index));
	assert_int_equal(index, 0);
}

TEST(keys_of_steps_are_told_from_others)
{
	static const char *const keys[] = {"", "a", "a.", "a.x", "a.100000", ".", "1"};
	struct wfs_bytes plan_id;
	int64_t index;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(keys); i++) {
		print_message("'%s'\n", keys[i]);
		assert_false(wfs_plan_step_key(wfs_bytes_text(keys[i]), &plan_id, &index));
	}
	assert_true(wfs_plan_step_key(wfs_bytes_text("a.b.17"), &plan_id, &index));
	assert_true(wfs_bytes_equal(plan_id, wfs_bytes_text("a.b")));
	assert_int_equal(index, 17);
}

/* --- files of steps --- */

/* The file of step 0; caller frees. */
static char *step_file(const struct planned *planned)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(planned->fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer part = {0};
	struct wfs_version version;
	uint64_t size_bytes;

	assert_int_equal(wfs_plan_step_at(&view, wfs_bytes_text(planned->id), 0, &version), 0);
	read_count = 0;
	assert_int_equal(
		wfs_plan_step_file(&view, &version, (struct wfs_range){0}, NULL, &size_bytes), 0);
	assert_int_equal(read_count, 0); /* its size comes first */
	assert_int_equal(wfs_plan_step_file(&view, &version, WFS_RANGE_ALL, &text, &size_bytes), 0);
	assert_int_equal(text.size, size_bytes);
	assert_int_equal(
		wfs_plan_step_file(&view, &version, (struct wfs_range){5, 7}, &part, &size_bytes),
		0);
	assert_int_equal(part.size, 7);
	assert_memory_equal(part.data, text.data + 5, 7);
	return strndup(text.data, text.size);
}

WITH_ACTORS(a_step_without_a_result_says_so)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	WFS_AUTO_FREE char *text = step_file(&planned);

	assert_string_equal(text,
		"{\"attempts\":1,\"depends_on\":[],\"id\":\"a\",\"max_attempts\":1,\"prompt\":null,"
		"\"result\":null,\"result_ref\":null,\"status\":\"running\",\"title\":\"first\","
		"\"tool\":{\"args\":{\"path\":\"x\"},\"method\":\"\",\"name\":\"look\"},"
		"\"type\":\"tool\"}\n");
}

WITH_ACTORS(a_step_has_its_result)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);
	WFS_AUTO_JSON json_t *document = NULL;

	planned_gives(&planned, 0, "one");
	WFS_AUTO_FREE char *text = step_file(&planned);

	WFS_AUTO_JSON json_t *result = planned_document(&planned, WFS_BUILTIN_PLAN_RESULT, ".0");
	assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	assert_true(json_equal(json_object_get(document, "result"), result));
	assert_string_equal(wfs_json_text(document, "status"), "done");
}

/* A plan whose result has so many bytes, newline included. */
static struct planned begin_with_result(struct world_fixture *fixture, size_t size)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);
	const size_t around = strlen(
		"{\"_step_id\":\"a\",\"asked\":{\"method\":\"\",\"name\":\"look\"},\"details\":"
		"null,"
		"\"error\":null,\"method\":\"\",\"name\":\"look\",\"ok\":true,\"result\":\"\"}\n");
	WFS_AUTO_FREE char *text = calloc(1, size - around + 1);

	memset(text, 'x', size - around);
	planned_gives(&planned, 0, text);
	WFS_AUTO_JSON json_t *step = planned_document(&planned, WFS_BUILTIN_PLAN_STEP, ".0");
	assert_int_equal(number_at(step, "result_ref", "bytes"), size);
	return planned;
}

WITH_ACTORS(a_result_of_64_kib_is_shown)
{
	const struct planned planned = begin_with_result(fixture, WFS_PLAN_RESULT_SHOWN_MAX);

	WFS_AUTO_FREE char *text = step_file(&planned);

	assert_true(strlen(text) > WFS_PLAN_RESULT_SHOWN_MAX);
}

WITH_ACTORS(a_larger_result_is_referred_to)
{
	const struct planned planned = begin_with_result(fixture, WFS_PLAN_RESULT_SHOWN_MAX + 1);

	WFS_AUTO_FREE char *text = step_file(&planned);

	assert_true(strlen(text) < 1000);
	assert_non_null(strstr(text, "\"result\":null,\"result_ref\":{\"bytes\":65537,"));
}

/* --- reading --- */

WITH_ACTORS(a_summary_tells_what_a_listing_needs)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	planned_gives(&planned, 0, "one");
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan = state_of(&planned);
	WFS_AUTO_JSON json_t *summary = wfs_plan_summary(&plan);

	WFS_AUTO_JSON json_t *expected = json_of(
		"{'batch':{'ended':1,'size':2},'batches':0,'chat_id':'alice+s.0','done':1,'failed':"
		"0,'goal':'the goal','phase':"
		"'running','plan_id':'" PLANNED_ID "','principal':'alice','running':1,"
		"'session_id':'s','skipped':0,'status':'running','tool_batches':0,'tool_calls':2,"
		"'total':3,'waits':true}");
	json_object_set_new(expected, "created_ns", json_integer(plan.created_ns));
	json_object_set_new(expected, "updated_ns", json_integer(plan.updated_ns));
	assert_true(json_equal(summary, expected));
}

TEST(times_are_utc_with_milliseconds)
{
	char text[WFS_UTC_SIZE];

	wfs_clock_utc(INT64_C(1763811997012999999), text);
	assert_string_equal(text, "2025-11-22T11:46:37.012+00:00");
	wfs_clock_utc(INT64_MAX, text);
	assert_string_equal(text, "2262-04-11T23:47:16.854+00:00");
	wfs_clock_utc(-1, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000+00:00");
}
