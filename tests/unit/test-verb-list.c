/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about turns: a list of them, and the records of one. */
#include "tests/fixture/verb.h"

#include "tests/fixture/turn.h"

static struct turn_run begin(struct world_fixture *fixture)
{
	return turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
}

static const json_t *turn_of(const struct asked *asked, size_t index)
{
	return json_array_get(result_of(asked, "turns"), index);
}

static const char *member(const json_t *turn, const char *name)
{
	const char *const text = json_string_value(json_object_get(turn, name));

	assert_non_null(text);
	return text;
}

WITH_ACTORS(turns_are_listed_with_what_they_did)
{
	const struct turn_run first = begin(fixture);
	const struct turn_run second = begin(fixture);
	AUTO_ASKED struct asked asked;

	turn_says(&first, WANTS(WANTS_ONE("a", "look", "{}") "," WANTS_ONE("b", "look", "{}")));
	turn_gives(&first, 0, "x");
	turn_gives(&first, 0, "x");
	turn_says(&first, WANTS(WANTS_ONE("c", "look", "{}")));
	turn_gives(&first, 0, "x");
	turn_says(&first,
		"{'content':'done','tool_calls':[],'usage':"
		"{'completion_tokens':2,'prompt_tokens':5,'total_tokens':7}}");
	ask_verb(fixture, "turns", "{}", &asked);

	assert_int_equal(json_array_size(result_of(&asked, "turns")), 2);
	const json_t *const ended = turn_of(&asked, 0);
	const json_t *const running = turn_of(&asked, 1);
	assert_string_equal(member(ended, "turn_id"), first.id);
	assert_string_equal(member(ended, "agent"), "alice");
	assert_string_equal(member(ended, "asked_by"), "tester");
	assert_string_equal(member(ended, "model"), "m");
	assert_string_equal(member(ended, "status"), "no_tool_calls");
	assert_int_equal(json_integer_value(json_object_get(ended, "tool_calls")), 3);
	assert_int_equal(json_integer_value(json_object_get(ended, "total_tokens")), 7);
	assert_int_equal(json_integer_value(json_object_get(ended, "turn")), 3);
	assert_int_equal(json_integer_value(json_object_get(ended, "max_turns")), 3);
	assert_true(json_integer_value(json_object_get(ended, "ended_ns")) >=
		json_integer_value(json_object_get(ended, "started_ns")));
	assert_string_equal(member(running, "turn_id"), second.id);
	assert_string_equal(member(running, "status"), "running");
	assert_int_equal(json_integer_value(json_object_get(running, "tool_calls")), 0);
	assert_null(json_object_get(running, "ended_ns"));
	assert_meta(&asked, height_of(fixture));
}

WITH_ACTORS(turns_may_be_those_of_an_agent)
{
	(void)begin(fixture);
	AUTO_ASKED struct asked alice;
	AUTO_ASKED struct asked bob;

	ask_verb(fixture, "turns", "{'agent':'alice'}", &alice);
	ask_verb(fixture, "turns", "{'agent':'bob'}", &bob);

	assert_int_equal(json_array_size(result_of(&alice, "turns")), 1);
	assert_int_equal(json_array_size(result_of(&bob, "turns")), 0);
}

WITH_ACTORS(turns_come_in_pages)
{
	const struct turn_run first = begin(fixture);
	const struct turn_run second = begin(fixture);
	AUTO_ASKED struct asked page;
	AUTO_ASKED struct asked rest;
	char payload[128];

	ask_verb(fixture, "turns", "{'limit':1}", &page);
	snprintf(payload, sizeof(payload), "{'limit':1,'cursor':'%s'}",
		text_of(&page, "next_cursor"));
	ask_verb(fixture, "turns", payload, &rest);

	assert_string_equal(member(turn_of(&page, 0), "turn_id"), first.id);
	assert_string_equal(member(turn_of(&rest, 0), "turn_id"), second.id);
	assert_null(result_of(&rest, "next_cursor"));
}

WITH_ACTORS(turns_that_are_not_seen_are_not_listed)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked nothing;

	(void)begin(fixture);
	assert_done(fixture, "tester", "{'action_type':'principal','id':'looker'}");
	ask_as(fixture, "looker", "turns", "{}", &nothing);
	assert_int_equal(nothing.call.status, -EACCES);
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/query@1','to':'looker',"
		"'params':{'scope':['turns/bob.*']}}");
	ask_as(fixture, "looker", "turns", "{}", &asked);

	assert_int_equal(json_array_size(result_of(&asked, "turns")), 0);
}

/* Checks the seqs of the records in an answer. */
static void assert_seqs(const struct asked *asked, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer seqs = {0};
	const json_t *record;
	size_t i;

	json_array_foreach(result_of(asked, "records"), i, record) {
		wfs_buffer_printf(&seqs, "%lld ",
			(long long)json_integer_value(json_object_get(record, "seq")));
	}
	assert_string_equal(wfs_buffer_text(&seqs), expected);
}

/* alice.8 has records 8 to 11, the other turn 12 to 15; the answer has those from 16 on. */
static const char *payload_of(const struct turn_run *run, const char *more)
{
	static char payload[256];

	snprintf(payload, sizeof(payload), "{'turn':'%s',%s}", run->id, more);
	return payload;
}

WITH_ACTORS(records_are_those_of_the_turn)
{
	const struct turn_run run = begin(fixture);
	AUTO_ASKED struct asked asked;

	(void)begin(fixture);
	turn_says(&run, SAYS("hi"));
	ask_verb(fixture, "journal-read", payload_of(&run, "'from':0"), &asked);

	assert_seqs(&asked, "8 9 10 11 16 17 18 19 ");
	assert_null(result_of(&asked, "next_from"));
}

WITH_ACTORS(records_of_a_turn_come_in_pages)
{
	const struct turn_run run = begin(fixture);
	AUTO_ASKED struct asked page;
	AUTO_ASKED struct asked rest;
	AUTO_ASKED struct asked end;

	(void)begin(fixture);
	turn_says(&run, SAYS("hi"));
	ask_verb(fixture, "journal-read", payload_of(&run, "'from':0,'limit':4"), &page);
	assert_seqs(&page, "8 9 10 11 ");
	assert_int_equal(integer_of(&page, "next_from"), 12);
	ask_verb(fixture, "journal-read", payload_of(&run, "'from':12"), &rest);

	assert_seqs(&rest, "16 17 18 19 ");
	assert_null(result_of(&rest, "next_from"));
	ask_verb(fixture, "journal-read", payload_of(&run, "'from':20"), &end);
	assert_seqs(&end, "");
	assert_null(result_of(&end, "next_from"));
}

WITH_ACTORS(a_turn_that_there_is_not_is_not_found)
{
	assert_verb_refused(fixture, "journal-read", "{'turn':'alice.99','from':0}",
		WFS_E_NOT_FOUND, "Turn 'alice.99' not found");
	assert_verb_refused(
		fixture, "journal-read", "{'turn':5,'from':0}", WFS_E_INVALID_ARGUMENT, "turn");
}

WITH_ACTORS(records_of_a_turn_that_are_not_seen_are_passed_over)
{
	const struct turn_run run = begin(fixture);
	AUTO_ASKED struct asked some;
	AUTO_ASKED struct asked none;

	assert_done(fixture, "tester", "{'action_type':'principal','id':'looker'}");
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/query@1','to':'looker',"
		"'params':{'scope':['journal/9.json','journal/0.json']}}");
	ask_as(fixture, "looker", "journal-read", payload_of(&run, "'from':0"), &some);
	assert_seqs(&some, "9 ");
	ask_as(fixture, "bob", "journal-read", "{'turn':'nobody.1','from':0}", &none);

	assert_int_equal(none.call.status, -ENOENT);
}

/* --- intents --- */

#define TOOL_CALL                                                                         \
	"{'action_type':'tool','arguments':{},'hash':'sha256:"                            \
	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff','idempotent':" \
	"false,'name':'git.push'}"

static const json_t *intent_in(const struct asked *asked, size_t index)
{
	return json_array_get(result_of(asked, "intents"), index);
}

/* Makes a call of an outside tool, whose answer is lost. @ret_id: id of its intent; caller frees */
static void lose_call(struct world_fixture *fixture, char **ret_id)
{
	const struct turn_run none = {.fixture = fixture};
	WFS_AUTO_JSON json_t *answer = NULL;

	assert_int_equal(act_as(fixture, "alice", TOOL_CALL, &answer), 0);
	*ret_id = strdup(wfs_json_text(answer, "intent_id"));
	assert_int_equal(turn_send_receipt(&none, *ret_id, "unknown",
				 "{'code':'unknown','message':'it may have taken place'}"),
		0);
}

WITH_ACTORS(intents_are_listed_with_what_waits_for_them)
{
	const struct turn_run run = begin(fixture);
	WFS_AUTO_FREE char *waits = turn_waits_for(&run, 0);
	WFS_AUTO_FREE char *lost = NULL;
	AUTO_ASKED struct asked all;
	AUTO_ASKED struct asked unknown;
	AUTO_ASKED struct asked of_bob;

	lose_call(fixture, &lost);
	ask_verb(fixture, "intents", "{}", &all);
	ask_verb(fixture, "intents", "{'state':'unknown','effect':'tool.outside'}", &unknown);
	ask_verb(fixture, "intents", "{'principal':'bob'}", &of_bob);

	assert_int_equal(json_array_size(result_of(&all, "intents")), 2);
	assert_string_equal(member(intent_in(&all, 0), "intent_id"), waits);
	assert_string_equal(member(intent_in(&all, 0), "run_id"), run.id);
	assert_string_equal(member(intent_in(&all, 0), "effect"), "llm.generate");
	assert_string_equal(member(intent_in(&all, 0), "state"), "open");
	assert_meta(&all, height_of(fixture));
	assert_int_equal(json_array_size(result_of(&unknown, "intents")), 1);
	assert_string_equal(member(intent_in(&unknown, 0), "intent_id"), lost);
	assert_string_equal(member(intent_in(&unknown, 0), "name"), "git.push");
	assert_string_equal(member(intent_in(&unknown, 0), "principal"), "alice");
	assert_int_equal(json_array_size(result_of(&of_bob, "intents")), 0);
	assert_verb_refused(
		fixture, "intents", "{'state':'lost'}", WFS_E_INVALID_ARGUMENT, "'state'");
}

WITH_ACTORS(intents_come_in_pages)
{
	AUTO_ASKED struct asked page;
	AUTO_ASKED struct asked rest;
	char payload[128];

	(void)begin(fixture);
	(void)begin(fixture);
	ask_verb(fixture, "intents", "{'limit':1}", &page);
	snprintf(payload, sizeof(payload), "{'limit':2,'cursor':'%s'}",
		text_of(&page, "next_cursor"));
	ask_verb(fixture, "intents", payload, &rest);

	assert_int_equal(json_array_size(result_of(&page, "intents")), 1);
	assert_int_equal(json_array_size(result_of(&rest, "intents")), 1);
	assert_null(result_of(&rest, "next_cursor"));
}

WITH_ACTORS(an_unknown_call_is_resolved_once)
{
	WFS_AUTO_FREE char *lost = NULL;
	AUTO_ASKED struct asked resolved;
	AUTO_ASKED struct asked all;
	char payload[160];

	lose_call(fixture, &lost);
	snprintf(
		payload, sizeof(payload), "{'intent_id':'%s','outcome':'done','result':[1]}", lost);
	ask_verb(fixture, "intent-resolve", payload, &resolved);
	ask_verb(fixture, "intents", "{}", &all);

	assert_string_equal(text_of(&resolved, "intent_id"), lost);
	assert_string_equal(text_of(&resolved, "outcome"), "done");
	assert_int_equal(json_array_size(result_of(&all, "intents")), 0);
	assert_verb_refused(
		fixture, "intent-resolve", payload, WFS_E_CONFLICT, "is answered already");
}
