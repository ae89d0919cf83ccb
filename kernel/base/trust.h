/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user of this process has agreed to, in files that belong to the user and not to the
 * world.
 *
 * `$XDG_STATE_HOME/worldfs/known.json` lists the worlds that this user made, trusted or changed, by
 * device and inode of data.mdb, with the world's id, the hash of the host.json that was trusted (if
 * one was), and the transaction and head at the last close. A world that was neither made nor
 * trusted, or has another host.json, asks no model, runs no command, resumes nothing that was under
 * way and sends no variable.
 *
 * A crafted page of data.mdb can harm the process that reads it. If the store's last transaction is
 * not the one with which this user closed the store, all pages are checked before the first row is
 * read. If only the head differs, another user has written a transaction with the same number, and
 * the pages are checked before the first write.
 *
 * `$XDG_CONFIG_HOME/worldfs/keys.json` maps environment variables to the hosts that each may be
 * sent to. A host without a port allows encrypted connections to it, and any connection if it is
 * this machine; a host with a port, any connection to that port. (For root the directories are
 * /var/lib/worldfs and /etc/worldfs, unless these XDG variables are set.)
 * Source: docs/decisions/0025-consent.md
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "kernel/base/error.h"
#include "kernel/base/hash.h"

/* Worlds in the list. When the list is full, worlds whose files are gone are dropped, or, if all
 * exist, the world that was not used for the longest time. */
enum { WFS_KNOWN_MAX = 1000 };

/* Distinguishes one state of a world's store from another. Plain value. */
struct wfs_store_mark {
	uint64_t txn;
	struct wfs_hash head;
};

/** wfs_trust_check() - check that this user has agreed that the world in @directory uses its
 *  host.json, and resumes what was under way
 *  @host: hash of the bytes of host.json; zero: the file does not exist
 *  Return: 0, -EACCES (not_authorized: says why not, and what to do), or another -errno. */
int wfs_trust_check(const char *directory, const struct wfs_hash *host, struct wfs_error *error);

/** wfs_trust_check_now() - do wfs_trust_check() with the hash of the host.json that @directory has
 *  now. Return: as wfs_trust_check(), or, if host.json cannot be read, as wfs_host_file_read()
 *  (host-file.h). */
int wfs_trust_check_now(const char *directory, struct wfs_error *error);

/** wfs_trust_forget_other() - when a world is opened: drop the entry of another world that used to
 *  have this data.mdb. Linux reuses the inode of a removed file, and a file may be overwritten.
 *  @world_id: of the world in @directory. Return: 0, or -errno: known.json cannot be written. */
int wfs_trust_forget_other(const char *directory, const char *world_id, struct wfs_error *error);

/** wfs_trust_give() - note in known.json that this user trusts the world, with the host.json of the
 *  hash @host (zero: without the file). @directory: absolute
 *  Return: 0, or -errno (@error names the file). */
int wfs_trust_give(const char *directory, const char *world_id, const struct wfs_hash *host,
	struct wfs_error *error);

/** wfs_trust_made() - note in known.json that this user has made the world, which has no host.json.
 *  If that fails, the world is not trusted (wfs_trust_check()). @directory: may be relative */
void wfs_trust_made(const char *directory, const char *world_id);

/** wfs_trust_last_txn() - get the number of the store's last transaction at the time when this user
 *  closed the store
 *  Return: 0: not known, or this user does not own data.mdb, which its owner may write to at any
 *  time. */
uint64_t wfs_trust_last_txn(const char *directory);

/** wfs_trust_has_written() - does this user own the store, and is @mark, the store's mark now, the
 *  one with which this user last closed the store? Then nobody has written to it since. */
bool wfs_trust_has_written(
	const char *directory, const char *world_id, const struct wfs_store_mark *mark);

/** wfs_trust_closed() - note in known.json that the store was closed with this mark; a world that
 *  is not in the list is added, without trust. @directory: absolute
 *  If that fails, the pages are checked again at the next open. */
void wfs_trust_closed(
	const char *directory, const char *world_id, const struct wfs_store_mark *mark);

/** wfs_trust_key() - check that this user allows the value of an environment variable to be sent to
 *  a server (keys.json). @variable: its name. @host, @port: of the server
 *  @plain: the value would be sent over a network without encryption, which only an entry with a
 *  port allows
 *  Return: 0, -EACCES (not_authorized: says what to put into which file), or another -errno. */
int wfs_trust_key(const char *variable, const char *host, const char *port, bool plain,
	struct wfs_error *error);

/** wfs_trust_is_loopback() - does data that is sent to this host of a URL stay on this machine?
 *  @host: a name or an address, as in the URL: an IPv6 address is in brackets */
bool wfs_trust_is_loopback(const char *host);
