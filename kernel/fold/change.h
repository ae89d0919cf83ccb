/* SPDX-License-Identifier: Apache-2.0 */
/* The change of one cell, for observers of commits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

/* One cell that a commit changed. Plain value; `key` is borrowed from the
 * fold until the observer returns. */
struct wfs_change {
	uint32_t reducer_id;
	struct wfs_bytes key;
	bool was_live;
	bool is_live;
};
