/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at every row of every table: does its checksum fit?
 *
 * What a row says is not compared with other rows: that is what wfs_verify() does. Pages are to be checked before
 * (wfs_store_check_pages()).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/store/row-name.h"

/* Where a look is. Plain value; zero-initialised is the beginning. */
struct wfs_rows {
	unsigned int table;
	bool inside;      /* of the table, behind this key */
	uint8_t key[511]; /* no key of LMDB is larger */
	size_t key_size;
	uint64_t done; /* rows */
};

/** wfs_rows_count() - how many a table has */
int wfs_rows_count(struct wfs_txn *txn, enum wfs_table table, uint64_t *ret_count);

/** wfs_rows_total() - how many all tables have */
int wfs_rows_total(struct wfs_txn *txn, uint64_t *ret_count);

/**
 * wfs_rows_check() - look at the next @count rows
 * @txn: may be another one at each call
 * @problems: damaged rows, by name (kernel/store/row-name.h)
 * Return: 1 (there are more), 0 (all were looked at), -ENOMEM, …
 */
int wfs_rows_check(
	struct wfs_rows *rows, struct wfs_txn *txn, size_t count, struct wfs_problems *problems);
