/* SPDX-License-Identifier: Apache-2.0 */
/* Turns as directories: what they contain at each height, and which principals see them. */
#include "tests/fixture/tree.h"

#include <sys/stat.h>

#include "tests/fixture/turn.h"

#include "kernel/check/replay.h"
#include "kernel/copy/gc.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/read/index.h"
#include "kernel/world/gc-step.h"

static int turn_setup_shown(void **state)
{
	if (shown_setup(state))
		return -1;
	return action_fixture_begin(((struct shown *)*state)->world);
}

#define SHOWN_TURN(name) TEST_WITH(name, struct shown *shown, turn_setup_shown, shown_teardown)

static struct turn_run begin(struct shown *shown)
{
	return turn_begin(shown->world, TURN_STEP("3", "{}", TURN_ASK));
}

/* A path of a file of the turn, under a height or at the head. Valid until the next call. */
static const char *path_at(const struct turn_run *run, uint64_t height, const char *file)
{
	static char path[512];

	if (height == WFS_HEIGHT_HEAD)
		snprintf(path, sizeof(path), "turns/%s/%s", run->id, file);
	else
		snprintf(path, sizeof(path), "at/%llu/turns/%s/%s", (unsigned long long)height,
			run->id, file);
	return path;
}

static const char *path_of(const struct turn_run *run, const char *file)
{
	return path_at(run, WFS_HEIGHT_HEAD, file);
}

SHOWN_TURN(turns_are_listed_in_order_of_creation)
{
	char expected[512];

	assert_lists(shown, "turns", "");
	const struct turn_run first = begin(shown);
	const struct turn_run second = begin(shown);
	turn_says(&first, SAYS("hi"));

	snprintf(expected, sizeof(expected), "%s %s ", first.id, second.id);
	assert_lists(shown, "turns", expected);
	assert_lists(shown, path_of(&second, ""),
		"status messages.json events.jsonl transcript.md raw ");
	assert_lists(shown, path_of(&first, ""),
		"status messages.json events.jsonl transcript.md result.json raw ");
	assert_missing(shown, "turns/alice.9999");
	assert_missing(shown, path_of(&second, "result.json"));
	assert_missing(shown, path_of(&second, "scrip"));
}

SHOWN_TURN(the_status_begins_with_a_word)
{
	const struct turn_run run = begin(shown);

	assert_contents(shown, path_of(&run, "status"), "running\nturn 1 of 3\n");
	turn_says(&run, SAYS("hi"));
	assert_contents(shown, path_of(&run, "status"), "no_tool_calls\nturn 1 of 3\n");
}

SHOWN_TURN(the_status_tells_of_an_error)
{
	const struct turn_run run = begin(shown);

	turn_answer_as(&run, 0, "error", "{'code':'internal_error','message':'down\\nhere'}");

	assert_contents(shown, path_of(&run, "status"),
		"error\nturn 1 of 3\nerror: Model API call failed: down\n");
}

static void ask(const struct turn_run *run, size_t index)
{
	WFS_AUTO_FREE char *intent = turn_waits_for(run, index);
	char action[256];

	snprintf(action, sizeof(action), "{'action_type':'ask','intent_id':'%s','policy':'p'}",
		intent);
	assert_done(run->fixture, "alice", action);
}

static void approve(const struct turn_run *run, const char *call_id)
{
	char action[256];

	snprintf(action, sizeof(action),
		"{'action_type':'approve','turn_id':'%s','call_id':'%s','decision':'allow'}",
		run->id, call_id);
	assert_done(run->fixture, "tester", action);
}

SHOWN_TURN(the_status_tells_of_calls_that_wait)
{
	const struct turn_run run =
		turn_begin(shown->world, TURN_STEP("3", "{'max_concurrency':3}", TURN_ASK));

	turn_says(&run,
		WANTS(WANTS_ONE("a", "noop", "{}") "," WANTS_ONE("b", "look", "{}") "," WANTS_ONE(
			"c d", "noop", "{}")));
	const uint64_t running = attr_of(shown, path_of(&run, "status")).ino;
	ask(&run, 0);
	ask(&run, 2);
	const uint64_t asked = attr_of(shown, path_of(&run, "status")).ino;
	const uint64_t height = height_of(shown->world);

	assert_contents(shown, path_of(&run, "status"),
		"waiting\nturn 1 of 3\nwaiting for approval: a noop\n"
		"waiting for approval: \"c d\" noop\n");
	approve(&run, "a");
	assert_contents(shown, path_of(&run, "status"),
		"waiting\nturn 1 of 3\nwaiting for approval: \"c d\" noop\n");
	approve(&run, "c d");
	assert_contents(shown, path_of(&run, "status"), "running\nturn 1 of 3\n");
	assert_true(running != asked);
	assert_true(attr_of(shown, path_at(&run, height, "status")).ino == asked);
}

#define MESSAGES_BEGIN                              \
	"[{\"content\":\"s\",\"role\":\"system\"}," \
	"{\"content\":\"go\",\"role\":\"user\"}"

SHOWN_TURN(messages_are_those_of_the_version)
{
	const struct turn_run run = begin(shown);

	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{ }")));
	const uint64_t wanted = height_of(shown->world);
	const struct wfs_attr before = attr_of(shown, path_of(&run, "messages.json"));
	turn_gives(&run, 0, "a file");
	turn_says(&run, SAYS("done"));

	assert_contents(shown, path_of(&run, "messages.json"),
		MESSAGES_BEGIN ",{\"content\":null,\"role\":\"assistant\",\"tool_calls\":["
			       "{\"arguments\":\"{ }\",\"id\":\"a\",\"name\":\"look\"}]},"
			       "{\"content\":\"a file\",\"role\":\"tool\",\"tool_call_id\":\"a\"},"
			       "{\"content\":\"done\",\"role\":\"assistant\"}]\n");
	assert_contents(shown, path_at(&run, wanted, "messages.json"),
		MESSAGES_BEGIN ",{\"content\":null,\"role\":\"assistant\",\"tool_calls\":["
			       "{\"arguments\":\"{ }\",\"id\":\"a\",\"name\":\"look\"}]},"
			       "{\"content\":\"(no result)\",\"role\":\"tool\","
			       "\"tool_call_id\":\"a\"}]\n");
	/* A reader that opened the older file reads its old bytes. */
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
	assert_int_equal(wfs_tree_read(&shown->tree, before.ino, 0, 100000, &data), 0);
	assert_int_equal(data.bytes.size, before.size_bytes);
}

/* Checks the values of all events of the turn, as lines. */
static void expect_events(const struct turn_run *run, struct wfs_buffer *lines)
{
	json_t *event;

	for (int64_t i = 0; (event = turn_event(run, i)) != NULL; i++) {
		wfs_json_write_document(event, lines);
		json_decref(event);
	}
}

SHOWN_TURN(events_are_lines)
{
	const struct turn_run other = begin(shown);
	const struct turn_run run = begin(shown);
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	turn_says(&other, SAYS("not of it"));
	turn_says(&run, SAYS("hi"));

	expect_events(&run, &expected);
	assert_contents(shown, path_of(&run, "events.jsonl"), wfs_buffer_text(&expected));
	assert_int_equal(attr_of(shown, path_of(&run, "events.jsonl")).mode, S_IFREG | 0444);
}

/* Reads parts of every size, from every place. */
SHOWN_TURN(events_are_read_in_parts)
{
	const struct turn_run run = begin(shown);
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	turn_says(&run, SAYS("hi"));
	expect_events(&run, &expected);
	const uint64_t ino = attr_of(shown, path_of(&run, "events.jsonl")).ino;

	for (size_t offset = 0; offset <= expected.size; offset += 61)
		for (size_t size = 1; size <= expected.size; size += 97) {
			WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
			const size_t left = expected.size - offset;
			const size_t wanted = size < left ? size : left;

			print_message("%zu bytes from %zu on\n", size, offset);
			assert_int_equal(wfs_tree_read(&shown->tree, ino, offset, size, &data), 0);
			assert_int_equal(data.bytes.size, wanted);
			assert_memory_equal(data.bytes.data, expected.data + offset, wanted);
		}
}

SHOWN_TURN(events_of_a_height_are_those_before_it)
{
	const struct turn_run run = begin(shown);
	const uint64_t begun = height_of(shown->world);

	WFS_AUTO_FREE char *before = contents(shown, path_of(&run, "events.jsonl"));
	const uint64_t ino = attr_of(shown, path_of(&run, "events.jsonl")).ino;
	turn_says(&run, SAYS("hi"));

	assert_contents(shown, path_at(&run, begun, "events.jsonl"), before);
	assert_true(attr_of(shown, path_at(&run, begun, "events.jsonl")).ino != ino);
	/* Inside of a request: the answer is recorded, the events that it causes are not yet. */
	assert_contents(shown, path_at(&run, begun + 1, "events.jsonl"), before);
	WFS_AUTO_FREE char *more = contents(shown, path_at(&run, begun + 2, "events.jsonl"));
	assert_memory_equal(more, before, strlen(before));
	assert_non_null(strstr(more + strlen(before), "ModelResponse"));
	assert_null(strstr(more, "TurnComplete"));
	assert_missing(shown, path_at(&run, begun - 3, "events.jsonl"));
	assert_contents(shown, path_at(&run, begun - 3, "status"), "running\nturn 1 of 3\n");
}

SHOWN_TURN(events_of_the_head_are_one_file_that_grows)
{
	const struct turn_run run = begin(shown);
	WFS_AUTO_FREE char *before = contents(shown, path_of(&run, "events.jsonl"));
	const struct wfs_attr attr = attr_of(shown, path_of(&run, "events.jsonl"));

	turn_says(&run, SAYS("hi"));

	assert_true(attr_of(shown, path_of(&run, "events.jsonl")).ino == attr.ino);
	assert_true(attr.uncached);
	WFS_AUTO_FREE char *after = contents(shown, path_of(&run, "events.jsonl"));
	assert_true(strlen(after) > strlen(before));
	assert_memory_equal(after, before, strlen(before));
	assert_int_equal(attr_of(shown, path_of(&run, "events.jsonl")).size_bytes, strlen(after));
}

SHOWN_TURN(events_that_were_not_told_are_read_but_not_counted)
{
	const struct turn_run run = begin(shown);
	atomic_uint_fast64_t told = height_of(shown->world);

	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};

	const struct wfs_attr before = attr_of(shown, path_of(&run, "events.jsonl"));
	turn_says(&run, SAYS("hi"));
	WFS_AUTO_FREE char *text = contents(shown, path_of(&run, "events.jsonl"));
	shown->tree.events_height = &told;
	assert_int_equal(
		attr_of(shown, path_of(&run, "events.jsonl")).size_bytes, before.size_bytes);
	assert_int_equal(wfs_tree_read(&shown->tree, before.ino, 0, 1 << 20, &data), 0);
	assert_int_equal(data.bytes.size, strlen(text));
	assert_true(strlen(text) > before.size_bytes);

	atomic_store(&told, height_of(shown->world));
	assert_int_equal(attr_of(shown, path_of(&run, "events.jsonl")).size_bytes, strlen(text));
	atomic_store(&told, 1); /* before the turn */
	assert_int_equal(attr_of(shown, path_of(&run, "events.jsonl")).size_bytes, 0);
}

SHOWN_TURN(only_the_number_of_its_first_event_leads_to_a_file_that_grows)
{
	const struct turn_run run = begin(shown);
	const uint64_t ino = attr_of(shown, path_of(&run, "events.jsonl")).ino;
	struct wfs_attr attr;

	assert_int_equal(wfs_tree_by_number(&shown->tree, ino, &attr), 0);
	assert_int_equal(wfs_tree_by_number(&shown->tree, ino + 1, &attr), -ENOENT);
}

SHOWN_TURN(the_transcript_can_be_read)
{
	const struct turn_run run = begin(shown);
	char expected[1024];

	turn_says(&run, WANTS(WANTS_ONE("a", "look", "{ }")));
	turn_gives(&run, 0, "a file\n\nof lines");
	turn_says(&run,
		"{'content':'done','finish_reason':'stop','tool_calls':[],'usage':"
		"{'completion_tokens':2,'prompt_tokens':5,'total_tokens':7}}");

	WFS_AUTO_FREE char *text = contents(shown, path_of(&run, "transcript.md"));
	snprintf(expected, sizeof(expected),
		"# %s\n\nAgent alice, model m, asked by tester.\n\n"
		"## system\n\ns\n\n## user\n\ngo\n\n## assistant\n\n"
		"**Call** `look` (a)\n\n    { }\n\n"
		"**Result** of `look` (a)\n\n    a file\n\n    of lines\n\n"
		"## assistant\n\ndone\n\n"
		"---\n\nEnded: no_tool_calls in turn 2 of 3, after ",
		run.id);
	assert_memory_equal(text, expected, strlen(expected));
	assert_non_null(
		strstr(text, " ms. Tokens: 5 in, 2 out, 7 in all (not every answer told them).\n"));
}

SHOWN_TURN(the_result_is_that_of_the_run)
{
	const struct turn_run run = begin(shown);
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	WFS_AUTO_JSON json_t *result = NULL;

	turn_says(&run, SAYS("hi"));

	WFS_AUTO_VIEW struct wfs_view view = view_at(shown->world, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_turn_result(&view, run.id, &result, NULL), 0);
	wfs_json_write_document(result, &expected);
	assert_contents(shown, path_of(&run, "result.json"), wfs_buffer_text(&expected));
}

/* Messages of 64 KiB each, and more of them than are shown. */
SHOWN_TURN(a_long_history_is_shown_from_its_end)
{
	enum { TURNS = WFS_TURN_FILE_MAX / WFS_TURN_OUTPUT_MAX + 10 };
	const struct turn_run run = turn_begin(shown->world, TURN_STEP("100", "{}", TURN_ASK));
	WFS_AUTO_FREE char *output = calloc(1, WFS_TURN_OUTPUT_MAX + 1);

	memset(output, 'x', WFS_TURN_OUTPUT_MAX);
	for (int i = 0; i < TURNS; i++) {
		turn_says(&run, WANTS(WANTS_ONE("a", "look", "{}")));
		turn_gives(&run, 0, output);
	}
	turn_says(&run, SAYS("done"));

	WFS_AUTO_FREE char *text = contents(shown, path_of(&run, "messages.json"));
	WFS_AUTO_JSON json_t *messages = json_of(text);
	const json_t *const mark = json_array_get(messages, 0);
	const size_t count = json_array_size(messages);
	assert_true(strlen(text) < WFS_TURN_FILE_MAX + WFS_TURN_OUTPUT_MAX);
	assert_true(json_integer_value(json_object_get(mark, "left_out")) > 2);
	assert_int_equal((size_t)json_integer_value(json_object_get(mark, "left_out")) + count - 1,
		2 + 2 * TURNS + 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(messages, 1), "role")),
		"assistant");
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(messages, count - 1), "content")),
		"done");
	WFS_AUTO_FREE char *transcript = contents(shown, path_of(&run, "transcript.md"));
	assert_non_null(strstr(transcript, " messages are left out.*"));
	WFS_AUTO_FREE char *result = contents(shown, path_of(&run, "result.json"));
	assert_non_null(strstr(result, "\"left_out\":"));
}

/* The newest group is shown, however large it is. */
SHOWN_TURN(a_message_that_is_too_long_alone_is_shown)
{
	const struct turn_run run = begin(shown);
	WFS_AUTO_FREE char *content = calloc(1, WFS_TURN_FILE_MAX + 100);
	WFS_AUTO_BUFFER struct wfs_buffer answer = {0};

	memset(content, 'x', WFS_TURN_FILE_MAX + 50);
	wfs_buffer_printf(&answer, "{'content':'%s','tool_calls':[],'usage':null}", content);
	turn_says(&run, wfs_buffer_text(&answer));

	WFS_AUTO_FREE char *text = contents(shown, path_of(&run, "messages.json"));
	WFS_AUTO_JSON json_t *messages = json_of(text);
	assert_int_equal(json_array_size(messages), 2);
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(messages, 0), "left_out")), 2);
	assert_int_equal(
		json_string_length(json_object_get(json_array_get(messages, 1), "content")),
		WFS_TURN_FILE_MAX + 50);
}

/* The height at which it got its version was removed. */
SHOWN_TURN(a_turn_outlives_the_heights_that_made_it)
{
	const struct turn_run run = begin(shown);
	struct wfs_gc gc = {0};

	turn_says(&run, SAYS("hi"));
	WFS_AUTO_FREE char *messages = contents(shown, path_of(&run, "messages.json"));
	WFS_AUTO_FREE char *events = contents(shown, path_of(&run, "events.jsonl"));
	tell(shown->world, "{'key':'a','op':'set','n':1}");
	tell(shown->world, "{'key':'a','op':'set','n':2}");
	assert_int_equal(
		wfs_gc_begin(shown->world->world, false, height_of(shown->world), &gc, NULL), 0);
	assert_int_equal(wfs_gc_advance(shown->world->world, &gc, "tester", 0, NULL), 0);

	assert_contents(shown, path_of(&run, "messages.json"), messages);
	assert_contents(shown, path_of(&run, "events.jsonl"), events);
}

/* --- who sees it --- */

static struct shown as(struct shown *shown, const char *principal)
{
	struct shown other = *shown;

	assert_int_equal(wfs_session_new(shown->authority, principal, &other.session, NULL), 0);
	other.tree.session = other.session;
	return other;
}

static int try_read(struct shown *shown, uint64_t ino)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};

	return wfs_tree_read(&shown->tree, ino, 0, 4096, &data);
}

static void add_looker(struct shown *shown, const char *paths)
{
	char action[512];

	assert_done(shown->world, "tester", "{'action_type':'principal','id':'looker'}");
	snprintf(action, sizeof(action),
		"{'action_type':'grant','cap':'sys/query@1','params':{'scope':[%s]},"
		"'to':'looker'}",
		paths);
	assert_done(shown->world, "tester", action);
}

SHOWN_TURN(a_scope_shows_turns_of_one_agent)
{
	const struct turn_run run = begin(shown);
	char expected[256];

	add_looker(shown, "'turns/alice.*'");
	struct shown other = as(shown, "looker");

	snprintf(expected, sizeof(expected), "%s ", run.id);
	assert_lists(&other, "turns", expected);
	assert_contents(&other, path_of(&run, "status"), "running\nturn 1 of 3\n");
	wfs_session_free(other.session);
}

SHOWN_TURN(a_scope_may_show_the_status_alone)
{
	const struct turn_run run = begin(shown);

	add_looker(shown, "'turns/*/status'");
	struct shown other = as(shown, "looker");

	assert_lists(&other, path_of(&run, ""), "status ");
	assert_missing(&other, path_of(&run, "messages.json"));
	assert_missing(&other, path_of(&run, "events.jsonl"));
	assert_missing(&other, path_of(&run, "transcript.md"));
	wfs_session_free(other.session);
}

SHOWN_TURN(who_may_not_see_a_turn_sees_nothing_of_it)
{
	static const char *const files[] = {
		"status", "messages.json", "events.jsonl", "transcript.md", "result.json"};
	const struct turn_run run = begin(shown);

	turn_says(&run, SAYS("hi"));
	add_looker(shown, "'turns/bob.*','reducers/**'");
	struct shown other = as(shown, "looker");

	assert_lists(&other, "turns", "");
	assert_missing(&other, path_of(&run, "status"));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(files); i++) {
		const uint64_t ino = attr_of(shown, path_of(&run, files[i])).ino;

		print_message("%s\n", files[i]);
		assert_int_equal(try_read(&other, ino), -EACCES);
	}
	wfs_session_free(other.session);
}

SHOWN_TURN(numbers_that_are_no_file_of_a_turn_are_not_there)
{
	const struct turn_run run = begin(shown);
	struct wfs_node node;
	struct wfs_attr attr;

	assert_true(wfs_ino_decode(attr_of(shown, path_of(&run, "events.jsonl")).ino, &node));
	node.number--; /* a record, but it is not where the turn's first event is */
	node.number--; /* a record, but another one than the turn's first event */
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	node.number = 1 << 20;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	assert_true(wfs_ino_decode(attr_of(shown, path_of(&run, "status")).ino, &node));
	node.file = WFS_ENTITY_FILE_RESULT;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	node.file = WFS_ENTITY_FILE_SCRIP;
	assert_int_equal(wfs_tree_attr(&shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
}

SHOWN_TURN(a_turns_directory_has_its_path)
{
	const struct turn_run run = begin(shown);
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	char expected[256];

	assert_int_equal(
		wfs_tree_path(&shown->tree, attr_of(shown, path_of(&run, "")).ino, &path), 0);

	snprintf(expected, sizeof(expected), "turns/%s", run.id);
	assert_string_equal(wfs_buffer_text(&path), expected);
}

static void assert_sound(struct shown *shown)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(shown->world->world, &problems, NULL, NULL, NULL), 0);
	assert_int_equal(wfs_replay(shown->world->world, &problems, NULL, NULL, NULL), 0);
	if (problems.count > 0)
		print_error("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 0);
}

/* Drops all records but the newest, as far as no request is cut in two. */
static void cut_journal(struct shown *shown)
{
	struct wfs_gc gc = {.journal = true};

	assert_int_equal(wfs_gc_begin(shown->world->world, true, 1, &gc, NULL), 0);
	assert_int_equal(wfs_gc_advance(shown->world->world, &gc, "tester", 0, NULL), 0);
	assert_true(gc.done);
}

SHOWN_TURN(a_turn_goes_on_after_its_records_were_dropped)
{
	const struct turn_run other = begin(shown);
	const struct turn_run run = begin(shown);
	WFS_AUTO_FREE char *messages = contents(shown, path_of(&run, "messages.json"));
	const uint64_t ino = attr_of(shown, path_of(&run, "events.jsonl")).ino;
	struct wfs_tree_data data;

	turn_says(&other, SAYS("over"));
	cut_journal(shown);
	assert_sound(shown);
	assert_contents(shown, path_of(&run, "messages.json"), messages);
	assert_missing(shown, path_of(&run, "events.jsonl"));
	assert_missing(shown, path_of(&other, "events.jsonl"));
	assert_int_equal(wfs_tree_read(&shown->tree, ino, 0, 100, &data), -ENOENT);
	turn_says(&run, SAYS("hi"));

	WFS_AUTO_FREE char *events = contents(shown, path_of(&run, "events.jsonl"));
	assert_non_null(strstr(events, "ModelResponse"));
	assert_null(strstr(events, "KernelStart"));
	assert_sound(shown);
	cut_journal(shown);
	assert_sound(shown);
}

/* As for other steps of a collection: on a full disk, only few rows fit into a transaction. */
SHOWN_TURN(a_step_looks_at_as_few_rows_of_turns_as_it_is_told)
{
	struct wfs_gc_step step = {.kind = WFS_GC_RUNS, .rows_max = 3};
	struct wfs_request request = {.kind = WFS_REQUEST_GC, .principal = "tester", .gc = &step};
	int steps = 0;

	const struct turn_run run = begin(shown);
	const struct turn_run other = begin(shown);
	cut_journal(shown);
	turn_says(&run, SAYS("hi"));
	turn_says(&other, SAYS("ho"));
	wfs_index_runs(&step.runs);
	for (; !step.done; steps++)
		assert_int_equal(wfs_world_call(shown->world->world, &request), 0);

	assert_true(steps > 1);
	assert_sound(shown);
}

SHOWN_TURN(a_cut_between_two_turns_keeps_the_events_of_the_later_one)
{
	const struct turn_run first = begin(shown);
	turn_says(&first, SAYS("one"));
	const uint64_t height = height_of(shown->world);
	const struct turn_run second = begin(shown);
	turn_says(&second, SAYS("two"));
	WFS_AUTO_FREE char *events = contents(shown, path_of(&second, "events.jsonl"));
	const uint64_t ino = attr_of(shown, path_of(&second, "events.jsonl")).ino;
	struct wfs_gc gc = {.journal = true};

	assert_int_equal(wfs_gc_begin(shown->world->world, false, height, &gc, NULL), 0);
	assert_int_equal(gc.first_height, height);
	assert_int_equal(wfs_gc_advance(shown->world->world, &gc, "tester", 0, NULL), 0);

	assert_contents(shown, path_of(&second, "events.jsonl"), events);
	assert_true(attr_of(shown, path_of(&second, "events.jsonl")).ino != ino);
	assert_missing(shown, path_of(&first, "events.jsonl"));
	assert_sound(shown);
}

/* A derived record cannot be folded without the one that has caused it. */
SHOWN_TURN(no_request_is_cut_in_two)
{
	const uint64_t before = height_of(shown->world);
	const struct turn_run run = begin(shown);
	const uint64_t after = height_of(shown->world);

	assert_true(after > before + 2);
	for (uint64_t height = before; height <= after; height++) {
		struct wfs_gc gc = {.journal = true};

		assert_int_equal(wfs_gc_begin(shown->world->world, false, height, &gc, NULL), 0);
		assert_int_equal(gc.first_height, height == after ? after : before);
	}
	/* If heights within it are the oldest, those after it are next. */
	struct wfs_gc gc = {0};
	assert_int_equal(wfs_gc_begin(shown->world->world, false, before + 1, &gc, NULL), 0);
	assert_int_equal(wfs_gc_advance(shown->world->world, &gc, "tester", 0, NULL), 0);
	gc = (struct wfs_gc){.journal = true};
	assert_int_equal(wfs_gc_begin(shown->world->world, false, before + 1, &gc, NULL), 0);
	assert_int_equal(gc.first_height, after);
	assert_int_equal(wfs_gc_advance(shown->world->world, &gc, "tester", 0, NULL), 0);
	assert_sound(shown);
	turn_says(&run, SAYS("hi"));
	assert_sound(shown);
}
