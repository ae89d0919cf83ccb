/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port on which other nodes reach this one: HTTP/1.1 over TLS 1.3 or 1.2.
 *
 *  POST /v1/request      a body that handlers->request gets, and answers later
 *  GET /v1/blob/HASH     a file of handlers->blob; HASH is 64 hexadecimal digits
 *  GET /v1/backup        what handlers->backup writes into a pipe, until it ends
 *
 * Every request needs `Authorization: Bearer TOKEN`, with the token of the port's identity. The
 * port knows nothing of worlds and of etcd. It refuses some requests before a handler gets them:
 *  400 (no HTTP), 401 (another token), 404 (another path, or no such blob or backup), 405 (another
 *  method), 411 (a body without Content-Length), 413, 414, 431 (too large), 503 (too many requests
 *  under way, or the port is being freed), 505 (HTTP/1.0)
 * so a request with such an answer is not done.
 *
 * Handlers are called on a thread of the port, which serves all clients: they do not block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fs/replica/identity.h"
#include "kernel/base/buffer.h"
#include "kernel/base/hash.h"

enum {
	WFS_PORT_BODY_MAX = 80 << 20,    /* bytes of a request's body */
	WFS_PORT_BODIES_MAX = 320 << 20, /* bytes of the bodies of all requests under way */
	WFS_PORT_HEADERS_MAX = 64 << 10, /* bytes of a request's headers, about */
	WFS_PORT_CONNECTIONS_MAX = 256,  /* of all clients */
	WFS_PORT_ADDRESS_MAX = 64,       /* connections of one address */
	WFS_PORT_CALLS_MAX = 256,        /* requests that have no answer yet */
	WFS_PORT_IDLE_MS = 30 * 1000,    /* without progress of a client */
	WFS_PORT_FAREWELL_MS = 5 * 1000, /* for clients to read answers when the port is freed */
	WFS_PORT_NAME_MAX = 255,         /* bytes of HOST */
};

struct wfs_port;
struct wfs_port_call; /* a request to /v1/request that has no answer yet */

/* A backup on its way to a client. Plain value. */
struct wfs_port_backup {
	int fd; /* the end of a pipe to read from; the port makes it non-blocking, and owns it */
	void *backup; /* given to backup_is_whole and backup_done */
};

/* Functions that other nodes reach. @context: of the options. Plain value; none may be NULL.
 * Thread: one of the port, unless noted. */
struct wfs_port_handlers {
	/* Takes a request. wfs_port_answer() must be called once for @call, on any thread, now or
	 * later. @body: borrowed until then; 1 to WFS_PORT_BODY_MAX bytes */
	void (*request)(void *context, struct wfs_port_call *call, struct wfs_bytes body);

	/* Tells that the answer of @call may reach nobody: the client has left, or the port is
	 * being freed. The call must be answered all the same. This function may run while another
	 * thread answers @call, or after that; so the handler looks @call up in a list of its own,
	 * and ignores a call that it has answered. Until this returns, no new call has this
	 * address. Thread: one of the port, or that of wfs_port_free(). */
	void (*gone)(void *context, struct wfs_port_call *call);

	/* Opens a blob. @ret_fd: the port closes it; @ret_size: its bytes. Return: 0; another value
	 * if the node does not have it. */
	int (*blob)(void *context, const struct wfs_hash *hash, int *ret_fd, uint64_t *ret_size);

	/* Begins a backup. Return: 0; another value if the node cannot make one now. */
	int (*backup)(void *context, struct wfs_port_backup *ret_backup);
	/* The pipe has ended. Is what was read from it the whole backup? Otherwise the client
	 * sees a failure, and not a shorter backup. */
	bool (*backup_is_whole)(void *context, void *backup);
	/* Ends a backup: the descriptor is closed. Called once for each backup. */
	void (*backup_done)(void *context, void *backup);
};

/* Plain value; borrowed until wfs_port_new() returns, but for `identity` and `context`, which must
 * outlive the port. A number that is 0 stands for the one in the enumeration above. */
struct wfs_port_options {
	const char *listen; /* HOST:PORT or [ADDRESS]:PORT; port 0: a free one */
	const struct wfs_identity *identity;
	struct wfs_port_handlers handlers;
	void *context;
	unsigned int connections_max;         /* WFS_PORT_CONNECTIONS_MAX */
	unsigned int address_connections_max; /* WFS_PORT_ADDRESS_MAX */
	unsigned int calls_max;               /* WFS_PORT_CALLS_MAX */
	/* A client has so long to send a first request with the token, TLS included; and then to
	 * send or read the next byte, rounded up to seconds. WFS_PORT_IDLE_MS */
	unsigned int idle_ms;
};

/** wfs_port_new() - listen, and serve clients on threads of its own
 *  @ret_port: caller frees it with wfs_port_free()
 *  Return: 0, -EINVAL (invalid_argument: `listen`, or it is not an address of this machine), -EBUSY
 *  (busy: another process listens there), -EACCES (not_authorized: this user may not listen there),
 *  -ENOMEM, or -EIO (internal_error: libmicrohttpd cannot start). */
int wfs_port_new(const struct wfs_port_options *options, struct wfs_port **ret_port,
	struct wfs_error *error);

/** wfs_port_address() - Return: HOST:PORT with the host of `listen` and the real port; borrowed
 *  until wfs_port_free(). */
const char *wfs_port_address(const struct wfs_port *port);

/** wfs_port_free() - take no new request, tell the handlers of calls under way that they are gone,
 *  wait until each is answered, give clients WFS_PORT_FAREWELL_MS to read their answers, and end
 *  Thread: not one of a handler; no other may use the port, but for wfs_port_answer(). */
void wfs_port_free(struct wfs_port *port);
WFS_DEFINE_AUTO(port, struct wfs_port, wfs_port_free)
#define WFS_AUTO_PORT WFS_CLEANUP(wfs_auto_port)

/** wfs_port_answer() - answer a call, which ends it
 *  @code: a status of HTTP: 200 to 299, 409, 422, or 500; others are the port's own refusals
 *  @answer: JSON; copied. If memory is short the client gets no answer.
 *  Thread: any, also in the handler `request`. */
void wfs_port_answer(struct wfs_port_call *call, int code, struct wfs_bytes answer);
