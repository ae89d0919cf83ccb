/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of reducers: what they ask for, what is recorded, and which answers they get. */
#include "tests/fixture/asking.h"

#include "kernel/base/encode.h"
#include "kernel/check/replay.h"

/* The answers that the cell @key got; release with json_decref. */
static json_t *answers_of(struct world_fixture *fixture, const char *key)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, "asker", key);
	WFS_AUTO_JSON json_t *state = NULL;

	assert_non_null(text);
	assert_int_equal(wfs_json_parse(text, strlen(text), &state, NULL), 0);
	return json_incref(json_object_get(state, "answers"));
}

static void assert_text(const json_t *object, const char *name, const char *expected)
{
	const char *const text = json_string_value(json_object_get(object, name));

	assert_non_null(text);
	assert_string_equal(text, expected);
}

/* Checks that answer @index has this status, and @code as the code of its payload, or no code. */
static void assert_answer(const json_t *answers, size_t index, const char *status, const char *code)
{
	const json_t *const answer = json_array_get(answers, index);
	const json_t *const payload = json_object_get(answer, "payload");

	print_message("answer %zu\n", index);
	assert_text(answer, "status", status);
	if (code)
		assert_text(payload, "code", code);
	else
		assert_null(json_object_get(payload, "code"));
}

static void assert_kinds(struct world_fixture *fixture, uint64_t seq, const char *kinds)
{
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};

	for (; seq < height_of(fixture); seq++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, seq);

		wfs_buffer_printf(&found, "%s%s", found.size ? " " : "",
			wfs_record_kind_name(parsed.record.kind));
	}
	assert_string_equal(wfs_buffer_text(&found), kinds);
}

static int64_t height_told(const json_t *answers, size_t index)
{
	const json_t *const payload = json_object_get(json_array_get(answers, index), "payload");

	return json_integer_value(
		json_object_get(json_object_get(payload, "meta"), "journal_height"));
}

/* --- being told --- */

ASKING(a_reducer_is_told_what_it_asked_for)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", "[]", ""), 0);
	assert_int_equal(ask_for(fixture, "a", asking_for_everything, ""), 0);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");

	assert_int_equal(json_array_size(answers), 7);
	for (size_t i = 0; i < 4; i++)
		assert_answer(answers, i, "ok", NULL);
	assert_answer(answers, 4, "error", "reducer_missing");
	assert_answer(answers, 5, "error", "invalid_consistency");
	assert_answer(answers, 6, "error", "height_unavailable");
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(height_told(answers, i), i == 1 ? 2 : 3);
	assert_text(json_array_get(answers, 2), "effect", "introspect.journal_head");
	assert_int_equal(judge.asked, 7);
	assert_int_equal(judge.released, 7);
	assert_string_equal(judge.last, "tester asker a introspect.manifest");
	world_fixture_close(fixture);
}

ASKING(a_request_reads_the_world_as_it_was_before_it)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a",
				 "[{'effect':'introspect.reducer_state','params':"
				 "{'reducer':'asker','key_b64':'YQ=='}}]",
				 ""),
		0);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");

	assert_answer(answers, 0, "ok", NULL);
	assert_int_equal(height_told(answers, 0), ASKING_HEIGHT);
	assert_null(json_object_get(
		json_object_get(json_array_get(answers, 0), "payload"), "state_b64"));
	world_fixture_close(fixture);
}

ASKING(what_is_wrong_with_params_is_told)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a",
				 "[{'effect':'introspect.reducer_state'},"
				 "{'effect':'introspect.manifest','params':5},"
				 "{'effect':'introspect.journal_head','params':{'x':1}},"
				 "{'effect':'introspect.list_cells',"
				 "'params':{'reducer':'asker','limit':0}}]",
				 ""),
		0);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");

	assert_answer(answers, 0, "error", "missing_argument");
	for (size_t i = 1; i < 4; i++)
		assert_answer(answers, i, "error", "invalid_argument");
	world_fixture_close(fixture);
}

ASKING(answers_are_followed_by_what_they_cause)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a",
				 "[{'effect':'introspect.journal_head'},"
				 "{'effect':'introspect.journal_head'}]",
				 ",'tell':true,'after':[{'effect':'introspect.manifest'}]"),
		0);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");

	assert_kinds(fixture, ASKING_HEIGHT,
		"event intent receipt intent receipt event event intent receipt event");
	assert_int_equal(json_array_size(answers), 3);
	assert_text(json_array_get(answers, 2), "effect", "introspect.manifest");
	assert_state(fixture, "notes", "", "['ok','ok','ok']");
	world_fixture_close(fixture);
}

/* --- records --- */

ASKING(intents_and_receipts_are_recorded)
{
	struct asking_judge judge = asking_judge();
	WFS_AUTO_JSON json_t *document = json_pack("{s:i, s:i}", "cause", 2, "index", 1);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char id[WFS_HASH_TEXT_SIZE];

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a",
				 "[{'effect':'introspect.journal_head'},"
				 "{'effect':'introspect.list_cells','params':{'reducer':'asker'}}]",
				 ""),
		0);
	WFS_AUTO_RECORD struct wfs_record_parsed intent = record_at(fixture, 5);
	WFS_AUTO_RECORD struct wfs_record_parsed receipt = record_at(fixture, 6);
	wfs_json_write_document(document, &text);
	const struct wfs_hash hash = wfs_hash_of(text.data, text.size);
	wfs_hash_text(&hash, id);

	assert_kinds(fixture, ASKING_HEIGHT, "event intent receipt intent receipt");
	assert_true(intent.record.derived && receipt.record.derived);
	assert_int_equal(intent.record.cause, 2);
	assert_int_equal(receipt.record.cause, 5);
	assert_string_equal(intent.record.principal, "tester");
	assert_false(intent.record.changed);
	assert_true(receipt.record.changed);
	assert_string_equal(intent.body.intent.intent_id, id);
	assert_string_equal(intent.body.intent.cap, "sys/query@1");
	assert_string_equal(intent.body.intent.effect, "introspect.list_cells");
	assert_text(intent.body.intent.origin, "reducer", "asker");
	assert_text(intent.body.intent.origin, "key", "a");
	assert_text(intent.body.intent.params, "reducer", "asker");
	assert_string_equal(receipt.body.receipt.intent_id, id);
	assert_string_equal(receipt.body.receipt.adapter_id, "kernel.introspect");
	assert_string_equal(receipt.body.receipt.status, "ok");
	world_fixture_close(fixture);
}

/* --- refusals --- */

ASKING(a_refusal_is_a_decision_and_is_told)
{
	struct asking_judge judge = asking_judge();

	judge.r = -EACCES;
	judge.judgement.error.code = WFS_E_POLICY_DENIED;
	judge.judgement.decision.grant = "tester.query.1";
	judge.judgement.decision.policy = "test/strict@1";
	judge.judgement.decision.rule_known = true;
	judge.judgement.decision.rule_index = 3;
	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", "[{'effect':'introspect.journal_head'}]", ""), 0);
	WFS_AUTO_RECORD struct wfs_record_parsed decision = record_at(fixture, 4);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");

	assert_kinds(fixture, ASKING_HEIGHT, "event intent decision");
	assert_string_equal(decision.body.decision.decision, "deny");
	assert_string_equal(decision.body.decision.code, "policy_denied");
	assert_string_equal(decision.body.decision.effect, "introspect.journal_head");
	assert_string_equal(decision.body.decision.grant, "tester.query.1");
	assert_string_equal(decision.body.decision.policy, "test/strict@1");
	assert_int_equal(decision.body.decision.rule_index, 3);
	assert_answer(answers, 0, "error", "policy_denied");
	assert_int_equal(judge.released, 1);
	world_fixture_close(fixture);
}

ASKING(without_a_judge_everything_is_refused)
{
	assert_int_equal(ask_for(fixture, "a", "[{'effect':'introspect.journal_head'}]", ""), 0);
	WFS_AUTO_RECORD struct wfs_record_parsed decision = record_at(fixture, 4);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");

	assert_string_equal(decision.body.decision.code, "not_authorized");
	assert_null(decision.body.decision.policy);
	assert_int_equal(decision.body.decision.rule_index, -1);
	assert_answer(answers, 0, "error", "not_authorized");
}

ASKING(a_judge_that_fails_fails_the_request)
{
	struct asking_judge judge = asking_judge();

	judge.r = -EIO;
	judge.judgement.error.code = WFS_E_INTERNAL_ERROR;
	wfs_world_judge(fixture->world, &judge.judge);
	assert_event_refused(fixture, "test/Ask@1",
		"{'key':'a','effects':[{'effect':'introspect.journal_head'}]}", NULL, -EIO,
		WFS_E_INTERNAL_ERROR);
	world_fixture_close(fixture);
}

static bool sees_nothing(const struct wfs_introspect_filter *filter)
{
	(void)filter;
	return false;
}

static bool sees_no_reducer(const struct wfs_introspect_filter *filter, struct wfs_bytes name)
{
	(void)filter;
	(void)name;
	return false;
}

ASKING(what_is_out_of_sight_is_not_told)
{
	const struct wfs_introspect_filter filter = {sees_nothing, sees_no_reducer, NULL};
	struct asking_judge judge = asking_judge();

	judge.judgement.filter = &filter;
	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a",
				 "[{'effect':'introspect.manifest'},"
				 "{'effect':'introspect.list_cells','params':{'reducer':'asker'}}]",
				 ""),
		0);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");

	assert_answer(answers, 0, "error", "not_found");
	assert_answer(answers, 1, "error", "reducer_missing");
	world_fixture_close(fixture);
}

/* --- what fails the request --- */

static void assert_fails(struct world_fixture *fixture, const char *effects, const char *says)
{
	WFS_AUTO_BUFFER struct wfs_buffer value = {0};

	wfs_buffer_printf(&value, "{'key':'a','effects':%s}", effects);
	assert_event_refused(
		fixture, "test/Ask@1", wfs_buffer_text(&value), NULL, -EIO, WFS_E_RUNTIME_ERROR);
	if (!strstr(fixture->error.message, says))
		fail_msg("'%s' does not say '%s'", fixture->error.message, says);
}

ASKING(effects_that_are_not_declared_or_malformed_fail_the_request)
{
	assert_fails(fixture, "[{'effect':'introspect.status'}]",
		"reducer 'asker' asked for the effect 'introspect.status', which its definition "
		"does not declare");
	assert_fails(fixture, "[{'effect':'http.get'}]", "'http.get'");
	assert_fails(fixture, "[{'params':{}}]", "'effect' is missing");
	assert_fails(fixture, "[{'effect':5}]", "'effect': expected a string");
	assert_fails(fixture, "[{'effect':'introspect.manifest','x':1}]", "unknown member 'x'");
	assert_fails(fixture, "[7]", "expected an object, got an integer");
}

/* Appends a list of @count effects. */
static void append_effects(struct wfs_buffer *buffer, const char *effect, int count)
{
	for (int i = 0; i < count; i++)
		wfs_buffer_printf(buffer, "%s{'effect':'%s'}", i ? "," : "[", effect);
	wfs_buffer_append_byte(buffer, ']');
}

ASKING(a_request_asks_for_so_many_effects_and_no_more)
{
	WFS_AUTO_BUFFER struct wfs_buffer most = {0};
	WFS_AUTO_BUFFER struct wfs_buffer more = {0};

	append_effects(&most, "introspect.journal_head", WFS_EFFECTS_MAX);
	append_effects(&more, "introspect.journal_head", WFS_EFFECTS_MAX + 1);

	assert_fails(fixture, wfs_buffer_text(&more), "more than 32 effects");
	assert_int_equal(ask_for(fixture, "a", wfs_buffer_text(&most), ""), 0);
}

ASKING(a_receipt_that_is_too_large_is_an_error)
{
	struct asking_judge judge = asking_judge();
	WFS_AUTO_BUFFER struct wfs_buffer many = {0};

	append_effects(&many, "introspect.manifest", WFS_EFFECTS_MAX);
	wfs_world_judge(fixture->world, &judge.judge);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ask_for(fixture, "a", wfs_buffer_text(&many), ""), 0);
	assert_int_equal(ask_for(fixture, "b",
				 "[{'effect':'introspect.reducer_state','params':"
				 "{'reducer':'asker','key_b64':'YQ=='}}]",
				 ""),
		0);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "b");

	assert_answer(answers, 0, "error", "too_large");
	assert_true(height_told(answers, 0) > ASKING_HEIGHT);
	world_fixture_close(fixture);
}

/* --- answers that are read back --- */

static int read_back(
	enum wfs_record_kind kind, enum wfs_effect effect, const char *body, const char *event)
{
	const struct wfs_intent intent = {.effect = effect, .id = wfs_intent_id(5, 0)};
	WFS_AUTO_BUFFER struct wfs_buffer quoted = {0};
	WFS_AUTO_BUFFER struct wfs_buffer told = {0};
	WFS_AUTO_OUTCOME struct wfs_outcome answer = {0};
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = {.record = {.kind = kind}};
	char id[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&intent.id, id);
	wfs_buffer_printf(&quoted, "{'intent_id':'%s',%s}", id, body);
	print_message("%s\n", body);
	parsed.json = json_of(wfs_buffer_text(&quoted));
	int r = wfs_body_read(kind, parsed.json, &parsed.body, NULL);
	if (!r)
		r = wfs_outcome_read(&parsed, &intent, &answer);
	if (r)
		return r;
	assert_int_equal(answer.kind, kind);
	json_object_del(answer.event, "intent_id");
	wfs_json_write(answer.event, &told);
	WFS_AUTO_FREE char *expected = json_text(event);
	assert_string_equal(wfs_buffer_text(&told), expected);
	return 0;
}

#define RECEIPT(status, payload) \
	"'adapter_id':'kernel.introspect','status':'" status "','payload':" payload

TEST(receipts_and_decisions_are_read_back)
{
	assert_int_equal(read_back(WFS_RECORD_RECEIPT, WFS_EFFECT_INTROSPECT_MANIFEST,
				 RECEIPT("error", "{'code':'not_found','message':'m'}"),
				 "{'effect':'introspect.manifest','payload':{'code':'not_found',"
				 "'message':'m'},'status':'error'}"),
		0);
	assert_int_equal(read_back(WFS_RECORD_DECISION, WFS_EFFECT_INTROSPECT_MANIFEST,
				 "'code':'expired','decision':'deny','effect':"
				 "'introspect.manifest','rule_index':1",
				 "{'effect':'introspect.manifest','payload':{'code':'expired',"
				 "'message':'the grant has expired'},'status':'error'}"),
		0);
}

TEST(what_is_no_answer_is_refused)
{
	static const char *const receipts[] = {
		RECEIPT("ok", "{}"),
		RECEIPT("done", "{'code':'not_found','message':'m'}"),
		RECEIPT("error", "{'code':'not_found'}"),
		RECEIPT("error", "{'code':'not_found','message':'m'}") ",'more':1",
		"'adapter_id':'other','status':'error','payload':{'code':'c','message':'m'}",
	};
	static const char *const decisions[] = {
		"'code':'nonsense','decision':'deny','effect':'introspect.manifest'",
		"'code':'expired','decision':'allow','effect':'introspect.manifest'",
		"'code':'expired','decision':'deny','effect':'introspect.journal_head'",
		"'code':'expired','effect':'introspect.manifest'",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(receipts); i++)
		assert_int_equal(read_back(WFS_RECORD_RECEIPT, WFS_EFFECT_INTROSPECT_MANIFEST,
					 receipts[i], ""),
			-EINVAL);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(decisions); i++)
		assert_int_equal(read_back(WFS_RECORD_DECISION, WFS_EFFECT_INTROSPECT_MANIFEST,
					 decisions[i], ""),
			-EINVAL);
	assert_int_equal(read_back(WFS_RECORD_EVENT, WFS_EFFECT_INTROSPECT_MANIFEST,
				 RECEIPT("error", "{'code':'c','message':'m'}"), ""),
		-EINVAL);
}

TEST(identical_effects_have_ids_of_their_own)
{
	const struct wfs_hash first = wfs_intent_id(5, 0);
	const struct wfs_hash second = wfs_intent_id(5, 1);
	const struct wfs_hash later = wfs_intent_id(6, 0);

	assert_false(wfs_hash_equal(&first, &second));
	assert_false(wfs_hash_equal(&first, &later));
}

/* --- timers --- */

static void assert_replays(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, &fixture->error), 0);
	assert_string_equal(wfs_buffer_text(&problems.lines), "");
}

#define TIMER(members)                                                                         \
	"[{'effect':'timer.schedule','params':{" members                                       \
	",'action':{'action_type':'event','schema':'test/Ask@1','value':{'key':'b','effects':" \
	"[]}}}}]"

ASKING(a_reducer_makes_a_timer_of_the_principal)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", TIMER("'id':'later','after_ms':500"), ""), 0);
	WFS_AUTO_FREE char *timer = state_at(fixture, WFS_HEIGHT_HEAD, "sys.timer", "tester/later");
	assert_non_null(timer);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");
	assert_answer(answers, 0, "ok", NULL);
	assert_text(json_object_get(json_array_get(answers, 0), "payload"), "id", "later");
	assert_kinds(fixture, ASKING_HEIGHT, "event intent receipt");
	wfs_world_judge(fixture->world, NULL);
	assert_replays(fixture);
}

ASKING(a_timer_that_a_reducer_does_not_name_gets_a_name)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", TIMER("'every_ms':100"), ""), 0);
	WFS_AUTO_JSON json_t *answers = answers_of(fixture, "a");
	const char *const id = json_string_value(
		json_object_get(json_object_get(json_array_get(answers, 0), "payload"), "id"));
	char key[64];
	snprintf(key, sizeof(key), "tester/%s", id);
	WFS_AUTO_FREE char *timer = state_at(fixture, WFS_HEIGHT_HEAD, "sys.timer", key);
	assert_non_null(timer);
	wfs_world_judge(fixture->world, NULL);
	assert_replays(fixture);
}

ASKING(a_reducer_is_told_why_it_gets_no_timer)
{
	struct asking_judge judge = asking_judge();

	wfs_world_judge(fixture->world, &judge.judge);
	assert_int_equal(ask_for(fixture, "a", TIMER("'every_ms':1"), ""), 0);
	assert_int_equal(ask_for(fixture, "b",
				 "[{'effect':'timer.schedule','params':{'after_ms':1,'action':{"
				 "'action_type':'noop'}}}]",
				 ""),
		0);
	WFS_AUTO_JSON json_t *short_period = answers_of(fixture, "a");
	WFS_AUTO_JSON json_t *no_event = answers_of(fixture, "b");
	assert_answer(short_period, 0, "error", "invalid_argument");
	assert_answer(no_event, 0, "error", "invalid_argument");
	wfs_world_judge(fixture->world, NULL);
	assert_replays(fixture);
}
