/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of requests to another node when requests, answers, nodes or the owner are lost, and
 * what a node does with documents that are not as its own relay makes them. */
#include "tests/fixture/relay.h"

#include "fs/relay/relay-impl.h"
#include "kernel/base/clock.h"

enum { A, B, C, EACH = 200 };

TEST_GROUP(relay_group_begin, relay_group_end)

/* --- lost requests and answers --- */

RELAY(a_request_that_does_not_reach_the_owner_is_sent_again)
{
	relay_enter_all(nodes, (struct relay_way){0});
	relay_fate(RELAY_UNSENT, 5);
	assert_int_equal(relay_add(&nodes->nodes[B], "x"), 0);
	assert_int_equal(relay_fate_end(), 5);

	relay_fate(RELAY_LOSE_BEFORE, 5);
	assert_int_equal(relay_add(&nodes->nodes[B], "x"), 0);
	assert_int_equal(relay_fate_end(), 5);

	assert_int_equal(relay_sum(&nodes->nodes[B], "x"), 2);
}

RELAY(an_event_whose_answer_is_lost_is_done_once_and_answered_by_its_record)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){0});
	const uint64_t before = relay_height(nodes, B);
	relay_fate(RELAY_LOSE, 5);
	relay_begin_add(&nodes->nodes[B], "x", &ask);

	assert_int_equal(relay_end(&ask), 0);
	assert_int_equal(relay_fate_end(), 5);
	const json_t *const seqs = json_object_get(ask.call.result, "seqs");
	assert_int_equal(json_integer_value(json_array_get(seqs, 0)), before);
	assert_int_equal(relay_sum(&nodes->nodes[B], "x"), 1);
	assert_int_equal(relay_height(nodes, B), before + 1);
}

RELAY(another_change_whose_answer_is_lost_is_done_once_and_unknown_with_its_record)
{
	AUTO_RELAY_ASK struct relay_ask ask;
	AUTO_RELAY_ASK struct relay_ask again;

	relay_enter_all(nodes, (struct relay_way){0});
	const uint64_t before = relay_height(nodes, B);
	relay_fate(RELAY_LOSE, 1);
	relay_call(&nodes->nodes[B], NULL, "principal", "{'id':'bob'}", &ask);

	assert_string_equal(relay_code(&ask), "unknown");
	assert_int_equal(
		json_integer_value(json_object_get(ask.call.error_details, "seq")), before);
	assert_int_equal(relay_height(nodes, B), before + 1);
	relay_call(&nodes->nodes[B], NULL, "principal", "{'id':'bob'}", &again);
	assert_string_equal(relay_code(&again), "already_exists");
}

RELAY(a_refusal_whose_answer_is_lost_is_a_refusal)
{
	AUTO_RELAY_ASK struct relay_ask ask;
	AUTO_RELAY_ASK struct relay_ask event;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_make_alice(nodes, A, "'cap':'sys/query@1'");
	relay_fate(RELAY_LOSE, 1);
	relay_call(&nodes->nodes[B], nodes->nodes[B].alice, "principal", "{'id':'bob'}", &ask);
	assert_string_equal(relay_code(&ask), "not_authorized");
	relay_fate(RELAY_LOSE, 1);
	relay_call(&nodes->nodes[B], nodes->nodes[B].alice, "send-event",
		"{'schema':'test/Do@1','value':{'key':'x','op':'set'}}", &event);
	assert_string_equal(relay_code(&event), "not_authorized");
}

RELAY(a_chat_whose_answer_is_lost_is_unknown_and_not_sent_again)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_fate(RELAY_LOSE, INT32_MAX);
	relay_begin(&nodes->nodes[B], NULL, "chat", "{'message':'m'}", &ask);
	relay_expect_begun(&nodes->nodes[A], 1);
	relay_release(&nodes->nodes[A]);

	relay_end(&ask);
	assert_string_equal(relay_code(&ask), "unknown");
	assert_int_equal(relay_posts(), 1);
}

RELAY(the_answer_of_many_is_lost_and_each_is_done_once)
{
	struct relay_ask *const asks = calloc(EACH, sizeof(*asks));

	relay_enter_all(nodes, (struct relay_way){0});
	relay_fate(RELAY_LOSE, 3);
	for (int i = 0; i < EACH; i++)
		relay_begin_add(&nodes->nodes[B], "x", &asks[i]);
	for (int i = 0; i < EACH; i++) {
		assert_int_equal(relay_end(&asks[i]), 0);
		relay_ask_done(&asks[i]);
	}
	free(asks);
	assert_int_equal(relay_sum(&nodes->nodes[B], "x"), EACH);
}

RELAY(without_an_owner_a_call_is_unavailable_after_its_time)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){.wait_ms = 1000});
	relay_fate(RELAY_UNSENT, INT32_MAX);
	const int64_t since_ns = wfs_clock_monotonic_ns();
	relay_begin_add(&nodes->nodes[B], "x", &ask);

	assert_int_equal(relay_end(&ask), -EAGAIN);
	assert_string_equal(relay_code(&ask), "unavailable");
	assert_true(wfs_clock_monotonic_ns() - since_ns >= 1000000000);
	relay_fate_end();
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 0);
}

RELAY(a_call_whose_answers_are_all_lost_is_unknown_after_its_time)
{
	AUTO_RELAY_ASK struct relay_ask ask;

	relay_enter_all(nodes, (struct relay_way){.wait_ms = 1000});
	relay_fate(RELAY_LOSE, INT32_MAX);
	relay_begin_add(&nodes->nodes[B], "x", &ask);

	assert_int_equal(relay_end(&ask), -ETIMEDOUT);
	assert_string_equal(relay_code(&ask), "unknown");
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 1);
}

/* --- load --- */

/* A thread that changes a cell of its own through one node, some calls at a time. */
struct writer {
	struct relay_node *node;
	const char *key;
	atomic_bool ending;
	bool joined;
	atomic_int done;
	atomic_int perhaps;
	atomic_int refused;
	pthread_t thread;
};

enum { AT_ONCE = 8 };

static void count_answer(struct writer *writer, const struct relay_ask *ask)
{
	if (ask->call.status == 0)
		atomic_fetch_add(&writer->done, 1);
	else if (ask->call.error.code == WFS_E_UNKNOWN)
		atomic_fetch_add(&writer->perhaps, 1);
	else if (ask->call.error.code == WFS_E_UNAVAILABLE)
		atomic_fetch_add(&writer->refused, 1);
	else
		fail_msg("%s", ask->call.error.message);
}

static void *writer_main(void *context)
{
	struct writer *const writer = context;

	while (!atomic_load(&writer->ending)) {
		struct relay_ask asks[AT_ONCE];

		for (int i = 0; i < AT_ONCE; i++)
			relay_begin_add(writer->node, writer->key, &asks[i]);
		for (int i = 0; i < AT_ONCE; i++) {
			relay_end(&asks[i]);
			count_answer(writer, &asks[i]);
			relay_ask_done(&asks[i]);
		}
		usleep(1000);
	}
	return NULL;
}

/* Writers through the nodes. */
struct load {
	struct relay_nodes *nodes;
	struct writer writers[RELAY_NODES];
};

static void load_begin(struct relay_nodes *nodes, struct load *load)
{
	static const char *const keys[RELAY_NODES] = {"wa", "wb", "wc"};

	*load = (struct load){.nodes = nodes};
	for (int i = 0; i < RELAY_NODES; i++) {
		struct writer *const writer = &load->writers[i];

		writer->node = &nodes->nodes[i];
		writer->key = keys[i];
		assert_int_equal(pthread_create(&writer->thread, NULL, writer_main, writer), 0);
	}
}

/* Waits until each of the nodes whose bits are set has had so many more answers. */
static void load_goes_on(struct load *load, unsigned int among, int more)
{
	for (int i = 0; i < RELAY_NODES; i++) {
		const int wanted = atomic_load(&load->writers[i].done) + more;
		const int64_t since_ns = wfs_clock_monotonic_ns();

		while ((among & (1U << i)) && atomic_load(&load->writers[i].done) < wanted) {
			if (wfs_clock_monotonic_ns() - since_ns > RELAY_SOON_MS * INT64_C(1000000))
				fail_msg("node %d does nothing more", i);
			usleep(2000);
		}
	}
}

/* Ends the writer of a node, when its calls are answered. */
static void load_stop(struct load *load, int index)
{
	struct writer *const writer = &load->writers[index];

	atomic_store(&writer->ending, true);
	if (!writer->joined)
		pthread_join(writer->thread, NULL);
	writer->joined = true;
}

/* Ends the writers. What was answered is there once, and what may have been done at most once, at
 * the node @at. */
static void load_end(struct load *load, int at)
{
	for (int i = 0; i < RELAY_NODES; i++)
		load_stop(load, i);
	for (int i = 0; i < RELAY_NODES; i++) {
		const struct writer *const writer = &load->writers[i];
		const int64_t sum = relay_sum(&load->nodes->nodes[at], writer->key);

		print_message("%s: %d done, %d perhaps, %d refused, %lld there\n", writer->key,
			atomic_load(&writer->done), atomic_load(&writer->perhaps),
			atomic_load(&writer->refused), (long long)sum);
		assert_true(sum >= atomic_load(&writer->done));
		assert_true(sum <= atomic_load(&writer->done) + atomic_load(&writer->perhaps));
	}
}

static void expect_nothing_failed(const struct load *load)
{
	for (int i = 0; i < RELAY_NODES; i++) {
		assert_int_equal(atomic_load(&load->writers[i].perhaps), 0);
		assert_int_equal(atomic_load(&load->writers[i].refused), 0);
	}
}

RELAY(a_handover_under_load_fails_no_request)
{
	static const char *const to[] = {"b", "c", "a", "c", "b", "a"};
	struct load load;

	relay_enter_all(nodes, (struct relay_way){0});
	load_begin(nodes, &load);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(to); i++) {
		AUTO_RELAY_ASK struct relay_ask ask;

		load_goes_on(&load, 7, 10);
		relay_begin_json(&nodes->nodes[C], NULL, "handover",
			json_pack("{s:s}", "node", to[i]), &ask);
		relay_end(&ask);
		if (ask.call.status)
			print_message("%s: %s\n", to[i], ask.call.error.message);
		assert_int_equal(ask.call.status, 0);
		relay_expect_role(nodes, *to[i] - 'a', WFS_NODE_OWNER);
	}
	load_goes_on(&load, 7, 10);
	load_end(&load, A);
	expect_nothing_failed(&load);
}

RELAY(lost_answers_under_load_are_no_failures)
{
	struct load load;

	relay_enter_all(nodes, (struct relay_way){0});
	load_begin(nodes, &load);
	for (int i = 0; i < 20; i++) {
		relay_fate(i % 3 == 0 ? RELAY_LOSE_BEFORE : RELAY_LOSE, 2);
		load_goes_on(&load, 7, 5);
	}
	relay_fate_end();
	load_end(&load, A);
	expect_nothing_failed(&load);
}

RELAY(the_owner_leaves_under_load_and_nothing_is_lost_or_done_twice)
{
	struct load load;

	relay_enter_all(nodes, (struct relay_way){0});
	load_begin(nodes, &load);
	load_goes_on(&load, 7, 20);
	wfs_relay_cease(nodes->nodes[A].relay);
	load_stop(&load, A);
	relay_leave(nodes, A);

	const int owner = relay_expect_owner(nodes, 1U << B | 1U << C);
	load_goes_on(&load, 1U << B | 1U << C, 20);
	load_end(&load, owner);
}

RELAY(the_owner_is_cut_off_under_load_and_nothing_is_lost_or_done_twice)
{
	struct load load;

	relay_enter(nodes, A, (struct relay_way){.proxied = true, .lease_ms = RELAY_SHORT_MS});
	relay_expect_role(nodes, A, WFS_NODE_OWNER);
	for (int i = B; i < RELAY_NODES; i++) {
		relay_enter(nodes, i, (struct relay_way){.lease_ms = RELAY_SHORT_MS});
		relay_expect_role(nodes, i, WFS_NODE_FOLLOWER);
	}
	load_begin(nodes, &load);
	load_goes_on(&load, 7, 20);
	etcd_proxy_stop(WFS_STEAL(nodes->nodes[A].proxy));

	const int owner = relay_expect_owner(nodes, 1U << B | 1U << C);
	load_goes_on(&load, 1U << B | 1U << C, 20);
	load_end(&load, owner);
	assert_true(wfs_node_role(wfs_relay_node(nodes->nodes[A].relay)) != WFS_NODE_OWNER);
}

/* --- documents of other nodes --- */

/* Return: the status of the answer to a document. */
static int post(struct relay_nodes *nodes, int to, const char *document)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	return relay_post(nodes, to, document, &answer);
}

#define ADD "'payload':{'schema':'test/Do@1','value':{'key':'x','n':1,'op':'add'}}"
#define REQUEST(id) "{'id':'" id "'," ADD ",'principal':'operator','verb':'send-event'}"

RELAY(a_document_that_is_not_valid_is_refused)
{
	static const char *const documents[] = {
		"{",
		"[]",
		"{}",
		"{'height':1}",
		"{'height':1,'requests':[]}",
		"{'height':1,'requests':{}}",
		"{'requests':[" REQUEST("i") "]}",
		"{'height':'1','requests':[" REQUEST("i") "]}",
		"{'height':1,'requests':[7]}",
		"{'height':1,'requests':[{" ADD ",'principal':'operator','verb':'send-event'}]}",
		"{'height':1,'requests':[" REQUEST("") "]}",
		"{'height':1,'requests':[" REQUEST("a b") "]}",
		"{'height':1,'requests':[{'id':'i','principal':'operator','verb':'send-event'}]}",
		"{'height':1,'requests':[{'id':'i','payload':[],'principal':'operator',"
		"'verb':'send-event'}]}",
		"{'height':1,'requests':[{'id':'i'," ADD ",'verb':'send-event'}]}",
		"{'height':1,'requests':[{'id':'i'," ADD ",'principal':'operator'}]}",
		"{'height':1,'requests':[" REQUEST("i") ",7]}",
	};

	relay_enter_all(nodes, (struct relay_way){0});
	for (size_t i = 0; i < WFS_ARRAY_COUNT(documents); i++) {
		print_message("%s\n", documents[i]);
		assert_int_equal(post(nodes, A, documents[i]), 422);
	}
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 0);
}

RELAY(a_document_with_too_many_requests_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};

	relay_enter_all(nodes, (struct relay_way){0});
	wfs_buffer_printf(&document, "{'height':1,'requests':[");
	for (int i = 0; i <= RELAY_BATCH_MAX; i++)
		wfs_buffer_printf(&document,
			"%s{'id':'i%d'," ADD ",'principal':'operator','verb':'send-event'}",
			i ? "," : "", i);
	wfs_buffer_printf(&document, "]}");

	assert_int_equal(post(nodes, A, wfs_buffer_text(&document)), 422);
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 0);
}

RELAY(a_document_of_a_node_that_is_ahead_is_not_done)
{
	relay_enter_all(nodes, (struct relay_way){0});
	assert_int_equal(post(nodes, A, "{'height':1000,'requests':[" REQUEST("i") "]}"), 409);
	assert_int_equal(post(nodes, A, "{'height':-1,'requests':[" REQUEST("i") "]}"), 409);
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 0);
	assert_int_equal(post(nodes, A, "{'height':1,'requests':[" REQUEST("i") "]}"), 200);
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 1);
}

RELAY(a_node_that_does_not_own_the_world_does_no_document)
{
	relay_enter_all(nodes, (struct relay_way){0});
	assert_int_equal(post(nodes, B, "{'height':1,'requests':[" REQUEST("i") "]}"), 409);
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 0);
}

RELAY(an_id_is_done_once_also_by_another_owner)
{
	static const char document[] = "{'height':1,'requests':[" REQUEST("i") "]}";
	WFS_AUTO_JSON json_t *first = NULL;
	WFS_AUTO_JSON json_t *second = NULL;

	relay_enter_all(nodes, (struct relay_way){0});
	assert_int_equal(relay_post(nodes, A, document, &first), 200);
	assert_int_equal(post(nodes, A, document), 200);
	assert_int_equal(wfs_node_handover(wfs_relay_node(nodes->nodes[A].relay), "b", NULL), 0);
	relay_expect_role(nodes, B, WFS_NODE_OWNER);
	assert_int_equal(relay_post(nodes, B, document, &second), 200);

	assert_int_equal(relay_sum(&nodes->nodes[B], "x"), 1);
	const json_t *const one = json_array_get(json_object_get(first, "answers"), 0);
	const json_t *const other = json_array_get(json_object_get(second, "answers"), 0);
	assert_true(json_equal(json_object_get(json_object_get(one, "result"), "seqs"),
		json_object_get(json_object_get(other, "result"), "seqs")));
}

RELAY(an_id_that_a_document_has_twice_is_done_once)
{
	relay_enter_all(nodes, (struct relay_way){0});
	(void)post(nodes, A, "{'height':1,'requests':[" REQUEST("i") "," REQUEST("i") "]}");
	assert_true(relay_sum(&nodes->nodes[A], "x") <= 1);
	(void)post(nodes, A, "{'height':1,'requests':[" REQUEST("i") "]}");
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 1);
}

/* A document that one thread sends. */
struct sender {
	struct relay_nodes *nodes;
	const char *document;
	int status;
};

static void *send_main(void *context)
{
	struct sender *const sender = context;

	sender->status = post(sender->nodes, A, sender->document);
	return NULL;
}

RELAY(an_id_that_is_under_way_is_not_done_again)
{
	static const char document[] =
		"{'height':1,'requests':[{'id':'i','payload':{'message':'m'},"
		"'principal':'operator','verb':'chat'}]}";
	struct sender sender = {nodes, document, 0};
	pthread_t thread;

	relay_enter_all(nodes, (struct relay_way){0});
	assert_int_equal(pthread_create(&thread, NULL, send_main, &sender), 0);
	relay_expect_begun(&nodes->nodes[A], 1);

	assert_int_equal(post(nodes, A, document), 409);
	assert_int_equal(
		post(nodes, A, "{'height':1,'requests':[" REQUEST("j") "," REQUEST("i") "]}"), 409);
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 0);
	relay_release(&nodes->nodes[A]);
	pthread_join(thread, NULL);
	assert_int_equal(sender.status, 200);
	assert_int_equal(nodes->nodes[A].driver.begun, 1);
	assert_int_equal(post(nodes, A, "{'height':1,'requests':[" REQUEST("j") "]}"), 200);
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 1);
}

RELAY(a_document_asks_for_each_request_as_its_principal)
{
	WFS_AUTO_JSON json_t *answer = NULL;

	relay_enter_all(nodes, (struct relay_way){0});
	relay_make_alice(nodes, A, "'cap':'sys/query@1'");
	assert_int_equal(
		relay_post(nodes, A,
			"{'height':1,'requests':[" REQUEST(
				"1") ",{'id':'2'," ADD
				     ",'principal':'alice','verb':'send-event'},{'id':'3'," ADD
				     ",'principal':'nobody','verb':'send-event'},{'id':'4'," ADD
				     ",'principal':'operator','verb':'fly'}," REQUEST("5") "]}",
			&answer),
		200);

	static const char *const codes[] = {
		NULL, "not_authorized", "not_found", "unknown_method", NULL};
	const json_t *const answers = json_object_get(answer, "answers");
	assert_int_equal(json_array_size(answers), WFS_ARRAY_COUNT(codes));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(codes); i++) {
		const json_t *const error = json_object_get(json_array_get(answers, i), "error");
		const char *const code = json_string_value(json_object_get(error, "code"));

		assert_true(codes[i] ? code && strcmp(code, codes[i]) == 0 : !code);
	}
	assert_int_equal(relay_sum(&nodes->nodes[A], "x"), 2);
}

RELAY(a_node_says_whether_it_has_reached_a_height)
{
	relay_enter_all(nodes, (struct relay_way){0});
	assert_int_equal(post(nodes, B, "{'reach':1}"), 200);
	assert_int_equal(post(nodes, B, "{'reach':1000}"), 409);
	assert_int_equal(post(nodes, B, "{'reach':0}"), 409);
	assert_int_equal(post(nodes, B, "{'reach':'1'}"), 409);
}
