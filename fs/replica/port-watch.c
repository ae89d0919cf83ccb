/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/port-impl.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "kernel/base/clock.h"

enum {
	EVENTS = 64,     /* that are taken at once */
	LOOK_MS = 1000,  /* between two looks for clients without a token, at most */
	WAKE_NUMBER = 0, /* no call has it */
};

static int add(struct wfs_port_call *call, int fd, uint32_t events, enum wfs_port_event event)
{
	struct epoll_event wanted = {
		.events = events | EPOLLONESHOT, .data.u64 = call->number << 1 | event};

	return epoll_ctl(call->port->epoll, EPOLL_CTL_ADD, fd, &wanted) < 0 ? -ENOMEM : 0;
}

void wfs_port_watch(struct wfs_port_call *call)
{
	(void)add(call, call->fd, EPOLLRDHUP, WFS_PORT_CLIENT_LEFT);
}

int wfs_port_watch_pipe(struct wfs_port_call *call)
{
	return add(call, call->backup.fd, EPOLLIN, WFS_PORT_PIPE_READY);
}

void wfs_port_unwatch(struct wfs_port_call *call)
{
	call->suspended = false;
	(void)epoll_ctl(call->port->epoll, EPOLL_CTL_DEL, call->fd, NULL);
	if (call->is_backup)
		(void)epoll_ctl(call->port->epoll, EPOLL_CTL_DEL, call->backup.fd, NULL);
}

void wfs_port_wake(struct wfs_port *port)
{
	(void)eventfd_write(port->wake, 1);
}

/* Takes a suspended call out of the watcher's care. Return: with a reference, or NULL: its
 * connection has been resumed already. */
static struct wfs_port_call *take(struct wfs_port *port, uint64_t number, enum wfs_port_event event)
{
	WFS_GUARD(&port->lock);
	struct wfs_port_call *call = port->calls;

	while (call && (call->number != number || !call->suspended))
		call = call->next;
	if (!call)
		return NULL;
	wfs_port_unwatch(call);
	call->gone |= event == WFS_PORT_CLIENT_LEFT;
	call->refs++;
	return call;
}

/* Return: true if the caller must call handlers->gone for @call; only one caller gets true. */
static bool tells(struct wfs_port_call *call)
{
	WFS_GUARD(&call->port->lock);
	const bool tell = call->gone && call->handed && !call->told;

	call->told |= tell;
	return tell;
}

static void on_event(struct wfs_port *port, uint64_t data)
{
	struct wfs_port_call *const call = take(port, data >> 1, (enum wfs_port_event)(data & 1));

	if (!call)
		return;
	if (tells(call))
		port->options.handlers.gone(port->options.context, call);
	MHD_resume_connection(call->connection);
	wfs_port_unref(call);
}

/* Shuts down clients that have not sent the token in time. Return: milliseconds until the next
 * look; -1: all clients have sent the token. */
static int look(struct wfs_port *port)
{
	WFS_GUARD(&port->lock);
	const int64_t now_ns = wfs_clock_monotonic_ns();
	int pause_ms = -1;

	for (struct wfs_port_client *at = port->clients; at; at = at->next) {
		if (at->until_ns == 0)
			continue;
		const int64_t left_ms = (at->until_ns - now_ns) / 1000000 + 1;
		if (at->until_ns <= now_ns) {
			(void)shutdown(at->fd, SHUT_RDWR);
			at->until_ns = 0;
		} else if (left_ms < LOOK_MS && (pause_ms < 0 || left_ms < pause_ms)) {
			pause_ms = (int)left_ms;
		} else if (pause_ms < 0) {
			pause_ms = LOOK_MS;
		}
	}
	return pause_ms;
}

static bool ends(struct wfs_port *port)
{
	WFS_GUARD(&port->lock);

	return port->watcher_ends;
}

void *wfs_port_watcher(void *context)
{
	struct wfs_port *const port = context;
	struct epoll_event events[EVENTS];
	eventfd_t wakes;

	while (!ends(port)) {
		const int count = epoll_wait(port->epoll, events, EVENTS, look(port));

		for (int i = 0; i < count; i++) {
			if (events[i].data.u64 >> 1 == WAKE_NUMBER)
				(void)eventfd_read(port->wake, &wakes);
			else
				on_event(port, events[i].data.u64);
		}
	}
	return NULL;
}
