/* SPDX-License-Identifier: Apache-2.0 */
/* The records of turns: which they are at each height, and how damage to the index is found. */
#include "tests/fixture/turn.h"

#include "tests/fixture/restore.h"
#include "tests/fixture/tamper.h"

#include "kernel/copy/backup.h"
#include "kernel/copy/gc.h"
#include "kernel/domain/turn/turn-index.h"
#include "kernel/read/index.h"

/* Reads the records of a turn: their kinds, and the types of its events. Return: their size in
 * bytes */
static uint64_t read_records(
	const struct turn_run *run, uint64_t height, uint64_t from, struct wfs_buffer *kinds)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(run->fixture, height);
	WFS_AUTO_TURN_WALK struct wfs_turn_walk walk = {0};
	uint64_t size_bytes = 0;
	uint64_t event_size;
	uint64_t seq;
	int r;

	assert_int_equal(wfs_turn_walk_init(&walk, &view, wfs_bytes_text(run->id), from), 0);
	while ((r = wfs_turn_walk_next(&walk, &seq, &event_size)) > 0) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(run->fixture, seq);

		wfs_buffer_printf(kinds, "%s ",
			event_size > 0 ? wfs_json_text(parsed.body.event.value, "type")
				       : wfs_record_kind_name(parsed.record.kind));
		size_bytes += event_size;
	}
	assert_int_equal(r, 0);
	return size_bytes;
}

static void assert_records(const struct turn_run *run, uint64_t height, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer kinds = {0};

	(void)read_records(run, height, 0, &kinds);
	assert_string_equal(wfs_buffer_text(&kinds), expected);
}

#define STEP_RECORDS "action KernelStart ModelRequest intent "
#define ANSWER_RECORDS "receipt ModelResponse TurnComplete KernelEnd "

WITH_ACTORS(a_run_has_what_folded_it_and_what_that_gave)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	assert_records(&run, WFS_HEIGHT_HEAD, STEP_RECORDS);
	turn_says(&run, WANTS(WANTS_ONE("a", "noop", "{}")));
	assert_int_equal(turn_acts(&run, 0, "{'action_type':'noop'}"), 0);
	turn_says(&run, SAYS("done"));

	assert_records(&run, WFS_HEIGHT_HEAD,
		STEP_RECORDS "receipt ModelResponse ToolCall intent "
			     "action ToolResult TurnComplete ModelRequest intent " ANSWER_RECORDS);
}

WITH_ACTORS(what_people_say_to_a_run_is_of_it)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	char action[512];

	turn_says(&run, WANTS(WANTS_ONE("a", "noop", "{}")));
	WFS_AUTO_FREE char *intent = turn_waits_for(&run, 0);
	snprintf(action, sizeof(action), "{'action_type':'ask','intent_id':'%s','policy':'p'}",
		intent);
	assert_done(fixture, "alice", action);
	snprintf(action, sizeof(action),
		"{'action_type':'approve','turn_id':'%s','call_id':'a','decision':'allow'}",
		run.id);
	assert_done(fixture, "tester", action);
	snprintf(action, sizeof(action), "{'action_type':'cancel','turn_id':'%s'}", run.id);
	assert_done(fixture, "tester", action);
	assert_fails(fixture, "tester", action, WFS_E_CONFLICT, "has ended already");

	/* The refused action is not among them. */
	assert_records(&run, WFS_HEIGHT_HEAD,
		STEP_RECORDS "receipt ModelResponse ToolCall intent action action "
			     "action receipt KernelEnd ");
}

WITH_ACTORS(records_of_others_are_not_of_it)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	struct turn_run other = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	assert_done(fixture, "alice", "{'action_type':'noop'}");
	tell(fixture, "{'key':'a','op':'set','n':1}");
	turn_says(&other, SAYS("hi"));
	turn_says(&run, SAYS("hi"));

	assert_records(&run, WFS_HEIGHT_HEAD, STEP_RECORDS ANSWER_RECORDS);
	assert_records(&other, WFS_HEIGHT_HEAD, STEP_RECORDS ANSWER_RECORDS);
	const struct turn_run nobody = {.fixture = fixture, .id = "alice.9999"};
	assert_records(&nobody, WFS_HEIGHT_HEAD, "");
}

WITH_ACTORS(a_height_has_the_records_below_it)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	const uint64_t begun = height_of(fixture);

	turn_says(&run, SAYS("hi"));

	assert_records(&run, begun - 4, "");
	assert_records(&run, begun - 3, "action ");
	assert_records(&run, begun - 2, "action KernelStart ");
	assert_records(&run, begun, STEP_RECORDS);
	assert_records(&run, begun + 1, STEP_RECORDS "receipt ");
}

WITH_ACTORS(records_are_walked_from_one_or_backwards)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	const uint64_t begun = height_of(fixture);
	WFS_AUTO_BUFFER struct wfs_buffer later = {0};
	WFS_AUTO_BUFFER struct wfs_buffer backwards = {0};

	turn_says(&run, SAYS("hi"));

	(void)read_records(&run, WFS_HEIGHT_HEAD, begun - 1, &later);
	assert_string_equal(wfs_buffer_text(&later), "intent " ANSWER_RECORDS);
	(void)read_records(&run, begun, UINT64_MAX, &backwards);
	assert_string_equal(wfs_buffer_text(&backwards), "intent ModelRequest KernelStart action ");
}

WITH_ACTORS(sizes_are_those_of_the_lines_of_events)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	WFS_AUTO_BUFFER struct wfs_buffer kinds = {0};
	WFS_AUTO_BUFFER struct wfs_buffer lines = {0};
	json_t *event;

	turn_says(&run, SAYS("h\\u00fc\\n"));

	const uint64_t size_bytes = read_records(&run, WFS_HEIGHT_HEAD, 0, &kinds);
	for (int64_t i = 0; (event = turn_event(&run, i)) != NULL; i++) {
		wfs_json_write(event, &lines);
		wfs_buffer_append_byte(&lines, '\n');
		json_decref(event);
	}
	assert_int_equal(size_bytes, lines.size);
	assert_int_equal(wfs_turn_event_size("sys/KernelStart@1", 10), 0);
	assert_int_equal(wfs_turn_event_size("test/Do@1", 1000), 0);
	assert_int_equal(wfs_turn_event_size(NULL, 1000), 0);
}

WITH_ACTORS(a_world_that_is_restored_has_them)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	turn_says(&run, SAYS("hi"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	(void)restore(fixture);

	assert_records(&run, WFS_HEIGHT_HEAD, STEP_RECORDS ANSWER_RECORDS);
	assert_sound(fixture);
}

/* The path of a file of the turn in the copy. Valid until the next call. */
static const char *copied(const struct turn_run *run, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "turns/%s/%s", run->id, name);
	return path;
}

static struct turn_run copy_of_a_run(struct world_fixture *fixture)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	turn_says(&run, SAYS("hi"));
	copy_at(fixture, WFS_HEIGHT_HEAD);
	return run;
}

static void assert_file_refused(const struct turn_run *run, const char *name, const char *reason)
{
	char line[512];

	snprintf(line, sizeof(line), "%s: %s", copied(run, name), reason);
	assert_copy_refused(run->fixture, line);
}

WITH_ACTORS_DAMAGED(a_copy_with_other_events_is_refused)
{
	const struct turn_run run = copy_of_a_run(fixture);

	put_copy(fixture, copied(&run, "events.jsonl"), wfs_bytes_text("{}\n"));

	assert_file_refused(&run, "events.jsonl", "is not what the records of the run say");
}

WITH_ACTORS_DAMAGED(a_copy_with_no_bytes_of_events_is_refused)
{
	const struct turn_run run = copy_of_a_run(fixture);

	put_copy(fixture, copied(&run, "events.jsonl"), WFS_BYTES("", 0));

	assert_file_refused(&run, "events.jsonl", "is not what the records of the run say");
}

WITH_ACTORS_DAMAGED(a_copy_without_the_events_is_refused)
{
	const struct turn_run run = copy_of_a_run(fixture);

	remove_copy(fixture, copied(&run, "events.jsonl"));

	assert_file_refused(&run, "events.jsonl", "");
}

WITH_ACTORS_DAMAGED(a_copy_with_another_transcript_is_refused)
{
	const struct turn_run run = copy_of_a_run(fixture);

	put_copy(fixture, copied(&run, "transcript.md"), wfs_bytes_text("# nothing\n"));

	assert_file_refused(&run, "transcript.md", "");
}

WITH_ACTORS_DAMAGED(a_copy_with_one_more_file_of_a_run_is_refused)
{
	const struct turn_run run = copy_of_a_run(fixture);

	put_copy(fixture, copied(&run, "more"), wfs_bytes_text("x"));

	assert_file_refused(&run, "more", "is not a file of a tree");
}

WITH_ACTORS(a_backup_has_them)
{
	const struct wfs_backup_options options = {.progress = NULL};
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	struct wfs_backup_figures figures;
	char directory[sizeof(fixture->directory)];

	turn_says(&run, SAYS("hi"));
	snprintf(directory, sizeof(directory), "%.60s/backup", fixture->root);
	assert_int_equal(
		wfs_backup(fixture->world, directory, &options, &figures, &fixture->error), 0);
	world_fixture_close(fixture);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s", directory);
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_records(&run, WFS_HEIGHT_HEAD, STEP_RECORDS ANSWER_RECORDS);
	assert_sound(fixture);
}

WITH_ACTORS_DAMAGED(dropping_heights_leaves_them)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	struct wfs_gc gc = {0};

	turn_says(&run, SAYS("hi"));
	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(wfs_gc_begin(fixture->world, false, height_of(fixture), &gc, NULL), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, NULL), 0);

	assert_records(&run, WFS_HEIGHT_HEAD, STEP_RECORDS ANSWER_RECORDS);
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

/* The receipt is the last record of the copy; the records that it caused are not in it. */
WITH_ACTORS(a_copy_from_inside_of_a_request_has_them)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	const uint64_t begun = height_of(fixture);

	turn_says(&run, SAYS("hi"));
	copy_at(fixture, begun + 1);
	(void)restore(fixture);

	assert_records(&run, WFS_HEIGHT_HEAD, STEP_RECORDS "receipt ");
	assert_sound(fixture);
}

/* For a turn whose cells a baseline restored. */
WITH_ACTORS_DAMAGED(behind_a_baseline_records_are_of_it)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	copy_state(fixture);
	(void)restore(fixture);
	assert_records(&run, WFS_HEIGHT_HEAD, "");
	turn_says(&run, SAYS("hi"));

	assert_records(&run, WFS_HEIGHT_HEAD, ANSWER_RECORDS);
	assert_sound(fixture);
}

/* --- damage --- */

struct damage {
	struct wfs_index_set set;
	uint64_t seq;
};

static struct damage damage_of(struct world_fixture *fixture)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	struct damage damage = {.seq = height_of(fixture) - 3};

	wfs_index_run(&damage.set, wfs_bytes_text(run.id));
	return damage;
}

static void assert_finds(struct world_fixture *fixture, const char *line)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	print_message("%s", wfs_buffer_text(&problems.lines));
	assert_non_null(strstr(wfs_buffer_text(&problems.lines), line));
}

static void remove_item(struct wfs_txn *txn, void *context)
{
	struct damage *damage = context;

	assert_int_equal(wfs_index_remove(txn, &damage->set, damage->seq), 0);
}

WITH_ACTORS_DAMAGED(a_record_that_the_index_lacks_is_found)
{
	char line[128];
	struct damage damage = damage_of(fixture);

	tamper_rows(fixture, remove_item, &damage);

	snprintf(line, sizeof(line), "record %llu: is missing among the records of its run",
		(unsigned long long)damage.seq);
	assert_finds(fixture, line);
}

static void add_item(struct wfs_txn *txn, void *context)
{
	struct damage *damage = context;

	assert_int_equal(wfs_index_add(txn, &damage->set, 0, 0), 0);
}

WITH_ACTORS_DAMAGED(a_record_of_no_run_is_found)
{
	struct damage damage = damage_of(fixture);

	tamper_rows(fixture, add_item, &damage);

	assert_finds(fixture, "there are more records of runs than belong");
}

static void change_size(struct wfs_txn *txn, void *context)
{
	struct damage *damage = context;

	assert_int_equal(wfs_index_remove(txn, &damage->set, damage->seq), 0);
	assert_int_equal(wfs_index_add(txn, &damage->set, damage->seq, 7), 0);
}

WITH_ACTORS_DAMAGED(another_size_of_an_event_is_found)
{
	struct damage damage = damage_of(fixture);

	tamper_rows(fixture, change_size, &damage);

	assert_finds(fixture, "has another size among the events of its run");
}
