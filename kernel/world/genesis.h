/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Genesis: what height 1 of a world consists of. Written once by `init`, and again by replay, from
 * the same parts, so that both give the same rows. The artifacts that a world begins with come right
 * behind it, each by a record of its own as any other action's.
 */
#pragma once

#include "kernel/base/problems.h"
#include "kernel/fold/fold.h"

struct wfs_source;

enum { WFS_WORLD_ID_SIZE = 32 }; /* hex digits */

/* The parts that are not in the manifest. Plain value. */
struct wfs_genesis {
	char world_id[WFS_WORLD_ID_SIZE + 1];
	uint8_t entropy[WFS_ENTROPY_SIZE];
	int64_t at_ns;
	bool cells; /* declared principals and grants become cells; a baseline brings its own */
};

/** wfs_world_id_valid() - 32 lower-case hex digits. */
bool wfs_world_id_valid(const char *text);

/** wfs_genesis_write() - reducers, record 0 with its cells, and the manifest's version; modules are
 *  listed by wfs_genesis_module. @head: of an empty store. */
int wfs_genesis_write(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest);

/** wfs_genesis_module() - store and list one Lua module, visible from height 1 on. */
int wfs_genesis_module(
	struct wfs_head *head, const struct wfs_genesis *genesis, struct wfs_bytes module);

/**
 * wfs_genesis_artifacts() - record the actions that make them, behind record 0 and the modules
 * The genesis artifacts come first, then those of the handbook.
 * @problems: what is refused, each with its place in world.json; none depends on another one
 * Return: 0 (also with problems: the store is of no use then), or -errno with @error.
 */
int wfs_genesis_artifacts(struct wfs_head *head, const struct wfs_genesis *genesis,
	struct wfs_manifest *manifest, const struct wfs_source *source,
	struct wfs_problems *problems, struct wfs_error *error);

/** wfs_genesis_meta() - put what every opening reads into the meta table. */
int wfs_genesis_meta(const struct wfs_genesis *genesis, struct wfs_txn *txn);

/**
 * wfs_genesis_draw() - the parts of a world that is new
 * @clock_ns: NULL: the host's clock
 */
int wfs_genesis_draw(
	int64_t (*clock_ns)(void *context), void *clock_context, struct wfs_genesis *ret_genesis);

/**
 * wfs_genesis_parse() - the parts back from record 0
 * Return: 0, -EINVAL (it is not a genesis record), -ENOMEM.
 */
int wfs_genesis_parse(const struct wfs_record_parsed *parsed, struct wfs_genesis *ret_genesis,
	struct wfs_hash *ret_manifest_hash);
