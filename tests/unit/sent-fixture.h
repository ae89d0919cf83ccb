/* SPDX-License-Identifier: Apache-2.0 */
/* Many requests at once to a world of the fixture, and their answers. */
#pragma once

#include "tests/unit/world-fixture.h"

/* Counts answers; the last one wakes whoever waits. */
struct answers {
	pthread_mutex_t lock;
	pthread_cond_t complete;
	/* lock: lock */
	size_t wanted;
	size_t count;
	size_t failed;
};

struct sent {
	struct wfs_request request;
	struct answers *answers;
	json_t *value;
	unsigned int answer_count;
};

static inline void answers_init(struct answers *answers, size_t wanted)
{
	*answers = (struct answers){.lock = PTHREAD_MUTEX_INITIALIZER,
		.complete = PTHREAD_COND_INITIALIZER,
		.wanted = wanted};
}

static inline void answered(struct wfs_request *request)
{
	struct sent *sent = request->context;
	struct answers *answers = sent->answers;
	WFS_GUARD(&answers->lock);

	sent->answer_count++;
	answers->failed += request->result != 0;
	if (++answers->count == answers->wanted)
		pthread_cond_signal(&answers->complete);
}

static inline void answers_wait(struct answers *answers)
{
	WFS_GUARD(&answers->lock);

	while (answers->count < answers->wanted)
		pthread_cond_wait(&answers->complete, &answers->lock);
}

/* An event to the counter of @key. */
static inline void sent_init(
	struct sent *sent, struct answers *answers, const char *op, const char *key, int n)
{
	*sent = (struct sent){
		.answers = answers,
		.value = json_pack("{s:s,s:s,s:i}", "op", op, "key", key, "n", n),
	};
	sent->request = (struct wfs_request){
		.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.schema = "test/Do@1",
		.value = sent->value,
		.done = answered,
		.context = sent,
	};
}

/* By what their records are numbered; for qsort. */
static inline int compare_seqs(const void *a, const void *b)
{
	uint64_t x = ((const struct sent *)a)->request.seq;
	uint64_t y = ((const struct sent *)b)->request.seq;

	return (x > y) - (x < y);
}

/* Goes ahead of others. */
static inline void call_urgent(struct world_fixture *fixture, const char *principal)
{
	WFS_AUTO_JSON json_t *value = json_pack("{s:s,s:s}", "op", "set", "key", "b");
	struct wfs_request urgent = {.kind = WFS_REQUEST_EVENT,
		.principal = principal,
		.schema = "test/Do@1",
		.value = value,
		.urgent = true,
		.administers =
			strcmp(principal, "operator") == 0 || strcmp(principal, "admin") == 0};

	assert_int_equal(wfs_world_call(fixture->world, &urgent), 0);
}

/* An answer that does not come back before the test says so. */
struct gate {
	struct wfs_request request;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool reached; /* lock: lock */
	bool open;    /* lock: lock */
	json_t *value;
};

static inline void wait_at_gate(struct wfs_request *request)
{
	struct gate *gate = request->context;
	WFS_GUARD(&gate->lock);

	gate->reached = true;
	pthread_cond_signal(&gate->moved);
	while (!gate->open)
		pthread_cond_wait(&gate->moved, &gate->lock);
}

/* Keeps the publisher busy, so that nothing is answered until gate_open. A test must not fail
 * before that: the world could not be closed. */
static inline void gate_close(struct gate *gate, struct world_fixture *fixture)
{
	*gate = (struct gate){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER,
		.value = json_pack("{s:s,s:s}", "op", "set", "key", "gate"),
	};
	gate->request = (struct wfs_request){.kind = WFS_REQUEST_EVENT,
		.principal = "tester",
		.schema = "test/Do@1",
		.value = gate->value,
		.done = wait_at_gate,
		.context = gate};
	assert_int_equal(wfs_world_submit(fixture->world, &gate->request), 0);
	WFS_GUARD(&gate->lock);
	while (!gate->reached)
		pthread_cond_wait(&gate->moved, &gate->lock);
}

static inline void gate_open(struct gate *gate)
{
	WFS_GUARD(&gate->lock);

	gate->open = true;
	pthread_cond_signal(&gate->moved);
}
