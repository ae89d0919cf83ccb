/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of the last requests that have records, so that a request which comes again, perhaps to
 * another owner, is not done again.
 *
 * Of ids, the newest WFS_IDS_MAX are kept. Every node hears of each id with the batch that has it,
 * so nodes at one height know the same ids; after a start a node reads them from the log.
 * Thread: any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/error.h"

enum { WFS_IDS_MAX = 1 << 16 };

struct wfs_ids;

/** wfs_ids_new() - make an empty list; caller frees it. Return: NULL without memory. */
struct wfs_ids *wfs_ids_new(void);
void wfs_ids_free(struct wfs_ids *ids);

/** wfs_ids_add() - add the id of a request whose first record is @seq; the oldest id is dropped
 *  when there are too many. An id that is there keeps its record. @id: wfs_batch_id_valid() */
void wfs_ids_add(struct wfs_ids *ids, const char *id, uint64_t seq);

/** wfs_ids_find() - find the first record of a request. Return: false: the id is not known. */
bool wfs_ids_find(struct wfs_ids *ids, const char *id, uint64_t *ret_seq);
