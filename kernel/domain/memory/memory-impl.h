/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of memory stores: what memory.c and reembed.c do to the cell of a store. */
#pragma once

#include <inttypes.h>

#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/memory/memory.h"

/** memory_number() - an integer member of the store's state; 0 when it is absent. */
int64_t memory_number(const struct memory *memory, const char *member);

/** memory_set_number() - Return: 0, or -1 without memory. */
int memory_set_number(struct memory *memory, const char *member, int64_t value);

/** memory_change_label() - note in the label what was done to the entry @id. @hash: may be NULL */
void memory_change_label(
	struct memory *memory, char kind, uint32_t id, const struct wfs_hash *hash);

/** memory_store_state() - the state with its label becomes the cell. */
int memory_store_state(struct memory *memory, struct wfs_error *error);

/** memory_charge() - so many bytes more, or less, of the disk that the artifact takes. */
int memory_charge(const struct memory *memory, const struct artifact *artifact, int64_t bytes,
	struct wfs_error *error);

/** memory_check_model() - can it be compared with the entries? Return: 0, or -EINVAL. */
int memory_check_model(
	const struct memory *memory, const struct embedding *embedding, struct wfs_error *error);

/** memory_told_score() - of a hit: rounding may give a little more than 1. */
double memory_told_score(const struct wfs_vectors_hit *hit);

/* --- reembed.c --- */

/** memory_looked_away() - entry @number was removed: if memory_reembed() has not come to it, one less is left. */
void memory_looked_away(struct memory *memory, uint32_t number);
