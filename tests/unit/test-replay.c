/* SPDX-License-Identifier: Apache-2.0 */
/* Replay: it finds no problem in a good world, and names the first record that differs in any
 * other. */
#include "tests/fixture/asking.h"
#include "tests/fixture/tamper.h"

#include <dirent.h>

#include "kernel/base/hash-text.h"
#include "kernel/check/replay.h"
#include "kernel/read/snapshot.h"

enum { GENESIS_HEIGHT = 2 };

static struct wfs_problems replay(struct world_fixture *fixture)
{
	struct wfs_problems problems = {0};

	if (!fixture->world)
		assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	return problems;
}

static void assert_good(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = replay(fixture);

	if (problems.count)
		print_error("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 0);
}

/* Expects exactly one problem, which names the record. */
static void assert_names(struct world_fixture *fixture, uint64_t seq)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = replay(fixture);
	char start[64];

	snprintf(start, sizeof(start), "journal: %llu: ", (unsigned long long)seq);
	print_message("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 1);
	assert_memory_equal(wfs_buffer_text(&problems.lines), start, strlen(start));
}

static void snapshot(struct world_fixture *fixture)
{
	struct wfs_request request = {.kind = WFS_REQUEST_SNAPSHOT, .principal = "tester"};

	request.snapshot.height = height_of(fixture);
	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), request.snapshot.height,
				 NULL, NULL, &request.snapshot.hash, &fixture->error),
		0);
	assert_int_equal(wfs_world_call(fixture->world, &request), 0);
}

/* Makes a change of every kind. */
static void live(struct world_fixture *fixture)
{
	struct wfs_hash hash;
	WFS_AUTO_FREE char *large = calloc(1, 100000);

	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_int_equal(send_event(fixture, "test/Both@1", "{'key':'a','op':'add','n':1.5}"), 0);
	tell(fixture, "{'key':'r','op':'tree','n':3}");
	tell(fixture, "{'key':'a','op':'random'}");
	tell(fixture, "{'key':'c','op':'context'}");
	tell(fixture, "{'key':'a','op':'delete'}");
	assert_int_equal(put_blob(fixture, "small", 5, &hash), 0);
	assert_int_equal(put_blob(fixture, large, 100000, &hash), 0);
	tell(fixture, "{'key':'b','op':'grow','n':100000}");
	snapshot(fixture);
	assert_int_equal(send_event(fixture, "test/None@1", "[null]"), 0);
	for (int i = 0; i < 20; i++)
		tell(fixture, "{'key':'d','op':'add','n':1}");
}

IN_WORLD(a_new_world_replays)
{
	assert_good(fixture);
}

IN_WORLD(a_world_with_something_of_everything_replays)
{
	live(fixture);

	assert_good(fixture);
}

/* Asks for every effect, gets a refusal, and continues. */
static void live_asking(struct world_fixture *fixture)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", asking_for_everything,
				 ",'tell':true,'after':[{'effect':'introspect.manifest'}]"),
		0);
	judge.r = -EACCES;
	judge.judgement.error.code = WFS_E_POLICY_DENIED;
	judge.judgement.decision.policy = "test/strict@1";
	judge.judgement.decision.rule_known = true;
	judge.judgement.decision.rule_index = 0;
	assert_int_equal(ask_for(fixture, "a", "[{'effect':'introspect.manifest'}]", ""), 0);
	assert_int_equal(ask_for(fixture, "b", "[]", ""), 0);
	wfs_world_judge(fixture->world, NULL);
}

ASKING(a_world_that_asks_replays_without_a_judge)
{
	live_asking(fixture);

	assert_good(fixture);
}

#define NAMES_ASKING(name, seq, from, to)                         \
	ASKING(name)                                              \
	{                                                         \
		live_asking(fixture);                             \
		tamper_number(fixture, "journal", seq, from, to); \
		assert_names(fixture, seq);                       \
	}

/* Record 3 is the first intent, 4 its receipt. */
NAMES_ASKING(a_receipt_that_is_none_is_named, 4, "\"status\":\"ok\"", "\"status\":\"no\"")
NAMES_ASKING(a_receipt_for_an_unknown_intent_is_named, 4,
	"\"intent_id\":\"sha256:", "\"intent_id\":\"sha512:")
NAMES_ASKING(
	a_receipt_with_another_payload_is_named, 4, "\"journal_height\":2", "\"journal_height\":1")
NAMES_ASKING(an_intent_that_was_not_asked_for_is_named, 3, "\"head\"", "\"deaf\"")

IN_WORLD(more_records_than_one_batch_replay)
{
	tell(fixture, "{'key':'a','op':'emit','n':600}");
	tell(fixture, "{'key':'b','op':'emit','n':600}");
	tell(fixture, "{'key':'c','op':'emit','n':600}");

	assert_good(fixture);
}

IN_WORLD(events_with_as_much_as_they_may_have_replay)
{
	for (int i = 0; i < 2; i++)
		tell(fixture,
			"{'key':'a','op':'emit','n':8,"
			"'value':{'key':'x','op':'toggle','n':7000000}}");

	assert_good(fixture);
}

IN_WORLD(an_event_with_nearly_as_many_instructions_as_it_may_have_replays)
{
	tell(fixture,
		"{'key':'a','op':'emit','n':11,"
		"'value':{'key':'x','op':'work','n':9000000}}");

	assert_good(fixture);
}

IN_WORLD(a_step_that_depends_on_addresses_replays)
{
	tell(fixture, "{'key':'a','op':'holes'}");

	assert_good(fixture);
}

struct progress {
	uint64_t last;
	uint64_t total;
};

static bool note_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	if (strcmp(what, "records") != 0) /* in the last round all rows are read */
		return true;
	assert_true(done > progress->last);
	progress->last = done;
	progress->total = total;
	return true;
}

IN_WORLD(progress_ends_with_all_records)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct progress progress = {0};

	tell(fixture, "{'key':'a','op':'emit','n':1000}");
	tell(fixture, "{'key':'b','op':'emit','n':1000}");
	assert_int_equal(wfs_replay(fixture->world, &problems, note_progress, &progress, NULL), 0);

	assert_int_equal(progress.last, height_of(fixture));
	assert_int_equal(progress.total, height_of(fixture));
}

static size_t count_scratch_stores(const char *directory)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(listing);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing)))
		count += strncmp(entry->d_name, "worldfs-replay-", 15) == 0;
	closedir(listing);
	return count;
}

IN_WORLD(the_scratch_store_is_removed)
{
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(setenv("TMPDIR", fixture->root, 1), 0);
	assert_good(fixture);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(unsetenv("TMPDIR"), 0);

	assert_int_equal(count_scratch_stores(fixture->root), 0);
}

static bool end_at_once(void *context, const char *what, uint64_t done, uint64_t total)
{
	(void)context;
	(void)what;
	(void)done;
	(void)total;
	return false;
}

IN_WORLD(an_interrupted_replay_leaves_no_scratch_store)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(setenv("TMPDIR", fixture->root, 1), 0);
	int r = wfs_replay(fixture->world, &problems, end_at_once, NULL, &fixture->error);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(unsetenv("TMPDIR"), 0);

	assert_int_equal(r, -EINTR);
	assert_int_equal(fixture->error.code, WFS_E_CANCELLED);
	assert_int_equal(count_scratch_stores(fixture->root), 0);
}

IN_WORLD(a_place_for_the_scratch_store_that_is_missing_is_an_error)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(setenv("TMPDIR", "/does/not/exist", 1), 0);
	int r = wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error);
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	assert_int_equal(unsetenv("TMPDIR"), 0);

	assert_int_equal(r, -ENOENT);
	assert_int_equal(problems.count, 0);
}

/* --- worlds that were tampered with --- */

/* Sends three events of which the test will change the first: opening a world looks only at the
 * last ones. */
static void live_a_little(struct world_fixture *fixture)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b','op':'set','n':2}");
	tell(fixture, "{'key':'c','op':'set','n':3}");
}

#define NAMES_CHANGED(name, from, to)                                        \
	IN_WORLD(name)                                                       \
	{                                                                    \
		live_a_little(fixture);                                      \
		tamper_number(fixture, "journal", GENESIS_HEIGHT, from, to); \
		assert_names(fixture, GENESIS_HEIGHT);                       \
	}

NAMES_CHANGED(a_changed_value_in_the_journal_is_named, "\"n\":1", "\"n\":7")

IN_WORLD(a_changed_principal_in_the_journal_is_named_by_the_chain)
{
	live_a_little(fixture);
	tamper_number(fixture, "journal", GENESIS_HEIGHT, "tester", "zester");

	assert_names(fixture, GENESIS_HEIGHT + 1);
}

IN_WORLD(a_changed_time_in_the_journal_is_named)
{
	live_a_little(fixture);
	tamper_number(fixture, "journal", GENESIS_HEIGHT, "{\"at_ns\":17", "{\"at_ns\":18");

	assert_names(fixture, GENESIS_HEIGHT + 1);
}

NAMES_CHANGED(an_unknown_schema_in_the_journal_is_named, "test/Do@1", "test/No@1")
NAMES_CHANGED(an_event_that_fails_now_is_named, "\"set\"", "\"fail\"")
NAMES_CHANGED(a_line_that_is_no_record_is_named, "\"kind\"", "\"kine\"")
NAMES_CHANGED(a_seq_out_of_place_is_named, "\"seq\":2", "\"seq\":3")
NAMES_CHANGED(a_kind_that_cannot_be_folded_is_named, "\"event\"", "\"receipt\"")

IN_WORLD(a_derived_record_that_was_changed_is_named)
{
	tell(fixture, "{'key':'a','op':'emit','n':5}");
	tamper_number(fixture, "journal", GENESIS_HEIGHT + 2, "\"n\":2", "\"n\":7");

	assert_names(fixture, GENESIS_HEIGHT + 2);
}

IN_WORLD(a_derived_record_that_is_cut_off_is_named)
{
	tell(fixture, "{'key':'a','op':'emit','n':2}");
	tamper_number(fixture, "journal", GENESIS_HEIGHT + 2, NULL, NULL);
	tamper_head_hash(fixture);

	assert_names(fixture, GENESIS_HEIGHT + 2);
}

IN_WORLD(a_version_that_was_changed_is_named)
{
	uint64_t vid;

	live_a_little(fixture);
	{
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);

		assert_int_equal(wfs_version_last(view.txn, &vid), 0);
	}
	tamper_version(fixture, vid - 1, "{\"n\":2}\n", "{\"n\":7}\n");

	assert_names(fixture, GENESIS_HEIGHT + 1);
}

IN_WORLD(a_version_that_is_gone_is_named)
{
	uint64_t vid;

	live_a_little(fixture);
	{
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);

		assert_int_equal(wfs_version_last(view.txn, &vid), 0);
	}
	tamper_number(fixture, "version", vid - 2, NULL, NULL);

	assert_names(fixture, GENESIS_HEIGHT);
}

IN_WORLD(a_blob_record_twice_is_named)
{
	struct wfs_hash hash;

	/* The two differ in one byte, so that one record can be turned into the other. */
	assert_int_equal(put_blob(fixture, "a", 1, &hash), 0);
	WFS_AUTO_RECORD struct wfs_record_parsed first = record_at(fixture, GENESIS_HEIGHT);
	assert_int_equal(put_blob(fixture, "b", 1, &hash), 0);
	WFS_AUTO_RECORD struct wfs_record_parsed second = record_at(fixture, GENESIS_HEIGHT + 1);
	tamper_number(fixture, "journal", GENESIS_HEIGHT + 1, WFS_HASH_TEXT(&second.body.blob.hash),
		WFS_HASH_TEXT(&first.body.blob.hash));
	tamper_head_hash(fixture);

	assert_names(fixture, GENESIS_HEIGHT + 1);
}
