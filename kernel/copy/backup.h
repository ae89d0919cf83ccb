/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backup: a whole copy of a world, taken while its owner writes.
 *
 * The copy is the world after one commit: data.mdb without its free pages, every blob file that its
 * rows mention, compared with its hash, and, from a world of this machine, host.json and the
 * scripts of models that host.json names. It shares no file with the original, so damage to one
 * cannot reach the other. It appears complete and synced, or not at all.
 * A backup may run beside the owner. Neither it nor the kernel thread ever waits for the other.
 *
 * The bytes come from a source: a world that this process has opened, or a stranger, such as
 * another node. A stranger's data.mdb may be crafted, so all of its pages are checked before its
 * first row is read.
 * Source: docs/design.md §13, docs/decisions/0025-consent.md.
 */
#pragma once

#include "kernel/check/verify.h"

/* The largest data.mdb that is copied, in bytes, unless the options say another number. */
#define WFS_BACKUP_DATA_MAX WFS_STORE_MAP_SIZE_DEFAULT

/* Option struct: plain value. */
struct wfs_backup_options {
	wfs_progress_fn *progress; /* called between pieces; may be NULL */
	void *context;
	const char *world_id;    /* the id that the world must have; NULL: any */
	uint64_t data_bytes_max; /* a larger data.mdb is refused; 0: WFS_BACKUP_DATA_MAX */
};

/* Counts of what was copied. Plain value. */
struct wfs_backup_figures {
	uint64_t height;     /* of the copy */
	uint64_t data_bytes; /* bytes of data.mdb */
	uint64_t file_count; /* blob files */
	uint64_t file_bytes; /* bytes of these */
};

/* Where a source writes to. Plain value. */
struct wfs_backup_sink {
	int fd;             /* of an empty file or a pipe */
	uint64_t bytes_max; /* a source with more bytes must fail with -EFBIG */
	/* The source calls this function now and then, with `context`; not NULL. @total: 0 if not
	 * known. Return: false: the source must end with -EINTR. */
	wfs_progress_fn *progress;
	void *context;
};

/* What a copy is made from. Its maker embeds it in a struct of its own. Functions that return int
 * return 0, or -errno with @error filled: -EINTR (sink->progress has returned false), -EFBIG (there
 * are more than sink->bytes_max bytes), … Thread: that of wfs_backup_from(). */
struct wfs_backup_source {
	/* The source's bytes may be crafted: they are checked before they are used. */
	bool strange;
	/** give_data() - write a data.mdb to @sink: the store as one commit left it */
	int (*give_data)(struct wfs_backup_source *source, const struct wfs_backup_sink *sink,
		struct wfs_error *error);
	/** give_file() - write the blob file of @hash to @sink. The caller compares the bytes with
	 *  the hash and the size. Return: also -ENOENT (the source does not have the file). */
	int (*give_file)(struct wfs_backup_source *source, const struct wfs_hash *hash,
		const struct wfs_backup_sink *sink, struct wfs_error *error);
	/** give_host() - copy host.json and the files that it names into the copy's directory
	 *  The pointer is NULL if nothing is to be copied. @to_fd: descriptor of this directory */
	int (*give_host)(struct wfs_backup_source *source, int to_fd, struct wfs_error *error);
};

/** wfs_backup() - copy @world into @directory
 *  @world: opened for reading only, or owned
 *  @directory: path; missing, or an empty directory. @options: not NULL. @ret_figures: set on
 *  success only
 *  Return: 0, -EEXIST (already_exists: @directory is not empty, or another process fills it),
 *  -EINTR (cancelled: options->progress has returned false), -EIO (hash_mismatch: the world is
 *  damaged), -ENOSPC, …; a failure leaves @directory as it was. */
int wfs_backup(struct wfs_world *world, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error);

/** wfs_backup_from() - copy the world that @source gives into @directory
 *  @source: borrowed during the call. @directory, @options, @ret_figures: as for wfs_backup()
 *  Return: as wfs_backup(), where -EIO (hash_mismatch) says that what the source gives is damaged;
 *  also -EFBIG (too_large: data.mdb has more than options->data_bytes_max bytes, or one of its rows
 *  names a file of more than WFS_BLOB_MAX (kernel/store/blob.h)), -EINVAL (invalid_argument: the
 *  world does not have the id options->world_id; format_newer: a newer version of the program made
 *  the world), or what a function of the source has returned. */
int wfs_backup_from(struct wfs_backup_source *source, const char *directory,
	const struct wfs_backup_options *options, struct wfs_backup_figures *ret_figures,
	struct wfs_error *error);

/** wfs_backup_give() - check all pages of a world's data.mdb, and write it to @sink, without free
 *  pages
 *  The pages are checked because LMDB copies them on a thread of its own, without the store's
 *  guard, where a damaged page would end the process.
 *  Return: 0 (data.mdb is written to its end), -EINTR (cancelled: sink->progress has returned
 *  false), -EIO (hash_mismatch: a page is damaged), -EFBIG (too_large: data.mdb has more than
 *  sink->bytes_max bytes), -EPIPE (nobody reads the pipe any more), -ENOSPC, -EAGAIN (too many
 *  readers), -ENOMEM, … */
int wfs_backup_give(
	struct wfs_world *world, const struct wfs_backup_sink *sink, struct wfs_error *error);
