/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node's port (fs/replica/port.h) gives of its world, and a world that is made from what
 * another node's port gives.
 *
 * A node gives blobs, and its data.mdb as a backup; it gives host.json to nobody. A new node of a
 * replicated world begins with these, and then follows the log.
 * Source: docs/decisions/0038-followers.md.
 */
#pragma once

#include "caps/upkeep.h"
#include "fs/replica/port.h"

struct wfs_authority;
struct wfs_peer;
struct wfs_serve;

enum {
	WFS_SERVE_BACKUPS_MAX = 2, /* under way at once; each has a thread, and keeps old pages */
	WFS_SERVE_HOLD_MS = 60 * 1000, /* that blob files stay after the last request */
};

/** wfs_serve_new() - make what gives a world to other nodes
 *  @authority: of the world; must outlive it. @hold_ms: 0: WFS_SERVE_HOLD_MS
 *  @ret_serve: caller frees it with wfs_serve_free(). Return: 0, -EAGAIN (overloaded: no thread),
 *  -ENOMEM. */
int wfs_serve_new(struct wfs_authority *authority, int64_t hold_ms, struct wfs_serve **ret_serve,
	struct wfs_error *error);

/** wfs_serve_free() - wait until the threads of backups have ended, and free it; accepts NULL. The
 *  port has been freed before, so that nobody reads from the threads' pipes any more. */
void wfs_serve_free(struct wfs_serve *serve);
WFS_DEFINE_AUTO(serve, struct wfs_serve, wfs_serve_free)
#define WFS_AUTO_SERVE WFS_CLEANUP(wfs_auto_serve)

/*
 * Functions for struct wfs_port_handlers, which says what they return. @context: struct wfs_serve
 * A backup is data.mdb as of one commit. Its client then asks for the blobs that the rows mention.
 * So no collection (`worldfs gc`) removes blob files from the beginning of a backup until hold_ms
 * after the last backup has ended, or a blob was asked for.
 */

int wfs_serve_blob(
	void *context, const struct wfs_hash *hash, int *ret_fd, uint64_t *ret_size_bytes);

/** wfs_serve_backup() - begin a backup on a thread of its own. Return: 0, -EAGAIN
 *  (WFS_SERVE_BACKUPS_MAX are under way, or no thread can begin), -ENOMEM, or another -errno. */
int wfs_serve_backup(void *context, struct wfs_port_backup *ret_backup);
bool wfs_serve_backup_is_whole(void *context, void *backup);
void wfs_serve_backup_done(void *context, void *backup);

/* A source of wfs_upkeep_fetch() that is another node. Plain value; private. */
struct wfs_serve_source {
	struct wfs_backup_source source; /* first: the callbacks cast back */
	struct wfs_peer *peer;
};

/** wfs_serve_source_init() - make a source of what a node gives
 *  @peer: of the node; must outlive the source, which alone uses it. Its progress_ms must be longer
 *  than the node needs to check all pages of its data.mdb, which it does before the first byte.
 *  Errors of the source are those of fs/replica/peer.h. */
void wfs_serve_source_init(struct wfs_serve_source *ret_source, struct wfs_peer *peer);
