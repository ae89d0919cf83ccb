/* SPDX-License-Identifier: Apache-2.0 */
/* Which kinds of requests wait for which; the kind of each verb is in the table of verbs. */
#include "fs/verb/order.h"

#include "kernel/base/error.h"

enum {
	READS = 1 << WFS_ORDER_READ,
	CHANGES = 1 << WFS_ORDER_CHANGE,
	RIGHTS = 1 << WFS_ORDER_RIGHTS,
	TURNS = 1 << WFS_ORDER_TURN,
	WORLD = 1 << WFS_ORDER_WORLD,
};

static const unsigned int waits_for[WFS_ORDER_COUNT] = {
	[WFS_ORDER_READ] = CHANGES | RIGHTS | TURNS | WORLD,
	[WFS_ORDER_CHANGE] = READS | RIGHTS | WORLD,
	[WFS_ORDER_RIGHTS] = READS | RIGHTS | WORLD, /* requests before it can change its rights */
	[WFS_ORDER_TURN] = READS | CHANGES | RIGHTS | WORLD,
	[WFS_ORDER_WORLD] = READS | CHANGES | RIGHTS | WORLD,
	[WFS_ORDER_AT_ONCE] = 0,
};

bool wfs_order_waits(const struct wfs_order *order, enum wfs_order_kind kind)
{
	for (unsigned int other = 0; other < WFS_ORDER_COUNT; other++)
		if ((waits_for[kind] & (1U << other)) && order->under_way[other] > 0)
			return true;
	return false;
}

void wfs_order_begin(struct wfs_order *order, enum wfs_order_kind kind)
{
	order->under_way[kind]++;
}

void wfs_order_end(struct wfs_order *order, enum wfs_order_kind kind)
{
	wfs_require(order->under_way[kind] > 0);
	order->under_way[kind]--;
}
