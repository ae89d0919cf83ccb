/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a world: its genesis record, those of its first artifacts, its first snapshot record.
 * The world is built in a directory with a temporary name, which gets its name when it is complete;
 * so a failure leaves nothing.
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "kernel/base/trust.h"
#include "kernel/fold/head.h"
#include "kernel/manifest/source.h"
#include "kernel/store/stage.h"
#include "kernel/world/world-impl.h"

/* The parts that a world is made from. */
struct parts {
	const struct wfs_source *source;
	struct wfs_manifest *manifest;
	struct wfs_genesis genesis;
	struct wfs_problems *problems;
};

static int refuse(const struct parts *parts, const char *what, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "the %s has %zu problem(s)", what,
		parts->problems->count);
}

static int fill(struct wfs_head *head, const struct parts *parts, struct wfs_error *error)
{
	const struct wfs_source *const source = parts->source;
	int r = wfs_genesis_write(head, &parts->genesis, parts->manifest);

	for (size_t i = 0; !r && i < source->blob_count; i++)
		r = wfs_genesis_module(head, &parts->genesis, wfs_buffer_bytes(&source->blobs[i]));
	if (r)
		return wfs_error_from_errno(error, r, "write genesis");
	r = wfs_genesis_artifacts(
		head, &parts->genesis, parts->manifest, source, parts->problems, error);
	if (r)
		return wfs_trace(r);
	if (parts->problems->count > 0)
		return refuse(parts, "source", error);
	r = wfs_head_flush(head, parts->manifest);
	if (!r) /* of the cells that genesis gave */
		r = wfs_head_append_snapshot(head, wfs_manifest_hash(parts->manifest));
	if (!r)
		r = wfs_head_flush(head, parts->manifest);
	if (!r)
		r = wfs_genesis_meta(&parts->genesis, head->txn);
	return r ? wfs_error_from_errno(error, r, "write genesis") : 0;
}

static int write_store(const struct parts *parts, const char *directory,
	const struct wfs_world_options *options, struct wfs_error *error)
{
	const struct wfs_store_options store_options = {
		.create = true,
		.map_size_bytes = options->map_size_bytes,
	};
	WFS_AUTO_STORE struct wfs_store *store = NULL;
	WFS_AUTO_HEAD struct wfs_head head = {0};
	WFS_AUTO_TXN struct wfs_txn *txn = NULL;
	int r = wfs_store_open(directory, &store_options, &store, error);

	if (r)
		return wfs_trace(r);
	r = wfs_store_write(store, &txn);
	if (!r)
		r = wfs_head_load(&head, store, txn, parts->manifest);
	if (r)
		return wfs_error_from_errno(error, r, "write genesis");
	r = fill(&head, parts, error);
	if (r)
		return wfs_trace(r);
	r = wfs_txn_commit(WFS_STEAL(txn));
	return r ? wfs_error_from_errno(error, r, "write genesis") : 0;
}

static int write_file(int parent, const char *name, const struct wfs_buffer *bytes)
{
	WFS_AUTO_FD int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, bytes->data, bytes->size);
	if (n < 0)
		return -errno;
	if ((size_t)n < bytes->size)
		return -ENOSPC;
	return fsync(fd) ? -errno : 0;
}

/* Writes host.json, and the scripts that it names. */
static int write_host(
	const struct wfs_source *source, const char *directory, struct wfs_error *error)
{
	const char *name = "host.json";

	if (source->host.size == 0)
		return 0;
	WFS_AUTO_FD int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = parent < 0 ? -errno : write_file(parent, name, &source->host);
	for (size_t i = 0; !r && i < source->file_count; i++) {
		name = source->files[i].name;
		r = write_file(parent, name, &source->files[i].bytes);
	}
	return r ? wfs_error_from_errno(error, r, "write '%s/%s'", directory, name) : 0;
}

static int create_in(const struct parts *parts, struct wfs_stage *stage,
	const struct wfs_world_options *options, struct wfs_error *error)
{
	int r = write_store(parts, stage->path, options, error);

	if (r)
		return wfs_trace(r);
	r = write_host(parts->source, stage->path, error);
	if (r)
		return wfs_trace(r);
	stage->files_synced = true; /* by LMDB, by blob writers, and above */
	/* A directory that has data.mdb is a world, so data.mdb comes last. */
	return wfs_trace(wfs_stage_publish(stage, "data.mdb", error));
}

int wfs_world_create(const char *directory, const struct wfs_source *source,
	const struct wfs_world_options *options, struct wfs_problems *problems,
	struct wfs_error *error)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_STAGE struct wfs_stage stage = {.fd = -1};
	struct parts parts = {.source = source, .problems = problems};
	int r = wfs_stage_init(&stage, directory, error);

	if (r)
		return wfs_trace(r);
	r = wfs_manifest_new(source->manifest, problems, &manifest);
	if (r == -EINVAL)
		return refuse(&parts, "manifest", error);
	if (r)
		return wfs_error_from_errno(error, r, "check the manifest");
	parts.manifest = manifest;
	r = wfs_genesis_draw(options->clock_ns, options->clock_context, &parts.genesis);
	if (r)
		return wfs_error_from_errno(error, r, "draw random bytes");
	r = create_in(&parts, &stage, options, error);
	/* A user trusts a host.json that came with the source by a command of its own. */
	if (!r && source->host.size == 0)
		wfs_trust_made(directory, parts.genesis.world_id);
	return wfs_trace(r);
}
