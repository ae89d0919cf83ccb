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

/** memory_id_number() - get the number in an entry's id, such as 42 in `mem_0000002a`. Return:
 *  false: @entry_id has another form. */
bool memory_id_number(const char *entry_id, uint32_t *ret_number);
void memory_id_text(uint32_t number, char ret_id[static MEMORY_ID_SIZE]);

/** wfs_memory_entry_key() - split a key of sys.memory into the id of the store and the number of
 *  the entry
 *  @ret_artifact_id: borrowed from @key. Return: false: it is not the key of an entry. */
bool wfs_memory_entry_key(
	struct wfs_bytes key, struct wfs_bytes *ret_artifact_id, uint32_t *ret_number);

/** wfs_memory_entry_name() - write the name of the file of entry @number, such as
 *  `mem_0000002a.json`. */
void wfs_memory_entry_name(uint32_t number, char ret_name[static WFS_MEMORY_NAME_SIZE]);

/** wfs_memory_entry_number() - get the number of the entry whose file has this name. Return: false:
 *  no entry's file can have this name. */
bool wfs_memory_entry_number(const char *name, uint32_t *ret_number);

/** wfs_plan_step_key() - split a key of sys.plan_step into the id of the plan and the index of the
 *  step. @ret_plan_id: borrowed from @key. Return: false: it is not the key of a step. */
bool wfs_plan_step_key(struct wfs_bytes key, struct wfs_bytes *ret_plan_id, int64_t *ret_index);

/** wfs_plan_step_number() - get the index of the step whose file has this name, such as 42 of
 *  `42-…`. Return: false: the name does not begin with the index of a step and `-`. */
bool wfs_plan_step_number(const char *name, int64_t *ret_index);
