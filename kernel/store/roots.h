/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/store/: the two pages that data.mdb begins with.
 *
 * Each holds a root: LMDB writes them in turn, and believes the one with the higher number. It
 * looks at a mark and a version only; a bit that is flipped in the number, or in the size of pages,
 * would show an older state or none. So what must be true of the two together is checked first.
 * Source: LMDB 0.9, mdb.c, MDB_page and MDB_meta.
 */
#pragma once

#include <stdint.h>

#include "kernel/base/error.h"

/**
 * wfs_roots_check() - may LMDB be given the data.mdb of this directory?
 * @directory: for messages. Thread: any; a commit may be under way.
 * Return: 0, -EIO (hash_mismatch: damaged, or cut short), or another -errno.
 */
int wfs_roots_check(int directory_fd, const char *directory, struct wfs_error *error);

struct root;

/**
 * roots_find() - the root that a transaction wrote
 * Return: 0, -EAGAIN (later ones have written over it), -EBADMSG, -ENODATA, or another -errno.
 */
int roots_find(int fd, uint64_t txn_id, struct root *ret_root);
