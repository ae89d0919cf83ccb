/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of an open world. */
#pragma once

#include "kernel/store/store.h"

/* Figures for `status` and `metrics`: plain value. */
struct wfs_world_figures {
	int store_format;
	int fold_version;
	uint64_t height;
	uint64_t first_height; /* the oldest that is kept */
	uint64_t queue_count;  /* unanswered requests */
	uint64_t queue_bytes;  /* bytes of these */
	uint64_t requests_total;
	uint64_t requests_failed;
	uint64_t batches_total;
	struct wfs_store_figures store;
};
