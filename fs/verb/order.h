/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the requests of one client: each sees the effects of those before it.
 *
 * A client may send several requests without waiting: on one connection of the control socket, in
 * one write to a control file, or in one process without an owner. They are begun in order. A
 * request waits until all requests whose effects it must see have been answered. The kernel thread
 * keeps the order of changes, so changes are begun at once, and many are stored together; a read
 * waits for all changes before it.
 *
 * A turn or a plan may take long, so only reads wait for it, and requests after those reads.
 * Requests that end a turn, or let it go on, do not wait.
 * An action that needs an embedding of a server is done after the embedding has come, so changes
 * that were sent after it may be done before.
 * Thread: one at a time; callers lock.
 * Source: worldfs-control(5).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum wfs_order_kind {
	WFS_ORDER_READ,    /* sees the effects of all requests before it */
	WFS_ORDER_CHANGE,  /* goes through the queue of the kernel thread */
	WFS_ORDER_RIGHTS,  /* a change by which later requests are judged */
	WFS_ORDER_TURN,    /* a turn or a plan, which begins with what it reads */
	WFS_ORDER_WORLD,   /* acts on the whole world: sees changes; later requests see it */
	WFS_ORDER_AT_ONCE, /* about another request that was begun; does not wait */
	WFS_ORDER_COUNT,
};

/* The requests of one client. Zero-initialise. */
struct wfs_order {
	/* numbers of requests that are begun, but not answered */
	size_t under_way[WFS_ORDER_COUNT];
};

/** wfs_order_kind() - find the kind of a request. @verb: any name; if no verb has this name, the
 *  kind is WFS_ORDER_READ. @payload: NULL: {} */
enum wfs_order_kind wfs_order_kind(const char *verb, const json_t *payload);

/** wfs_order_waits() - must the client's next request, which is of the kind @kind, wait until a
 *  request that has begun is answered? */
bool wfs_order_waits(const struct wfs_order *order, enum wfs_order_kind kind);

/** wfs_order_begin() - note that a request of the kind @kind is begun. */
void wfs_order_begin(struct wfs_order *order, enum wfs_order_kind kind);

/** wfs_order_end() - note that a request of the kind @kind, which was begun, is answered. */
void wfs_order_end(struct wfs_order *order, enum wfs_order_kind kind);
