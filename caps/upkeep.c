/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/upkeep.h"

#include "kernel/check/replay.h"
#include "kernel/manifest/source.h"

int wfs_upkeep_create(const char *directory, const char *from, const char *name,
	struct wfs_problems *problems, struct wfs_error *error)
{
	const struct wfs_world_options options = {.read_only = false};
	WFS_AUTO_SOURCE struct wfs_source source = {.manifest = NULL};
	int r = from ? wfs_source_load(from, name, problems, &source)
		     : wfs_source_empty(name, &source, error);

	/* Making the world finds all problems of its artifacts. */
	return !r || source.manifest
		? wfs_world_create(directory, &source, &options, problems, error)
		: r;
}

int wfs_upkeep_look(
	const char *directory, struct wfs_upkeep_found *ret_found, struct wfs_error *error)
{
	const struct wfs_world_options options = {.read_only = true};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_reducer intents = {.live_count = 0};
	struct wfs_reducer timers = {.live_count = 0};
	int r = wfs_world_open(directory, &options, &world, error);

	if (!r)
		r = wfs_view_open(world, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = wfs_view_builtin(&view, WFS_BUILTIN_INTENT, &intents);
	if (!r)
		r = wfs_view_builtin(&view, WFS_BUILTIN_TIMER, &timers);
	if (r && r != -ENOENT) /* -ENOENT: its manifest has no timers */
		return r;
	snprintf(ret_found->world_id, sizeof(ret_found->world_id), "%s", wfs_world_id(world));
	ret_found->under_way_count = intents.live_count;
	ret_found->timer_count = timers.live_count;
	return 0;
}

int wfs_upkeep_check(const char *directory, bool replays, struct wfs_problems *problems,
	wfs_progress_fn *progress, void *context, struct wfs_error *error)
{
	const struct wfs_world_options options = {
		.read_only = true, .walk_pages = true, .problems = problems};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	int r = wfs_world_open(directory, &options, &world, error);

	/* A world with damaged pages cannot be opened, but finding them is the task. */
	if (r)
		return problems->count > 0 ? 0 : r;
	if (progress) /* from here on the caller can end the check, also before its first step */
		(void)progress(context, "records", 0, 0);
	return (replays ? wfs_replay : wfs_verify)(world, problems, progress, context, error);
}

int wfs_upkeep_backup(const char *directory, const char *to,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error)
{
	const struct wfs_world_options world_options = {.read_only = true};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	int r = wfs_world_open(directory, &world_options, &world, error);

	return r ? r : wfs_backup(world, to, options, ret_figures, error);
}

int wfs_upkeep_fetch(struct wfs_backup_source *source, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error)
{
	return wfs_backup_from(source, directory, options, ret_figures, error);
}

int wfs_upkeep_restore(const char *tree, const char *directory,
	const struct wfs_restore_options *options, struct wfs_problems *problems,
	struct wfs_restored *ret_restored, struct wfs_error *error)
{
	return wfs_restore(tree, directory, options, problems, ret_restored, error);
}

int wfs_upkeep_upgrade(const char *directory, const struct wfs_upgrade_options *options,
	struct wfs_problems *problems, struct wfs_upgraded *ret_upgraded, struct wfs_error *error)
{
	return wfs_upgrade(directory, options, problems, ret_upgraded, error);
}

int wfs_upkeep_drop_old(const char *directory, struct wfs_error *error)
{
	return wfs_upgrade_drop(directory, -1, error);
}
