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
	uint64_t effects_in_flight; /* for which runs of agents wait */
	uint64_t refused_total;     /* refused reads; the journal has the refused changes */
};
int wfs_session_figures(const struct wfs_session *session, struct wfs_session_figures *ret_figures,
	struct wfs_error *error);

/** wfs_session_snapshot() - compute the snapshot hash of the head, and wait until it is recorded
 *  Thread: not the publisher's or a FUSE worker's, because it reads every cell.
 *  @progress: called now and then with @context, the cells done, and all cells; may be NULL
 *  @ret_request: the answered request: its `snapshot` has the height and the hash
 *  Return: 0, or -errno with ret_request->error. */
int wfs_session_snapshot(const struct wfs_session *session,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_request *ret_request);

/** wfs_session_gc_begin() - prepare to drop old heights, without judging: wfs_session_gc(), which
 *  drops them, judges
 *  @number: if @keep, how many of the newest heights to keep; otherwise the first height to keep
 *  @gc: zero-initialised; owns nothing, so it may be dropped at any time
 *  Return: as wfs_gc_begin() (kernel/copy/gc.h). */
int wfs_session_gc_begin(const struct wfs_session *session, bool keep, uint64_t number,
	struct wfs_gc *gc, struct wfs_error *error);

/** wfs_session_gc() - continue to drop old heights; waits for the kernel thread
 *  @rows_max: how many rows this call may look at, about; 0: go on until gc->done
 *  Thread: not the publisher's or a FUSE worker's.
 *  Return: as wfs_gc_advance() (kernel/copy/gc.h), or -EACCES. */
int wfs_session_gc(const struct wfs_session *session, struct wfs_gc *gc, uint64_t rows_max,
	struct wfs_error *error);

/** wfs_session_code() - list the code that has crashed, which ended the process that ran it
 *  @lift: hash of code that may run again: its crashes are forgotten first, for which the call
 *         waits for the kernel thread; NULL: none
 *  @ret_rows: @ret_count rows, one for each code that has crashed, without @lift; NULL: none;
 *             caller frees
 *  Return: 0, -EACCES, -ENOENT (not_found: no code with the hash @lift has crashed), … */
int wfs_session_code(const struct wfs_session *session, const struct wfs_hash *lift,
	struct wfs_quarantine_row **ret_rows, size_t *ret_count, struct wfs_error *error);
