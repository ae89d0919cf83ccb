/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user of this process has agreed to, in files of that user and not of the world.
 *
 * `$XDG_STATE_HOME/worldfs/known.json` remembers worlds that this user made or trusted: by device and inode of
 * data.mdb; the world's id, the hash of host.json that was trusted, and transaction and head at
 * the last close. A world that is not in it, or has another host.json, asks no model, runs nothing
 * that was under way and sends no variable.
 *
 * A crafted page of data.mdb can harm the process that reads it. If the store's last transaction is not the one with
 * which this user closed the store, all pages are walked before the first row is read. If only the head differs,
 * another user has written a transaction with the same number, and the pages are walked before the first write.
 *
 * `$XDG_CONFIG_HOME/worldfs/keys.json` maps environment variables to the hosts that each may be sent to: a host, for
 * encrypted connections and this machine, or a host and a port.
 * (root: /var/lib/worldfs and /etc/worldfs, unless these variables are set.)
 * Source: docs/decisions/0025-consent.md
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"
#include "kernel/base/hash.h"

/* Worlds that are remembered. For one more all that are gone are forgotten; if none is, the one not seen for longest. */
enum { WFS_KNOWN_MAX = 1000 };

/* What a world's store is told apart by. Plain value. */
struct wfs_store_mark {
	uint64_t txn;
	struct wfs_hash head;
};

/**
 * wfs_trust_check() - may this host.json be used, and what was under way go on?
 * @host: hash of its bytes; zero: there is none
 * Return: 0, -EACCES (not_authorized: says why not, and what to do), or another -errno.
 */
int wfs_trust_check(const char *directory, const struct wfs_hash *host, struct wfs_error *error);

/** wfs_trust_check_now() - wfs_trust_check() with the hash of host.json as it is now */
int wfs_trust_check_now(const char *directory, struct wfs_error *error);

/**
 * wfs_trust_forget_other() - a world was opened: forget what was agreed to about another one that had this data.mdb
 *
 * Linux gives the inode of a file that is gone to the next one, and a file may be written over.
 * Return: 0, or -errno: known.json cannot be written.
 */
int wfs_trust_forget_other(const char *directory, const char *world_id, struct wfs_error *error);

/** wfs_trust_give() - trust a world with the host.json that has this hash (zero: without one).
 *  Return: 0, or -errno (@error names the file). */
int wfs_trust_give(const char *directory, const char *world_id, const struct wfs_hash *host,
	struct wfs_error *error);

/** wfs_trust_made() - trust a world that was made now, without a host.json. What cannot be written is asked
 *  when the world is used. */
void wfs_trust_made(const char *directory, const char *world_id);

/** wfs_trust_last_txn() - the store's last transaction when this user closed it; 0: not known, or the file is
 *  root's and not this user's, and may be written to at any time */
uint64_t wfs_trust_last_txn(const char *directory);

/** wfs_trust_has_written() - is the store this user's, and was it last closed by this user, as it is now? */
bool wfs_trust_has_written(
	const char *directory, const char *world_id, const struct wfs_store_mark *mark);

/** wfs_trust_closed() - the store was closed with this mark. If that cannot be written, its pages are walked again. */
void wfs_trust_closed(
	const char *directory, const char *world_id, const struct wfs_store_mark *mark);

/**
 * wfs_trust_key() - may an environment variable be sent to a host?
 * @host, @port: of the server
 * @plain: it is sent over a network without encryption: then an entry has to name the port
 * Return: 0, -EACCES (not_authorized: says which line to add where), or another -errno.
 */
int wfs_trust_key(const char *variable, const char *host, const char *port, bool plain,
	struct wfs_error *error);
