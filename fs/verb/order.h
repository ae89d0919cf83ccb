/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the requests of one client: each sees the effects of those before it.
 *
 * A client that sends several requests without waiting (on one connection of the control socket, in one
 * write to a control file, from one process without an owner) has them begun in order. A request waits
 * until those that it must see have been answered. The kernel thread keeps the order of changes by
 * itself, so changes are begun at once, and stored many at a time; a read waits for all changes before it.
 *
 * A turn of an agent or a plan ends when it ends, so only reads wait for it, and what was sent behind these.
 * What ends a turn, or lets it go on, waits for nothing.
 * An action that needs an embedding of a server is done when that has come, so changes that were sent after it may be
 * done before.
 * Thread: one at a time; users lock.
 * Source: worldfs(1).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum wfs_order_kind {
	WFS_ORDER_READ,    /* sees everything before it */
	WFS_ORDER_CHANGE,  /* goes through the queue of the kernel thread */
	WFS_ORDER_RIGHTS,  /* such a change, by which later requests are judged */
	WFS_ORDER_TURN,    /* a turn or a plan, which begins with what it reads */
	WFS_ORDER_WORLD,   /* acts on the world as a whole: sees changes, is seen by everything */
	WFS_ORDER_AT_ONCE, /* about another request that is under way */
	WFS_ORDER_COUNT,
};

/* What a client has under way. Zero-initialise. */
struct wfs_order {
	size_t under_way[WFS_ORDER_COUNT]; /* begun and not answered */
};

/** wfs_order_kind() - @verb: any name; @payload: may be NULL */
enum wfs_order_kind wfs_order_kind(const char *verb, const json_t *payload);

/** wfs_order_waits() - must a request of this kind wait for those under way, which all came before it? */
bool wfs_order_waits(const struct wfs_order *order, enum wfs_order_kind kind);

/** wfs_order_begin() - a request is begun. */
void wfs_order_begin(struct wfs_order *order, enum wfs_order_kind kind);

/** wfs_order_end() - a request that was begun is answered. */
void wfs_order_end(struct wfs_order *order, enum wfs_order_kind kind);
