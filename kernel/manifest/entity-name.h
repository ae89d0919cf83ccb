/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the files in `entries` of memory stores and in `steps` of plans, and keys of their
 * cells. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/buffer.h"

enum {
	MEMORY_ID_SIZE = 12 + 1,       /* text of an entry's id, `mem_` and 8 hex digits */
	WFS_MEMORY_NAME_SIZE = 17 + 1, /* a file's name and NUL */
	WFS_PLAN_STEPS_MAX = 100000,   /* steps of a plan */
};

/** memory_id_number() - get the number of an entry's id: 42 of `mem_0000002a`. Return: false: not
 *  an id. */
bool memory_id_number(const char *entry_id, uint32_t *ret_number);
void memory_id_text(uint32_t number, char ret_id[static MEMORY_ID_SIZE]);

/** wfs_memory_entry_key() - split a key of sys.memory into store and entry
 *  @ret_artifact_id: borrowed from @key. Return: false: it is not the key of an entry. */
bool wfs_memory_entry_key(
	struct wfs_bytes key, struct wfs_bytes *ret_artifact_id, uint32_t *ret_number);

/** wfs_memory_entry_name() - write the name of an entry's file. */
void wfs_memory_entry_name(uint32_t number, char ret_name[static WFS_MEMORY_NAME_SIZE]);

/** wfs_memory_entry_number() - find the entry whose file has this name. Return: false: no entry
 *  can have it. */
bool wfs_memory_entry_number(const char *name, uint32_t *ret_number);

/** wfs_plan_step_key() - split a key of sys.plan_step into plan and index
 *  @ret_plan_id: borrowed from @key. Return: false: it is not the key of a step. */
bool wfs_plan_step_key(struct wfs_bytes key, struct wfs_bytes *ret_plan_id, int64_t *ret_index);

/** wfs_plan_step_number() - get the number with which the name of a step's file begins. Return:
 *  false: it has none. */
bool wfs_plan_step_number(const char *name, int64_t *ret_index);
