/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upkeep: the operations on a world's directory that need no session, only access to its files:
 * make a world, check it, fold it again, copy it, fetch it from another node, upgrade it, and make
 * a world from a copy of the tree. The functions wfs_world_…() that comments name are in
 * kernel/world/world.h, wfs_backup…() in kernel/copy/backup.h, wfs_restore() in
 * kernel/copy/restore.h, and wfs_upgrade() in kernel/copy/upgrade.h.
 */
#pragma once

#include "kernel/copy/backup.h"
#include "kernel/copy/restore.h"
#include "kernel/copy/upgrade.h"

/** wfs_upkeep_create() - make a world in @directory
 *  @from: directory with its source, see worldfs-lua(7); NULL: the world has only what is built in
 *  @name: of the world; NULL: the name in the source. Must not be NULL if @from is.
 *  @problems: gets each problem of the source; then nothing is made, and @error may be unset
 *  Return: as wfs_source_load() (kernel/manifest/source.h) and wfs_world_create(). */
int wfs_upkeep_create(const char *directory, const char *from, const char *name,
	struct wfs_problems *problems, struct wfs_error *error);

/* What a world from somebody else would do when it is opened. Plain value. */
struct wfs_upkeep_found {
	char world_id[WFS_WORLD_ID_SIZE + 1];
	uint64_t under_way_count; /* open intents of turns and plans */
	uint64_t timer_count;
};

/** wfs_upkeep_look() - find out what opening a world would do, without running anything of it.
 *  Return: as wfs_world_open(), or -EIO (the store is damaged). */
int wfs_upkeep_look(
	const char *directory, struct wfs_upkeep_found *ret_found, struct wfs_error *error);

/** wfs_upkeep_check() - check all pages of the store of a world, and then the world
 *  @replays: true: fold its journal again, see wfs_replay() (kernel/check/replay.h); false: see
 *            wfs_verify() (kernel/check/verify.h)
 *  @problems: gets everything that is wrong. If pages are damaged, nothing else is checked.
 *  @progress: called now and then, on this thread, with @context; if it returns false, the check
 *            ends; see wfs_progress_fn (kernel/check/verify.h); may be NULL
 *  Return: 0 (see problems->count), or -errno if the check could not be finished. */
int wfs_upkeep_check(const char *directory, bool replays, struct wfs_problems *problems,
	wfs_progress_fn *progress, void *context, struct wfs_error *error);

/** wfs_upkeep_backup() - copy the world in @directory into the directory @to. @ret_figures: set on
 *  success only. Return: as wfs_world_open() and wfs_backup(). */
int wfs_upkeep_backup(const char *directory, const char *to,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error);

/** wfs_upkeep_fetch() - make a world directory from what @source gives, such as another node
 *  The new world is not trusted until the user agrees, see kernel/base/trust.h.
 *  @ret_figures: set on success only. Return: as wfs_backup_from(). */
int wfs_upkeep_fetch(struct wfs_backup_source *source, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error);

/** wfs_upkeep_restore() - make a world in @directory from @tree, a copy of a world's tree; see
 *  wfs_restore() for the parameters and the return value. */
int wfs_upkeep_restore(const char *tree, const char *directory,
	const struct wfs_restore_options *options, struct wfs_problems *problems,
	struct wfs_restored *ret_restored, struct wfs_error *error);

/** wfs_upkeep_upgrade() - upgrade the world in @directory; see wfs_upgrade() for the parameters and
 *  the return value. */
int wfs_upkeep_upgrade(const char *directory, const struct wfs_upgrade_options *options,
	struct wfs_problems *problems, struct wfs_upgraded *ret_upgraded, struct wfs_error *error);

/** wfs_upkeep_drop_old() - remove the old stores that upgrades have kept in @directory. Return: how
 *  many were removed, or -errno. */
int wfs_upkeep_drop_old(const char *directory, struct wfs_error *error);
