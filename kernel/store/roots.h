/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: the first two pages of data.mdb.
 *
 * Each holds a root. LMDB writes them in turn, and believes the one with the higher number, of
 * which it checks a magic number and a version only; a flipped bit in the number, or in the page
 * size, would show an older state or an empty store. So the two roots are first checked against
 * each other.
 * Source: LMDB 0.9, mdb.c, MDB_page and MDB_meta.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/error.h"

/** wfs_roots_check() - check that the two roots of the data.mdb in a directory are valid, so that
 *  LMDB may open the file. @directory: path of @directory_fd, for messages. Thread: any; a commit
 *  may be under way.
 *  Return: 0, -EIO (hash_mismatch: damaged, or cut short), or another -errno. */
int wfs_roots_check(int directory_fd, const char *directory, struct wfs_error *error);

struct root;

/** roots_find() - read the root (layout.h) that the transaction with the number @txn_id has written
 *  @fd: of data.mdb
 *  Return: 0, -EAGAIN (later transactions have overwritten it), -EBADMSG (the first two pages are
 *  not roots), -ENODATA (the file ends before its second page), or another -errno. */
int roots_find(int fd, uint64_t txn_id, struct root *ret_root);
