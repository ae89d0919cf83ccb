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
	char forbidden[sizeof("blobs/ab/") +
		WFS_HASH_HEX_SIZE]; /* a file that this user may not open */
	uint64_t height;            /* fixed at the start */
	uint64_t first;             /* the oldest that is kept; it may rise during the check */
	uint64_t last_vid;          /* of the height */
	bool file_read;             /* since the last call of verify_look() */
	struct wfs_turn_check *runs;
	uint64_t runs_records; /* that the index must have */
};

/* --- verify-report.c --- */

/** verify_wrong() - report that a row is wrong, by its number. */
void verify_wrong(struct verify *verify, enum wfs_table table, uint64_t row, const char *reason);
void verify_wrong_blob(struct verify *verify, const struct wfs_hash *hash, const char *reason);

/** verify_damaged_name() - report a damaged row, unless verify_rows() has reported it. */
void verify_damaged_name(struct verify *verify, const struct wfs_row_name *name);
void verify_damaged(struct verify *verify, enum wfs_table table, uint64_t row);

/** verify_incomplete_height() - the height up to which versions may be missing; 0: none may be. */
uint64_t verify_incomplete_height(const struct verify *verify);

/** verify_open_view() - open the view at @height, and read which height is the oldest now. */
int verify_open_view(struct verify *verify, uint64_t height);

/** verify_is_wrong() - does the failure @r of a check mean that the row is wrong? Otherwise this
 *  process has failed, for example for lack of memory, which is noted. */
bool verify_is_wrong(struct verify *verify, int r);

/** verify_look() - report the progress. Return: 0, or -EINTR if the check is to end. */
int verify_look(struct verify *verify, const char *what, uint64_t done, uint64_t total);

/** verify_step() - after every VERIFY_RENEW_COUNT rows, and after every file: report the progress,
 *  and open the view again. Return: as verify_look() and verify_open_view(). */
int verify_step(struct verify *verify, const char *what, uint64_t done, uint64_t total);

/** verify_check_file() - compare the file of a version or a blob with its hash. */
int verify_check_file(struct verify *verify, const struct wfs_blob *file);

/** verify_failed() - set the error "read @what". Return: @r. */
int verify_failed(struct verify *verify, int r, const char *what);

/* --- the parts. Return: 0, or -errno that ends the check. --- */

int verify_rows(struct verify *verify);
int verify_journal(struct verify *verify);
int verify_versions(struct verify *verify);
int verify_kernel_cells(struct verify *verify);
int verify_reducers(struct verify *verify);
int verify_index(struct verify *verify);
int verify_blobs(struct verify *verify);
int verify_listings(struct verify *verify);
int verify_texts(struct verify *verify);
int verify_snapshots(struct verify *verify);
