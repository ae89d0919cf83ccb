/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/check/verify*.c: what a check has, and how it reports. verify.c calls the parts
 * one after the other; each part is in the file of its subject.
 */
#pragma once

#include "kernel/check/verify.h"
#include "kernel/domain/turn/turn-check.h"
#include "kernel/store/row-name.h"

enum { VERIFY_RENEW_COUNT = 4096 }; /* rows between two renewals of the view */

struct verify {
	struct wfs_world *world;
	struct wfs_problems *problems;
	wfs_progress_fn *progress;
	void *context;
	struct wfs_error *error;
	struct wfs_view view;
	int failure; /* the last -errno of a check that could not be made, or 0 */
	/* path of a blob file that this user may not open; "": none */
	char forbidden[sizeof("blobs/ab/") + WFS_HASH_HEX_SIZE];
	uint64_t height;             /* up to which the world is checked; fixed at the start */
	uint64_t first;              /* the oldest height that is kept; may rise during the check */
	uint64_t last_vid;           /* number of the newest version at `height` */
	bool file_read;              /* a blob file was read since the last call of verify_look() */
	struct wfs_turn_check *runs; /* check of the index of turns; owned */
	uint64_t runs_records;       /* rows of turns that the index must have */
};

/* --- verify-report.c --- */

/** verify_wrong() - add a problem: row number @row of @table is wrong. @reason: words for the
 *  message */
void verify_wrong(struct verify *verify, enum wfs_table table, uint64_t row, const char *reason);
/** verify_wrong_blob() - add a problem: the row of the blob @hash is wrong, because of @reason. */
void verify_wrong_blob(struct verify *verify, const struct wfs_hash *hash, const char *reason);

/** verify_damaged_name() - add a problem: the row @name does not have the checksum that is stored
 *  after its value (kernel/store/row.h); nothing if this problem was added before. */
void verify_damaged_name(struct verify *verify, const struct wfs_row_name *name);
/** verify_damaged() - add a problem, as verify_damaged_name() does, for row number @row of
 *  @table. */
void verify_damaged(struct verify *verify, enum wfs_table table, uint64_t row);

/** verify_incomplete_height() - get the oldest height that can still be viewed, if collections
 *  (kernel/copy/gc.h) have dropped older ones: versions written up to this height may be missing,
 *  except those that its view shows. 0: no height was dropped, and all versions exist. */
uint64_t verify_incomplete_height(const struct verify *verify);

/** verify_open_view() - open verify->view, which is closed, at @height, and set verify->first to
 *  the oldest height that the world has now. Return: 0, or -errno with verify->error. */
int verify_open_view(struct verify *verify, uint64_t height);

/** verify_is_wrong() - does the result @r of a check mean that the row is wrong? False if @r is 0,
 *  and if @r says that this process could not make the check, for example for lack of memory or of
 *  a permission; then verify->failure is set to @r. */
bool verify_is_wrong(struct verify *verify, int r);

/** verify_look() - report that @done of @total parts of the work @what are done (0: @total is not
 *  known), and clear verify->file_read. Return: 0, or -EINTR with verify->error: verify->progress
 *  has asked to end the check. */
int verify_look(struct verify *verify, const char *what, uint64_t done, uint64_t total);

/** verify_step() - called after each row: every VERIFY_RENEW_COUNT rows, after the last row, and
 *  after a blob file was read, call verify_look(), close verify->view, and open it again
 *  @what, @done, @total: as for verify_look(); the parts are rows
 *  Return: 0, or -errno of verify_look() or verify_open_view(). */
int verify_step(struct verify *verify, const char *what, uint64_t done, uint64_t total);

/** verify_check_file() - compare the blob file of a version or a blob with its hash. If this user
 *  may not open the file, verify->forbidden is set to its path. @file: has the hash and the size
 *  Return: 0, -ENOENT, -EIO (damaged), -EACCES or -EPERM (forbidden), or another -errno; no problem
 *  is added. */
int verify_check_file(struct verify *verify, const struct wfs_blob *file);

/** verify_failed() - fill verify->error: reading @what has failed for the reason @r, an -errno.
 *  Return: @r. */
int verify_failed(struct verify *verify, int r, const char *what);

/* --- the parts: each adds its problems. Return: 0, or -errno that ends the check. --- */

int verify_journal(struct verify *verify);
int verify_versions(struct verify *verify);
int verify_kernel_cells(struct verify *verify);
int verify_reducers(struct verify *verify);
int verify_index(struct verify *verify);
int verify_blobs(struct verify *verify);
int verify_listings(struct verify *verify);
int verify_texts(struct verify *verify);
int verify_snapshots(struct verify *verify);
