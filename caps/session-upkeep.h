/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upkeep of an open world: figures, snapshots, collections, and code that crashed.
 */
#pragma once

#include "kernel/box/quarantine.h"
#include "kernel/copy/gc.h"
#include "kernel/world/figures.h"

struct wfs_request;
struct wfs_session;

/* Figures for `status` and `metrics`: plain value. */
struct wfs_session_figures {
	bool whole; /* the principal sees all, or administers the world; false: heights only */
	struct wfs_world_figures world;
	uint64_t effects_in_flight; /* open intents */
	uint64_t refused_total;     /* refused reads; the journal has the refused changes */
};
int wfs_session_figures(const struct wfs_session *session, struct wfs_session_figures *ret_figures,
	struct wfs_error *error);

/** wfs_session_snapshot() - compute the snapshot hash of the head, and wait until it is recorded
 *  Thread: not the publisher's or a FUSE worker's, because this reads every cell.
 *  @progress: called now and then, on this thread, with @context, the number of cells done, and
 *             that of all cells; may be NULL
 *  @ret_request: the answered request: its `snapshot` has the height and the hash
 *  Return: 0, or -errno (-EACCES: the principal may not make snapshots; …) with
 *  ret_request->error. */
int wfs_session_snapshot(const struct wfs_session *session,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_request *ret_request);

/** wfs_session_gc_begin() - prepare to drop old heights; nothing is judged before wfs_session_gc(),
 *  which drops them
 *  @number: if @keep, how many of the newest heights to keep; otherwise the first height to keep
 *  @gc: zero-initialised by the caller; owns nothing, so that it need not be ended
 *  Return: as wfs_gc_begin() (kernel/copy/gc.h). */
int wfs_session_gc_begin(const struct wfs_session *session, bool keep, uint64_t number,
	struct wfs_gc *gc, struct wfs_error *error);

/** wfs_session_gc() - drop old heights, beginning where the last call with @gc has stopped; waits
 *  for the kernel thread
 *  @rows_max: about how many rows of the store this call may look at; 0: go on until gc->done
 *  Thread: not the publisher's or a FUSE worker's.
 *  Return: as wfs_gc_advance() (kernel/copy/gc.h), or as wfs_session_judge() (caps/session.h) if
 *  the principal may not drop heights. */
int wfs_session_gc(const struct wfs_session *session, struct wfs_gc *gc, uint64_t rows_max,
	struct wfs_error *error);

/** wfs_session_code() - list the code that has crashed, and so ended the process that ran it
 *  @lift: hash of code that may run again: before the list is made, its crashes are forgotten, for
 *         which the call waits for the kernel thread; NULL: none
 *  @ret_rows: @ret_count rows, one for each code that has crashed, without @lift; NULL: none;
 *             caller frees with free(); set on success
 *  Return: 0, -EACCES (the principal does not administer the world's code), -ENOENT (not_found: no
 *  code with the hash @lift has crashed), … */
int wfs_session_code(const struct wfs_session *session, const struct wfs_hash *lift,
	struct wfs_quarantine_row **ret_rows, size_t *ret_count, struct wfs_error *error);
