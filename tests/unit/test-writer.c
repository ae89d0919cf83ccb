/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many requests at once, the order of commit, observers and answers, and stores that cannot take
 * any more.
 */
#include "tests/unit/sent-fixture.h"

#include <lmdb.h>
#include <sched.h>

#include "kernel/gc.h"

enum {
	GENESIS_HEIGHT = 2, /* of a new world: the genesis record and its first snapshot */
	THREADS = 4,
	REQUESTS_PER_THREAD = 2500,
	KEYS = 50,
};

/* --- a disk that fails --- */

static atomic_int failing_commits; /* how many of the next ones fail */
static atomic_int failing_begins;  /* the same, of write transactions */
static atomic_bool files_fail;     /* there is no room for any */
static atomic_bool gc_fails;
static atomic_bool begins_held; /* they wait; set and unset by the test */
static atomic_size_t begin_count;

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
int __real_mdb_txn_commit(MDB_txn *txn);
int __wrap_mdb_txn_commit(MDB_txn *txn);
int __real_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **ret);
int __wrap_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **ret);

int __wrap_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **ret)
{
	if (flags & MDB_RDONLY)
		return __real_mdb_txn_begin(env, parent, flags, ret);
	atomic_fetch_add(&begin_count, 1);
	while (atomic_load(&begins_held))
		sched_yield();
	if (atomic_load(&failing_begins) == 0)
		return __real_mdb_txn_begin(env, parent, flags, ret);
	atomic_fetch_sub(&failing_begins, 1);
	return MDB_PANIC; /* what LMDB says after it failed to write the root */
}

int __wrap_mdb_txn_commit(MDB_txn *txn)
{
	if (atomic_load(&failing_commits) == 0)
		return __real_mdb_txn_commit(txn);
	atomic_fetch_sub(&failing_commits, 1);
	mdb_txn_abort(txn);
	return ENOSPC;
}

int __real_wfs_blob_writer_finish(struct wfs_blob_writer *writer, struct wfs_blob *ret_blob);
int __wrap_wfs_blob_writer_finish(struct wfs_blob_writer *writer, struct wfs_blob *ret_blob);
int __real_wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error);
int __wrap_wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error);

int __wrap_wfs_blob_writer_finish(struct wfs_blob_writer *writer, struct wfs_blob *ret_blob)
{
	return atomic_load(&files_fail) ? -ENOSPC : __real_wfs_blob_writer_finish(writer, ret_blob);
}

int __wrap_wfs_gc_step_run(
	struct wfs_gc_step *step, struct wfs_head *head, bool *ret_fatal, struct wfs_error *error)
{
	if (!atomic_load(&gc_fails))
		return __real_wfs_gc_step_run(step, head, ret_fatal, error);
	*ret_fatal = true;
	return wfs_error_set(error, WFS_E_HASH_MISMATCH, "a damaged row");
}
/* NOLINTEND(readability-identifier-naming) */

/* --- many requests --- */

/* Sends the first, and the others while that is being stored, so that these are one batch. */
static void send_as_batch(struct world_fixture *fixture, struct sent *sent, size_t count)
{
	const size_t begun = atomic_load(&begin_count);
	int r = 0;

	atomic_store(&begins_held, true);
	r |= wfs_world_submit(fixture->world, &sent[0].request);
	while (atomic_load(&begin_count) == begun)
		sched_yield();
	for (size_t i = 1; i < count; i++)
		r |= wfs_world_submit(fixture->world, &sent[i].request);
	atomic_store(&begins_held, false);
	assert_int_equal(r, 0);
}

struct sender {
	struct world_fixture *fixture;
	struct answers *answers;
	struct sent *sent;
	size_t first;
};

static void *send_many(void *argument)
{
	const struct sender *sender = argument;

	for (size_t i = sender->first; i < sender->first + REQUESTS_PER_THREAD; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%zu", i % KEYS);
		sent_init(&sender->sent[i], sender->answers, "add", key, 1);
		/* Overloaded is an answer too: try again until there is room. */
		while (wfs_world_submit(sender->fixture->world, &sender->sent[i].request) ==
			-EAGAIN)
			sched_yield();
	}
	return NULL;
}

static void ten_thousand_requests_of_four_threads_are_each_answered_once(void **state)
{
	struct world_fixture *fixture = *state;
	const size_t count = (size_t)THREADS * REQUESTS_PER_THREAD;
	struct sent *sent = calloc(count, sizeof(*sent));
	struct sender senders[THREADS];
	pthread_t threads[THREADS];
	struct answers answers;

	answers_init(&answers, count);
	for (size_t i = 0; i < THREADS; i++) {
		senders[i] = (struct sender){fixture, &answers, sent, i * REQUESTS_PER_THREAD};
		assert_int_equal(pthread_create(&threads[i], NULL, send_many, &senders[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	answers_wait(&answers);

	assert_int_equal(answers.failed, 0);
	assert_int_equal(answers.count, count);
	qsort(sent, count, sizeof(*sent), compare_seqs);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(sent[i].answer_count, 1);
		assert_int_equal(sent[i].request.seq, GENESIS_HEIGHT + i);
		assert_int_equal(sent[i].request.height, GENESIS_HEIGHT + i + 1);
		json_decref(sent[i].value);
	}
	free(sent);
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	wfs_buffer_printf(&expected, "{'n':%zu}", count / KEYS);
	for (int i = 0; i < KEYS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%d", i);
		assert_state(fixture, "cell", key, wfs_buffer_text(&expected));
	}
}

static void a_bad_request_among_good_ones_fails_alone(void **state)
{
	struct world_fixture *fixture = *state;
	static const char *const ops[] = {"set", "fail", "add", "loop", "add"};
	struct sent sent[WFS_ARRAY_COUNT(ops)];
	struct answers answers;

	answers_init(&answers, WFS_ARRAY_COUNT(ops));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++) {
		sent_init(&sent[i], &answers, ops[i], "a", 1);
		assert_int_equal(wfs_world_submit(fixture->world, &sent[i].request), 0);
	}
	answers_wait(&answers);

	assert_int_equal(answers.failed, 2);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++) {
		bool bad = i == 1 || i == 3;

		assert_int_equal(sent[i].request.result, bad ? -EIO : 0);
		assert_int_equal(sent[i].request.error.code, bad ? WFS_E_RUNTIME_ERROR : WFS_OK);
		assert_true(sent[i].request.seq == (bad ? UINT64_MAX : GENESIS_HEIGHT + i / 2));
		json_decref(sent[i].value);
	}
	assert_state(fixture, "cell", "a", "{'n':3}");
}

/* As many as one may have are less than all. */
static const char *const principals[] = {"tester", "other", "third"};

static void more_requests_than_the_queue_holds_are_refused(void **state)
{
	struct world_fixture *fixture = *state;
	struct sent *sent = calloc(WFS_QUEUE_COUNT_MAX + 1, sizeof(*sent));
	struct wfs_world_figures figures;
	struct answers answers;
	size_t taken = 0;
	struct gate gate;

	/* What is folded already counts as long as it is not answered. */
	gate_close(&gate, fixture);
	answers_init(&answers, WFS_QUEUE_COUNT_MAX);
	for (; taken <= WFS_QUEUE_COUNT_MAX; taken++) {
		sent_init(&sent[taken], &answers, "same", "a", 1);
		sent[taken].request.principal = principals[taken % 3];
		if (wfs_world_submit(fixture->world, &sent[taken].request))
			break;
	}
	wfs_world_figures(fixture->world, &figures);
	gate_open(&gate);

	assert_int_equal(taken, WFS_QUEUE_COUNT_MAX);
	assert_int_equal(sent[taken].request.error.code, WFS_E_OVERLOADED);
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

static void more_bytes_than_the_queue_holds_are_refused(void **state)
{
	struct world_fixture *fixture = *state;
	enum { LARGE = 15 << 20, COUNT = WFS_QUEUE_BYTES_MAX / LARGE + 1 };
	static struct sent sent[COUNT];
	WFS_AUTO_FREE char *text = malloc(LARGE);
	struct answers answers;
	size_t taken = 0;
	struct gate gate;

	memset(text, 'x', LARGE);
	WFS_AUTO_JSON json_t *value = json_stringn(text, LARGE);
	gate_close(&gate, fixture);
	answers_init(&answers, COUNT);
	for (; taken < COUNT; taken++) {
		sent_init(&sent[taken], &answers, "same", "a", 1);
		sent[taken].request.schema = "test/None@1";
		sent[taken].request.value = value;
		sent[taken].request.principal = principals[taken % 3];
		if (wfs_world_submit(fixture->world, &sent[taken].request))
			break;
	}
	gate_open(&gate);

	assert_int_equal(taken, COUNT - 1);
	assert_int_equal(sent[taken].request.error.code, WFS_E_OVERLOADED);
	world_fixture_close(fixture);
	assert_int_equal(answers.count, taken);
	for (size_t i = 0; i <= taken; i++)
		json_decref(sent[i].value);
	json_decref(gate.value);
}

static void values_count_as_the_memory_that_they_take(void **state)
{
	struct world_fixture *fixture = *state;
	enum { VALUES = 500000, COUNT = WFS_QUEUE_BYTES_MAX / (VALUES * WFS_JSON_VALUE_BYTES) + 1 };
	WFS_AUTO_JSON json_t *value = json_array();
	static struct sent sent[COUNT];
	struct answers answers;
	size_t taken = 0;
	struct gate gate;

	for (int i = 0; i < VALUES; i++)
		json_array_append_new(value, json_null());
	gate_close(&gate, fixture);
	answers_init(&answers, COUNT);
	for (; taken < COUNT; taken++) {
		sent_init(&sent[taken], &answers, "same", "a", 1);
		sent[taken].request.schema = "test/None@1";
		sent[taken].request.value = value;
		sent[taken].request.principal = principals[taken % 3];
		if (wfs_world_submit(fixture->world, &sent[taken].request))
			break;
	}
	gate_open(&gate);

	assert_in_range(taken, 2, COUNT - 1);
	assert_int_equal(sent[taken].request.error.code, WFS_E_OVERLOADED);
	world_fixture_close(fixture);
	assert_int_equal(answers.count, taken);
	for (size_t i = 0; i <= taken; i++)
		json_decref(sent[i].value);
	json_decref(gate.value);
}

static void one_principal_has_not_the_whole_queue(void **state)
{
	struct world_fixture *fixture = *state;
	struct sent *sent = calloc(WFS_QUEUE_PRINCIPAL_COUNT_MAX + 2, sizeof(*sent));
	struct answers answers;
	size_t taken = 0;
	struct gate gate;

	gate_close(&gate, fixture);
	answers_init(&answers, WFS_QUEUE_PRINCIPAL_COUNT_MAX + 1);
	for (; taken <= WFS_QUEUE_PRINCIPAL_COUNT_MAX; taken++) {
		sent_init(&sent[taken], &answers, "same", "a", 1);
		if (wfs_world_submit(fixture->world, &sent[taken].request))
			break;
	}
	sent_init(&sent[taken + 1], &answers, "same", "a", 1);
	sent[taken + 1].request.principal = "other";
	const int other = wfs_world_submit(fixture->world, &sent[taken + 1].request);
	gate_open(&gate);

	assert_int_equal(taken, WFS_QUEUE_PRINCIPAL_COUNT_MAX);
	assert_int_equal(sent[taken].request.error.code, WFS_E_OVERLOADED);
	assert_int_equal(other, 0);
	answers_wait(&answers);
	world_fixture_close(fixture);
	for (size_t i = 0; i <= taken + 1; i++)
		json_decref(sent[i].value);
	json_decref(gate.value);
	free(sent);
}

/* --- turns --- */

static void one_request_does_not_wait_for_all_of_another_principal(void **state)
{
	struct world_fixture *fixture = *state;
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

/* Sends the first, and waits until it is about to be folded. */
static void send_and_fold(struct world_fixture *fixture, struct sent *sent)
{
	const size_t begun = atomic_load(&begin_count);

	assert_int_equal(wfs_world_submit(fixture->world, &sent->request), 0);
	while (atomic_load(&begin_count) == begun)
		sched_yield();
}

enum { LONG_WORK = 2000000 }; /* turns of a loop */

/* Sends one that takes long, and an urgent one while its code runs. @gone: of the first, is its client then */
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
	if (gone)
		atomic_store(gone, true);
	assert_int_equal(wfs_world_submit(fixture->world, &sent[1].request), 0);
	answers_wait(answers);
	assert_int_equal(sent[1].request.seq, GENESIS_HEIGHT);
	assert_int_equal(sent[0].request.put_back_count, 1);
	json_decref(sent[0].value);
	json_decref(sent[1].value);
}

static void an_urgent_request_stops_code_which_runs_again(void **state)
{
	struct world_fixture *fixture = *state;
	struct sent sent[2];
	struct answers answers;

	send_long_and_urgent(fixture, sent, &answers, NULL);
	assert_int_equal(answers.failed, 0);
	assert_int_equal(sent[0].request.seq, GENESIS_HEIGHT + 1);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 2);
	assert_state(fixture, "cell", "a", "{'n':2000000}");
}

static void urgent_requests_in_a_row_do_not_starve_a_request(void **state)
{
	struct world_fixture *fixture = *state;
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

static void urgent_requests_of_the_operator_never_wait_for_code(void **state)
{
	struct sent sent;
	struct answers answers;

	answers_init(&answers, 1);
	sent_init(&sent, &answers, "work", "a", LONG_WORK);
	send_and_fold(*state, &sent);
	for (int i = 0; i < WFS_PUT_BACK_MAX + 2; i++)
		call_urgent(*state, i < WFS_PUT_BACK_MAX ? "other" : "operator");
	answers_wait(&answers);
	assert_int_equal(answers.failed, 0);
	assert_int_equal(sent.request.put_back_count, WFS_PUT_BACK_MAX + 2);
	json_decref(sent.value);
}

static void a_request_whose_client_is_gone_is_not_begun(void **state)
{
	struct world_fixture *fixture = *state;
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

static void a_request_that_was_stopped_and_whose_client_is_gone_ends(void **state)
{
	struct world_fixture *fixture = *state;
	atomic_bool gone = false;
	struct sent sent[2];
	struct answers answers;

	send_long_and_urgent(fixture, sent, &answers, &gone);
	assert_int_equal(answers.failed, 1);
	assert_int_equal(sent[0].request.error.code, WFS_E_CANCELLED);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 1);
}

static void an_event_with_too_many_values_is_refused(void **state)
{
	struct world_fixture *fixture = *state;
	WFS_AUTO_JSON json_t *value = json_array();
	struct wfs_request request = {.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.schema = "test/None@1",
		.value = value};

	for (int i = 0; i < WFS_JSON_VALUES_MAX; i++)
		json_array_append_new(value, json_null());

	assert_int_equal(wfs_world_call(fixture->world, &request), -EFBIG);
	assert_int_equal(request.error.code, WFS_E_TOO_LARGE);
}

static void close_answers_everything_that_is_queued(void **state)
{
	struct world_fixture *fixture = *state;
	enum { COUNT = 3000 };
	static struct sent sent[COUNT];
	struct answers answers;

	answers_init(&answers, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		sent_init(&sent[i], &answers, "add", "a", 1);
		assert_int_equal(wfs_world_submit(fixture->world, &sent[i].request), 0);
	}
	world_fixture_close(fixture);

	assert_int_equal(answers.count, COUNT);
	assert_int_equal(answers.failed, 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_state(fixture, "cell", "a", "{'n':3000}");
	for (size_t i = 0; i < COUNT; i++)
		json_decref(sent[i].value);
}

static void a_batch_ends_when_its_results_are_large(void **state)
{
	struct world_fixture *fixture = *state;
	enum { COUNT = 40, SIZE = 3000000 };
	struct wfs_world_figures figures;
	struct sent sent[COUNT];
	struct answers answers;

	answers_init(&answers, COUNT);
	for (int i = 0; i < COUNT; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%d", i);
		sent_init(&sent[i], &answers, "grow", key, SIZE);
	}
	send_as_batch(fixture, sent, COUNT);
	answers_wait(&answers);
	wfs_world_figures(fixture->world, &figures);

	/* 32 MiB end a batch after 12 of them, if their time has not ended it before. */
	assert_int_equal(answers.failed, 0);
	assert_in_range(figures.batches_total, 1 + 4, 1 + COUNT);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(sent[i].answer_count, 1);
		assert_int_equal(sent[i].request.seq, GENESIS_HEIGHT + i);
		assert_int_equal(sent[i].request.height, GENESIS_HEIGHT + i + 1);
		json_decref(sent[i].value);
	}
}

static void a_batch_ends_when_its_work_was_long(void **state)
{
	struct world_fixture *fixture = *state;
	static const char *const ops[] = {
		"set", "work", "work", "add", "work", "loop", "loop", "add", "add"};
	struct wfs_world_figures figures;
	struct sent sent[WFS_ARRAY_COUNT(ops)];
	struct answers answers;

	answers_init(&answers, WFS_ARRAY_COUNT(ops));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++) {
		const bool works = strcmp(ops[i], "work") == 0;

		sent_init(&sent[i], &answers, ops[i], works ? "b" : "a", works ? 9000000 : 1);
	}
	send_as_batch(fixture, sent, WFS_ARRAY_COUNT(ops));
	answers_wait(&answers);
	wfs_world_figures(fixture->world, &figures);

	/* set; work; work; add and work; loop; loop, which both fail; add, add: 10 ms end a batch. */
	assert_int_equal(answers.failed, 2);
	assert_in_range(figures.batches_total, 7, WFS_ARRAY_COUNT(ops));
	assert_state(fixture, "cell", "a", "{'n':4}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++)
		json_decref(sent[i].value);
}

static void figures_count_requests_and_batches(void **state)
{
	struct world_fixture *fixture = *state;
	struct wfs_world_figures figures;

	tell(fixture, "{'key':'a','op':'set'}");
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'fail'}"), -EIO);
	wfs_world_figures(fixture->world, &figures);

	assert_int_equal(figures.height, GENESIS_HEIGHT + 1);
	assert_int_equal(figures.requests_total, 2);
	assert_int_equal(figures.requests_failed, 1);
	assert_int_equal(figures.batches_total, 2);
	assert_int_equal(figures.queue_count, 0);
	assert_int_equal(figures.queue_bytes, 0);
	assert_true(figures.store.used_bytes > 0);
}

/* --- observers --- */

struct watcher {
	struct wfs_observer observer;
	struct world_fixture *fixture;
	pthread_mutex_t lock;
	/* lock: lock */
	size_t count;
	struct wfs_commit last; /* without its changes */
	struct wfs_change changes[8];
	char keys[8][32];
	uint64_t seen_height; /* of a view opened while the observer was called */
};

static void watch(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct watcher *watcher = (struct watcher *)observer;
	WFS_AUTO_VIEW struct wfs_view view = view_at(watcher->fixture, WFS_HEIGHT_HEAD);
	WFS_GUARD(&watcher->lock);

	watcher->count++;
	watcher->last = *commit;
	watcher->seen_height = view.height;
	for (size_t i = 0; i < commit->change_count && i < 8; i++) {
		watcher->changes[i] = commit->changes[i];
		snprintf(watcher->keys[i], sizeof(watcher->keys[i]), "%.*s",
			(int)commit->changes[i].key.size,
			(const char *)commit->changes[i].key.data);
	}
}

static void watcher_init(struct watcher *watcher, struct world_fixture *fixture)
{
	*watcher = (struct watcher){
		.observer.committed = watch,
		.fixture = fixture,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	wfs_world_observe(fixture->world, &watcher->observer);
}

static void an_observer_is_called_before_the_answer_and_sees_the_commit(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	tell(fixture, "{'key':'a','op':'set'}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.count, 1);
	assert_int_equal(watcher.last.from_height, GENESIS_HEIGHT);
	assert_int_equal(watcher.last.to_height, GENESIS_HEIGHT + 1);
	assert_int_equal(watcher.seen_height, GENESIS_HEIGHT + 1);
}

static void an_observer_is_told_each_changed_cell(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;

	tell(fixture, "{'key':'a.1','op':'set','n':7}");
	watcher_init(&watcher, fixture);
	tell(fixture, "{'key':'a','op':'emit','n':2}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.last.change_count, 3);
	assert_string_equal(watcher.keys[0], "a");
	assert_false(watcher.changes[0].was_live);
	assert_true(watcher.changes[0].is_live);
	assert_string_equal(watcher.keys[1], "a.1");
	assert_true(watcher.changes[1].was_live);
	assert_true(watcher.changes[1].is_live);
	assert_string_equal(watcher.keys[2], "a.2");
}

static void an_observer_is_told_of_a_deletion(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;

	tell(fixture, "{'key':'a','op':'set'}");
	watcher_init(&watcher, fixture);
	tell(fixture, "{'key':'a','op':'delete'}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.last.change_count, 1);
	assert_true(watcher.changes[0].was_live);
	assert_false(watcher.changes[0].is_live);
	assert_false(watcher.last.manifest_changed || watcher.last.blobs_listed);
}

static void an_observer_is_told_of_the_cell_without_a_key(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	assert_int_equal(send_event(fixture, "test/Total@1", "{'op':'set'}"), 0);
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.last.change_count, 1);
	assert_int_equal(watcher.changes[0].key.size, 0);
}

static void an_observer_is_not_told_of_cells_that_stayed_the_same(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	watcher_init(&watcher, fixture);
	tell(fixture, "{'key':'a','op':'same'}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.count, 1);
	assert_int_equal(watcher.last.change_count, 0);
}

static void an_observer_is_told_of_blobs(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;
	struct wfs_hash hash;

	watcher_init(&watcher, fixture);
	assert_int_equal(put_blob(fixture, "x", 1, &hash), 0);
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_true(watcher.last.blobs_listed);
}

static void an_observer_is_not_called_when_nothing_was_stored(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'fail'}"), -EIO);
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.count, 0);
}

static void an_observer_that_was_taken_away_is_not_called(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher first;
	struct watcher second;

	watcher_init(&first, fixture);
	watcher_init(&second, fixture);
	wfs_world_unobserve(fixture->world, &first.observer);
	tell(fixture, "{'key':'a','op':'set'}");
	wfs_world_unobserve(fixture->world, &second.observer);

	assert_int_equal(first.count, 0);
	assert_int_equal(second.count, 1);
}

/* --- a full store --- */

static void a_full_store_refuses_events_and_still_reads(void **state)
{
	struct world_fixture *fixture = *state;
	uint64_t height;
	int r = 0;

	fixture->options.map_size_bytes = 1 << 20;
	assert_int_equal(world_fixture_create(fixture), 0);
	assert_int_equal(world_fixture_open(fixture), 0);
	for (int i = 0; i < 2000 && !r; i++)
		r = send_event(fixture, "test/Do@1", "{'key':'a','op':'grow','n':20000}") ||
			send_event(fixture, "test/Do@1", "{'key':'a','op':'grow','n':20001}");

	height = height_of(fixture);
	assert_int_equal(
		send_event(fixture, "test/Do@1", "{'key':'b','op':'grow','n':30000}"), -ENOSPC);
	assert_int_equal(fixture->error.code, WFS_E_STORE_FULL);
	assert_int_equal(height_of(fixture), height);
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'fail'}"), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_RUNTIME_ERROR);

	fixture->options.map_size_bytes = 8 << 20;
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), height);
	tell(fixture, "{'key':'b','op':'grow','n':30000}");
	assert_int_equal(height_of(fixture), height + 1);
}

static void a_commit_that_fails_leaves_no_trace(void **state)
{
	struct world_fixture *fixture = *state;
	uint64_t seq;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	atomic_store(&failing_commits, 1);
	assert_event_refused(fixture, "test/Do@1", "{'key':'a','op':'emit','n':3}", NULL, -ENOSPC,
		WFS_E_STORE_FULL);

	assert_int_equal(
		send_keyed(fixture, "test/Do@1", "{'key':'a','op':'emit','n':3}", NULL, &seq), 0);
	assert_int_equal(seq, GENESIS_HEIGHT + 1);
	assert_state(fixture, "cell", "a.3", "{'n':3}");
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 5);
}

static void a_store_that_cannot_be_written_any_more_refuses_and_does_not_end(void **state)
{
	struct world_fixture *fixture = *state;
	uint64_t seq;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	atomic_store(&failing_commits, 1);
	int first = send_event(fixture, "test/Do@1", "{'key':'a','op':'set','n':2}");
	atomic_store(&failing_begins, 2);
	int second = send_event(fixture, "test/Do@1", "{'key':'a','op':'set','n':3}");
	int third = send_event(fixture, "test/Do@1", "{'key':'a','op':'set','n':4}");

	assert_int_equal(first, -ENOSPC);
	assert_int_equal(second, -ENOTRECOVERABLE);
	assert_int_equal(third, -ENOTRECOVERABLE);
	assert_int_equal(
		send_keyed(fixture, "test/Do@1", "{'key':'a','op':'set','n':5}", NULL, &seq), 0);
	assert_int_equal(seq, GENESIS_HEIGHT + 1);
	assert_state(fixture, "cell", "a", "{'n':5}");
}

static void a_commit_that_fails_is_not_observed(void **state)
{
	struct world_fixture *fixture = *state;
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	atomic_store(&failing_commits, 1);
	int r = send_event(fixture, "test/Do@1", "{'key':'a','op':'set'}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(r, -ENOSPC);
	assert_int_equal(watcher.count, 0);
}

/* Notes what the commits were, in the order in which they were told. */
struct history {
	struct wfs_observer observer;
	size_t count;
	uint64_t to_height[8];
};

static void note_commit(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct history *history = (struct history *)observer;

	if (history->count < WFS_ARRAY_COUNT(history->to_height))
		history->to_height[history->count] = commit->to_height;
	history->count++;
}

static void a_request_that_cannot_be_stored_fails_alone(void **state)
{
	struct world_fixture *fixture = *state;
	static const char *const ops[] = {"set", "add", "fail", "grow", "add", "emit"};
	struct history history = {.observer.committed = note_commit};
	struct sent sent[WFS_ARRAY_COUNT(ops)];
	struct answers answers;

	/* The state of `grow` would be a file. */
	answers_init(&answers, WFS_ARRAY_COUNT(ops));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++) {
		const bool grows = strcmp(ops[i], "grow") == 0;

		sent_init(&sent[i], &answers, ops[i], grows ? "b" : "a", grows ? 100000 : 2);
	}
	wfs_world_observe(fixture->world, &history.observer);
	atomic_store(&files_fail, true);
	send_as_batch(fixture, sent, WFS_ARRAY_COUNT(ops));
	answers_wait(&answers);
	atomic_store(&files_fail, false);
	wfs_world_unobserve(fixture->world, &history.observer);

	assert_int_equal(answers.failed, 2);
	assert_int_equal(sent[2].request.error.code, WFS_E_RUNTIME_ERROR);
	assert_int_equal(sent[3].request.error.code, WFS_E_STORE_FULL);
	assert_true(sent[3].request.seq == UINT64_MAX);
	assert_int_equal(sent[0].request.seq, GENESIS_HEIGHT);
	assert_int_equal(sent[1].request.seq, GENESIS_HEIGHT + 1);
	assert_int_equal(sent[4].request.seq, GENESIS_HEIGHT + 2);
	assert_int_equal(sent[5].request.seq, GENESIS_HEIGHT + 3);
	assert_int_equal(sent[5].request.height, GENESIS_HEIGHT + 6);
	/* Four, unless the batch had ended before the one that fails. */
	assert_in_range(history.count, 3, 4);
	assert_int_equal(history.to_height[0], GENESIS_HEIGHT + 1);
	assert_int_equal(history.to_height[1], GENESIS_HEIGHT + 2);
	assert_int_equal(history.to_height[history.count - 1], GENESIS_HEIGHT + 6);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++) {
		assert_int_equal(sent[i].answer_count, 1);
		json_decref(sent[i].value);
	}
	assert_state(fixture, "cell", "a", "{'n':2,'op':'emit'}");
	assert_state(fixture, "cell", "b", NULL);
	assert_int_equal(world_fixture_open(fixture), 0);
	assert_int_equal(height_of(fixture), GENESIS_HEIGHT + 6);
}

static void requests_behind_one_that_cannot_be_stored_share_a_batch_again(void **state)
{
	struct world_fixture *fixture = *state;
	enum { COUNT = 20 };
	struct wfs_world_figures figures;
	struct sent sent[COUNT];
	struct answers answers;

	answers_init(&answers, 3);
	for (int i = 0; i < COUNT; i++)
		sent_init(&sent[i], &answers, i == 1 ? "grow" : "add", "a", i == 1 ? 100000 : 1);
	atomic_store(&files_fail, true);
	send_as_batch(fixture, sent, 3);
	answers_wait(&answers);
	atomic_store(&files_fail, false);
	answers_init(&answers, COUNT - 3);
	send_as_batch(fixture, &sent[3], COUNT - 3);
	answers_wait(&answers);
	wfs_world_figures(fixture->world, &figures);

	assert_int_equal(figures.requests_failed, 1);
	/* 17 and more if each had one of its own; how many go into one depends on their time. */
	assert_in_range(figures.batches_total, 1 + 2 + 2, 1 + 2 + COUNT / 2);
	assert_state(fixture, "cell", "a", "{'n':19}");
	for (int i = 0; i < COUNT; i++)
		json_decref(sent[i].value);
}

static void a_collection_that_fails_fails_alone(void **state)
{
	struct world_fixture *fixture = *state;
	enum { COUNT = 4, GC = 2 };
	struct wfs_gc_step step = {.kind = WFS_GC_DROP};
	struct sent sent[COUNT];
	struct answers answers;

	answers_init(&answers, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		sent_init(&sent[i], &answers, "add", "a", 1);
	sent[GC].request.kind = WFS_REQUEST_GC;
	sent[GC].request.gc = &step;
	atomic_store(&gc_fails, true);
	send_as_batch(fixture, sent, COUNT);
	answers_wait(&answers);
	atomic_store(&gc_fails, false);

	assert_int_equal(answers.failed, 1);
	assert_int_equal(sent[GC].request.error.code, WFS_E_HASH_MISMATCH);
	assert_int_equal(sent[3].request.seq, GENESIS_HEIGHT + 2);
	assert_state(fixture, "cell", "a", "{'n':3}");
	for (size_t i = 0; i < COUNT; i++)
		json_decref(sent[i].value);
}

static void a_request_that_failed_before_the_commit_did_keeps_its_reason(void **state)
{
	struct world_fixture *fixture = *state;
	static const char *const ops[] = {"loop", "fail", "set"};
	struct sent sent[WFS_ARRAY_COUNT(ops)];
	struct answers answers;

	/* The endless loop keeps the kernel thread busy, so that the others are one batch. */
	atomic_store(&failing_commits, 1);
	answers_init(&answers, WFS_ARRAY_COUNT(ops));
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++) {
		sent_init(&sent[i], &answers, ops[i], "a", 1);
		assert_int_equal(wfs_world_submit(fixture->world, &sent[i].request), 0);
	}
	answers_wait(&answers);

	assert_int_equal(answers.failed, 3);
	assert_int_equal(sent[1].request.error.code, WFS_E_RUNTIME_ERROR);
	assert_int_equal(sent[2].request.error.code, WFS_E_STORE_FULL);
	assert_true(sent[2].request.seq == UINT64_MAX);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++)
		json_decref(sent[i].value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(ten_thousand_requests_of_four_threads_are_each_answered_once),
		IN_WORLD(a_bad_request_among_good_ones_fails_alone),
		IN_WORLD(more_requests_than_the_queue_holds_are_refused),
		IN_WORLD(more_bytes_than_the_queue_holds_are_refused),
		IN_WORLD(values_count_as_the_memory_that_they_take),
		IN_WORLD(one_principal_has_not_the_whole_queue),
		IN_WORLD(one_request_does_not_wait_for_all_of_another_principal),
		IN_WORLD(an_urgent_request_stops_code_which_runs_again),
		IN_WORLD(urgent_requests_in_a_row_do_not_starve_a_request),
		IN_WORLD(urgent_requests_of_the_operator_never_wait_for_code),
		IN_WORLD(a_request_whose_client_is_gone_is_not_begun),
		IN_WORLD(a_request_that_was_stopped_and_whose_client_is_gone_ends),
		IN_WORLD(an_event_with_too_many_values_is_refused),
		IN_WORLD(close_answers_everything_that_is_queued),
		IN_WORLD(a_batch_ends_when_its_results_are_large),
		IN_WORLD(a_batch_ends_when_its_work_was_long),
		IN_WORLD(figures_count_requests_and_batches),
		IN_WORLD(an_observer_is_called_before_the_answer_and_sees_the_commit),
		IN_WORLD(an_observer_is_told_each_changed_cell),
		IN_WORLD(an_observer_is_told_of_a_deletion),
		IN_WORLD(an_observer_is_told_of_the_cell_without_a_key),
		IN_WORLD(an_observer_is_not_told_of_cells_that_stayed_the_same),
		IN_WORLD(an_observer_is_told_of_blobs),
		IN_WORLD(an_observer_is_not_called_when_nothing_was_stored),
		IN_WORLD(an_observer_that_was_taken_away_is_not_called),
		WITH_SOURCE(a_full_store_refuses_events_and_still_reads),
		IN_WORLD(a_commit_that_fails_leaves_no_trace),
		IN_WORLD(a_store_that_cannot_be_written_any_more_refuses_and_does_not_end),
		IN_WORLD(a_commit_that_fails_is_not_observed),
		IN_WORLD(a_request_that_cannot_be_stored_fails_alone),
		IN_WORLD(requests_behind_one_that_cannot_be_stored_share_a_batch_again),
		IN_WORLD(a_collection_that_fails_fails_alone),
		IN_WORLD(a_request_that_failed_before_the_commit_did_keeps_its_reason),
	};

	return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
