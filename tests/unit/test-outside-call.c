/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of outside tools as they are folded: intents, receipts, and calls whose answers are lost.
 * The journal of each test is folded again after it. */
#include <semaphore.h>

#include "tests/fixture/turn.h"

#include "kernel/domain/outside/outside.h"
#include "kernel/fold/intent.h"
#include "kernel/manifest/grant.h"

#define HASH "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define CALL_OF(name, idempotent, more)                                \
	"{'action_type':'tool','arguments':{'path':'x'},'hash':'" HASH \
	"','idempotent':" idempotent ",'name':'" name "'" more "}"
#define CALL CALL_OF("git.push", "false", "")
#define READ CALL_OF("git.status", "true", "")
#define GIVES(text) "{'duration_ms':3,'output':'" text "','output_size':5,'structured':{'n':1}}"
#define FAILS(code) "{'code':'" code "','duration_ms':3,'message':'it broke'}"
#define LOST "{'code':'unknown','message':'it may have taken place'}"

/* Has alice make a call. Return: the id of its intent; caller frees. */
static char *begin_by(struct world_fixture *fixture, const char *principal, const char *action)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	return strdup(wfs_json_text(answer, "intent_id"));
}

static char *begin(struct world_fixture *fixture, const char *action)
{
	return begin_by(fixture, "alice", action);
}

static json_t *intent_of(struct world_fixture *fixture, const char *id)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.intent", id);

	return text ? json_of(text) : NULL;
}

static bool is_open(struct world_fixture *fixture, const char *id)
{
	WFS_AUTO_JSON json_t *intent = intent_of(fixture, id);

	return intent != NULL;
}

static int end(
	struct world_fixture *fixture, const char *id, const char *status, const char *payload)
{
	const struct turn_run run = {.fixture = fixture};

	return turn_send_receipt(&run, id, status, payload);
}

static int64_t counted(struct world_fixture *fixture, const char *principal)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "sys.principal", principal);
	WFS_AUTO_JSON json_t *document = json_of(text);

	return json_integer_value(json_object_get(document, "outside"));
}

static void resolve(struct world_fixture *fixture, const char *id, const char *outcome,
	char *action, size_t size)
{
	(void)fixture;
	snprintf(action, size,
		"{'action_type':'resolve','intent_id':'%s','outcome':'%s','result':{'by':'hand'}}",
		id, outcome);
}

/* --- an intent and its answer --- */

WITH_ACTORS(a_call_is_an_intent_before_it_is_made)
{
	WFS_AUTO_FREE char *id = begin(fixture, CALL);
	WFS_AUTO_JSON json_t *intent = intent_of(fixture, id);
	WFS_AUTO_JSON json_t *expected = json_of(
		"{'effect':'tool.outside',"
		"'origin':{'principal':'alice'},'outside':"
		"{'arguments':{'path':'x'},'hash':'" HASH "','idempotent':false,'name':'git.push'},"
		"'principal':'alice','state':'open'}");
	WFS_AUTO_RECORD struct wfs_record_parsed record =
		record_at(fixture, height_of(fixture) - 1);

	assert_true(json_equal(intent, expected));
	assert_int_equal(record.record.kind, WFS_RECORD_INTENT);
	assert_string_equal(record.body.intent.intent_id, id);
	assert_string_equal(record.body.intent.cap, "sys/tool@1");
	WFS_AUTO_JSON json_t *origin = json_of("{'principal':'alice'}");
	assert_true(json_equal(record.body.intent.origin, origin));
	WFS_AUTO_JSON json_t *params = json_of("{'arguments':{'path':'x'},'name':'git.push'}");
	assert_true(json_equal(record.body.intent.params, params));
	assert_int_equal(counted(fixture, "alice"), 1);
}

WITH_ACTORS(a_receipt_closes_the_intent)
{
	WFS_AUTO_FREE char *ok = begin(fixture, CALL);
	WFS_AUTO_FREE char *failed = begin(fixture, CALL);

	assert_int_equal(end(fixture, ok, "ok", GIVES("pushed")), 0);
	assert_int_equal(end(fixture, failed, "timeout", FAILS("timeout")), 0);

	assert_false(is_open(fixture, ok));
	assert_false(is_open(fixture, failed));
	assert_int_equal(counted(fixture, "alice"), 0);
	assert_int_equal(end(fixture, ok, "ok", GIVES("again")), -ESTALE);
	assert_int_equal(fixture->error.code, WFS_E_CONFLICT);
}

WITH_ACTORS(malformed_calls_leave_no_record)
{
	static const char *const calls[] = {
		CALL_OF("push", "false", ""),
		CALL_OF("git.", "false", ""),
		CALL_OF(".push", "false", ""),
		CALL_OF("git.pu/sh", "false", ""),
		CALL_OF("git.push", "1", ""),
		CALL_OF("git.push", "false", ",'called_by':'x'"),
		CALL_OF("git.push", "false", ",'more':1"),
		"{'action_type':'tool','arguments':[],'hash':'" HASH
		"','idempotent':false,'name':'git.push'}",
		"{'action_type':'tool','arguments':{},'hash':'x','idempotent':false,"
		"'name':'git.push'}",
		"{'action_type':'resolve','intent_id':'x','outcome':'done'}",
		"{'action_type':'resolve','intent_id':'" HASH "','outcome':'perhaps'}",
	};
	const uint64_t height = height_of(fixture);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++)
		assert_fails(fixture, "alice", calls[i], WFS_E_INVALID_ARGUMENT, "");
	assert_int_equal(height_of(fixture), height);
}

WITH_ACTORS(malformed_receipts_are_refused)
{
	WFS_AUTO_FREE char *id = begin(fixture, CALL);

	assert_int_equal(end(fixture, id, "ok", "{'output':'x'}"), -EINVAL);
	assert_int_equal(
		end(fixture, id, "ok", "{'duration_ms':1,'output':1,'output_size':1}"), -EINVAL);
	assert_int_equal(
		end(fixture, id, "ok", "{'duration_ms':1,'output':'x','output_size':1,'x':1}"),
		-EINVAL);
	assert_int_equal(end(fixture, id, "error", "{'message':'x'}"), -EINVAL);
	assert_int_equal(end(fixture, id, "lost", LOST), -EINVAL);

	assert_true(is_open(fixture, id));
	assert_int_equal(end(fixture, id, "cancelled", FAILS("cancelled")), 0);
}

/* Ends a call with a receipt that has @size bytes more between @before and @after. */
static int end_with(struct world_fixture *fixture, const char *id, const char *status,
	const char *before, int size, const char *after)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text, before);
	for (int i = 0; i < size; i++)
		wfs_buffer_append_byte(&text, 'a');
	wfs_buffer_append_text(&text, after);
	return end(fixture, id, status, wfs_buffer_text(&text));
}

WITH_ACTORS(a_receipt_has_bounds)
{
	static const struct {
		const char *status, *before, *after;
		int most; /* bytes between these; canonical JSON of a part has the quotes, too */
	} cases[] = {
		{"ok", "{'duration_ms':1,'output_size':0,'output':'", "'}", WFS_OUTSIDE_INLINE_MAX},
		{"error", "{'code':'effect_failed','message':'", "'}", WFS_OUTSIDE_INLINE_MAX},
		{"ok", "{'duration_ms':1,'output':'','output_size':0,'structured':'", "'}",
			WFS_OUTSIDE_INLINE_MAX - 2},
		{"ok", "{'duration_ms':1,'output':'','output_size':0,'content':['", "']}",
			WFS_OUTSIDE_INLINE_MAX - 4},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		WFS_AUTO_FREE char *id = begin(fixture, CALL);

		print_message("%s\n", cases[i].before);
		assert_int_equal(end_with(fixture, id, cases[i].status, cases[i].before,
					 cases[i].most + 1, cases[i].after),
			-EFBIG);
		assert_true(is_open(fixture, id));
		assert_int_equal(end_with(fixture, id, cases[i].status, cases[i].before,
					 cases[i].most, cases[i].after),
			0);
	}
}

WITH_ACTORS(arguments_have_a_bound)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_append_text(&text,
		"{'action_type':'tool','hash':'" HASH
		"','idempotent':false,'name':'git.push','arguments':{'a':'");
	for (int i = 0; i < WFS_OUTSIDE_INPUT_MAX; i++)
		wfs_buffer_append_byte(&text, 'a');
	wfs_buffer_append_text(&text, "'}}");

	assert_fails(fixture, "alice", wfs_buffer_text(&text), WFS_E_TOO_LARGE, "'arguments'");
}

WITH_ACTORS(a_principal_has_a_bounded_number_of_calls)
{
	WFS_AUTO_FREE char *first = begin(fixture, CALL);

	for (int i = 1; i < WFS_PRINCIPAL_OUTSIDE_MAX; i++)
		free(begin(fixture, CALL));
	assert_fails(fixture, "alice", CALL, WFS_E_QUOTA_EXCEEDED, "calls of outside tools");
	free(begin_by(fixture, "bob", CALL));

	assert_int_equal(end(fixture, first, "unknown", LOST), 0);
	assert_fails(fixture, "alice", CALL, WFS_E_QUOTA_EXCEEDED, "or an unknown one");
	char action[256];
	resolve(fixture, first, "done", action, sizeof(action));
	assert_done(fixture, "tester", action);
	free(begin(fixture, CALL));
}

static void wake_caller(struct wfs_request *request)
{
	sem_post(request->context);
}

/* Sends @count calls at once, by a principal without a cell, whose calls are not counted. */
static void send_calls(struct world_fixture *fixture, const json_t *action, size_t count)
{
	struct wfs_request *const requests = calloc(count, sizeof(*requests));
	sem_t done;

	sem_init(&done, 0, 0);
	for (size_t i = 0; i < count; i++) {
		requests[i] = (struct wfs_request){.kind = WFS_REQUEST_ACTION,
			.principal = "tester",
			.done = wake_caller,
			.context = &done,
			.action.document = action};
		assert_int_equal(wfs_world_submit(fixture->world, &requests[i]), 0);
	}
	for (size_t i = 0; i < count; i++)
		while (sem_wait(&done) != 0)
			;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(requests[i].result, 0);
		json_decref(requests[i].answer);
	}
	sem_destroy(&done);
	free(requests);
}

/* The journal is not folded again, because that would take long. */
WITH_ACTORS_DAMAGED(a_world_has_a_bounded_number_of_calls)
{
	WFS_AUTO_JSON json_t *action = json_of(CALL);

	for (int i = 0; i < WFS_OUTSIDE_INTENTS_MAX / 1024; i++)
		send_calls(fixture, action, 1024);
	assert_fails(fixture, "alice", CALL, WFS_E_OVERLOADED, "no outside tool is called");
	(void)turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
}

/* --- an answer that is lost --- */

WITH_ACTORS(an_unknown_call_stays_until_it_is_resolved)
{
	char action[256];
	WFS_AUTO_FREE char *id = begin(fixture, CALL);

	assert_int_equal(end(fixture, id, "unknown", LOST), 0);
	WFS_AUTO_JSON json_t *intent = intent_of(fixture, id);
	assert_string_equal(wfs_json_text(intent, "state"), "unknown");
	assert_int_equal(counted(fixture, "alice"), 1);
	assert_int_equal(end(fixture, id, "ok", GIVES("late")), -ESTALE);

	resolve(fixture, id, "not-done", action, sizeof(action));
	const uint64_t height = height_of(fixture);
	assert_done(fixture, "tester", action);
	assert_false(is_open(fixture, id));
	assert_int_equal(counted(fixture, "alice"), 0);
	assert_int_equal(height_of(fixture), height + 1);
	assert_fails(fixture, "tester", action, WFS_E_CONFLICT, "answered already");
}

WITH_ACTORS(only_unknown_calls_are_resolved)
{
	char action[256];
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));
	WFS_AUTO_FREE char *open = begin(fixture, CALL);
	WFS_AUTO_FREE char *asked = turn_waits_for(&run, 0);

	resolve(fixture, open, "done", action, sizeof(action));
	assert_fails(fixture, "tester", action, WFS_E_CONFLICT, "is under way");
	resolve(fixture, asked, "done", action, sizeof(action));
	assert_fails(fixture, "tester", action, WFS_E_INVALID_ARGUMENT, "not a call of an outside");
	resolve(fixture, HASH, "done", action, sizeof(action));
	assert_fails(fixture, "tester", action, WFS_E_NOT_FOUND, "there is no intent");
	assert_int_equal(turn_send_receipt(&run, asked, "unknown", LOST), -EINVAL);
}

/* --- calls of turns --- */

#define WITH_ORIGIN                                                           \
	"{'action_type':'tool','arguments':{},'called_by':'%s','hash':'" HASH \
	"','idempotent':%s,'name':'git.push'}"

/* A turn whose model wants the tool `look`, which is an outside tool here. @ret_asked: the intent
 * of its tool call; caller frees */
static struct turn_run turn_that_calls(struct world_fixture *fixture, char **ret_asked)
{
	struct turn_run run = turn_begin(fixture, TURN_STEP("3", "{}", TURN_ASK));

	turn_says(&run, WANTS(WANTS_ONE("c", "look", "{}")));
	*ret_asked = turn_waits_for(&run, 0);
	return run;
}

static char *pass_on(struct world_fixture *fixture, const char *asked, const char *idempotent)
{
	char action[512];

	snprintf(action, sizeof(action), WITH_ORIGIN, asked, idempotent);
	return begin(fixture, action);
}

WITH_ACTORS(the_receipt_answers_the_call_of_a_turn)
{
	WFS_AUTO_FREE char *asked = NULL;
	struct turn_run run = turn_that_calls(fixture, &asked);
	WFS_AUTO_FREE char *id = pass_on(fixture, asked, "false");
	WFS_AUTO_JSON json_t *origin = json_pack("{s:s}", "intent_id", asked);
	WFS_AUTO_JSON json_t *passed = intent_of(fixture, asked);
	WFS_AUTO_JSON json_t *intent = intent_of(fixture, id);
	const uint64_t height = height_of(fixture);

	assert_string_equal(wfs_json_text(passed, "began"), id);
	assert_true(json_equal(json_object_get(intent, "origin"), origin));
	assert_int_equal(end(fixture, id, "ok", GIVES("clean")), 0);

	assert_false(is_open(fixture, asked));
	assert_turn(&run, "sys.tool_call", ".1.0",
		"{'duration_ms':3,'is_error':false,'output':'clean','output_size':5,'status':'done'"
		"}");
	/* receipt, result, end of the turn, next request and its intent: no other receipt */
	assert_int_equal(height_of(fixture), height + 5);
	turn_says(&run, SAYS("done"));
	assert_ended(&run, "no_tool_calls");
}

WITH_ACTORS(a_turn_gets_the_failure_of_its_call)
{
	WFS_AUTO_FREE char *asked = NULL;
	struct turn_run run = turn_that_calls(fixture, &asked);
	WFS_AUTO_FREE char *id = pass_on(fixture, asked, "false");

	assert_int_equal(end(fixture, id, "error", FAILS("effect_failed")), 0);

	assert_output(&run, ".1.0", "Tool execution failed: it broke");
}

WITH_ACTORS(a_turn_learns_that_an_answer_was_lost)
{
	WFS_AUTO_FREE char *asked = NULL;
	struct turn_run run = turn_that_calls(fixture, &asked);
	WFS_AUTO_FREE char *id = pass_on(fixture, asked, "false");

	assert_int_equal(end(fixture, id, "unknown", LOST), 0);

	assert_output(&run, ".1.0", "Tool execution failed: it may have taken place");
	assert_false(is_open(fixture, asked));
	assert_true(is_open(fixture, id));
}

WITH_ACTORS(a_call_of_a_turn_is_made_once)
{
	char action[512];
	WFS_AUTO_FREE char *asked = NULL;
	(void)turn_that_calls(fixture, &asked);
	free(pass_on(fixture, asked, "true"));

	snprintf(action, sizeof(action), WITH_ORIGIN, asked, "true");
	assert_fails(fixture, "alice", action, WFS_E_CONFLICT, "has begun");
	assert_fails(fixture, "bob", action, WFS_E_INVALID_ARGUMENT, "no tool call of 'bob'");
	assert_int_equal(counted(fixture, "alice"), 1);
	assert_int_equal(counted(fixture, "bob"), 0);
}

WITH_ACTORS(a_call_that_nobody_waits_for_is_answered)
{
	char cancel[256];
	WFS_AUTO_FREE char *asked = NULL;
	struct turn_run run = turn_that_calls(fixture, &asked);
	WFS_AUTO_FREE char *id = pass_on(fixture, asked, "true");

	snprintf(cancel, sizeof(cancel), "{'action_type':'cancel','turn_id':'%s'}", run.id);
	assert_done(fixture, "tester", cancel);
	assert_true(is_open(fixture, id));
	assert_int_equal(end(fixture, id, "ok", GIVES("late")), 0);

	assert_false(is_open(fixture, id));
	assert_ended(&run, "cancelled");
}
