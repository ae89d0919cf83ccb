/* SPDX-License-Identifier: Apache-2.0 */
/* How a world is opened. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct wfs_problems;

/* Option struct: plain value. */
struct wfs_world_options {
	bool read_only;    /* no lock, no threads; may run beside the owner */
	bool written_here; /* this process made the world, so its pages are not checked */
	/* check all pages of the store on opening, even if this user closed the world last */
	bool walk_pages;
	struct wfs_problems *problems; /* gets each damaged page; may be NULL */
	/* Called by the check of pages with `pages_context`: @done of @total pages were checked.
	 * If it returns false, the world is not opened (-EINTR). May be NULL. */
	bool (*pages_checked)(void *context, uint64_t done, uint64_t total);
	void *pages_context;
	uint32_t wait_ms;        /* how long to wait for the lock before `busy` */
	uint64_t map_size_bytes; /* of the store, see kernel/store/store.h; 0: default */
	/* Gives the time of new records; NULL: the host's clock. Tests and replay set it. */
	int64_t (*clock_ns)(void *context);
	void *clock_context;
};
