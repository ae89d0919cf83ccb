/* SPDX-License-Identifier: Apache-2.0 */
/* The store's rows of a world's quarantine (kernel/box/quarantine.h: code that has crashed its
 * process): read when the world is opened, written with the next commit. */
#pragma once

#include "kernel/box/quarantine.h"
#include "kernel/store/tables.h"

/** wfs_crashes_load() - read the rows of the store's table code_crash into @quarantine.
 *  Return: 0, -EIO (a row is damaged, or there are too many), or -ENOMEM. */
int wfs_crashes_load(struct wfs_txn *txn, struct wfs_quarantine *quarantine);

/** wfs_crashes_keep() - write the entries of @quarantine that have changed since the last call
 *  The caller calls wfs_quarantine_settle() (kernel/box/quarantine.h) after the transaction has
 *  ended.
 *  @ret_changed: set to true if an entry was written; otherwise not touched. Return: 0, or
 *  -errno. */
int wfs_crashes_keep(struct wfs_txn *txn, struct wfs_quarantine *quarantine, bool *ret_changed);
