/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Genesis: the beginning of a world, which height 1 shows. `init` writes it once, and replay writes
 * it again from equal parts, so that both give equal rows. The first artifacts of a world come
 * next, each by the record of an action. A struct wfs_head is the end of the journal in a write
 * transaction (kernel/fold/head.h).
 */
#pragma once

#include "kernel/base/problems.h"
#include "kernel/fold/fold.h"

struct wfs_source;

enum { WFS_WORLD_ID_SIZE = 32 }; /* hex digits */

/* The parts of genesis that are not in the manifest. Plain value. */
struct wfs_genesis {
	char world_id[WFS_WORLD_ID_SIZE + 1];
	uint8_t entropy[WFS_ENTROPY_SIZE]; /* random; ctx.random() of Lua code follows from it */
	int64_t at_ns;
	/* store format and fold version of the program that made the world; -1: worldfs 0.1, which
	 * did not record them */
	int64_t store_format;
	int64_t fold_version;
	/* make the cells of the principals and grants that the manifest declares; false: a baseline
	 * brings all cells */
	bool cells;
};

/** wfs_world_id_valid() - is @text the id of a world: 32 lower-case hex digits? */
bool wfs_world_id_valid(const char *text);

/** wfs_genesis_write() - write the rows of the manifest's reducers, record 0 with its cells, and
 *  the document of the manifest; the caller then calls wfs_genesis_module() for each module
 *  @head: of an empty store. Return: 0, or -errno. */
int wfs_genesis_write(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest);

/** wfs_genesis_module() - store @module, the bytes of one Lua module, as a blob that is listed from
 *  height 1 on; does nothing if the blob is listed already. @genesis: has the time of the listing
 *  Return: 0, or -errno. */
int wfs_genesis_module(
	struct wfs_head *head, const struct wfs_genesis *genesis, struct wfs_bytes module);

/** wfs_genesis_artifacts() - make the first artifacts of a world, each by an action at
 *  genesis->at_ns; the caller has written record 0 and the modules. @manifest: that of record 0
 *  The genesis artifacts come first, then those of the handbook, each only if @source
 *  (kernel/manifest/source.h: the parsed world.json) asks for them, then source->artifacts.
 *  @problems: gets each refused artifact with its place in world.json; artifacts that were refused
 *  because they need a refused one are left out
 *  Return: 0 (also with problems: the caller must then drop the store), or -errno with @error. */
int wfs_genesis_artifacts(struct wfs_head *head, const struct wfs_genesis *genesis,
	struct wfs_manifest *manifest, const struct wfs_source *source,
	struct wfs_problems *problems, struct wfs_error *error);

/** wfs_genesis_meta() - write the world's id and entropy to the store's meta table.
 *  Return: 0, -ENOSPC, -EIO. */
int wfs_genesis_meta(const struct wfs_genesis *genesis, struct wfs_txn *txn);

/** wfs_genesis_draw() - make the parts of genesis for a new world: a random id and entropy, the
 *  present time, and `cells` true
 *  @clock_ns: called with @clock_context, returns the time since 1970; NULL: the host's clock
 *  Return: 0, or -errno. */
int wfs_genesis_draw(
	int64_t (*clock_ns)(void *context), void *clock_context, struct wfs_genesis *ret_genesis);

/** wfs_genesis_parse() - read the parts of genesis from record 0 of a journal; `cells` is true if
 *  this record has changed cells. @ret_manifest_hash: of the world's first manifest
 *  Return: 0, -EINVAL (not a genesis record), -ENOMEM. */
int wfs_genesis_parse(const struct wfs_record_parsed *parsed, struct wfs_genesis *ret_genesis,
	struct wfs_hash *ret_manifest_hash);
