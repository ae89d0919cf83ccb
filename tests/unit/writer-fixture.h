/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches that a test makes of requests to a world of the fixture. A program that includes this wraps
 * mdb_txn_begin.
 */
#pragma once

#include <lmdb.h>
#include <sched.h>

#include "tests/unit/sent-fixture.h"

enum { GENESIS_HEIGHT = 2 }; /* of a new world: the genesis record and its first snapshot */

static atomic_int failing_begins; /* how many of the next write transactions do not begin */
static atomic_bool begins_held;   /* they wait; set and unset by the test */
static atomic_size_t begin_count; /* of write transactions that are to begin */
static atomic_size_t begun_count; /* of those that did */

/* NOLINTBEGIN(readability-identifier-naming): the linker makes these names */
int __real_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **ret);
int __wrap_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **ret);

int __wrap_mdb_txn_begin(MDB_env *env, MDB_txn *parent, unsigned int flags, MDB_txn **ret)
{
	if (flags & MDB_RDONLY)
		return __real_mdb_txn_begin(env, parent, flags, ret);
	atomic_fetch_add(&begin_count, 1);
	while (atomic_load(&begins_held))
		sched_yield();
	if (atomic_load(&failing_begins) == 0) {
		const int r = __real_mdb_txn_begin(env, parent, flags, ret);

		atomic_fetch_add(&begun_count, 1);
		return r;
	}
	atomic_fetch_sub(&failing_begins, 1);
	return MDB_PANIC; /* what LMDB says after it failed to write the root */
}
/* NOLINTEND(readability-identifier-naming) */

/* Sends the first, and the others while that is being stored, so that these are one batch. */
static inline void send_as_batch(struct world_fixture *fixture, struct sent *sent, size_t count)
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

/* Sends the first, and waits until it is about to be folded. */
static inline void send_and_fold(struct world_fixture *fixture, struct sent *sent)
{
	const size_t begun = atomic_load(&begun_count);

	assert_int_equal(wfs_world_submit(fixture->world, &sent->request), 0);
	while (atomic_load(&begun_count) == begun)
		sched_yield();
}
