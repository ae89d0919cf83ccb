/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artifacts, principals, turns and plans as directories: which files each has, and what is in them.
 *
 * Nearly every file is made from one version of one cell, so it changes only when that cell does.
 * `grants.json` is made from all grants to a principal at one height, `events.jsonl` from the records of
 * a run up to one of them (kernel/domain/turn/turn-file.h). The directory `steps` of a plan has a file for
 * each of its steps, made from a version of that (kernel/domain/plan/plan-file.h); the directory `entries` of a
 * memory store one for each entry, which is a version of that (kernel/domain/memory/memory-file.h).
 * Source: worldfs-tree(5).
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/entity-table.h"
#include "kernel/read/view.h"

/**
 * wfs_entity_source() - the version that a file is made from
 * One that is made from a principal's resources, which has none yet, is made from its ledger.
 * Of `events.jsonl` it is the run's, of the directory `steps` the plan's, of `entries` that of what is
 * known of the store, or else the artifact's.
 * @file: not WFS_ENTITY_FILE_GRANTS
 * Return: 0, -ENOENT (there is no such file), -EIO.
 */
int wfs_entity_source(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes id,
	struct wfs_version *ret_version);

/** wfs_entity_is_source() - could the file be made from this version? Of WFS_ENTITY_FILE_PLAN_STEPS: a file
 *  in it. Return: 1, 0, or -errno. */
int wfs_entity_is_source(
	struct wfs_view *view, enum wfs_entity_file file, const struct wfs_version *version);

/**
 * wfs_entity_write() - append a part of a file to @buffer
 * Of those that are made in parts nothing else is read. `meta.json` has the hashes of content and code.
 * @file: not WFS_ENTITY_BYTES, ENTRIES, GRANTS or EVENTS
 * @range: of size 0: only the size is wanted
 * @ret_size_bytes: of the whole
 * Return: 0, -ENOENT (of `result.json`: the run goes on), -EIO, -ENOMEM.
 */
int wfs_entity_write(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes);

/** wfs_entity_write_bare_meta() - the same of `meta.json`, without the hashes. */
int wfs_entity_write_bare_meta(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);
