/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/memory/: how memory.c and reembed.c change the cell of a store. */
#pragma once

#include <inttypes.h>

#include "kernel/domain/memory/memory-file.h"
#include "kernel/domain/memory/memory.h"

/** memory_change_label() - set memory->label to the store's next label, after a change of entry @id
 *  A label is a hash of the label before and of the change. So a mirror (the store's vectors in
 *  memory, mirror.c) with an equal label has equal vectors. @id: the entry's number
 *  @kind: + added, - removed, = found by a search, ~ embedded again
 *  @hash: hash of the new state of the entry's cell; NULL: the entry was removed */
void memory_change_label(
	struct memory *memory, char kind, uint32_t id, const struct wfs_hash *hash);

/** memory_store_state() - store memory->state, with the label and the model, in the store's cell
 *  of sys.memory_store. Return: 0, or -errno. */
int memory_store_state(struct memory *memory, struct wfs_error *error);

/** memory_charge() - charge @bytes, which may be negative, to the disk quota of the account
 *  artifact->charged_to. Return: 0, -EDQUOT (quota_exceeded: the quota has no room for them), … */
int memory_charge(const struct memory *memory, const struct wfs_document_artifact *artifact,
	int64_t bytes, struct wfs_error *error);

/** memory_check_model() - check that an embedding is of the model and dimensions of the store's
 *  entries, so that it can be compared with theirs. Return: 0 (also if the store has no entries),
 *  or -EINVAL (another model or number of dimensions). */
int memory_check_model(
	const struct memory *memory, const struct embedding *embedding, struct wfs_error *error);

/** memory_told_score() - get the score of a hit as an answer shows it: at most 1, because rounding
 *  may have given slightly more. */
double memory_told_score(const struct wfs_vectors_hit *hit);

/* --- reembed.c --- */

/** memory_looked_away() - after the removal of entry @number: if memory_reembed() has still to look
 *  at this entry, subtract 1 from memory->state.left, how many entries it has still to look at; the
 *  caller stores the state. */
void memory_looked_away(struct memory *memory, uint32_t number);
