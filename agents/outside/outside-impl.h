/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/outside/: the structs of a client, its servers and calls.
 * Only the loop's thread uses them. */
#pragma once

#include <sys/queue.h>

#include "agents/outside/outside.h"
#include "kernel/base/host-form.h"
#include "kernel/base/rpc.h"

/* A request that the client makes for itself; a server has one of them at a time. */
enum outside_asked {
	OUTSIDE_ASKED_NOTHING,
	OUTSIDE_ASKED_INITIALIZE,
	OUTSIDE_ASKED_LIST,
	OUTSIDE_ASKED_PING,
};

enum outside_call_state {
	OUTSIDE_CALL_WAITING, /* until the server is ready, and has fewer running calls */
	OUTSIDE_CALL_RUNNING, /* the server has the request */
	OUTSIDE_CALL_ENDED,   /* freed when its timer is closed */
};

struct outside_server;

struct wfs_outside_call {
	struct outside_server *server;
	TAILQ_ENTRY(wfs_outside_call) all; /* in the list of its state */
	enum outside_call_state state;
	int64_t id;
	char *tool;
	struct wfs_hash hash; /* of the tool for which the call was allowed */
	bool has_hash;
	struct wfs_buffer message; /* the request, until it is sent */
	size_t message_bytes;      /* size of the request */
	bool sent;                 /* the request was sent at least once */
	bool resent;               /* the request was sent again, in a new session */
	bool cancelled;            /* the call ends when the loop runs */
	int64_t began_ns;
	int64_t timeout_ms;
	uv_timer_t timer;
	void *context;
	void (*progress)(void *context, double progress, double total, const char *message);
	void (*done)(void *context, const struct wfs_outside_result *result);
};

TAILQ_HEAD(outside_calls, wfs_outside_call);

/* How messages reach a server and come back. Incoming ones go to outside_take(). */
struct outside_transport {
	/* Opens the connection server->link. Return: 0, or -errno with @error filled. */
	int (*open)(struct outside_server *server, struct wfs_error *error);
	/* Sends a message, which is taken. @call: to which the message belongs; NULL: none;
	 * @asked: it is a request that the client makes for itself. If sending fails later,
	 * outside_fail() or outside_call_fail() is called. Return: 0, -errno. */
	int (*send)(struct outside_server *server, struct wfs_buffer *message,
		struct wfs_outside_call *call, bool asked);
	/* The protocol is agreed on; the next message says so to the server. May be NULL. */
	void (*agreed)(struct outside_server *server);
	/* Nothing more is expected for a call, which has been sent. May be NULL. */
	void (*drop)(struct outside_server *server, struct wfs_outside_call *call);
	/* Closes server->link, and sets it to NULL. No more messages come from it. */
	void (*close)(struct outside_server *server);
};

extern const struct outside_transport outside_child;
extern const struct outside_transport outside_http;

/* The tools of a server, or as many as have been listed. */
struct outside_tools {
	struct wfs_outside_tool *tools; /* with owned members */
	size_t count;
	size_t capacity;
	size_t bytes; /* of descriptions and schemas */
	size_t pages;
};

struct outside_server {
	struct wfs_outside *outside;
	size_t index;
	const char *name;            /* borrowed from the table */
	struct wfs_host_server host; /* with defaults in place of absent limits */
	enum wfs_outside_state state;
	char reason[WFS_OUTSIDE_REASON_SIZE];
	const struct outside_transport *transport;
	void *link;               /* of the transport; NULL: not connected */
	json_t *secrets;          /* array of texts that must not come back; NULL: none */
	const char *version;      /* of the protocol: agreed on, or, before that, asked for */
	int64_t last_id;          /* of the requests to the server */
	enum outside_asked asked; /* what the client waits for */
	int64_t asked_id;         /* of this request */
	uv_timer_t timer;         /* time limit of `asked`; pause of a server that has failed */
	uv_timer_t soon;          /* see outside_soon() */
	bool wanted;              /* it is to be started, even without a call */
	bool has_tools;   /* it has said, when the protocol was agreed on, that it has tools */
	bool list_wanted; /* its tools have changed, and are to be listed */
	bool ping_wanted; /* it is to be asked whether it still answers */
	bool listed;      /* its tools have been listed at least once */
	unsigned int failure_count; /* since it was ready for a while */
	int64_t ready_ns;           /* when it became ready; monotonic */
	int64_t listed_ns;          /* when it was asked for its tools last */
	int64_t noise_second;       /* in which `noise` is counted, see outside_noise() */
	size_t noise;
	struct outside_tools tools;   /* the newest complete list */
	struct outside_tools listing; /* the list that is being read */
	struct outside_calls waiting;
	struct outside_calls running;
	size_t waiting_count;
	size_t waiting_bytes;
	size_t running_count;
};

struct wfs_outside {
	uv_loop_t *loop;
	json_t *table;
	struct wfs_outside_callbacks callbacks;
	struct outside_server *servers;
	size_t count;
	int image_fd;            /* see agents/outside/keeper; -1: no child was started yet */
	struct wfs_multi *multi; /* NULL: no server has a URL, or nothing is transferred any more */
	unsigned int link_count; /* connections over HTTP; the last one closes `multi` */
	bool freed;
	/* Open handles of libuv, and one of the owner; closing the last frees the client. */
	unsigned int handle_count;
};

/* --- outside.c --- */

/** outside_handle_closed() - note that one open libuv handle of the client is closed; the last one
 *  frees the client. */
void outside_handle_closed(struct wfs_outside *outside);

/* --- server.c --- */

/** outside_soon() - have the loop do what is to be done for the server: start it, list its tools,
 *  send calls that wait. May be called from any callback. */
void outside_soon(struct outside_server *server);

/** outside_server_init() - prepare a server whose `outside` and `name` are set, from its entry in
 *  the table; one that is to start always is started when the loop runs. Return: 0, -EINVAL (the
 *  entry does not have its form), -ENOMEM, … with @error; the caller calls outside_server_close(),
 *  also after a failure. */
int outside_server_init(struct outside_server *server, struct wfs_error *error);

/** outside_server_close() - end the server and its calls, without callbacks. */
void outside_server_close(struct outside_server *server);

/** outside_fail() - close the connection, end all calls of the server, and start the server again
 *  after a pause. The `done` functions that this calls may free the client. @format: why, printf
 *  style */
void outside_fail(struct outside_server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** outside_again() - begin a new session at once, because the server has forgotten the old one;
 *  calls that wait stay. */
void outside_again(struct outside_server *server);

/** outside_noise() - count a message that no call waits for. @size: in bytes
 *  Return: false: there were too many of them within a second, and outside_fail() was called. */
bool outside_noise(struct outside_server *server, size_t size);

/** outside_answered() - take the answer to the request that the client has made for itself
 *  (server->asked). May call outside_fail(). @message: NULL: an answer came that is not valid:
 *  @fault says why */
void outside_answered(
	struct outside_server *server, const struct wfs_rpc_message *message, const char *fault);

/** outside_send() - send a notification or an answer of the client; calls outside_fail() if that is
 *  not possible. @message: taken */
void outside_send(struct outside_server *server, struct wfs_buffer *message);

/* --- call.c --- */

/** outside_call_new() - begin a call of a tool of @server; parameters and return values are those
 *  of wfs_outside_call_start() (outside.h). */
int outside_call_new(struct outside_server *server, const struct wfs_outside_request *request,
	struct wfs_outside_call **ret_call, struct wfs_error *error);

/** outside_call_find() - find a running call. @id: of its request. Return: borrowed until the
 *  call ends; NULL: not found. */
struct wfs_outside_call *outside_call_find(const struct outside_server *server, int64_t id);

/** outside_call_send() - send a waiting call, or end it if the server lists no such tool. */
void outside_call_send(struct wfs_outside_call *call);

/** outside_call_put_back() - let a running call wait again, to be sent once more in a new session.
 *  @message: its request; taken */
void outside_call_put_back(struct wfs_outside_call *call, struct wfs_buffer *message);

/** outside_call_end() - call `done`, and free the call. @result: this function sets `sent` and
 *  `duration_ms`. */
void outside_call_end(struct wfs_outside_call *call, struct wfs_outside_result *result);

/** outside_call_fail() - end the call with an error. @format: printf style */
void outside_call_fail(struct wfs_outside_call *call, enum wfs_error_code code, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/** outside_call_free() - free the call without calling `done`. */
void outside_call_free(struct wfs_outside_call *call);

/* --- message.c --- */

/** outside_take() - take the message @text from the server. May end the server or calls; the
 *  callbacks that this calls may free the client, whose memory stays until the loop runs again.
 *  @call: the call on whose connection the message came; NULL: not known */
void outside_take(
	struct outside_server *server, struct wfs_bytes text, struct wfs_outside_call *call);

/** outside_take_broken() - take a message that cannot be read. @head, @tail: its beginning and its
 *  end; @size: of the whole message, in bytes
 *  @code, @why: the error of the call that the message answers, if @head or @tail has the call's
 *  id */
void outside_take_broken(struct outside_server *server, struct wfs_bytes head,
	struct wfs_bytes tail, size_t size, enum wfs_error_code code, const char *why);

/* --- text.c --- */

/** outside_line() - write a text of a server as one clean line into @target; secrets in it must
 *  have been masked. */
void outside_line(char *target, size_t target_size, struct wfs_bytes text);

/** outside_reason() - describe the negative errno @r. Return: static. */
const char *outside_reason(int r);

/** outside_mask() - replace the secrets of the server in @value by `***`. @value: taken.
 *  Return: a new reference; NULL without memory. */
json_t *outside_mask(const struct outside_server *server, json_t *value);

/** outside_mask_bytes() - replace the secrets of the server in @bytes by `***`; if memory is
 *  lacking, @bytes is marked as failed (kernel/base/buffer.h). */
void outside_mask_bytes(const struct outside_server *server, struct wfs_buffer *bytes);

/* --- tool.c --- */

void outside_tools_done(struct outside_tools *tools);

/** outside_tools_add() - add the tools of one page of a list. @result: of tools/list
 *  @ret_cursor: of the next page; borrowed from @result; NULL: this page is the last one
 *  Return: 0, -EBADMSG (the result is not a page, or the list is too large: @error says so),
 *  -ENOMEM. */
int outside_tools_add(const struct outside_server *server, struct outside_tools *tools,
	const json_t *result, const char **ret_cursor, struct wfs_error *error);

/** outside_tools_find() - find the tool called @name. Return: borrowed from @tools; NULL: not
 *  found. */
const struct wfs_outside_tool *outside_tools_find(
	const struct outside_tools *tools, const char *name);

/** outside_tools_same() - are both lists equal? */
bool outside_tools_same(const struct outside_tools *a, const struct outside_tools *b);

/* --- result.c --- */

/* The result of a call, as it is read. */
struct outside_reading {
	const struct outside_server *server;
	size_t left_bytes; /* how much more output is accepted */
	struct wfs_buffer text;
	size_t cut_bytes; /* of text that was left out */
	json_t *content;
	struct wfs_outside_blob *blobs;
	struct wfs_buffer *bytes; /* of the blobs */
	size_t blob_count;
	enum wfs_error_code code; /* of the fault */
	char fault[WFS_ERROR_MESSAGE_SIZE];
};

void outside_reading_done(struct outside_reading *reading);

/** outside_reading_read() - read the result of tools/call, which any server may have made
 *  @reading: zeroed, with `server` set; filled; caller calls outside_reading_done(), also after a
 *  failure
 *  @tool: that was called; NULL: the server does not list it any more
 *  Return: 0, -EBADMSG (reading->code and reading->fault say why), -ENOMEM. */
int outside_reading_read(
	struct outside_reading *reading, const struct wfs_outside_tool *tool, const json_t *result);

/* --- http.c --- */

/** outside_http_over() - take the end of a transfer. @ended: the transfer's CURLOPT_PRIVATE
 *  @result: of curl (CURLcode) */
void outside_http_over(void *ended, int result);

/** outside_http_release() - free outside->multi, if the client was freed by its caller, and no
 *  connection uses `multi`. */
void outside_http_release(struct wfs_outside *outside);
