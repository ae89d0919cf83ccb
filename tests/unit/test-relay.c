/* SPDX-License-Identifier: Apache-2.0 */
/* Calls at a follower: which go to the owner, and what their callers get. */
#include "tests/fixture/relay.h"

#include "fs/relay/relay-impl.h"

enum { A, B, C, MANY = 600 };

TEST_GROUP(relay_group_begin, relay_group_end)

/* --- changes --- */

RELAY(a_change_at_a_follower_is_seen_there_when_it_is_answered)
{
	relay_enter_all(nodes, (struct relay_way){0});
	for (int i = 0; i < 20; i++) {
		const int at = i % RELAY_NODES;

		assert_int_equal(relay_add(&nodes->nodes[at], "x"), 0);
		assert_int_equal(relay_sum(&nodes->nodes[at], "x"), i + 1);
		relay_expect_height(nodes, (at + 1) % RELAY_NODES, relay_height(nodes, at));
	}
}

RELAY(the_answer_names_the_record_and_the_height)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){0});
	const uint64_t before = relay_height(nodes, B);
	relay_begin_add(&nodes->nodes[B], "x", &ask);
	assert_int_equal(relay_end(&ask), 0);

	const json_t *const seqs = json_object_get(ask.call.result, "seqs");
	assert_int_equal(json_integer_value(json_array_get(seqs, 0)), before);
	assert_int_equal(relay_height(nodes, B), before + 1);
	struct wfs_record_parsed record = record_at(&nodes->nodes[B].world, before);
	assert_string_equal(record.record.principal, WFS_PRINCIPAL_OPERATOR);
	wfs_record_parsed_done(&record);
}

RELAY(an_answer_with_meta_comes_with_it)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){0});
	assert_int_equal(relay_call(&nodes->nodes[B], NULL, "send-event",
				 "{'schema':'test/No@1','value':{}}", &ask),
		-ENOENT);

	assert_int_equal(json_integer_value(json_object_get(ask.call.meta, "journal_height")),
		relay_height(nodes, A));
	assert_true(json_is_string(json_object_get(ask.call.meta, "manifest_hash")));
}

RELAY(many_changes_of_a_follower_are_done_in_their_order)
{
	struct relay_ask *const asks = calloc(MANY, sizeof(*asks));
	json_int_t last = -1;

	relay_enter_all(nodes, (struct relay_way){0});
	for (int i = 0; i < MANY; i++)
		relay_begin_json(&nodes->nodes[B], NULL, "send-event",
			json_pack("{s:s, s:{s:s, s:s, s:i}}", "schema", "test/Do@1", "value", "key",
				"x", "op", "set", "n", i),
			&asks[i]);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(relay_end(&asks[i]), 0);
		const json_t *const seqs = json_object_get(asks[i].call.result, "seqs");
		const json_int_t seq = json_integer_value(json_array_get(seqs, 0));

		assert_true(seq > last);
		last = seq;
		relay_ask_done(&asks[i]);
	}
	free(asks);

	assert_int_equal(relay_sum(&nodes->nodes[B], "x"), MANY - 1);
	assert_true(relay_posts() < MANY / 2); /* many go together */
}

/* --- rights, and refusals --- */

/* Makes the same call at the owner and at a follower. @code: of the error; NULL: any */
static void expect_same_error(struct relay_nodes *nodes, const struct wfs_session *const *sessions,
	const char *verb, const char *payload, const char *code)
{
	AUTO_RELAY_ASK struct relay_ask first;
	AUTO_RELAY_ASK struct relay_ask second;

	assert_true(relay_call(&nodes->nodes[A], sessions[A], verb, payload, &first) < 0);
	assert_true(relay_call(&nodes->nodes[B], sessions[B], verb, payload, &second) < 0);
	WFS_AUTO_JSON json_t *here = wfs_call_envelope(&first.call, NULL);
	WFS_AUTO_JSON json_t *there = wfs_call_envelope(&second.call, NULL);
	const json_t *const error = json_object_get(here, "error");

	print_message("%s %.60s: %s\n", verb, payload, first.call.error.message);
	if (code)
		assert_string_equal(json_string_value(json_object_get(error, "code")), code);
	assert_int_equal(first.call.status, second.call.status);
	assert_true(json_equal(error, json_object_get(there, "error")));
	assert_int_equal(
		json_object_get(here, "meta") == NULL, json_object_get(there, "meta") == NULL);
}

RELAY(a_refusal_is_the_same_at_every_node)
{
	static const char *const cases[][2] = {
		{"send-event", "{'schema':'test/No@1','value':{}}"},
		{"send-event", "{'schema':'test/Do@1','value':{}}"},
		{"send-event", "{'schema':'test/Do@1'}"},
		{"send-event", "{'schema':'test/Do@1','value':{'key':'x','op':'fail'}}"},
		{"grant", "{'to':'nobody','cap':'sys/act@1'}"},
		{"revoke", "{'name':'nothing'}"},
		{"principal", "{'id':'//'}"},
		{"invoke", "{'action':{'action_type':'read_artifact','artifact_id':'none'}}"},
		{"invoke", "{'action':{'action_type':'fly'}}"},
		{"invoke", "{'action':{'action_type':'noop','more':1}}"},
		{"chat", "{'more':7}"},
		{"fly", "{}"},
	};
	const struct wfs_session *const sessions[RELAY_NODES] = {NULL};

	relay_enter_all(nodes, (struct relay_way){0});
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++)
		expect_same_error(nodes, sessions, cases[i][0], cases[i][1], NULL);
}

RELAY(the_owner_judges_by_the_rights_of_the_one_who_asks)
{
	static const char allowed[] = "{'schema':'test/Do@1','value':{'key':'x','n':1,'op':'add'}}";
	AUTO_RELAY_ASK struct relay_ask ask;
	AUTO_RELAY_ASK struct relay_ask gone;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_make_alice(nodes, B, "'cap':'sys/act@1','name':'g'");
	const struct wfs_session *const sessions[RELAY_NODES] = {
		nodes->nodes[A].alice, nodes->nodes[B].alice, nodes->nodes[C].alice};

	assert_int_equal(relay_call(&nodes->nodes[B], sessions[B], "send-event", allowed, &ask), 0);
	struct wfs_record_parsed record =
		record_at(&nodes->nodes[B].world, relay_height(nodes, B) - 1);
	assert_string_equal(record.record.principal, "alice");
	wfs_record_parsed_done(&record);
	expect_same_error(nodes, sessions, "principal", "{'id':'bob'}", "not_authorized");
	assert_int_equal(relay_call(&nodes->nodes[C], NULL, "revoke", "{'name':'g'}", &gone), 0);
	expect_same_error(nodes, sessions, "send-event", allowed, "not_authorized");
	assert_int_equal(relay_sum(&nodes->nodes[B], "x"), 1);
}

RELAY(a_revocation_is_answered_when_every_node_has_it)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_make_alice(nodes, A, "'cap':'sys/act@1','name':'g'");

	assert_int_equal(relay_call(&nodes->nodes[B], NULL, "revoke", "{'name':'g'}", &ask), 0);

	const uint64_t height = relay_height(nodes, A);
	for (int i = 0; i < RELAY_NODES; i++)
		assert_int_equal(relay_height(nodes, i), height);
	assert_null(json_object_get(ask.call.result, "unconfirmed"));
	assert_int_equal(json_integer_value(json_object_get(ask.call.result, "removed")), 1);
}

RELAY(a_revocation_names_nodes_that_have_not_confirmed)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){.lease_ms = 2000});
	relay_make_alice(nodes, A, "'cap':'sys/act@1','name':'g'");
	relay_leave(nodes, C);

	assert_int_equal(relay_call(&nodes->nodes[B], NULL, "revoke", "{'name':'g'}", &ask), 0);

	WFS_AUTO_JSON json_t *expected = json_pack("[s]", "c");
	assert_true(json_equal(json_object_get(ask.call.result, "unconfirmed"), expected));
}

/* --- what is not relayed --- */

RELAY(reads_and_what_is_about_this_process_stay_here)
{
	AUTO_RELAY_ASK struct relay_ask head;
	AUTO_RELAY_ASK struct relay_ask umount;
	AUTO_RELAY_ASK struct relay_ask query;
	AUTO_RELAY_ASK struct relay_ask replicas;

	relay_enter_all(nodes, (struct relay_way){0});
	const int before = relay_posts();

	assert_int_equal(relay_call(&nodes->nodes[B], NULL, "journal-head", "{}", &head), 0);
	assert_int_equal(relay_call(&nodes->nodes[B], NULL, "umount", "{'dir':'/x'}", &umount), 0);
	assert_int_equal(relay_call(&nodes->nodes[B], NULL, "invoke",
				 "{'action':{'action_type':'query_kernel','query_type':'artifacts',"
				 "'params':{}}}",
				 &query),
		0);
	assert_int_equal(relay_call(&nodes->nodes[B], NULL, "replicas", "{}", &replicas), 0);

	assert_int_equal(relay_posts(), before);
	assert_int_equal(atomic_load(&nodes->nodes[B].umounts), 1);
	assert_int_equal(atomic_load(&nodes->nodes[A].umounts), 0);
	assert_string_equal(json_string_value(json_object_get(replicas.call.result, "node")), "b");
}

/* --- what takes long --- */

RELAY(a_chat_at_a_follower_is_held_by_the_owner_and_holds_up_nothing)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_begin(&nodes->nodes[B], NULL, "chat", "{'message':'m'}", &ask);
	relay_expect_begun(&nodes->nodes[A], 1);

	assert_int_equal(relay_add(&nodes->nodes[B], "x"), 0);
	relay_release(&nodes->nodes[A]);

	assert_int_equal(relay_end(&ask), 0);
	assert_string_equal(json_string_value(json_object_get(ask.call.result, "final")), "driven");
	assert_int_equal(nodes->nodes[B].driver.begun, 0);
}

RELAY(an_abandoned_chat_is_abandoned_at_the_owner)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_begin(&nodes->nodes[B], NULL, "chat", "{'message':'m'}", &ask);
	relay_expect_begun(&nodes->nodes[A], 1);
	wfs_call_abandon(&ask.call);

	assert_int_equal(relay_end(&ask), -ETIMEDOUT);
	assert_string_equal(relay_code(&ask), "unknown");
	for (int i = 0; i < 10000 && relay_held(&nodes->nodes[A]) > 0; i++)
		usleep(2000);
	assert_int_equal(relay_held(&nodes->nodes[A]), 0);
}

RELAY(more_chats_than_the_owner_takes_are_refused)
{
	struct relay_ask asks[RELAY_LONG_MAX + 1];

	relay_enter_all(nodes, (struct relay_way){0});
	for (int i = 0; i < RELAY_LONG_MAX; i++)
		relay_begin(&nodes->nodes[B], NULL, "chat", "{'message':'m'}", &asks[i]);
	relay_expect_begun(&nodes->nodes[A], RELAY_LONG_MAX);
	relay_call(&nodes->nodes[B], NULL, "chat", "{'message':'m'}", &asks[RELAY_LONG_MAX]);
	relay_release(&nodes->nodes[A]);

	assert_string_equal(relay_code(&asks[RELAY_LONG_MAX]), "overloaded");
	for (int i = 0; i < RELAY_LONG_MAX; i++)
		assert_int_equal(relay_end(&asks[i]), 0);
	for (int i = 0; i <= RELAY_LONG_MAX; i++)
		relay_ask_done(&asks[i]);
}

/* --- bounds --- */

/* An event whose value has arrays in arrays. */
static json_t *nested(int depth)
{
	json_t *value = json_array();

	for (int i = 1; i < depth; i++)
		value = json_pack("[o]", value);
	return json_pack("{s:s, s:o}", "schema", "test/None@1", "value", value);
}

static json_t *many_values(int count)
{
	json_t *const value = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(value, json_true());
	return json_pack("{s:s, s:o}", "schema", "test/None@1", "value", value);
}

static json_t *large(size_t size)
{
	char *const text = malloc(size);

	memset(text, 'x', size);
	json_t *const payload = json_pack(
		"{s:s, s:{s:o}}", "schema", "test/None@1", "value", "v", json_stringn(text, size));
	free(text);
	return payload;
}

/* Begins an event at the owner, and at a follower with others before and after it. The answers are
 * alike, and the others are done. @payload: taken */
static void expect_alike(struct relay_nodes *nodes, json_t *payload)
{
	AUTO_RELAY_ASK struct relay_ask first;
	AUTO_RELAY_ASK struct relay_ask second;
	AUTO_RELAY_ASK struct relay_ask before;
	AUTO_RELAY_ASK struct relay_ask after;

	relay_begin_json(&nodes->nodes[A], NULL, "send-event", json_deep_copy(payload), &first);
	relay_end(&first);
	relay_begin_add(&nodes->nodes[B], "x", &before);
	relay_begin_json(&nodes->nodes[B], NULL, "send-event", payload, &second);
	relay_begin_add(&nodes->nodes[B], "x", &after);
	relay_end(&second);

	print_message("here: %s %s, there: %s\n", relay_code(&first), first.call.error.message,
		relay_code(&second));
	assert_string_equal(relay_code(&second), relay_code(&first));
	assert_int_equal(relay_end(&before), 0);
	assert_int_equal(relay_end(&after), 0);
}

RELAY(an_event_may_be_as_deep_at_a_follower)
{
	relay_enter_all(nodes, (struct relay_way){0});
	for (int depth = 124; depth < WFS_JSON_DEPTH_MAX; depth++)
		expect_alike(nodes, nested(depth));
}

RELAY(an_event_may_have_as_many_values_at_a_follower)
{
	relay_enter_all(nodes, (struct relay_way){0});
	expect_alike(nodes, many_values(WFS_JSON_VALUES_MAX - 4));
}

RELAY(an_event_that_is_too_large_has_the_same_answer_at_a_follower)
{
	relay_enter_all(nodes, (struct relay_way){.wait_ms = RELAY_SOON_MS - 5000});
	expect_alike(nodes, large(2 << 20));
	expect_alike(nodes, large(8 << 20));
	expect_alike(nodes, large((80 << 20) + 1));
}

RELAY(more_calls_than_can_wait_are_refused_and_abandoned_ones_end)
{
	struct relay_ask *const asks = calloc(RELAY_COUNT_MAX + 1, sizeof(*asks));

	relay_enter_all(nodes, (struct relay_way){0});
	relay_fate(RELAY_UNSENT, INT32_MAX);
	for (int i = 0; i <= RELAY_COUNT_MAX; i++)
		relay_begin_add(&nodes->nodes[B], "x", &asks[i]);

	relay_end(&asks[RELAY_COUNT_MAX]);
	assert_string_equal(relay_code(&asks[RELAY_COUNT_MAX]), "overloaded");
	relay_ask_done(&asks[RELAY_COUNT_MAX]);
	for (int i = 0; i < RELAY_COUNT_MAX; i++)
		wfs_call_abandon(&asks[i].call);
	for (int i = 0; i < RELAY_COUNT_MAX; i++) {
		assert_int_equal(relay_end(&asks[i]), -EAGAIN);
		assert_string_equal(relay_code(&asks[i]), "unavailable");
		relay_ask_done(&asks[i]);
	}
	free(asks);
	relay_fate_end();
	assert_int_equal(relay_add(&nodes->nodes[B], "x"), 0);
	assert_int_equal(relay_sum(&nodes->nodes[B], "x"), 1);
}

RELAY(more_bytes_than_can_wait_are_refused)
{
	enum { CALLS = 17, SIZE = 16 << 20 };
	struct relay_ask asks[CALLS];

	relay_enter_all(nodes, (struct relay_way){.wait_ms = INT64_C(10) * RELAY_SOON_MS});
	relay_fate(RELAY_UNSENT, INT32_MAX);
	for (int i = 0; i < CALLS; i++)
		relay_begin_json(&nodes->nodes[B], NULL, "send-event", large(SIZE), &asks[i]);

	relay_end(&asks[CALLS - 1]);
	assert_string_equal(relay_code(&asks[CALLS - 1]), "overloaded");
	for (int i = 0; i < CALLS; i++)
		wfs_call_abandon(&asks[i].call);
	for (int i = 0; i < CALLS; i++)
		relay_ask_done(&asks[i]);
}

/* --- the end --- */

RELAY(calls_that_wait_when_the_relay_ends_are_answered)
{
	struct relay_ask asks[MANY];

	relay_enter_all(nodes, (struct relay_way){0});
	relay_fate(RELAY_UNSENT, INT32_MAX);
	for (int i = 0; i < MANY; i++)
		relay_begin_add(&nodes->nodes[B], "x", &asks[i]);
	wfs_relay_cease(nodes->nodes[B].relay);

	for (int i = 0; i < MANY; i++) {
		assert_int_equal(relay_end(&asks[i]), -EAGAIN);
		assert_string_equal(relay_code(&asks[i]), "unavailable");
		relay_ask_done(&asks[i]);
	}
	assert_int_equal(relay_add(&nodes->nodes[B], "x"), -EAGAIN); /* later ones, too */
	relay_leave(nodes, B);
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 0);
}

RELAY(a_call_that_was_sent_when_the_relay_ends_is_unknown)
{
	AUTO_RELAY_ASK struct relay_ask ask;
	AUTO_RELAY_ASK struct relay_ask chat;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_begin(&nodes->nodes[B], NULL, "chat", "{'message':'m'}", &chat);
	relay_expect_begun(&nodes->nodes[A], 1);
	const uint64_t before = relay_height(nodes, B);
	relay_fate(RELAY_LOSE, INT32_MAX);
	relay_begin_add(&nodes->nodes[B], "x", &ask);
	relay_expect_height(nodes, B, before + 1); /* it was done */
	while (relay_posts() < 3)
		usleep(2000);
	relay_leave(nodes, B);

	assert_int_equal(relay_end(&ask), -ETIMEDOUT);
	assert_string_equal(relay_code(&ask), "unknown");
	assert_int_equal(relay_end(&chat), -ETIMEDOUT);
	assert_string_equal(relay_code(&chat), "unknown");
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 1);
}

RELAY(the_owner_ends_while_a_chat_of_a_follower_is_under_way)
{
	AUTO_RELAY_ASK struct relay_ask chat;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_begin(&nodes->nodes[B], NULL, "chat", "{'message':'m'}", &chat);
	relay_expect_begun(&nodes->nodes[A], 1);
	relay_leave(nodes, A);

	assert_true(relay_end(&chat) < 0);
	assert_true(strcmp(relay_code(&chat), "unknown") == 0 ||
		strcmp(relay_code(&chat), "cancelled") == 0);
}
