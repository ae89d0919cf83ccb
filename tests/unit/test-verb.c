/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher of verbs, and the verbs that change something. */
#include "tests/fixture/verb.h"

#include "fs/verb/verb-impl.h"
#include "kernel/domain/timer/timer.h"

/* --- the dispatcher --- */

#define REFUSES_VERB(name, verb, payload, code, says)                    \
	IN_WORLD(name)                                                   \
	{                                                                \
		assert_verb_refused(fixture, verb, payload, code, says); \
	}

REFUSES_VERB(verb_that_is_unknown_names_those_there_are, "fly", NULL, WFS_E_UNKNOWN_METHOD,
	"query-state")
REFUSES_VERB(verb_that_wants_a_driver_is_not_enabled_without, "chat", "{'message':'m'}",
	WFS_E_NOT_ENABLED, "no process runs")
REFUSES_VERB(verb_refuses_a_payload_that_is_not_an_object, "journal-head", "[1]",
	WFS_E_INVALID_ARGUMENT, "not an object")
REFUSES_VERB(verb_refuses_an_unknown_member_of_its_payload, "query-state",
	"{'reducer':'cell','key':'a'}", WFS_E_INVALID_ARGUMENT, "unknown member 'key'")
REFUSES_VERB(verb_refuses_a_payload_that_lacks_a_member, "list-cells", "{}", WFS_E_MISSING_ARGUMENT,
	"'reducer' is missing")
REFUSES_VERB(verb_without_members_refuses_any, "status", "{'a':1}", WFS_E_INVALID_ARGUMENT,
	"takes: none")

REFUSES_VERB(verb_refuses_a_member_of_a_wrong_type, "chat", "{'message':'m','wait':'no'}",
	WFS_E_INVALID_ARGUMENT, "'wait': expected true or false")

static void assert_help(const char *verb, const struct wfs_form *form)
{
	if (form->of)
		assert_help(verb, form->of);
	for (const struct wfs_field *field = form->fields; field && field->name; field++) {
		if (!field->help)
			fail_msg("%s: '%s' has no help", verb, field->name);
		assert_help(verb, field->form);
	}
}

TEST(verb_has_help_for_each_member_of_its_payload_and_its_answer)
{
	for (size_t i = 0; i < verb_count; i++) {
		const struct verb *const verb = &verb_table[i];

		assert_non_null(verb_help(verb));
		assert_int_equal(verb_params(verb)->kind, WFS_FORM_RECORD);
		assert_help(verb->name, verb_params(verb));
		assert_help(verb->name, verb_answer(verb));
	}
}

static void add_unknown(struct wfs_host *host, json_t *status)
{
	(void)host;
	json_object_set_new(status, "weather", json_true());
}

IN_WORLD(verb_whose_answer_is_not_as_its_form_says_fails)
{
	AUTO_ASKED struct asked asked;
	struct wfs_host host = {.status = add_unknown};

	ask_host(fixture, &host, "status", NULL, &asked);

	assert_int_equal(asked.call.error.code, WFS_E_INTERNAL_ERROR);
	assert_non_null(strstr(asked.call.error.message,
		"the answer is not as defined: /: expected only the members of its definition"));
	assert_null(asked.call.result);
}

TEST(verb_that_takes_long_is_slow)
{
	assert_true(wfs_verb_slow("snapshot", NULL));
	assert_true(wfs_verb_slow("gc", NULL));
	assert_false(wfs_verb_slow("send-event", NULL));
	assert_false(wfs_verb_slow("fly", NULL));
}

TEST(verb_reads_long_what_takes_long)
{
	WFS_AUTO_JSON json_t *plan = json_pack("{s:s}", "path", "plans/p.json");
	WFS_AUTO_JSON json_t *cell = json_pack("{s:s}", "path", "reducers/counter/a");
	WFS_AUTO_JSON json_t *asks =
		json_pack("{s:{s:s}}", "action", "action_type", "query_kernel");

	assert_true(wfs_verb_reads_long("fs-read", plan, false));
	assert_false(wfs_verb_reads_long("fs-read", cell, true));
	assert_false(wfs_verb_reads_long("fs-read", NULL, true));
	assert_false(wfs_verb_reads_long("fs-stat", plan, true));
	assert_true(wfs_verb_slow("query", NULL));
	assert_true(wfs_verb_reads_long("query", NULL, true));
	assert_false(wfs_verb_reads_long("query", NULL, false));
	assert_true(wfs_verb_slow("invoke", asks));
	assert_true(wfs_verb_reads_long("invoke", asks, true));
	assert_false(wfs_verb_slow("invoke", NULL));
}

TEST(verb_that_ends_with_its_caller_is_interruptible)
{
	assert_true(wfs_verb_interruptible("step"));
	assert_true(wfs_verb_interruptible("chat"));
	assert_true(wfs_verb_interruptible("query"));
	assert_false(wfs_verb_interruptible("invoke"));
	assert_false(wfs_verb_interruptible("fly"));
}

IN_WORLD(verb_envelope_has_result_or_error_and_meta)
{
	AUTO_ASKED struct asked good;
	AUTO_ASKED struct asked bad;
	WFS_AUTO_JSON json_t *envelope = NULL;
	WFS_AUTO_JSON json_t *refusal = NULL;
	const json_t *error;

	ask_verb(fixture, "journal-head", NULL, &good);
	ask_verb(fixture, "fly", NULL, &bad);
	envelope = wfs_call_envelope(&good.call, "7");
	refusal = wfs_call_envelope(&bad.call, NULL);

	assert_true(json_is_true(json_object_get(envelope, "ok")));
	assert_string_equal(json_string_value(json_object_get(envelope, "id")), "7");
	assert_true(json_is_object(json_object_get(envelope, "result")));
	assert_true(json_is_false(json_object_get(refusal, "ok")));
	assert_null(json_object_get(refusal, "id"));
	assert_true(json_is_object(json_object_get(refusal, "meta")));
	error = json_object_get(refusal, "error");
	assert_string_equal(json_string_value(json_object_get(error, "code")), "unknown_method");
	assert_string_equal(json_string_value(json_object_get(error, "category")), "validation");
	assert_true(json_is_false(json_object_get(error, "retriable")));
}

/* A value that a member of a chat may have. */
static json_t *sample_of(const char *name)
{
	if (strcmp(name, "wait") == 0)
		return json_false();
	return strcmp(name, "batch_size") == 0 || strcmp(name, "max_concurrency") == 0
		? json_integer(1)
		: json_string("x");
}

/* kernel/domain/timer/timer-wish.c has a list of its own. */
TEST(a_timer_takes_a_chat_with_each_member_of_the_verb)
{
	size_t at = 0;

	while (strcmp(verb_table[at].name, "chat") != 0)
		at++;
	for (const struct wfs_field *field = verb_params(&verb_table[at])->fields; field->name;
		field++) {
		WFS_AUTO_JSON json_t *action =
			json_pack("{s:s, s:s}", "action_type", "chat", "message", "m");
		struct wfs_error error = {0};

		print_message("%s\n", field->name);
		assert_int_equal(
			json_object_set_new(action, field->name, sample_of(field->name)), 0);
		const struct wfs_params params = {.effect = WFS_EFFECT_ACTION_SCHEDULE,
			.action_schedule = {
				.action = action, .after_ms = 1, .every_ms = -1, .max = -1}};
		assert_int_equal(wfs_timer_check(&params, &error), 0);
		assert_int_equal(json_object_set_new(action, "other", json_true()), 0);
		assert_int_equal(wfs_timer_check(&params, &error), -EINVAL);
	}
}

/* --- changing --- */

IN_WORLD(send_event_gives_the_seq_of_its_record)
{
	AUTO_ASKED struct asked asked;
	const uint64_t height = height_of(fixture);

	ask_verb(fixture, "send-event",
		"{'schema':'test/Do@1','value':{'key':'a','op':'set','n':1}}", &asked);

	assert_int_equal(json_integer_value(json_array_get(result_of(&asked, "seqs"), 0)), height);
	assert_state(fixture, "cell", "a", "{'n':1}");
}

IN_WORLD(send_event_that_is_refused_says_why_and_changes_nothing)
{
	const uint64_t height = height_of(fixture);

	assert_verb_refused(fixture, "send-event", "{'schema':'test/Nope@1','value':{}}",
		WFS_E_NOT_FOUND, "test/Nope@1");
	assert_verb_refused(fixture, "send-event", "{'schema':'test/Do@1','value':{'key':'a'}}",
		WFS_E_SCHEMA_VIOLATION, "op");
	assert_verb_refused(fixture, "send-event",
		"{'schema':'test/Do@1','value':{'key':'a','op':'fail'}}", WFS_E_RUNTIME_ERROR,
		"told to fail");
	assert_verb_refused(
		fixture, "send-event", "{'schema':5,'value':1}", WFS_E_INVALID_ARGUMENT, "schema");
	assert_int_equal(height_of(fixture), height);
}

IN_WORLD(snapshot_gives_a_hash_that_meta_has_from_then_on)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked head;

	tell(fixture, "{'key':'a','op':'set'}");
	ask_verb(fixture, "snapshot", NULL, &asked);
	ask_verb(fixture, "journal-head", NULL, &head);

	assert_string_equal(text_of(&asked, "snapshot_hash"), text_of(&head, "snapshot_hash"));
	assert_int_equal(integer_of(&asked, "height"), height_of(fixture) - 1);
}

static void tell_often(struct world_fixture *fixture, int count)
{
	for (int i = 0; i < count; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");
}

IN_WORLD(gc_says_what_it_dropped_and_records_nothing)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked status;

	tell_often(fixture, 10);
	const uint64_t height = height_of(fixture);
	ask_verb(fixture, "gc", "{'keep_heights':4}", &asked);
	ask_verb(fixture, "status", NULL, &status);

	assert_int_equal(integer_of(&asked, "first_height"), height - 3);
	assert_int_equal(integer_of(&asked, "versions"), 6);
	assert_null(result_of(&asked, "next_cursor"));
	assert_int_equal(integer_of(&status, "first_height"), height - 3);
	assert_int_equal(height_of(fixture), height);
	assert_verb_refused(fixture, "query-state", "{'reducer':'cell','consistency':'exact:3'}",
		WFS_E_HEIGHT_UNAVAILABLE, "was dropped");
}

IN_WORLD(gc_goes_on_where_a_page_ended)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked second;

	tell_often(fixture, 1500);
	ask_verb(fixture, "gc", "{'since':1400,'limit':1}", &first);
	assert_string_equal(text_of(&first, "next_cursor"), "1000");
	ask_verb(fixture, "gc", "{'since':1400,'limit':1000,'cursor':'1000'}", &second);

	assert_null(result_of(&second, "next_cursor"));
	assert_int_equal(integer_of(&first, "total"), integer_of(&second, "total"));
	assert_int_equal(integer_of(&second, "done"), integer_of(&second, "total"));
}

IN_WORLD(gc_refuses_what_it_does_not_understand)
{
	assert_verb_refused(fixture, "gc", "{}", WFS_E_MISSING_ARGUMENT, "neither");
	assert_verb_refused(
		fixture, "gc", "{'since':1,'keep_heights':1}", WFS_E_INVALID_ARGUMENT, "both");
	assert_verb_refused(
		fixture, "gc", "{'keep_heights':0}", WFS_E_INVALID_ARGUMENT, "keep_heights");
	assert_verb_refused(fixture, "gc", "{'since':'now'}", WFS_E_INVALID_ARGUMENT, "since");
	assert_verb_refused(
		fixture, "gc", "{'since':99}", WFS_E_HEIGHT_UNAVAILABLE, "not reached yet");
	assert_verb_refused(
		fixture, "gc", "{'since':1,'journal':1}", WFS_E_INVALID_ARGUMENT, "journal");
}

IN_WORLD(invoke_of_noop_gives_a_result_and_no_record)
{
	AUTO_ASKED struct asked asked;
	const uint64_t height = height_of(fixture);

	ask_verb(fixture, "invoke", "{'action':{'action_type':'noop','reasoning':'why not'}}",
		&asked);

	assert_true(json_is_true(result_of(&asked, "ok")));
	assert_string_equal(text_of(&asked, "action_type"), "noop");
	assert_true(json_is_null(result_of(&asked, "data")));
	assert_true(json_is_null(result_of(&asked, "error")));
	assert_int_equal(integer_of(&asked, "height"), height);
	assert_meta(&asked, height);
	assert_int_equal(height_of(fixture), height);
}

IN_WORLD(invoke_of_anything_else_is_refused_by_name)
{
	assert_verb_refused(fixture, "invoke", "{'action':{'action_type':'transfer'}}",
		WFS_E_MISSING_ARGUMENT, "'to'");
	assert_verb_refused(fixture, "invoke", "{'action':{'artifact_id':'x'}}", WFS_E_NOT_FOUND,
		"Artifact 'x' not found");
	assert_verb_refused(fixture, "invoke", "{'action':{'action_type':'fly'}}",
		WFS_E_INVALID_ARGUMENT, "fly");
	assert_verb_refused(
		fixture, "invoke", "{'action':'noop'}", WFS_E_INVALID_ARGUMENT, "object");
	assert_verb_refused(fixture, "invoke", "{'action':{'action_type':'noop','x':1}}",
		WFS_E_INVALID_ARGUMENT, "x");
}

IN_WORLD(making_and_revoking_tell_what_was_done)
{
	AUTO_ASKED struct asked made;
	AUTO_ASKED struct asked given;
	AUTO_ASKED struct asked revoked;

	ask_verb(fixture, "principal", "{'id':'bob'}", &made);
	ask_verb(fixture, "grant", "{'to':'bob','cap':'sys/act@1'}", &given);
	ask_verb(fixture, "revoke", "{'name':'bob.act.1'}", &revoked);

	assert_string_equal(text_of(&made, "id"), "bob");
	assert_string_equal(text_of(&given, "name"), "bob.act.1");
	assert_int_equal(integer_of(&revoked, "removed"), 1);
}
