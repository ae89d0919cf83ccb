/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/server*.c: what a server, its connections and its requests are made of. */
#pragma once

#include <pthread.h>
#include <uv.h>

#include "fs/base/work.h"
#include "fs/server/server.h"
#include "fs/verb/order.h"
#include "fs/verb/peer.h"

struct wfs_server_connection;
struct wfs_server_user;

enum { WFS_SERVER_PARSE_MAX = 256 << 10 }; /* bytes of a line that the loop parses itself */

/* Users that have requests to begin, in the order of their turns. */
struct wfs_server_turn {
	struct wfs_server_user *first;
	struct wfs_server_user *last;
};

/* One line of a client, from when it was read until its answer is on the way. */
struct wfs_server_request {
	struct wfs_call call;
	struct wfs_server_connection *connection;
	struct wfs_server_request *next;          /* of the same connection, in order */
	struct wfs_server_request *next_finished; /* lock: the server's */
	json_t *envelope;                         /* owned; `id` and `verb` are borrowed from it */
	const char *id;
	const char *verb;
	struct wfs_session *session; /* owned; of an envelope that has `as`, else NULL */
	size_t line_bytes;
	size_t parsed_bytes;       /* that its user is charged for */
	enum wfs_order_kind order; /* what it waits for */
	const char *as;            /* of the envelope, or NULL; borrowed from it */
	const char *unread; /* the line, until it is parsed: the connection takes nothing more in */
	struct wfs_buffer answer; /* once the call is done */
	struct wfs_work_task task;
	bool slow; /* runs on a thread of the server's work; so does the parsing of a long line */
	bool reads_long; /* a slow one that reads what takes long */
	bool parsing;    /* a long line: on another thread */
	bool started;    /* it does not wait for others any more */
	bool counted;    /* it is under way in the order of its connection */
	bool answered;   /* `answer` may be sent */
};

/* All fields belong to the loop's thread. */
struct wfs_server_connection {
	struct wfs_server *server;
	struct wfs_server_connection *next; /* of the server */
	struct wfs_server_connection *next_touched;
	struct wfs_server_connection *next_ready; /* of its user */
	uv_pipe_t pipe;
	struct wfs_server_user *user; /* of the peer; NULL: it is not known */
	struct wfs_session *session;  /* of the peer; owned, NULL: it was refused */
	struct wfs_caller caller;     /* the peer */
	struct wfs_handed handed;     /* descriptors that came, until their request is begun */
	unsigned int handed_count;    /* that came; more than WFS_HANDED_COUNT are closed */
	size_t handed_at;             /* offset in the input of the byte that they came with */
	struct wfs_buffer input;      /* bytes read */
	size_t counted_bytes;         /* of memory, for the input, that the user is charged for */
	size_t begun_bytes;           /* of the input: lines that were begun */
	size_t scanned_bytes;         /* of the input: known to hold no further line end */
	struct wfs_server_request *first; /* not answered yet, in order */
	struct wfs_server_request *last;
	struct wfs_server_request *waiting; /* none before it waits to be begun */
	struct wfs_order order;             /* those that were begun */
	struct wfs_server_request
		*slow; /* begun, or being parsed: nothing is read or begun meanwhile */
	size_t request_count;
	size_t request_bytes;
	size_t answer_bytes; /* answers that wait for their turn or for the client */
	bool reading;
	bool admitted;    /* it counts among those of its user */
	bool ready;       /* there are lines to begin; in the list of its user */
	bool input_ended; /* the client sends nothing more */
	bool ending;      /* no more lines are read */
	bool closing;     /* uv_close was called */
	bool closed;      /* and has ended */
	bool touched;     /* in a list of connections to look at */
};

struct wfs_server {
	const struct wfs_session *session;
	struct wfs_host *host;
	struct wfs_peers *peers;
	char *socket_path;
	/* For verbs that take long. libuv's own pool aborts when threads cannot be had. */
	struct wfs_work *work;
	struct wfs_work *urgent; /* the same for `umount`, which waits for no other: one thread */
	struct wfs_work *long_reads; /* the same for files and queries that take long: one thread */
	struct wfs_work *long_lines; /* the same for long lines, of low priority */
	uv_loop_t loop;
	uv_check_t turns; /* begins requests, after everything that came was read */
	uv_idle_t more;   /* active while there are lines to begin: the loop does not sleep then */
	struct wfs_server_turn fresh;  /* users that asked for nothing lately */
	struct wfs_server_turn others; /* users that had turns, and want more */
	pthread_t thread;              /* of the loop */
	uv_pipe_t listener;
	uv_pipe_t turned_away; /* a client whom there was no memory for, while it is being closed */
	bool turning_away;
	bool another_waits;          /* meanwhile, or more than are accepted at once */
	unsigned int accepted_count; /* since the loop looked at its other handles */
	uv_async_t wake;
	uv_poll_t signals; /* that ask it to end */
	int signal_fd;
	uv_timer_t stop_timer;
	uv_timer_t gone_timer; /* runs while there are connections */
	bool stopping;
	struct wfs_server_connection *connections; /* loop's thread */
	size_t connection_count;
	size_t admitted_count;           /* of them, those that were not refused */
	uint64_t connections_total;      /* also those that have ended */
	struct wfs_server_user *users;   /* that have connections; owned; loop's thread */
	size_t guest_count;              /* connections of users who do not own the world */
	size_t guest_input_bytes;        /* of memory, for their lines */
	size_t guest_parsed_bytes;       /* lock */
	struct wfs_server_request *idle; /* for the next requests; loop's thread */
	size_t idle_count;

	pthread_mutex_t lock;
	struct wfs_server_request *finished; /* lock; done on another thread, newest first */
	bool stop_wanted;                    /* lock */
};

/** wfs_server_accept() - take a new client in, or send it away. */
void wfs_server_accept(struct wfs_server *server);

/** wfs_server_accept_waiting() - accept the client that wfs_server_accept() put off, if any. */
void wfs_server_accept_waiting(struct wfs_server *server);

/** wfs_server_collect() - send the answers of requests that other threads finished. */
void wfs_server_collect(struct wfs_server *server);

/** wfs_server_end_connections() - read no more lines; answer what was read, then close.
 *  @now: do not wait for the answers to be read */
void wfs_server_end_connections(struct wfs_server *server, bool now);

/** wfs_server_maybe_end() - when it is stopping and the last connection is gone, end the loop. */
void wfs_server_maybe_end(struct wfs_server *server);

/** wfs_server_pump() - send what can be sent, and have the rest begun in turn; the connection may be gone afterwards. */
void wfs_server_pump(struct wfs_server_connection *connection);

/** wfs_server_turn() - begin requests of a connection whose turn it is, until @end_ns has come. */
void wfs_server_turn(struct wfs_server_connection *connection, int64_t end_ns);

/** wfs_server_turns() - begin requests for some time, of one user after the other. */
void wfs_server_turns(struct wfs_server *server);

/** wfs_server_request_new() - read one line; what is wrong with it becomes the call's error. A line
 *  of more than WFS_SERVER_PARSE_MAX makes a slow request, and is borrowed until that is answered.
 *  Return: NULL without memory. */
struct wfs_server_request *wfs_server_request_new(
	struct wfs_server_connection *connection, const char *line, size_t size);

/** wfs_server_request_refused() - a request without a line that is answered with an error. */
struct wfs_server_request *wfs_server_request_refused(
	struct wfs_server_connection *connection, enum wfs_error_code code, const char *reason);

/** wfs_server_order_add() - one more request; it is begun now if it may overtake others.
 *  Source: fs/verb/order.h */
void wfs_server_order_add(
	struct wfs_server_connection *connection, struct wfs_server_request *request);

/** wfs_server_order_may_start() - may the next request be begun? */
bool wfs_server_order_may_start(struct wfs_server_connection *connection);

/** wfs_server_order_holds() - would a request of this kind, which comes next, wait for others to be answered? */
bool wfs_server_order_holds(struct wfs_server_connection *connection, enum wfs_order_kind kind);

/** wfs_server_order_start() - begin the next request, which may be. */
void wfs_server_order_start(struct wfs_server_connection *connection);

/** wfs_server_order_take() - take the first request off. Return: NULL when it is not answered yet. */
struct wfs_server_request *wfs_server_order_take(struct wfs_server_connection *connection);

/** wfs_server_request_parse() - have a long line read, on another thread; wfs_server_request_collect() follows. */
void wfs_server_request_parse(struct wfs_server_request *request);

/** wfs_server_request_start() - run it; the answer may be there when this returns. */
void wfs_server_request_start(struct wfs_server_request *request);

/** wfs_server_request_abandon() - nobody waits for its answer: what can be ended is. Not one that
 *  runs on another thread. One that was not begun is answered. */
void wfs_server_request_abandon(struct wfs_server_request *request);

/** wfs_server_request_collect() - another thread is done with it: its line is read, or its call done.
 *  Thread: the loop's. */
void wfs_server_request_collect(struct wfs_server_request *request);

/** wfs_server_request_answered() - its call is done; have the answer sent in its turn.
 *  Thread: the loop's. */
void wfs_server_request_answered(struct wfs_server_request *request);

/** wfs_server_request_free() - its answer was sent, or nobody is there to read it. */
void wfs_server_request_free(struct wfs_server_request *request);

/** wfs_server_look_for_gone() - requests of clients that went away are abandoned, also where nothing is read. */
void wfs_server_look_for_gone(struct wfs_server *server);

/** wfs_server_user_get() - the user of one more connection. Return: NULL without memory. */
struct wfs_server_user *wfs_server_user_get(struct wfs_server *server, uid_t uid);
/** wfs_server_user_put() - a connection of its user has ended; accepts one without a user. */
void wfs_server_user_put(struct wfs_server_connection *connection);

/**
 * wfs_server_user_admit() - count a connection among those of its user, if there is room for it
 *
 * A connection that is refused counts nowhere: it ends with its one answer.
 * Return: 0, -EAGAIN (overloaded).
 */
int wfs_server_user_admit(struct wfs_server_connection *connection, struct wfs_error *error);

/**
 * wfs_server_user_input() - charge the memory of a connection's input
 * Return: false: it is too much, with the user's other connections.
 */
bool wfs_server_user_input(struct wfs_server_connection *connection, size_t bytes);

/** wfs_server_user_ready() - a connection has lines to begin: put it in the list of its user. */
void wfs_server_user_ready(struct wfs_server_connection *connection);
/** wfs_server_user_unready() - take a connection out of the list of its user, if it is there. */
void wfs_server_user_unready(struct wfs_server_connection *connection);

/** wfs_server_user_answers() - count @more, and @less no longer: bytes of answers that the user has
 *  not read. */
void wfs_server_user_answers(struct wfs_server_connection *connection, size_t more, size_t less);

/** wfs_server_user_parse() - charge the memory of a line that is going to be parsed. Thread: any.
 *  Return: 0, -EAGAIN (overloaded): nothing is charged. */
int wfs_server_user_parse(struct wfs_server *server, struct wfs_server_user *user, size_t bytes,
	struct wfs_error *error);
void wfs_server_user_parsed(struct wfs_server *server, struct wfs_server_user *user, size_t bytes);
