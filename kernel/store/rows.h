/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks every row of every table against its checksum.
 *
 * This does not compare rows with each other, as wfs_verify() (kernel/check/verify.h) does. The
 * caller checks the pages first, by wfs_store_check_pages() (store.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/store/row-name.h"

/* How far a check has come. Plain value; zero-initialised is the beginning. */
struct wfs_rows {
	unsigned int table;
	bool inside;      /* some rows of `table` are checked, the last one with this key */
	uint8_t key[511]; /* the largest key of LMDB */
	size_t key_size;
	uint64_t done; /* rows checked */
};

/** wfs_rows_count() - count the rows of a table. Return: 0, or -errno. */
int wfs_rows_count(struct wfs_txn *txn, enum wfs_table table, uint64_t *ret_count);

/** wfs_rows_total() - count the rows of all tables. Return: 0, or -errno. */
int wfs_rows_total(struct wfs_txn *txn, uint64_t *ret_count);

/** wfs_rows_check() - check the next @count rows after those that @rows says are done
 *  @rows: moves on. @txn: may be a different one in each call
 *  @problems: gets the damaged rows, by name (kernel/store/row-name.h)
 *  Return: 1 (more rows are left), 0 (all rows are checked; problems may have been added), or
 *  -errno. */
int wfs_rows_check(
	struct wfs_rows *rows, struct wfs_txn *txn, size_t count, struct wfs_problems *problems);
