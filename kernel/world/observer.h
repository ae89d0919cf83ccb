/* SPDX-License-Identifier: Apache-2.0 */
/* Observers: code that is called after each commit of a world. */
#pragma once

#include "kernel/fold/change.h"

/* The changes of one commit. Borrowed during the call. */
struct wfs_commit {
	uint64_t from_height; /* before the commit */
	uint64_t to_height;   /* after the commit */
	const struct wfs_change *changes;
	size_t change_count;
	bool manifest_changed;
	bool blobs_listed;     /* the commit has listed new blobs */
	uint64_t dropped_from; /* the first height that a collection dropped */
	uint64_t dropped_to;   /* one more than the last dropped one; equal: none was dropped */
	bool raw_dropped;      /* blobs of files in directories `raw` of turns were removed */
	bool journal_cut;      /* the journal begins with another record now */
};

/* Callback table of a mount, or of other code that keeps copies of the head or acts on it. Each
 * function may be NULL. */
struct wfs_observer {
	/* Drop or update what the observer keeps. On the publisher thread, after the commit is
	 * durable, before its requests are answered. */
	void (*committed)(struct wfs_observer *observer, const struct wfs_commit *commit);
	/* Act on the commit, now that no observer keeps older state. On the publisher thread, after
	 * `committed` of all observers was called. */
	void (*told)(struct wfs_observer *observer, const struct wfs_commit *commit);
	struct wfs_observer *next; /* private; lock: the world's */
};
