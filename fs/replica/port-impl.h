/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to fs/replica/port*.c. Two threads serve a port: that of libmicrohttpd, which reads and
 * writes, and the watcher. A connection is suspended while its request waits for an answer, or its
 * backup for the pipe. libmicrohttpd does not look at a suspended connection, so the watcher does.
 * The thread that sets `suspended` to false, under the lock, then drops the lock, and resumes the
 * connection.
 */
#pragma once

#include <microhttpd.h>
#include <pthread.h>

#include "fs/replica/port.h"

/* A connection of a client. */
struct wfs_port_client {
	struct wfs_port_client *next;
	struct wfs_port_client *previous;
	int fd;           /* until libmicrohttpd says that it is closed; borrowed */
	int64_t until_ns; /* lock: the port's; monotonic clock: the end of its time to send the
			     token; 0: it has sent it */
};

/* A request with a body, or a backup. */
struct wfs_port_call {
	struct wfs_port *port;
	struct MHD_Connection *connection; /* valid while `suspended` */
	struct wfs_port_call *next;        /* lock: the port's, like those down to `refs` */
	struct wfs_port_call *previous;
	uint64_t number;
	unsigned int refs; /* of libmicrohttpd, the handler, a thread that tells or resumes */
	bool begun;        /* its whole body was there */
	bool is_backup;
	bool handed;    /* the handler has it, and has not answered */
	bool known;     /* the handler's function for requests has returned */
	bool suspended; /* the watcher looks after the connection */
	bool gone;      /* the client has left, or the port ends */
	bool told;      /* handlers->gone has been called, or is being called */
	int code;       /* of the answer; 0: none yet */
	char *answer;   /* owned */
	size_t answer_bytes;
	int fd;              /* of the client's connection; borrowed */
	size_t wanted_bytes; /* of the body, as the client says */
	struct wfs_buffer body;
	struct wfs_port_backup backup; /* its descriptor is -1 without a backup */
};

struct wfs_port {
	struct wfs_port_options options;
	char address[WFS_PORT_NAME_MAX + sizeof("[]:65535")];
	int listener;
	struct MHD_Daemon *daemon;
	pthread_t watcher;
	bool watching; /* the thread runs */
	int epoll;     /* of suspended connections, their pipes, and `wake` */
	int wake;      /* an eventfd */

	pthread_mutex_t lock;   /* for all that follows */
	pthread_cond_t changed; /* a call was answered, or is freed */
	struct wfs_port_client *clients;
	struct wfs_port_call *calls;
	size_t call_count;
	size_t handed_count;
	size_t body_bytes;    /* as clients say */
	uint64_t call_number; /* of the last one */
	bool ending;          /* new requests are refused */
	bool watcher_ends;
};

/* --- port-listen.c --- */

/** wfs_port_listen() - open the socket of port->options.listen
 *  port->listener and port->address are set. Return: as wfs_port_new(). */
int wfs_port_listen(struct wfs_port *port, struct wfs_error *error);

/* --- port-call.c --- */

/** wfs_port_serve() - libmicrohttpd's callback for requests: called when the headers are there, for
 *  each part of the body, after it, and again when a connection is resumed. */
enum MHD_Result wfs_port_serve(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *part, size_t *part_bytes,
	void **request);

/** wfs_port_completed() - libmicrohttpd's callback for the end of a request. */
void wfs_port_completed(void *context, struct MHD_Connection *connection, void **request,
	enum MHD_RequestTerminationCode code);

/** wfs_port_unref() - drop a reference; the last one frees the call. Takes the lock. */
void wfs_port_unref(struct wfs_port_call *call);

/* --- port-watch.c --- */

enum wfs_port_event {
	WFS_PORT_CLIENT_LEFT, /* the client's connection is closed, or half of it */
	WFS_PORT_PIPE_READY,
};

/** wfs_port_watch() - resume the suspended connection of @call when the client leaves
 *  The caller has the lock. If memory is short, libmicrohttpd alone notices that the client has
 *  left, after the answer. */
void wfs_port_watch(struct wfs_port_call *call);

/** wfs_port_watch_pipe() - resume the connection when the pipe of its backup can be read
 *  The caller has the lock, and suspends the connection before it drops the lock.
 *  Return: 0, -ENOMEM. */
int wfs_port_watch_pipe(struct wfs_port_call *call);

/** wfs_port_unwatch() - set `suspended` to false. The caller has the lock, and resumes the
 *  connection without it. */
void wfs_port_unwatch(struct wfs_port_call *call);

/** wfs_port_watcher() - the watcher: also shuts down clients that send no token in time. */
void *wfs_port_watcher(void *context);

/** wfs_port_wake() - have the watcher look at what has changed. */
void wfs_port_wake(struct wfs_port *port);
