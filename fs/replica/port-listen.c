/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/port-impl.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/base/encode.h"

enum { BACKLOG = 256 };

/* What HOST:PORT or [ADDRESS]:PORT names. Plain value. */
struct place {
	char shown[WFS_PORT_NAME_MAX + 3]; /* HOST or [ADDRESS] */
	char host[WFS_PORT_NAME_MAX + 1];
	char port[sizeof("65535")];
};

static bool is_port(const char *text)
{
	uint64_t number = 0;

	return strlen(text) < sizeof("65535") &&
		wfs_decimal_read(text, strlen(text), &number) == strlen(text) && *text &&
		number <= UINT16_MAX;
}

/* Return: false if @text has another form. */
static bool read_place(const char *text, struct place *place)
{
	const bool bracketed = *text == '[';
	const char *const host = text + bracketed;
	const size_t size = strcspn(host, bracketed ? "]" : ":");
	const char *const port = host + size + bracketed;

	if (size == 0 || size > WFS_PORT_NAME_MAX || (bracketed && host[size] != ']') ||
		*port != ':' || !is_port(port + 1))
		return false;
	snprintf(place->host, sizeof(place->host), "%.*s", (int)size, host);
	snprintf(place->shown, sizeof(place->shown), "%.*s", (int)(port - text), text);
	snprintf(place->port, sizeof(place->port), "%s", port + 1);
	return true;
}

/* Return: a socket that listens, or -errno. */
static int listen_at(const struct addrinfo *address)
{
	WFS_AUTO_FD int fd = socket(address->ai_family,
		address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return WFS_STEAL_FD(fd);
}

static int not_listening(int r, const char *listen, struct wfs_error *error)
{
	const enum wfs_error_code code = r == -EADDRINUSE ? WFS_E_BUSY
		: r == -EACCES                            ? WFS_E_NOT_AUTHORIZED
		: r == -ENOMEM || r == -EMFILE            ? WFS_E_INTERNAL_ERROR
							  : WFS_E_INVALID_ARGUMENT;

	if (code == WFS_E_INTERNAL_ERROR)
		return wfs_error_from_errno(error, r, "listen at '%s'", listen);
	return wfs_error_set(error, code, "listen at '%s': %s", listen, strerrordesc_np(-r));
}

/* Return: the port of a socket, or -errno. */
static int port_of(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		return -errno;
	return ntohs(address.ss_family == AF_INET6
			? ((const struct sockaddr_in6 *)&address)->sin6_port
			: ((const struct sockaddr_in *)&address)->sin_port);
}

int wfs_port_listen(struct wfs_port *port, struct wfs_error *error)
{
	const char *const listen = port->options.listen;
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *addresses = NULL;
	struct place place = {.host = ""};
	int r = -EADDRNOTAVAIL;

	if (!read_place(listen, &place))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected HOST:PORT or [ADDRESS]:PORT to listen at, got '%.200s'", listen);
	const int unknown = getaddrinfo(place.host, place.port, &hints, &addresses);
	if (unknown)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "listen at '%s': %s", listen,
			gai_strerror(unknown));
	for (const struct addrinfo *at = addresses; at && r < 0; at = at->ai_next)
		r = listen_at(at);
	freeaddrinfo(addresses);
	if (r < 0)
		return not_listening(r, listen, error);
	port->listener = r;
	const int number = port_of(port->listener);
	if (number < 0)
		return not_listening(number, listen, error);
	snprintf(port->address, sizeof(port->address), "%s:%u", place.shown, (uint16_t)number);
	return 0;
}
