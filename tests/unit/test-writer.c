/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many requests at once, the order of commit, observers and answers, and stores that cannot take
 * any more. test-writer-queue.c tests queues.
 */
#include "tests/fixture/writer.h"

#include "kernel/copy/gc.h"

enum {
	THREADS = 4,
	REQUESTS_PER_THREAD = 2500,
	KEYS = 50,
};

/* --- a disk that fails --- */

static atomic_int failing_commits; /* how many of the next commits fail */
static atomic_bool files_fail;     /* no file finds room */
static atomic_bool gc_fails;

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
int __real_mdb_txn_commit(MDB_txn *txn);
int __wrap_mdb_txn_commit(MDB_txn *txn);

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
		/* Overloaded is an answer, too: sends again until the queue has room. */
		while (wfs_world_submit(sender->fixture->world, &sender->sent[i].request) ==
			-EAGAIN)
			sched_yield();
	}
	return NULL;
}

IN_WORLD(ten_thousand_requests_of_four_threads_are_each_answered_once)
{
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

IN_WORLD(a_bad_request_among_good_ones_fails_alone)
{
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

IN_WORLD(an_event_with_too_many_values_is_refused)
{
	WFS_AUTO_JSON json_t *value = json_array();
	struct wfs_request request = {.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.event.schema = "test/None@1",
		.event.value = value};

	for (int i = 0; i < WFS_JSON_VALUES_MAX; i++)
		json_array_append_new(value, json_null());

	assert_int_equal(wfs_world_call(fixture->world, &request), -EFBIG);
	assert_int_equal(request.error.code, WFS_E_TOO_LARGE);
}

IN_WORLD(close_answers_everything_that_is_queued)
{
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

IN_WORLD(a_batch_ends_when_its_results_are_large)
{
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

	/* A batch ends after 12 of them, at 32 MiB, unless its time has ended it before. */
	assert_int_equal(answers.failed, 0);
	assert_in_range(figures.batches_total, 1 + 4, 1 + COUNT);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(sent[i].answer_count, 1);
		assert_int_equal(sent[i].request.seq, GENESIS_HEIGHT + i);
		assert_int_equal(sent[i].request.height, GENESIS_HEIGHT + i + 1);
		json_decref(sent[i].value);
	}
}

IN_WORLD(a_batch_ends_when_its_work_was_long)
{
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

	/* The requests are set; work; work; add and work; two loops, which fail; add, add. A
	 * batch ends after 10 ms. */
	assert_int_equal(answers.failed, 2);
	assert_in_range(figures.batches_total, 7, WFS_ARRAY_COUNT(ops));
	assert_state(fixture, "cell", "a", "{'n':4}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(ops); i++)
		json_decref(sent[i].value);
}

IN_WORLD(figures_count_requests_and_batches)
{
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

IN_WORLD(an_observer_is_called_before_the_answer_and_sees_the_commit)
{
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	tell(fixture, "{'key':'a','op':'set'}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.count, 1);
	assert_int_equal(watcher.last.from_height, GENESIS_HEIGHT);
	assert_int_equal(watcher.last.to_height, GENESIS_HEIGHT + 1);
	assert_int_equal(watcher.seen_height, GENESIS_HEIGHT + 1);
}

IN_WORLD(an_observer_is_told_each_changed_cell)
{
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

IN_WORLD(an_observer_is_told_of_a_deletion)
{
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

IN_WORLD(an_observer_is_told_of_the_cell_without_a_key)
{
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	assert_int_equal(send_event(fixture, "test/Total@1", "{'op':'set'}"), 0);
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.last.change_count, 1);
	assert_int_equal(watcher.changes[0].key.size, 0);
}

IN_WORLD(an_observer_is_not_told_of_cells_that_stayed_the_same)
{
	struct watcher watcher;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	watcher_init(&watcher, fixture);
	tell(fixture, "{'key':'a','op':'same'}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.count, 1);
	assert_int_equal(watcher.last.change_count, 0);
}

IN_WORLD(an_observer_is_told_of_blobs)
{
	struct watcher watcher;
	struct wfs_hash hash;

	watcher_init(&watcher, fixture);
	assert_int_equal(put_blob(fixture, "x", 1, &hash), 0);
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_true(watcher.last.blobs_listed);
}

IN_WORLD(an_observer_is_not_called_when_nothing_was_stored)
{
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'fail'}"), -EIO);
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(watcher.count, 0);
}

IN_WORLD(an_observer_that_was_taken_away_is_not_called)
{
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

WITH_SOURCE(a_full_store_refuses_events_and_still_reads)
{
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

IN_WORLD(a_commit_that_fails_leaves_no_trace)
{
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

IN_WORLD(a_store_that_cannot_be_written_any_more_refuses_and_does_not_end)
{
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

IN_WORLD(a_commit_that_fails_is_not_observed)
{
	struct watcher watcher;

	watcher_init(&watcher, fixture);
	atomic_store(&failing_commits, 1);
	int r = send_event(fixture, "test/Do@1", "{'key':'a','op':'set'}");
	wfs_world_unobserve(fixture->world, &watcher.observer);

	assert_int_equal(r, -ENOSPC);
	assert_int_equal(watcher.count, 0);
}

/* Notes the commits in the order in which the observer got them. */
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

IN_WORLD(a_request_that_cannot_be_stored_fails_alone)
{
	static const char *const ops[] = {"set", "add", "fail", "grow", "add", "emit"};
	struct history history = {.observer.committed = note_commit};
	struct sent sent[WFS_ARRAY_COUNT(ops)];
	struct answers answers;

	/* `grow` makes the state so large that it would be a file. */
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
	/* Four, unless the batch ended before the request that fails. */
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

IN_WORLD(requests_behind_one_that_cannot_be_stored_share_a_batch_again)
{
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
	/* If each had a batch of its own, there would be 17 and more; the time decides how many
	 * share one. */
	assert_in_range(figures.batches_total, 1 + 2 + 2, 1 + 2 + COUNT / 2);
	assert_state(fixture, "cell", "a", "{'n':19}");
	for (int i = 0; i < COUNT; i++)
		json_decref(sent[i].value);
}

IN_WORLD(a_collection_that_fails_fails_alone)
{
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

IN_WORLD(a_request_that_failed_before_the_commit_did_keeps_its_reason)
{
	static const char *const ops[] = {"loop", "fail", "set"};
	struct sent sent[WFS_ARRAY_COUNT(ops)];
	struct answers answers;

	/* The endless loop keeps the kernel thread busy, so that the others become one batch. */
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
