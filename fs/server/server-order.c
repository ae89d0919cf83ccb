/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a connection's requests: read, begun and answered in order. A request begins when
 * those before it whose effects it must see are answered (fs/verb/order.h); until then later ones
 * wait, too.
 */
#include "fs/server/server-impl.h"

void wfs_server_order_add(
	struct wfs_server_connection *connection, struct wfs_server_request *request)
{
	if (connection->last)
		connection->last->next = request;
	else
		connection->first = request;
	connection->last = request;
	if (!connection->waiting)
		connection->waiting = request;
	connection->request_count++;
	connection->request_bytes += request->line_bytes;
	if (request->unread) {
		connection->slow = request;
		wfs_server_request_parse(request);
	} else if (request->order == WFS_ORDER_AT_ONCE) {
		wfs_server_request_start(request);
	}
}

/* Finds the first request that has not begun. */
static struct wfs_server_request *first_waiting(struct wfs_server_connection *connection)
{
	while (connection->waiting && connection->waiting->started)
		connection->waiting = connection->waiting->next;
	return connection->waiting;
}

bool wfs_server_order_holds(struct wfs_server_connection *connection, enum wfs_order_kind kind)
{
	return kind != WFS_ORDER_AT_ONCE &&
		(first_waiting(connection) || wfs_order_waits(&connection->order, kind));
}

bool wfs_server_order_may_start(struct wfs_server_connection *connection)
{
	const struct wfs_server_request *const request = first_waiting(connection);

	return request && !connection->slow &&
		connection->answer_bytes < WFS_SERVER_ANSWERS_BYTES_MAX &&
		!wfs_order_waits(&connection->order, request->order);
}

void wfs_server_order_start(struct wfs_server_connection *connection)
{
	struct wfs_server_request *const request = connection->waiting;

	if (request->slow)
		connection->slow = request;
	wfs_server_request_start(request);
}

struct wfs_server_request *wfs_server_order_take(struct wfs_server_connection *connection)
{
	struct wfs_server_request *const request = connection->first;

	if (!request || !request->answered)
		return NULL;
	if (connection->waiting == request)
		connection->waiting = request->next;
	connection->first = request->next;
	if (!connection->first)
		connection->last = NULL;
	connection->request_count--;
	connection->request_bytes -= request->line_bytes;
	return request;
}
