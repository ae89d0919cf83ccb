/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/server/: servers, their connections and their requests. A user's turn is its
 * time on the loop's thread, not a turn of an agent; a call is a run of a verb (fs/verb/verb.h). */
#pragma once

#include <pthread.h>
#include <uv.h>

#include "caps/authority.h"
#include "fs/base/work.h"
#include "fs/server/server.h"
#include "fs/verb/order.h"
#include "fs/verb/peer.h"

struct wfs_server_connection;
struct wfs_server_user;

enum { WFS_SERVER_PARSE_MAX = 256 << 10 }; /* bytes of a line that the loop itself parses */

/* Users with requests to begin, in the order of their turns. */
struct wfs_server_turn {
	struct wfs_server_user *first;
	struct wfs_server_user *last;
};

/* A line of a client, from reading it until its answer is being sent. */
struct wfs_server_request {
	struct wfs_call call;
	struct wfs_server_connection *connection;
	struct wfs_server_request *next;          /* of the connection, in order */
	struct wfs_server_request *next_finished; /* lock: the server's */
	json_t *envelope;                         /* owned; `id` and `verb` are borrowed from it */
	const char *id;
	const char *verb;
	struct wfs_session *session; /* owned; of an envelope that has `as`; otherwise NULL */
	size_t line_bytes;
	size_t parsed_bytes;       /* memory of its values that its user is charged for */
	enum wfs_order_kind order; /* which requests it waits for */
	const char *as;            /* of the envelope, or NULL; borrowed from it */
	const char *unread;        /* the line, until it is parsed; no more is read until then */
	struct wfs_buffer answer;  /* when the call is done */
	struct wfs_work_task task;
	bool slow;       /* runs on a thread of the server's work; a long line is parsed there */
	bool reads_long; /* slow, because it reads much */
	bool parsing;    /* a long line, on another thread */
	bool started;    /* it has begun */
	bool counted;    /* it counts in the order of its connection */
	bool answered;   /* `answer` may be sent */
};

/* All fields belong to the loop's thread. */
struct wfs_server_connection {
	struct wfs_server *server;
	struct wfs_server_connection *next; /* of the server */
	struct wfs_server_connection *next_touched;
	struct wfs_server_connection *next_ready; /* of its user */
	uv_pipe_t pipe;
	struct wfs_server_user *user; /* of the peer; NULL: unknown */
	struct wfs_session *session;  /* of the peer; owned; NULL: refused */
	struct wfs_caller caller;     /* the peer */
	struct wfs_handed handed;     /* received descriptors, until their request begins */
	unsigned int handed_count; /* received descriptors; more than WFS_HANDED_COUNT are closed */
	size_t handed_at;          /* offset in the input of the byte with which they came */
	struct wfs_buffer input;   /* bytes read */
	size_t counted_bytes;      /* memory for the input that the user is charged for */
	size_t begun_bytes;        /* of the input: lines that have begun */
	size_t scanned_bytes;      /* of the input: known to have no further line end */
	struct wfs_server_request *first; /* unanswered, in order */
	struct wfs_server_request *last;
	struct wfs_server_request *waiting; /* the first that has not begun; or one before it */
	struct wfs_order order;             /* of requests that have begun */
	struct wfs_server_request
		*slow; /* begun, or being parsed; until it is done nothing is read or begun */
	size_t request_count;
	size_t request_bytes;
	size_t answer_bytes; /* answers that wait for their turn, or that the client has not read */
	bool reading;
	bool admitted;    /* it counts as a connection of its user */
	bool ready;       /* it has lines to begin, and is in the list of its user */
	bool input_ended; /* the client sends no more */
	bool ending;      /* no more lines are read */
	bool closing;     /* uv_close was called */
	bool closed;      /* uv_close has ended */
	bool touched;     /* in a list of connections to be checked */
};

struct wfs_server {
	const struct wfs_session *session;
	struct wfs_host *host;
	struct wfs_peers *peers;
	char *socket_path;
	/* For verbs that take long. libuv's own pool aborts if threads cannot be made. */
	struct wfs_work *work;
	struct wfs_work *urgent;     /* for `umount`, which waits for no other verb: one thread */
	struct wfs_work *long_reads; /* for files and queries that take long: one thread */
	struct wfs_work *long_lines; /* for long lines, of low priority */
	uv_loop_t loop;
	uv_check_t turns; /* begins requests, after all input was read */
	uv_idle_t more;   /* active while lines wait to begin: the loop does not sleep then */
	struct wfs_server_turn fresh;  /* users without recent requests */
	struct wfs_server_turn others; /* users that had turns and have more requests */
	pthread_t thread;              /* of the loop */
	uv_pipe_t listener;
	uv_pipe_t turned_away; /* client without memory for it, while it is being closed */
	bool turning_away;
	bool another_waits;          /* another client waits to be accepted */
	unsigned int accepted_count; /* since the loop has checked its other handles */
	uv_async_t wake;
	uv_poll_t signals; /* signals that ask it to end */
	int signal_fd;
	uv_timer_t stop_timer;
	uv_timer_t supervised_timer; /* runs in a service of systemd */
	uv_timer_t gone_timer;       /* runs while there are connections */
	struct wfs_observer observer;
	bool observing;
	bool had_terminal; /* when it was made; false if the end of its terminal is ignored */
	bool stopping;
	struct wfs_server_connection *connections; /* loop's thread */
	size_t connection_count;
	size_t admitted_count;           /* connections that were not refused */
	uint64_t connections_total;      /* including ended ones */
	struct wfs_server_user *users;   /* users with connections; owned; loop's thread */
	size_t guest_count;              /* connections of guests */
	size_t guest_input_bytes;        /* memory for lines of guests */
	size_t guest_parsed_bytes;       /* lock */
	struct wfs_server_request *idle; /* for reuse; loop's thread */
	size_t idle_count;

	pthread_mutex_t lock;
	struct wfs_server_request *finished; /* lock; done on another thread, newest first */
	bool stop_wanted;                    /* lock */
};

/** wfs_server_accept() - accept the client that waits on the listening socket; without memory for
 *  it, close its connection at once. */
void wfs_server_accept(struct wfs_server *server);

/** wfs_server_accept_waiting() - accept the client that was left waiting, because many came at once
 *  or memory was lacking; if there is one. */
void wfs_server_accept_waiting(struct wfs_server *server);

/** wfs_server_collect() - send the answers of requests that other threads have finished. */
void wfs_server_collect(struct wfs_server *server);

/** wfs_server_end_connections() - read no more lines on any connection, and begin those that were
 *  read; each connection closes later, after its last answer
 *  @now: close all without answers, and abandon their requests as wfs_server_request_abandon() */
void wfs_server_end_connections(struct wfs_server *server, bool now);

/** wfs_server_maybe_end() - end the loop if it is stopping and has no connection left. */
void wfs_server_maybe_end(struct wfs_server *server);

/** wfs_server_end_changed() - read no more lines on connections whose user has another principal
 *  now, or none; each closes after the last answer. */
void wfs_server_end_changed(struct wfs_server *server);

/** wfs_server_supervise() - if this process is a service of systemd, begin to tell systemd the
 *  height, the length of the queue, and that the loop runs. */
void wfs_server_supervise(struct wfs_server *server);

/** wfs_server_reload() - read host.json again: load its users, end connections of users whose
 *  principal changed, and have the driver reload. A failure is only logged. */
void wfs_server_reload(struct wfs_server *server);

/** wfs_server_observe() - begin to keep the height in log entries up to date. */
void wfs_server_observe(struct wfs_server *server);
/** wfs_server_unobserve() - end what wfs_server_observe() began; accepts a half-built server. */
void wfs_server_unobserve(struct wfs_server *server);

/** wfs_server_pump() - do what a connection is ready for: send answers, note that it has requests
 *  to begin, read on or stop reading, close. May free the connection. */
void wfs_server_pump(struct wfs_server_connection *connection);

/** wfs_server_turn() - begin requests of a connection until the time @end_ns of the monotonic
 *  clock, then call wfs_server_pump(), which may free it. */
void wfs_server_turn(struct wfs_server_connection *connection, int64_t end_ns);

/** wfs_server_turns() - begin waiting requests, of one user after the other, for about a
 *  millisecond. */
void wfs_server_turns(struct wfs_server *server);

/** wfs_server_request_new() - make a request of one line of @size bytes, without its newline. An
 *  error in the line becomes the error of its call.
 *  A line of more than WFS_SERVER_PARSE_MAX makes a slow request (which needs another thread), and
 *  is borrowed until wfs_server_request_collect(); a shorter line, only during this call.
 *  Return: the request; wfs_server_order_add() takes it; NULL without memory. */
struct wfs_server_request *wfs_server_request_new(
	struct wfs_server_connection *connection, const char *line, size_t size);

/** wfs_server_request_refused() - make a request that comes from no line of the client, and whose
 *  answer is the error @code with the message @reason: the only answer of a connection that is
 *  refused.
 *  Return: the request; wfs_server_order_add() takes it; NULL without memory. */
struct wfs_server_request *wfs_server_request_refused(
	struct wfs_server_connection *connection, enum wfs_error_code code, const char *reason);

/** wfs_server_order_add() - append a request to those of its connection. A long line is parsed from
 *  now on, and a request of the kind WFS_ORDER_AT_ONCE begins at once; all others begin in
 *  wfs_server_turn().
 *  @request: taken. Source: fs/verb/order.h */
void wfs_server_order_add(
	struct wfs_server_connection *connection, struct wfs_server_request *request);

/** wfs_server_order_may_start() - may the connection's first request that has not begun begin?
 *  False if all have begun. */
bool wfs_server_order_may_start(struct wfs_server_connection *connection);

/** wfs_server_order_holds() - would a request of this kind, if it came next on the connection, wait
 *  for answers to others? */
bool wfs_server_order_holds(struct wfs_server_connection *connection, enum wfs_order_kind kind);

/** wfs_server_order_start() - begin the connection's first request that has not begun, for which
 *  wfs_server_order_may_start() is true. */
void wfs_server_order_start(struct wfs_server_connection *connection);

/** wfs_server_order_take() - remove the connection's oldest request, if its answer may be sent.
 *  Return: the request; caller frees it; NULL: its answer may not be sent yet. */
struct wfs_server_request *wfs_server_order_take(struct wfs_server_connection *connection);

/** wfs_server_request_parse() - have the long line of a request parsed on another thread, which
 *  then has the loop's thread call wfs_server_request_collect(). */
void wfs_server_request_parse(struct wfs_server_request *request);

/** wfs_server_request_start() - begin the call of a request; the request may be answered before
 *  this function returns. */
void wfs_server_request_start(struct wfs_server_request *request);

/** wfs_server_request_abandon() - end a request whose client is gone, if it can be ended.
 *  A request that runs on another thread goes on. The answer to one that has not begun is the error
 *  cancelled. */
void wfs_server_request_abandon(struct wfs_server_request *request);

/** wfs_server_request_collect() - take a request back from another thread. If the thread has run
 *  the verb, make the answer. If the thread has parsed the line, note that the request may be
 *  started or, if its client is gone, abandon the request.
 *  Thread: the loop's. */
void wfs_server_request_collect(struct wfs_server_request *request);

/** wfs_server_request_answered() - make the answer of a request whose verb has ended, to be sent
 *  after the answers to the requests before it. Thread: the loop's. */
void wfs_server_request_answered(struct wfs_server_request *request);

/** wfs_server_request_free() - free a request from wfs_server_order_take(), whose answer was sent
 *  or is not wanted any more, and take back what its user is charged for it. */
void wfs_server_request_free(struct wfs_server_request *request);

/** wfs_server_look_for_gone() - abandon the requests of clients that have gone, on connections that
 *  are not being read now; on other connections, reading notices a client that has gone. */
void wfs_server_look_for_gone(struct wfs_server *server);

/** wfs_server_user_get() - find or make the record of the user @uid, for a new connection.
 *  Return: borrowed until wfs_server_user_put() for this connection; NULL without memory. */
struct wfs_server_user *wfs_server_user_get(struct wfs_server *server, uid_t uid);
/** wfs_server_user_put() - note that a connection has ended, and is not counted by
 *  wfs_server_user_admit() any more; free the record of its user with the user's last connection.
 *  Accepts a connection without a user. */
void wfs_server_user_put(struct wfs_server_connection *connection);

/** wfs_server_user_admit() - count a connection for its user, if there is room for it
 *  A connection that is refused is not counted: its client gets one answer, the error, and then the
 *  connection is closed.
 *  Return: 0, -EAGAIN (overloaded: the user, all guests or the server have as many as they may). */
int wfs_server_user_admit(struct wfs_server_connection *connection, struct wfs_error *error);

/** wfs_server_user_input() - charge the connection's user for @bytes, all memory that the
 *  connection's input takes now, in place of the charge before
 *  Return: false: with all connections of the user, or of all guests, that is too much; the user is
 *  charged nevertheless. */
bool wfs_server_user_input(struct wfs_server_connection *connection, size_t bytes);

/** wfs_server_user_ready() - put a connection that has lines to begin into the list of its user,
 *  and the user into the order of turns, unless they are there already. */
void wfs_server_user_ready(struct wfs_server_connection *connection);
/** wfs_server_user_unready() - take a connection off the list of its user, if it is in it. */
void wfs_server_user_unready(struct wfs_server_connection *connection);

/** wfs_server_user_answers() - add @more to, and subtract @less from, the unread bytes of answers
 *  of the connection and of its user. If the user is a guest (server.h) and now has more than
 *  WFS_SERVER_USER_UNREAD_MAX, those of the user's requests that have not begun are abandoned. */
void wfs_server_user_answers(struct wfs_server_connection *connection, size_t more, size_t less);

/** wfs_server_user_parse() - charge a user for @bytes of memory for parsing a line. @user: NULL: no
 *  charge. Thread: any. Return: 0, -EAGAIN (overloaded: with @bytes it would be too much for the
 *  user, or for all guests; nothing is charged). */
int wfs_server_user_parse(struct wfs_server *server, struct wfs_server_user *user, size_t bytes,
	struct wfs_error *error);
/** wfs_server_user_parsed() - take back a charge of wfs_server_user_parse(). Thread: any. */
void wfs_server_user_parsed(struct wfs_server *server, struct wfs_server_user *user, size_t bytes);
