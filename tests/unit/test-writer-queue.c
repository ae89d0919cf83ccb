/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait: how many may wait, in which order they are begun, and urgent requests. */
#include "tests/fixture/writer.h"

#include "kernel/world/writer-impl.h"

/* --- how many --- */

static void end_request(struct writer_queues *queues, struct wfs_request *request, int64_t time_ns)
{
	writer_queues_took(queues, request, time_ns);
	writer_queues_answered(queues, request);
}

static void take_and_end(struct writer_queues *queues, int64_t time_ns)
{
	end_request(queues, writer_queues_take(queues), time_ns);
}

/* One principal alone may not fill the queue. */
static const char *const principals[] = {"tester", "other", "third"};

/* Sends requests of the first @principal_count principals until one is refused, at most @max.
 * @value: the value of each event; NULL: a small one. Return: how many were taken. */
static size_t send_until_refused(struct world_fixture *fixture, struct sent *sent, size_t max,
	struct answers *answers, size_t principal_count, json_t *value)
{
	for (size_t i = 0; i < max; i++) {
		sent_init(&sent[i], answers, "same", "a", 1);
		sent[i].request.principal = principals[i % principal_count];
		if (value) {
			sent[i].request.event.schema = "test/None@1";
			sent[i].request.event.value = value;
		}
		if (wfs_world_submit(fixture->world, &sent[i].request)) {
			assert_int_equal(sent[i].request.error.code, WFS_E_OVERLOADED);
			return i;
		}
	}
	return max;
}

IN_WORLD(more_requests_than_the_queue_holds_are_refused)
{
	struct sent *sent = calloc(WFS_QUEUE_COUNT_MAX + 1, sizeof(*sent));
	struct wfs_world_figures figures;
	struct answers answers;
	struct gate gate;

	/* A folded request counts until it is answered. */
	gate_close(&gate, fixture);
	answers_init(&answers, WFS_QUEUE_COUNT_MAX);
	const size_t taken = send_until_refused(fixture, sent, WFS_QUEUE_COUNT_MAX + 1, &answers,
		WFS_ARRAY_COUNT(principals), NULL);
	wfs_world_figures(fixture->world, &figures);
	gate_open(&gate);

	assert_int_equal(taken, WFS_QUEUE_COUNT_MAX);
	assert_int_equal(figures.queue_count, WFS_QUEUE_COUNT_MAX);
	answers_wait(&answers);
	assert_int_equal(wfs_world_submit(fixture->world, &sent[taken].request), 0);
	world_fixture_close(fixture);
	assert_int_equal(answers.count, taken + 1);
	for (size_t i = 0; i <= taken; i++)
		json_decref(sent[i].value);
	json_decref(gate.value);
	free(sent);
}

/* Return: how many requests with @value the queue takes; fewer than @max. */
static size_t count_taken(struct world_fixture *fixture, size_t max, json_t *value)
{
	struct sent *sent = calloc(max, sizeof(*sent));
	struct answers answers;
	struct gate gate;

	gate_close(&gate, fixture);
	answers_init(&answers, max);
	const size_t taken = send_until_refused(
		fixture, sent, max, &answers, WFS_ARRAY_COUNT(principals), value);
	gate_open(&gate);

	assert_true(taken < max);
	assert_int_equal(sent[taken].request.error.code, WFS_E_OVERLOADED);
	/* The message must not reveal how many requests other principals have. */
	assert_null(strpbrk(sent[taken].request.error.message, "0123456789"));
	world_fixture_close(fixture);
	assert_int_equal(answers.count, taken);
	for (size_t i = 0; i <= taken; i++)
		json_decref(sent[i].value);
	json_decref(gate.value);
	free(sent);
	return taken;
}

IN_WORLD(more_bytes_than_the_queue_holds_are_refused)
{
	enum { LARGE = 15 << 20, COUNT = WFS_QUEUE_BYTES_MAX / LARGE + 1 };
	WFS_AUTO_FREE char *text = malloc(LARGE);

	memset(text, 'x', LARGE);
	WFS_AUTO_JSON json_t *value = json_stringn(text, LARGE);

	assert_int_equal(count_taken(fixture, COUNT, value), COUNT - 1);
}

IN_WORLD(values_count_as_the_memory_that_they_take)
{
	enum { VALUES = 500000, COUNT = WFS_QUEUE_BYTES_MAX / (VALUES * WFS_JSON_VALUE_BYTES) + 1 };
	WFS_AUTO_JSON json_t *value = json_array();

	for (int i = 0; i < VALUES; i++)
		json_array_append_new(value, json_null());

	assert_true(count_taken(fixture, COUNT, value) >= 2);
}

IN_WORLD(one_principal_has_not_the_whole_queue)
{
	struct sent *sent = calloc(WFS_QUEUE_PRINCIPAL_COUNT_MAX + 2, sizeof(*sent));
	struct answers answers;
	struct gate gate;

	gate_close(&gate, fixture);
	answers_init(&answers, WFS_QUEUE_PRINCIPAL_COUNT_MAX + 1);
	const size_t taken = send_until_refused(
		fixture, sent, WFS_QUEUE_PRINCIPAL_COUNT_MAX + 1, &answers, 1, NULL);
	sent_init(&sent[taken + 1], &answers, "same", "a", 1);
	sent[taken + 1].request.principal = "other";
	const int other = wfs_world_submit(fixture->world, &sent[taken + 1].request);
	gate_open(&gate);

	assert_int_equal(taken, WFS_QUEUE_PRINCIPAL_COUNT_MAX);
	assert_int_equal(other, 0);
	answers_wait(&answers);
	world_fixture_close(fixture);
	for (size_t i = 0; i <= taken + 1; i++)
		json_decref(sent[i].value);
	json_decref(gate.value);
	free(sent);
}

/* Adds requests of @size bytes of two principals until one is refused. Return: how many were
 * taken. */
static size_t fill(struct writer_queues *queues, struct wfs_request *requests, size_t size)
{
	size_t taken = 0;

	for (int second = 0; second < 2; second++) {
		for (;; taken++) {
			requests[taken] = (struct wfs_request){
				.principal = second ? "second" : "first", .queued_bytes = size};
			if (writer_queues_add(queues, &requests[taken]))
				break;
		}
		assert_int_equal(requests[taken].error.code, WFS_E_OVERLOADED);
	}
	return taken;
}

TEST(others_have_room_when_two_principals_fill_the_queue)
{
	enum { LARGE = 8 << 20, MOST = WFS_QUEUE_COUNT_MAX + 2 };
	struct wfs_request *const requests = calloc(MOST, sizeof(*requests));

	for (int large = 0; large < 2; large++) {
		struct writer_queues queues = {.waiting_count = 0};
		struct wfs_request others[WFS_QUEUE_FEW_COUNT + 1];
		size_t other_count = 0;

		writer_queues_init(&queues);
		const size_t taken = fill(&queues, requests, large ? LARGE : 1);
		for (;; other_count++) {
			others[other_count] =
				(struct wfs_request){.principal = "third", .queued_bytes = 1000};
			if (writer_queues_add(&queues, &others[other_count]))
				break;
		}

		assert_int_equal(taken, large ? WFS_QUEUE_BYTES_MAX / LARGE : WFS_QUEUE_COUNT_MAX);
		assert_int_equal(other_count, WFS_QUEUE_FEW_COUNT);
		while (writer_queues_next(&queues))
			take_and_end(&queues, 0);
		writer_queues_done(&queues);
	}
	free(requests);
}

/* --- turns --- */

IN_WORLD(one_request_does_not_wait_for_all_of_another_principal)
{
	enum { MANY = 60 };
	struct sent sent[MANY + 1];
	struct answers answers;

	answers_init(&answers, MANY + 1);
	for (size_t i = 0; i < MANY; i++)
		sent_init(&sent[i], &answers, "work", "a", 100000);
	sent_init(&sent[MANY], &answers, "set", "b", 1);
	sent[MANY].request.principal = "other";
	send_as_batch(fixture, sent, MANY + 1);
	answers_wait(&answers);

	assert_int_equal(answers.failed, 0);
	assert_true(sent[MANY].request.seq < sent[MANY / 2].request.seq);
	for (size_t i = 1; i < MANY; i++)
		assert_true(sent[i - 1].request.seq < sent[i].request.seq);
	for (size_t i = 0; i <= MANY; i++)
		json_decref(sent[i].value);
}

enum { LONG_WORK = 9000000 }; /* rounds of a loop; a step may take 10000000 */

/* Sends a request that takes long, and an urgent one while it is folded. @gone: NULL, or the
 * client of the first, which is gone when the transaction of the urgent one begins */
static void send_long_and_urgent(struct world_fixture *fixture, struct sent sent[static 2],
	struct answers *answers, atomic_bool *gone)
{
	answers_init(answers, 2);
	sent_init(&sent[0], answers, "work", "a", LONG_WORK);
	sent[0].request.gone = gone;
	sent_init(&sent[1], answers, "set", "b", 1);
	sent[1].request.principal = "other";
	sent[1].request.urgent = true;
	send_and_fold(fixture, &sent[0]);
	const size_t begun = atomic_load(&begin_count);
	atomic_store(&begins_held, true);
	const int r = wfs_world_submit(fixture->world, &sent[1].request);
	while (atomic_load(&begin_count) == begun)
		sched_yield();
	if (gone)
		atomic_store(gone, true);
	atomic_store(&begins_held, false);
	assert_int_equal(r, 0);
	answers_wait(answers);
	assert_int_equal(sent[1].request.seq, GENESIS_HEIGHT);
	assert_int_equal(sent[0].request.put_back_count, 1);
	json_decref(sent[0].value);
	json_decref(sent[1].value);
}

IN_WORLD(an_urgent_request_stops_code_which_runs_again)
{
	struct sent sent[2];
	struct answers answers;

	send_long_and_urgent(fixture, sent, &answers, NULL);
	assert_int_equal(answers.failed, 0);
	assert_int_equal(sent[0].request.seq, GENESIS_HEIGHT + 1);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 2);
	assert_state(fixture, "cell", "a", "{'n':9000000}");
}

TEST(an_urgent_request_waits_behind_one_that_its_connection_sent_before)
{
	struct writer_queues queues = {.queue_count = 0};
	struct wfs_request sent[] = {{.principal = "tester", .connection = 7},
		{.principal = "tester", .connection = 7},
		{.principal = "tester", .connection = 7, .urgent = true}};

	writer_queues_init(&queues);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(writer_queues_add(&queues, &sent[i]), 0);
	for (size_t i = 0; i < 2; i++)
		assert_ptr_equal(writer_queues_take(&queues), &sent[i]);
	assert_int_equal(writer_queues_add(&queues, &sent[2]), 0);
	assert_ptr_equal(queues.urgent.first, &sent[2]);

	for (size_t i = 2; i > 0; i--)
		writer_queues_put_back(&queues, &sent[i - 1]);

	assert_null(queues.urgent.first);
	assert_int_equal(queues.waiting_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(writer_queues_take(&queues), &sent[i]);
	for (size_t i = 0; i < 3; i++)
		writer_queues_answered(&queues, &sent[i]);
	writer_queues_done(&queues);
}

TEST(an_urgent_request_waits_behind_one_that_was_stopped_earlier)
{
	struct writer_queues queues = {.queue_count = 0};
	struct wfs_request stopped = {.principal = "tester", .connection = 7};
	struct wfs_request urgent = {.principal = "tester", .connection = 7, .urgent = true};

	writer_queues_init(&queues);
	assert_int_equal(writer_queues_add(&queues, &stopped), 0);
	assert_ptr_equal(writer_queues_take(&queues), &stopped);
	stopped.put_back = true; /* as when another connection stops its code */
	writer_queues_put_back(&queues, &stopped);
	assert_ptr_equal(writer_queues_take(&queues), &stopped);
	assert_int_equal(writer_queues_add(&queues, &urgent), 0);

	writer_queues_put_back(&queues, &stopped); /* its batch ended before it was begun */

	assert_null(queues.urgent.first);
	assert_ptr_equal(writer_queues_take(&queues), &stopped);
	assert_ptr_equal(writer_queues_take(&queues), &urgent);
	writer_queues_answered(&queues, &stopped);
	writer_queues_answered(&queues, &urgent);
	writer_queues_done(&queues);
}

IN_WORLD(urgent_requests_in_a_row_do_not_starve_a_request)
{
	struct sent sent;
	struct answers answers;
	size_t urgent_count = 0;

	answers_init(&answers, 1);
	sent_init(&sent, &answers, "work", "a", LONG_WORK);
	send_and_fold(fixture, &sent);
	for (bool waits = true; waits; urgent_count++) {
		call_urgent(fixture, "other");
		WFS_GUARD(&answers.lock);
		waits = answers.count == 0;
	}

	assert_int_equal(answers.failed, 0);
	assert_int_equal(sent.request.put_back_count, WFS_PUT_BACK_MAX);
	assert_true(urgent_count >= WFS_PUT_BACK_MAX);
	json_decref(sent.value);
}

IN_WORLD(urgent_requests_of_administrators_never_wait_for_code)
{
	struct sent sent;
	struct answers answers;

	answers_init(&answers, 1);
	sent_init(&sent, &answers, "work", "a", LONG_WORK);
	send_and_fold(fixture, &sent);
	for (int i = 0; i < WFS_PUT_BACK_MAX; i++)
		call_urgent(fixture, "other");
	call_urgent(fixture, "operator");
	call_urgent(fixture, "admin");
	answers_wait(&answers);
	assert_int_equal(answers.failed, 0);
	assert_int_equal(sent.request.put_back_count, WFS_PUT_BACK_MAX + 2);
	json_decref(sent.value);
}

TEST(time_of_code_that_was_stopped_is_of_the_principal_that_stopped_it)
{
	struct writer_queues queues = {.waiting_count = 0};
	struct wfs_request stopped = {.principal = "tester"};
	struct wfs_request urgent = {.principal = "other", .urgent = true};
	struct wfs_request others = {.principal = "other"};
	struct wfs_request next = {.principal = "tester"};

	writer_queues_init(&queues);
	assert_int_equal(writer_queues_add(&queues, &stopped), 0);
	assert_ptr_equal(writer_queues_take(&queues), &stopped);
	assert_int_equal(writer_queues_add(&queues, &urgent), 0);
	writer_queues_stopped(&queues, &urgent, 500000000);
	writer_queues_put_back(&queues, &stopped);
	assert_ptr_equal(writer_queues_take_urgent(&queues), &urgent);
	end_request(&queues, &urgent, 0);
	assert_int_equal(writer_queues_add(&queues, &others), 0);
	assert_int_equal(writer_queues_add(&queues, &next), 0);

	assert_ptr_equal(writer_queues_take(&queues), &stopped);
	end_request(&queues, &stopped, 0);
	assert_ptr_equal(writer_queues_take(&queues), &next);
	end_request(&queues, &next, 0);
	assert_ptr_equal(writer_queues_take(&queues), &others);
	end_request(&queues, &others, 0);
	writer_queues_done(&queues);
}

enum { HEAVY = 6, EACH = 20, ALL = HEAVY * EACH };

#define MS INT64_C(1000000) /* ns */

TEST(a_principal_that_asks_for_little_waits_for_one_request_at_most)
{
	static const char *const names[HEAVY] = {"a", "b", "c", "d", "e", "f"};
	struct writer_queues queues = {.waiting_count = 0};
	struct wfs_request heavy[HEAVY][EACH];
	struct wfs_request light = {.principal = "light"};

	writer_queues_init(&queues);
	for (size_t i = 0; i < ALL; i++) {
		heavy[i % HEAVY][i / HEAVY] = (struct wfs_request){.principal = names[i % HEAVY]};
		assert_int_equal(writer_queues_add(&queues, &heavy[i % HEAVY][i / HEAVY]), 0);
	}
	/* The first one finds that all queues, its own included, have used no time yet. */
	for (size_t i = 0; i < HEAVY; i++)
		take_and_end(&queues, 20 * MS);
	for (size_t i = HEAVY; i < ALL; i++) {
		assert_int_equal(writer_queues_add(&queues, &light), 0);
		assert_ptr_equal(writer_queues_next(&queues), &light);
		take_and_end(&queues, MS / 10);
		take_and_end(&queues, 20 * MS);
	}
	assert_null(writer_queues_next(&queues));
	assert_int_equal(queues.queue_count, 0);
	writer_queues_done(&queues);
}

TEST(principals_that_ask_for_much_get_equal_shares)
{
	struct writer_queues queues = {.waiting_count = 0};
	struct wfs_request requests[2][200];
	int64_t taken_ns[2] = {0, 0};

	writer_queues_init(&queues);
	for (size_t i = 0; i < 200; i++) {
		requests[0][i] = (struct wfs_request){.principal = "short"};
		requests[1][i] = (struct wfs_request){.principal = "long"};
		assert_int_equal(writer_queues_add(&queues, &requests[0][i]), 0);
		assert_int_equal(writer_queues_add(&queues, &requests[1][i]), 0);
	}
	for (size_t i = 0; i < 150; i++) {
		const bool is_long = writer_queues_next(&queues) >= requests[1];

		taken_ns[is_long] += is_long ? 20 * MS : MS;
		take_and_end(&queues, is_long ? 20 * MS : MS);
	}
	assert_in_range(taken_ns[1], taken_ns[0] - 20 * MS, taken_ns[0] + 40 * MS);
	while (writer_queues_next(&queues))
		take_and_end(&queues, 0);
	writer_queues_done(&queues);
}

IN_WORLD(a_request_whose_client_is_gone_is_not_begun)
{
	const atomic_bool gone = true;
	struct sent sent[3];
	struct answers answers;

	answers_init(&answers, 3);
	for (size_t i = 0; i < 3; i++)
		sent_init(&sent[i], &answers, "add", "a", 1);
	sent[1].request.gone = &gone;
	send_as_batch(fixture, sent, 3);
	answers_wait(&answers);

	assert_int_equal(answers.failed, 1);
	assert_int_equal(sent[1].request.error.code, WFS_E_CANCELLED);
	assert_true(sent[1].request.seq == UINT64_MAX);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 2);
	assert_state(fixture, "cell", "a", "{'n':2}");
	for (size_t i = 0; i < 3; i++)
		json_decref(sent[i].value);
}

IN_WORLD(a_request_that_was_stopped_and_whose_client_is_gone_ends)
{
	atomic_bool gone = false;
	struct sent sent[2];
	struct answers answers;

	send_long_and_urgent(fixture, sent, &answers, &gone);
	assert_int_equal(answers.failed, 1);
	assert_int_equal(sent[0].request.error.code, WFS_E_CANCELLED);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1);
}
