/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that change a world, copy it and check it. */
#include "tests/fixture/command.h"

#include "kernel/manifest/manifest.h"

IN_FILLED_WORLD(blob_that_was_put_comes_back)
{
	char path[120];
	char hash[100];

	put_file(fixture->source, "data", "hello");
	snprintf(path, sizeof(path), "%s/data", fixture->source);
	AUTO_PRINTED struct printed put = RUN_IN(fixture, "blob", "put", path);
	assert_int_equal(put.status, WFS_EXIT_DONE);
	snprintf(hash, sizeof(hash), "%.*s", (int)strcspn(put.out, "\n"), put.out);
	AUTO_PRINTED struct printed get = RUN_IN(fixture, "blob", "get", hash);
	AUTO_PRINTED struct printed stat = RUN_IN(fixture, "blob", "stat", hash);
	AUTO_PRINTED struct printed bad = RUN_IN(fixture, "blob", "get", "12");

	assert_prints(&get, "hello");
	assert_says(stat.out, "\"size\":5");
	assert_misuse(&bad, "12", "--help");
}

IN_FILLED_WORLD(event_sends_a_value_from_the_line_or_a_file)
{
	char path[120];

	put_file(fixture->source, "event.json", "{\"key\":\"a\",\"op\":\"add\",\"n\":5}\n");
	snprintf(path, sizeof(path), "@%s/event.json", fixture->source);
	AUTO_PRINTED struct printed line =
		RUN_IN(fixture, "event", "test/Do@1", "{\"key\":\"a\",\"op\":\"add\",\"n\":4}");
	AUTO_PRINTED struct printed file = RUN_IN(fixture, "event", "test/Do@1", path);
	AUTO_PRINTED struct printed state_now = RUN_IN(fixture, "state", "cell", "a");

	assert_prints(&line, "{\"seqs\":[5]}\n");
	assert_prints(&file, "{\"seqs\":[6]}\n");
	assert_prints(&state_now, "{\"n\":12}\n");
}

IN_FILLED_WORLD(event_that_is_refused_says_why)
{
	AUTO_PRINTED struct printed json = RUN_IN(fixture, "event", "test/Do@1", "{");
	AUTO_PRINTED struct printed schema = RUN_IN(fixture, "event", "test/No@1", "{}");
	AUTO_PRINTED struct printed key = RUN_IN(
		fixture, "event", "test/Do@1", "{\"key\":\"a\",\"op\":\"set\"}", "--key", "b");

	assert_failed(&json, "worldfs: invalid_json: ");
	assert_failed(&schema, "worldfs: not_found: ");
	assert_failed(&key, "worldfs: invalid_argument: ");
}

IN_FILLED_WORLD(event_lines_sends_each_line_and_lists_those_refused)
{
	char path[120];

	put_lines(fixture,
		"{\"key\":\"a\",\"op\":\"add\",\"n\":1}\n"
		"{nonsense\n"
		"\n"
		"{\"key\":\"a\",\"op\":\"fail\"}\n"
		"{\"key\":\"a\",\"op\":\"add\",\"n\":1},\"key\":\"b\"\n"
		"{\"key\":\"a\",\"op\":\"add\",\"n\":1}",
		path);
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "event", "test/Do@1", path, "--lines");
	AUTO_PRINTED struct printed state_now = RUN_IN(fixture, "state", "cell", "a");

	assert_failed(&printed, "line 2: invalid_json: ");
	assert_says(printed.err, "line 4: runtime_error: ");
	assert_says(printed.err, "line 5: invalid_json: ");
	assert_says(printed.err, "2 events accepted, 3 refused");
	assert_string_equal(printed.out, "");
	assert_prints(&state_now, "{\"n\":5}\n");
}

IN_FILLED_WORLD(event_lines_of_a_large_file_are_all_sent)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char path[120];

	for (int i = 0; i < 20000; i++)
		wfs_buffer_append_text(&text, "{\"key\":\"a\",\"op\":\"add\",\"n\":1}\n");
	put_lines(fixture, wfs_buffer_text(&text), path);
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "event", "test/Do@1", path, "--lines", "--json");
	AUTO_PRINTED struct printed state_now = RUN_IN(fixture, "state", "cell", "a");

	assert_int_equal(printed.status, WFS_EXIT_DONE);
	assert_says(printed.out, "\"accepted\":20000,\"refused\":[]");
	assert_prints(&state_now, "{\"n\":20003}\n");
}

IN_FILLED_WORLD(event_lines_needs_a_file)
{
	AUTO_PRINTED struct printed printed =
		RUN_IN(fixture, "event", "test/Do@1", "{}", "--lines");

	assert_misuse(&printed, "--lines needs @FILE or @-", "Try 'worldfs event --help'.");
}

IN_FILLED_WORLD(snapshot_prints_the_hash_that_head_then_has)
{
	AUTO_PRINTED struct printed snapshot = RUN_IN(fixture, "snapshot");
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "head");

	assert_int_equal(snapshot.status, WFS_EXIT_DONE);
	snapshot.out[strcspn(snapshot.out, "\n")] = '\0';
	assert_says(head.out, snapshot.out);
}

IN_FILLED_WORLD(backup_makes_a_world_that_has_the_same_head)
{
	char directory[120];

	snprintf(directory, sizeof(directory), "%s/backup", fixture->root);
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "backup", directory);
	AUTO_PRINTED struct printed again = RUN_IN(fixture, "backup", directory);
	AUTO_PRINTED struct printed head = RUN_IN(fixture, "head");
	AUTO_PRINTED struct printed copied = RUN("-w", directory, "head");

	assert_prints(&printed, "");
	assert_says(printed.err, "height 5 is in ");
	assert_failed(&again, "already_exists: ");
	assert_prints(&copied, head.out);
}

IN_FILLED_WORLD(gc_drops_old_heights)
{
	AUTO_PRINTED struct printed printed = RUN_IN(fixture, "gc", "--keep-heights", "1");
	AUTO_PRINTED struct printed json = RUN_IN(fixture, "gc", "--since", "2", "--json");
	AUTO_PRINTED struct printed dropped =
		RUN_IN(fixture, "state", "cell", "a", "--exact-height", "4");
	AUTO_PRINTED struct printed kept =
		RUN_IN(fixture, "state", "cell", "a", "--exact-height", "5");

	assert_prints(&printed, "");
	assert_says(printed.err, "the first height is now 5; dropped 1 versions with 8 bytes");
	assert_says(json.out, "\"first_height\":5,");
	assert_failed(&dropped, "height_unavailable: height 4 was dropped");
	assert_prints(&kept, "{\"n\":3}\n");
}

IN_FILLED_WORLD(gc_refuses_what_it_does_not_understand)
{
	AUTO_PRINTED struct printed neither = RUN_IN(fixture, "gc");
	AUTO_PRINTED struct printed both =
		RUN_IN(fixture, "gc", "--since", "1", "--keep-heights", "1");
	AUTO_PRINTED struct printed word = RUN_IN(fixture, "gc", "--since", "now");

	assert_misuse(&neither, "either --keep-heights or --since", "Try 'worldfs gc --help'.");
	assert_misuse(&both, "either --keep-heights or --since", "Try 'worldfs gc --help'.");
	assert_misuse(&word, "--since: expected a number", "Try 'worldfs gc --help'.");
}

IN_FILLED_WORLD(gc_drops_records_and_the_journal_begins_with_a_baseline)
{
	AUTO_PRINTED struct printed gc = RUN_IN(fixture, "gc", "--since", "4", "--journal");
	AUTO_PRINTED struct printed journal = RUN_IN(fixture, "journal", "--limit", "1");
	AUTO_PRINTED struct printed old = RUN_IN(fixture, "journal", "--from", "1");
	AUTO_PRINTED struct printed verify = RUN_IN(fixture, "verify");
	AUTO_PRINTED struct printed replay = RUN_IN(fixture, "replay");

	assert_int_equal(gc.status, 0);
	assert_non_null(strstr(gc.err, "3 records with "));
	assert_int_equal(journal.status, 0);
	assert_non_null(strstr(journal.out, "\"kind\":\"baseline\""));
	assert_non_null(strstr(journal.out, "\"seq\":3,"));
	assert_failed(&old, "record 1 was dropped, the first that is kept is 3");
	assert_int_equal(verify.status, 0);
	assert_int_equal(replay.status, 0);
}

IN_FILLED_WORLD(verify_and_replay_of_a_good_world_find_nothing)
{
	AUTO_PRINTED struct printed verify = RUN_IN(fixture, "verify");
	AUTO_PRINTED struct printed replay = RUN_IN(fixture, "replay", "--json");

	assert_prints(&verify, "");
	assert_says(verify.err, "0 problems found");
	assert_prints(&replay, "{\"data\":{\"count\":0,\"problems\":[]}}\n");
}

IN_FILLED_WORLD(an_action_is_performed)
{
	AUTO_PRINTED struct printed done = RUN_IN(fixture, "invoke", "{\"action_type\":\"noop\"}");
	AUTO_PRINTED struct printed refused =
		RUN_IN(fixture, "invoke", "{\"action_type\":\"dance\"}");
	AUTO_PRINTED struct printed bad = RUN_IN(fixture, "invoke", "{");

	assert_int_equal(done.status, WFS_EXIT_DONE);
	assert_says(done.out, "\"ok\":true");
	assert_int_equal(refused.status, WFS_EXIT_FAILED);
	assert_says(refused.err, "Unknown action_type 'dance'");
	assert_int_equal(bad.status, WFS_EXIT_FAILED);
	assert_says(bad.err, "invalid_json");
}

IN_FILLED_WORLD(an_auction_is_ended_by_administrators)
{
	AUTO_PRINTED struct printed done = RUN_IN(fixture, "mint", "resolve");
	AUTO_PRINTED struct printed json = RUN_IN(fixture, "mint", "resolve", "--json");
	AUTO_PRINTED struct printed added = RUN_IN(fixture, "principal", "add", "alice");
	AUTO_PRINTED struct printed grant = RUN_IN(fixture, "grant", "alice", "act");
	AUTO_PRINTED struct printed refused = RUN_IN(fixture, "--as", "alice", "mint", "resolve");

	assert_int_equal(done.status, WFS_EXIT_DONE);
	assert_says(done.out, "\"winner_id\":null");
	assert_says(done.err, "No submissions");
	assert_says(json.out, "\"action_type\":\"resolve_mint\"");
	assert_says(added.err, "added alice");
	assert_int_equal(grant.status, WFS_EXIT_DONE);
	assert_failed(&refused, "worldfs: not_authorized: ");
}

/* --- calls of outside tools --- */

static json_t *answer_to(struct world_fixture *fixture, struct wfs_request *request)
{
	request->principal = WFS_PRINCIPAL_OPERATOR;
	if (wfs_world_call(fixture->world, request))
		fail_msg("%s", request->error.message);
	return request->answer;
}

/* Leaves a call in the world whose answer is lost. @ret_id: id of its intent; caller frees */
static void lose_call(struct world_fixture *fixture, char **ret_id)
{
	WFS_AUTO_JSON json_t *action = json_of(
		"{'action_type':'tool','arguments':{},'hash':'sha256:"
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff','idempotent':"
		"false,'name':'git.push'}");
	struct wfs_request call = {.kind = WFS_REQUEST_ACTION, .action.document = action};

	assert_int_equal(world_fixture_open(fixture), 0);
	WFS_AUTO_JSON json_t *answer = answer_to(fixture, &call);
	*ret_id = strdup(wfs_json_text(answer, "intent_id"));
	WFS_AUTO_JSON json_t *receipt = json_pack("{s:s, s:s, s:{s:s, s:s}, s:s}", "adapter_id",
		"test", "intent_id", *ret_id, "payload", "code", "unknown", "message", "lost",
		"status", "unknown");
	struct wfs_request lost = {.kind = WFS_REQUEST_RECEIPT, .receipt.document = receipt};
	json_decref(answer_to(fixture, &lost));
	world_fixture_close(fixture);
}

IN_FILLED_WORLD(a_lost_call_is_listed_until_it_is_resolved)
{
	WFS_AUTO_FREE char *id = NULL;

	lose_call(fixture, &id);
	AUTO_PRINTED struct printed alone = RUN_IN(fixture, "intents");
	AUTO_PRINTED struct printed unknown = RUN_IN(fixture, "intents", "ls", "unknown");
	AUTO_PRINTED struct printed asked = RUN_IN(fixture, "intents", "ls", "asked");
	AUTO_PRINTED struct printed maybe = RUN_IN(fixture, "intents", "resolve", id, "maybe");
	AUTO_PRINTED struct printed done =
		RUN_IN(fixture, "intents", "resolve", id, "done", "{\"n\":1}");
	AUTO_PRINTED struct printed again = RUN_IN(fixture, "intents", "resolve", id, "not-done");
	AUTO_PRINTED struct printed after = RUN_IN(fixture, "intents");

	assert_says(alone.out, id);
	assert_says(alone.out, "git.push");
	assert_says(unknown.out, id);
	assert_prints(&asked, "");
	assert_misuse(&maybe, "maybe", "--help");
	assert_int_equal(done.status, WFS_EXIT_DONE);
	assert_failed(&again, "worldfs: conflict: ");
	assert_prints(&after, "");
}
