/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/port-impl.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "kernel/base/clock.h"

/* GnuTLS's name of: TLS 1.3 or 1.2, with what is held to be secure today. */
#define PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* --- clients --- */

static void came(struct wfs_port *port, struct MHD_Connection *connection, void **ret_client)
{
	const union MHD_ConnectionInfo *const info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct wfs_port_client *const client = calloc(1, sizeof(*client));

	if (!client || !info) {
		if (info)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		free(client);
		return;
	}
	client->fd = info->connect_fd;
	client->until_ns = wfs_clock_monotonic_ns() + port->options.idle_ms * INT64_C(1000000);
	*ret_client = client;
	pthread_mutex_lock(&port->lock);
	client->next = port->clients;
	if (client->next)
		client->next->previous = client;
	port->clients = client;
	pthread_mutex_unlock(&port->lock);
	wfs_port_wake(port);
}

static void left(struct wfs_port *port, struct wfs_port_client *client)
{
	pthread_mutex_lock(&port->lock);
	*(client->previous ? &client->previous->next : &port->clients) = client->next;
	if (client->next)
		client->next->previous = client->previous;
	pthread_mutex_unlock(&port->lock);
	free(client);
}

static void notify(void *context, struct MHD_Connection *connection, void **client,
	enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		came(context, connection, client);
	else if (*client)
		left(context, WFS_STEAL(*client));
}

/* --- life --- */

static void use_defaults(struct wfs_port_options *options)
{
	if (options->connections_max == 0)
		options->connections_max = WFS_PORT_CONNECTIONS_MAX;
	if (options->address_connections_max == 0)
		options->address_connections_max = WFS_PORT_ADDRESS_MAX;
	if (options->calls_max == 0)
		options->calls_max = WFS_PORT_CALLS_MAX;
	if (options->idle_ms == 0)
		options->idle_ms = WFS_PORT_IDLE_MS;
}

static struct MHD_Daemon *start_daemon(struct wfs_port *port)
{
	const struct wfs_port_options *const options = &port->options;

	return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_TLS |
			MHD_ALLOW_SUSPEND_RESUME,
		0, NULL, NULL, wfs_port_serve, port,                           /* */
		MHD_OPTION_LISTEN_SOCKET, port->listener,                      /* */
		MHD_OPTION_HTTPS_MEM_KEY, wfs_identity_key(options->identity), /* */
		MHD_OPTION_HTTPS_MEM_CERT, wfs_identity_certificate(options->identity),
		MHD_OPTION_HTTPS_PRIORITIES, PRIORITIES,               /* */
		MHD_OPTION_CONNECTION_LIMIT, options->connections_max, /* */
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->address_connections_max,
		MHD_OPTION_CONNECTION_TIMEOUT, (options->idle_ms + 999) / 1000,   /* */
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)WFS_PORT_HEADERS_MAX, /* */
		MHD_OPTION_NOTIFY_COMPLETED, wfs_port_completed, port,            /* */
		MHD_OPTION_NOTIFY_CONNECTION, notify, port,                       /* */
		MHD_OPTION_END);
}

/* Signals belong to other threads. */
static int start_threads(struct wfs_port *port, struct wfs_error *error)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int r = -pthread_create(&port->watcher, NULL, wfs_port_watcher, port);
	port->watching = r == 0;
	if (!r)
		port->daemon = start_daemon(port);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return wfs_error_from_errno(error, -ENOMEM, "start a thread for other nodes");
	if (port->daemon)
		return 0;
	port->listener = -1; /* libmicrohttpd may have closed it */
	return wfs_error_set(
		error, WFS_E_INTERNAL_ERROR, "libmicrohttpd cannot serve '%s'", port->address);
}

static int open_watcher(struct wfs_port *port, struct wfs_error *error)
{
	struct epoll_event wanted = {.events = EPOLLIN};

	port->epoll = epoll_create1(EPOLL_CLOEXEC);
	port->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (port->epoll < 0 || port->wake < 0 ||
		epoll_ctl(port->epoll, EPOLL_CTL_ADD, port->wake, &wanted) < 0)
		return wfs_error_from_errno(error, -errno, "watch connections of other nodes");
	return 0;
}

int wfs_port_new(
	const struct wfs_port_options *options, struct wfs_port **ret_port, struct wfs_error *error)
{
	WFS_AUTO_PORT struct wfs_port *port = calloc(1, sizeof(*port));

	if (!port)
		return wfs_error_from_errno(error, -ENOMEM, "serve other nodes");
	port->options = *options;
	use_defaults(&port->options);
	port->listener = -1;
	port->epoll = -1;
	port->wake = -1;
	pthread_mutex_init(&port->lock, NULL);
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&port->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	int r = wfs_port_listen(port, error);
	if (!r)
		r = open_watcher(port, error);
	if (!r)
		r = start_threads(port, error);
	if (r)
		return r;
	port->options.listen = NULL;
	*ret_port = WFS_STEAL(port);
	return 0;
}

const char *wfs_port_address(const struct wfs_port *port)
{
	return port->address;
}

/* --- end --- */

/* Return: a call whose handler must hear of the end, with a reference; NULL: none is left. */
static struct wfs_port_call *next_to_tell(struct wfs_port *port)
{
	WFS_GUARD(&port->lock);
	struct wfs_port_call *call = port->calls;

	while (call && (call->told || !call->handed || !call->known))
		call = call->next;
	if (call) {
		call->told = true;
		call->refs++;
	}
	return call;
}

/* Return: a backup that waits for its pipe, with a reference, to be resumed; NULL: none waits. */
static struct wfs_port_call *next_backup(struct wfs_port *port)
{
	WFS_GUARD(&port->lock);
	struct wfs_port_call *call = port->calls;

	while (call && !(call->is_backup && call->suspended))
		call = call->next;
	if (call) {
		wfs_port_unwatch(call);
		call->refs++;
	}
	return call;
}

static void tell_all(struct wfs_port *port)
{
	struct wfs_port_call *call;

	while ((call = next_to_tell(port))) {
		port->options.handlers.gone(port->options.context, call);
		wfs_port_unref(call);
	}
	while ((call = next_backup(port))) {
		MHD_resume_connection(call->connection);
		wfs_port_unref(call);
	}
}

/* Does a client read an answer, or a backup that ends? A request of which a part is missing never
 * gets to a handler. The caller has the lock. */
static bool clients_read(const struct wfs_port *port)
{
	const struct wfs_port_call *call = port->calls;

	while (call && !call->begun && !call->is_backup)
		call = call->next;
	return call != NULL;
}

/* Waits until each call is answered, and then a while until the clients have read the answers. */
static void wait_for_calls(struct wfs_port *port)
{
	WFS_GUARD(&port->lock);

	while (port->handed_count > 0)
		pthread_cond_wait(&port->changed, &port->lock);
	const int64_t until_ns = wfs_clock_monotonic_ns() + WFS_PORT_FAREWELL_MS * INT64_C(1000000);
	const struct timespec until = {
		.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
	while (clients_read(port) && wfs_clock_monotonic_ns() < until_ns)
		(void)pthread_cond_timedwait(&port->changed, &port->lock, &until);
}

static void stop_daemon(struct wfs_port *port)
{
	pthread_mutex_lock(&port->lock);
	port->ending = true;
	pthread_mutex_unlock(&port->lock);
	(void)MHD_quiesce_daemon(port->daemon);
	tell_all(port);
	wait_for_calls(port);
}

static void stop_watcher(struct wfs_port *port)
{
	pthread_mutex_lock(&port->lock);
	port->watcher_ends = true;
	pthread_mutex_unlock(&port->lock);
	wfs_port_wake(port);
	pthread_join(port->watcher, NULL);
}

void wfs_port_free(struct wfs_port *port)
{
	if (!port)
		return;
	if (port->daemon)
		stop_daemon(port);
	if (port->watching)
		stop_watcher(port);
	if (port->daemon)
		MHD_stop_daemon(port->daemon);
	wfs_auto_fd(&port->listener);
	wfs_auto_fd(&port->epoll);
	wfs_auto_fd(&port->wake);
	pthread_cond_destroy(&port->changed);
	pthread_mutex_destroy(&port->lock);
	free(port);
}
