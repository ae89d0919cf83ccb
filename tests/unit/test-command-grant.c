/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for rights: granting, revoking, and when grants end. */
#include "tests/fixture/command.h"

static void with_alice(struct world_fixture *fixture)
{
	AUTO_PRINTED struct printed added = RUN_IN(fixture, "principal", "add", "alice");

	assert_prints(&added, "");
	assert_says(added.err, "added alice");
}

IN_FILLED_WORLD(a_grant_is_named_and_shows_what_it_covers)
{
	with_alice(fixture);
	AUTO_PRINTED struct printed grant =
		RUN_IN(fixture, "grant", "alice", "query", "{\"scope\":[\"reducers/cell/a\"]}");
	AUTO_PRINTED struct printed list =
		RUN_IN(fixture, "--as", "alice", "fs", "ls", "reducers/cell");
	AUTO_PRINTED struct printed other =
		RUN_IN(fixture, "--as", "alice", "fs", "cat", "reducers/cell/b%2Fc");

	assert_prints(&grant, "alice.query.1\n");
	assert_prints(&list, "a\n");
	assert_failed(&other, "worldfs: not_found: ");
}

IN_FILLED_WORLD(what_is_revoked_is_refused)
{
	with_alice(fixture);
	AUTO_PRINTED struct printed grant =
		RUN_IN(fixture, "grant", "alice", "query", "--name", "look");
	AUTO_PRINTED struct printed revoke = RUN_IN(fixture, "revoke", "look");
	AUTO_PRINTED struct printed read = RUN_IN(fixture, "--as", "alice", "manifest");
	AUTO_PRINTED struct printed again = RUN_IN(fixture, "revoke", "look");

	assert_prints(&grant, "look\n");
	assert_prints(&revoke, "");
	assert_says(revoke.err, "revoked look");
	assert_failed(&read, "worldfs: not_authorized: ");
	assert_failed(&again, "worldfs: not_found: ");
}

IN_FILLED_WORLD(a_budget_is_kept_in_the_grant)
{
	with_alice(fixture);
	AUTO_PRINTED struct printed grant = RUN_IN(fixture, "grant", "alice", "sys/act@1",
		"--calls", "3", "--expires", "2100-01-31T12:00:00Z");
	AUTO_PRINTED struct printed state_now =
		RUN_IN(fixture, "state", "sys.grant", "alice.act.1");
	AUTO_PRINTED struct printed wrong =
		RUN_IN(fixture, "grant", "alice", "act", "--calls", "many");

	assert_prints(&grant, "alice.act.1\n");
	assert_prints(&state_now,
		"{\"budget\":{\"calls\":3},\"cap\":\"sys/act@1\","
		"\"expires_at_ns\":4105080000000000000,\"granted_by\":\"operator\","
		"\"name\":\"alice.act.1\",\"params\":{},\"to\":\"alice\"}\n");
	assert_misuse(&wrong, "many", "grant --help");
}

IN_FILLED_WORLD(expiry_is_a_duration_or_a_time)
{
	static const char *const good[] = {"+1s", "+10m", "+1h", "+7d", "2100-01-31T12:00:00Z",
		"2100-01-31T12:00:00+01:00", "2100-01-31T12:00:00-05:30"};
	static const char *const bad[] = {"", "+", "1h", "+1", "+1w", "+1h30m", "+-1h",
		"+99999999999999d", "2100-01-31", "2100-01-31T12:00:00", "2100-01-31T12:00:00z",
		"2100-01-31T12:00:00+0100", "2100-01-31T12:00:00+01:00 ",
		"2100-01-31T12:00:00+99:00", "2100-02-31T25:00:00Z", "9999-01-01T00:00:00Z",
		"1960-01-01T00:00:00Z"};
	with_alice(fixture);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(good); i++) {
		print_message("'%s'\n", good[i]);
		AUTO_PRINTED struct printed printed =
			RUN_IN(fixture, "grant", "alice", "query", "--expires", good[i]);
		assert_int_equal(printed.status, WFS_EXIT_DONE);
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(bad); i++) {
		print_message("'%s'\n", bad[i]);
		AUTO_PRINTED struct printed printed =
			RUN_IN(fixture, "grant", "alice", "query", "--expires", bad[i]);
		assert_misuse(&printed, "--expires: expected a time", "grant --help");
	}
}

IN_FILLED_WORLD(an_offset_is_taken_off)
{
	with_alice(fixture);
	AUTO_PRINTED struct printed grant = RUN_IN(
		fixture, "grant", "alice", "query", "--expires", "2100-01-31T12:00:00+01:00");
	AUTO_PRINTED struct printed state_now =
		RUN_IN(fixture, "state", "sys.grant", "alice.query.1");

	assert_prints(&grant, "alice.query.1\n");
	assert_says(state_now.out, "\"expires_at_ns\":4105076400000000000,");
}

IN_FILLED_WORLD(a_principal_begins_with_scrip_and_quotas)
{
	AUTO_PRINTED struct printed added = RUN_IN(fixture, "principal", "add", "alice", "--scrip",
		"100", "--quota", "disk=5", "--quota=llm_tokens=7", "--quota=journal=9");
	AUTO_PRINTED struct printed ledger = RUN_IN(fixture, "state", "sys.ledger", "alice");
	AUTO_PRINTED struct printed quotas = RUN_IN(fixture, "state", "sys.resource", "alice");

	assert_prints(&added, "");
	assert_prints(&ledger, "{\"scrip\":100}\n");
	assert_prints(&quotas,
		"{\"disk\":{\"quota\":5,\"used\":0},\"journal\":{\"quota\":9,\"used\":0},"
		"\"llm_tokens\":{\"quota\":7,\"used\":0}}\n");
}

IN_FILLED_WORLD(what_a_principal_begins_with_is_checked)
{
	static const char *const bad[] = {"", "disk", "=1", "disk=", "disk=x", "disk=-1", "disk=1x",
		"a_name_that_is_longer_than_any_that_there_could_be=1"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(bad); i++) {
		print_message("'%s'\n", bad[i]);
		AUTO_PRINTED struct printed printed =
			RUN_IN(fixture, "principal", "add", "alice", "--quota", bad[i]);
		assert_misuse(&printed, "--quota: expected ", "principal add --help");
	}
	AUTO_PRINTED struct printed scrip =
		RUN_IN(fixture, "principal", "add", "alice", "--scrip", "some");
	AUTO_PRINTED struct printed unknown =
		RUN_IN(fixture, "principal", "add", "alice", "--quota", "gpu=1");
	AUTO_PRINTED struct printed large =
		RUN_IN(fixture, "principal", "add", "alice", "--scrip", "9007199254740993");
	assert_misuse(
		&scrip, "--scrip: expected a number from 0, got 'some'", "principal add --help");
	assert_failed(&unknown, "worldfs: invalid_argument: 'quotas': unknown member 'gpu'");
	assert_failed(&large, "worldfs: invalid_argument: 'scrip': expected an integer from 0 to");
}
