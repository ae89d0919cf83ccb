/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artifacts, principals, turns and plans (entities) as directories: which files each has, and what
 * they contain.
 *
 * Nearly every file is made from one version of one cell, so it changes only when that cell does.
 * Exceptions: `grants.json` is made from all grants to a principal at one height; `events.jsonl`
 * from the records of a turn up to one of them (kernel/domain/turn/turn-file.h). The directory
 * `steps` of a plan has a file for each step, made from a version of that step
 * (kernel/domain/plan/plan-file.h); the directory `entries` of a memory store has a file for each
 * entry, which is a version of that entry (kernel/domain/memory/memory-file.h).
 * Source: worldfs-tree(5).
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/entity-table.h"
#include "kernel/read/view.h"

/** wfs_entity_source() - find the version of a cell that a file of an entity is made from
 *  A file about the resources of a principal that has none yet is made from its ledger.
 *  `events.jsonl` and `steps` have the version of the turn and of the plan; `entries` that of the
 *  store's state or, before the first entry, of the artifact.
 *  @file: not WFS_ENTITY_FILE_GRANTS. @id: of the entity
 *  Return: 0, -ENOENT (the entity does not have this file), -EIO. */
int wfs_entity_source(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes id,
	struct wfs_version *ret_version);

/** wfs_entity_is_source() - could this file, of any entity, be made from @version? For
 *  WFS_ENTITY_FILE_PLAN_STEPS: could a file in that directory? Return: 1, 0, or -errno. */
int wfs_entity_is_source(
	struct wfs_view *view, enum wfs_entity_file file, const struct wfs_version *version);

/** wfs_entity_write() - append a part of a file of an artifact, principal, turn or plan to @buffer
 *  If the file is made in parts, only the parts in @range are read. `meta.json` contains the hashes
 *  of content and code. @file: not of the forms WFS_ENTITY_BYTES, ENTRIES, GRANTS and EVENTS
 *  @version: as from wfs_entity_source(); @view: at its height or later
 *  @range: part of the file; if its size is 0, only @ret_size_bytes is set
 *  @ret_size_bytes: of the whole file
 *  Return: 0, -ENOENT (`result.json` of a turn that has not ended), -EIO, -ENOMEM. */
int wfs_entity_write(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes);

/** wfs_entity_write_bare_meta() - wfs_entity_write() for the file `meta.json` of an artifact, but
 *  without the hashes of content and code. Return: as wfs_entity_write(). */
int wfs_entity_write_bare_meta(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);
