/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a world's owner: `<world>/control.sock`, with one JSON object per line.
 *
 * Answers come in the order of the requests of their connection, and each request sees the effects
 * of those before it (fs/verb/order.h); connections do not wait for each other. The server stops
 * reading from a client that sends faster than the world answers, or that does not read the
 * answers, until that has changed. Each connection is a session of the principal that belongs to
 * its user (fs/verb/peer.h).
 *
 * A client that goes away while it waits for turns of an agent ends them. A client that only sends
 * no more is still there. `abandon {id}` ends the request with this id on the same connection,
 * whose answer then says so. It cannot end a request that runs on another thread, because the
 * connection is not read until that one is answered.
 * Source: worldfs-control(5).
 */
#pragma once

#include "fs/verb/verb.h"

enum {
	WFS_SERVER_LINE_MAX = 16 << 20,   /* bytes of one request */
	WFS_SERVER_CONNECTIONS_MAX = 256, /* open at once; one more is refused with overloaded */
	WFS_SERVER_GUEST_CONNECTIONS_MAX = 192, /* of all guests */
	WFS_SERVER_USER_CONNECTIONS_MAX = 64,   /* of one guest */
	WFS_SERVER_USER_CONNECTIONS_FEW = 8,    /* of one guest, if the guests together have 96 */
	WFS_SERVER_GONE_MS = 500,       /* pause between checks whether busy clients have gone */
	WFS_SERVER_REQUESTS_MAX = 1024, /* unanswered requests of one connection */
	WFS_SERVER_REQUESTS_BYTES_MAX = 32 << 20, /* bytes of the lines of these */
	WFS_SERVER_ANSWERS_BYTES_MAX = 8 << 20, /* bytes of answers that the client has not read */
	WFS_SERVER_STOP_CODE_MS = 2000,         /* how long a stop waits for code that runs */
	WFS_SERVER_STOP_MS = 5000, /* how long a stop waits for clients that do not read */
};

/* Bytes of memory. A guest is a user that does not own the world. */
enum {
	WFS_SERVER_USER_INPUT_MAX = 40 << 20,  /* lines of one user */
	WFS_SERVER_GUEST_INPUT_MAX = 96 << 20, /* lines of all guests */
	WFS_SERVER_USER_INPUT_FEW = 4 << 20,   /* of one guest, if those of all are too many */
	WFS_SERVER_USER_PARSED_MAX = 128
		<< 20, /* values of long and waiting lines of one user, about */
	WFS_SERVER_GUEST_PARSED_MAX = 192 << 20, /* such values of all guests */
	WFS_SERVER_USER_ANSWERS_MAX = 16 << 20,  /* answers that one guest has not read */
	/* Unread answers of one guest; above that, its requests that have not begun are dropped. */
	WFS_SERVER_USER_UNREAD_MAX = 32 << 20,
};

struct wfs_server;

/**
 * wfs_server_new() - make the control socket of the session's world, and listen on it; caller frees
 * @ret_server with wfs_server_free()
 * The caller owns the world, so a leftover socket is replaced. For a world opened for reading, the
 * server is made without a socket, because nothing can be made on its medium.
 * @session: of the operator; must outlive the server. Other peers get sessions of their own.
 * @host: given to verbs; must outlive the server
 * Return: 0, -errno (with @error).
 */
int wfs_server_new(const struct wfs_session *session, struct wfs_host *host,
	struct wfs_server **ret_server, struct wfs_error *error);

/** wfs_server_hold_signals() - block SIGTERM, SIGHUP and, unless it is ignored, SIGINT;
 *  wfs_server_run() then reads these signals
 *  They stay blocked, so that starting and ending are not interrupted, however often a signal
 *  comes.
 *  Thread: to be called before any other thread is started, because threads inherit what is
 *  blocked. */
void wfs_server_hold_signals(void);

/** wfs_server_run() - serve until wfs_server_stop(), SIGTERM or SIGINT; then answer the requests
 *  that were read (a request that waits for a turn or a plan is answered at once), and close all
 *  connections
 *  SIGHUP has host.json read again; but if the terminal of this process was closed, SIGHUP ends the
 *  server, too. A service of systemd reports its state to systemd (fs/base/supervisor.h).
 *  Thread: the one that called wfs_server_new(). */
void wfs_server_run(struct wfs_server *server);

/** wfs_server_peers() - get the users of host.json, which stay up to date. Return: borrowed until
 *  wfs_server_free(). */
struct wfs_peers *wfs_server_peers(struct wfs_server *server);

/** wfs_server_stop() - ask the server to end; returns at once. Thread: any. */
void wfs_server_stop(struct wfs_server *server);

/** wfs_server_free() - remove the socket, and free a server that is not running; accepts NULL. */
void wfs_server_free(struct wfs_server *server);
WFS_DEFINE_AUTO(server, struct wfs_server, wfs_server_free)
#define WFS_AUTO_SERVER WFS_CLEANUP(wfs_auto_server)
