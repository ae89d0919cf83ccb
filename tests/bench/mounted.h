/* SPDX-License-Identifier: Apache-2.0 */
/* A tree that this process both mounts and serves. */
#pragma once

#include "bench.h"
#include "fs/data/data.h"
#include "fs/mount/make.h"
#include "fs/mount/mount-table.h"

/* Mounts the tree of @session on @directory; wfs_data_free() unmounts it. */
static inline struct wfs_data *bench_mount(struct wfs_session *session, const char *directory)
{
	const struct wfs_make_options make = {
		.path = directory, .source = "bench", .read_only = true};
	struct wfs_keeper *keeper = NULL;
	struct wfs_data *data = NULL;
	struct wfs_error error = {0};
	unsigned long device = 0;
	const int socket = wfs_keeper_start(directory, directory, true, &error);

	bench_check(socket < 0 ? socket : wfs_keeper_new(socket, &keeper), "keeper", &error);
	WFS_AUTO_FD int place = -1;
	const int fd = wfs_make_mount(&make, &place, &error);
	bench_check(
		fd < 0 ? fd : wfs_mount_device(directory, &device, NULL, &error), "mount", &error);
	bench_check(
		wfs_keeper_ask(keeper, WFS_KEEPER_MOUNTED, WFS_MOUNT_DATA, device), "keep", NULL);
	const struct wfs_data_options options = {
		.fd = fd,
		.directory = directory,
		.here = true,
		.keeper = keeper,
		.uid = geteuid(),
		.gid = getegid(),
		.tree = {.session = session},
	};
	bench_check(wfs_data_new(&options, &data, &error), "serve", &error);
	wfs_keeper_unref(keeper);
	return data;
}
