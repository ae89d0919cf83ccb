/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the Model Context Protocol: calls tools of servers that are child processes, or that
 * are reached by Streamable HTTP, on one libuv loop.
 *
 * It knows no world: whether a call may be made, what is recorded of it, and whether it is made
 * again, its caller decides. A call ends in exactly one result. No function here waits, and
 * callbacks come from the loop, never from inside one of these functions.
 *
 * Nothing that a server sends is trusted. Messages, lists, texts and times are bounded, values of
 * `headers_env` are replaced by `***` wherever they come back, sampling and elicitation are
 * refused, and the list of roots is empty. A server that breaks a bound of the connection is ended,
 * and started again after a pause; no other server notices.
 * Source: MCP 2025-06-18 (modelcontextprotocol.io); docs/decisions/0031-outside-tools.md.
 * Thread: the loop's, for all functions. It must live as long as the client: Linux tells children
 * to end when the thread that started them ends.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "kernel/base/buffer.h"
#include "kernel/base/error.h"
#include "kernel/base/hash.h"

enum {
	WFS_OUTSIDE_MESSAGE_MAX = 16 << 20,    /* bytes of one message of a server */
	WFS_OUTSIDE_ARGUMENTS_MAX = 1 << 20,   /* bytes of the arguments of a call */
	WFS_OUTSIDE_TOOLS_MAX = 1024,          /* of a server; further ones are left out */
	WFS_OUTSIDE_PAGES_MAX = 256,           /* of a list of tools */
	WFS_OUTSIDE_NAME_MAX = 128,            /* bytes of a tool's name */
	WFS_OUTSIDE_DESCRIPTION_MAX = 4 << 10, /* bytes; longer ones are cut */
	WFS_OUTSIDE_SCHEMA_MAX = 64 << 10,     /* bytes of a schema */
	WFS_OUTSIDE_LIST_MAX = 8 << 20, /* bytes of all descriptions and schemas of a server */
	WFS_OUTSIDE_WAITING_MAX = 4096, /* calls that wait for a server */
	WFS_OUTSIDE_WAITING_BYTES_MAX = 64 << 20, /* of their arguments */
	WFS_OUTSIDE_ITEMS_MAX = 1024,             /* parts of a result */
	WFS_OUTSIDE_REASON_SIZE = 256,
};

struct wfs_outside;
struct wfs_outside_call;

enum wfs_outside_state {
	WFS_OUTSIDE_DOWN,     /* not started, or not needed yet */
	WFS_OUTSIDE_STARTING, /* until the protocol is agreed on */
	WFS_OUTSIDE_LISTING,  /* until its tools are known */
	WFS_OUTSIDE_READY,
	WFS_OUTSIDE_WAITING, /* it has failed, and is not started before a pause is over */
};

/* A tool. Plain value; borrowed until the loop runs again. */
struct wfs_outside_tool {
	const char *name;        /* [A-Za-z0-9_.-]{1,128} */
	const char *description; /* at most WFS_OUTSIDE_DESCRIPTION_MAX bytes; "": none */
	json_t *input_schema;    /* an object, without `$schema`: many servers name an old draft */
	json_t *output_schema;   /* an object, likewise; NULL: none */
	json_t *annotations;     /* an object with known hints, which have their types */
	struct wfs_hash hash;    /* of the canonical document {description, inputSchema}, uncut */
};

/* A server. Plain value; borrowed until the loop runs again. */
struct wfs_outside_server {
	const char *name;
	enum wfs_outside_state state;
	const char *reason; /* why it failed last; "": it has not failed since it was ready */
	const struct wfs_outside_tool *tools; /* as listed last; also while it is not ready */
	size_t tool_count;
	bool listed; /* its tools have been listed, at least once */
};

/* Functions that the client calls. Plain value, copied; the functions may be NULL. */
struct wfs_outside_callbacks {
	void *context;
	/* The state or the tools of a server have changed. @index: of the server */
	void (*changed)(void *context, size_t index);
};

/* Bytes of an image, of sound, or of an embedded resource. Plain value, borrowed. */
struct wfs_outside_blob {
	const char *mime_type;
	struct wfs_bytes bytes;
};

/* How a call ended. Plain value; borrowed until `done` returns. */
struct wfs_outside_result {
	/* WFS_OK: the tool has answered; WFS_E_UNAVAILABLE, _TIMEOUT, _CANCELLED, _TOO_LARGE,
	 * _NOT_FOUND (the server has no such tool), _CONFLICT (the tool has changed),
	 * _EFFECT_FAILED (the server has refused the
	 * call, or its answer is not valid). */
	enum wfs_error_code code;
	const char *message; /* of an error: one line; "": none */
	bool sent;           /* the request may have reached the server */
	bool is_error;       /* the tool says that it has failed; `text` says how */
	/* The parts of the text, joined by newlines, with a line for each other part, and one that
	 * says so if the text was cut. */
	struct wfs_bytes text;
	json_t *content;    /* array of the parts; bytes are {"blob": index}; NULL: no answer */
	json_t *structured; /* the structured content, an object; NULL: none */
	const struct wfs_outside_blob *blobs;
	size_t blob_count;
	int64_t duration_ms;
};

/* A call. Plain value, copied with what it points to, except for the context. */
struct wfs_outside_request {
	const char *server;
	const char *tool;
	json_t *arguments;     /* an object */
	const char *intent_id; /* sent as _meta["worldfs/intent_id"] */
	/* Of the tool, as it was when the call was allowed; if the tool in the server's list has
	 * another hash when the call is sent, the call ends with WFS_E_CONFLICT. NULL: any hash */
	const struct wfs_hash *hash;
	int64_t timeout_ms; /* from the start of the call; 0: the time limit of the server */
	void *context;
	/* Called when the server reports progress. @total: 0: not known; @message: one line, may
	 * be "". The function may be NULL. */
	void (*progress)(void *context, double progress, double total, const char *message);
	/* The call has ended and is freed. May use all functions here. */
	void (*done)(void *context, const struct wfs_outside_result *result);
};

/** wfs_outside_new() - make a client of the servers in a table; those with `start` always are
 *  started as soon as the loop runs
 *  @loop: borrowed until the client is freed, see wfs_outside_free()
 *  @tools: `tools` of a host.json that the user trusts; kept; NULL: no servers
 *  @ret_outside: caller frees it with wfs_outside_free()
 *  Return: 0, -EINVAL (the table does not have its form), -ENOMEM, or another -errno. */
int wfs_outside_new(uv_loop_t *loop, json_t *tools, const struct wfs_outside_callbacks *callbacks,
	struct wfs_outside **ret_outside, struct wfs_error *error);

/**
 * wfs_outside_free() - end all calls, without calling `done`, and all servers
 *
 * The client must not be used any more. The loop has handles of it until every child is gone, which
 * takes at most KEEPER_KILL_MS and a moment; so run the loop until it has no handles before
 * uv_loop_close(). Children end also if the loop does not run, or the process ends. Callbacks may
 * call this, too. @outside may be NULL.
 */
void wfs_outside_free(struct wfs_outside *outside);

/** wfs_outside_count() - count the servers of the table. */
size_t wfs_outside_count(const struct wfs_outside *outside);

/** wfs_outside_server() - get the server @index, which is below wfs_outside_count(); servers are in
 *  the order of their names. */
void wfs_outside_server(
	const struct wfs_outside *outside, size_t index, struct wfs_outside_server *ret_server);

/** wfs_outside_tool_find() - find a tool in the newest list of tools of @server
 *  Return: borrowed until the loop runs again; NULL: no such server, or its list lacks the tool. */
const struct wfs_outside_tool *wfs_outside_tool_find(
	const struct wfs_outside *outside, const char *server, const char *tool);

/** wfs_outside_list() - start the server called @server if it is down, so that its tools become
 *  known; `changed` is called when they are known, or when the server has failed. @server: NULL:
 *  every server */
void wfs_outside_list(struct wfs_outside *outside, const char *server);

/** wfs_outside_is_settled() - is the server called @server not to be started, not starting, and not
 *  listing its tools? @server: NULL: is this true of every server? Return: true also if no server
 *  has this name. */
bool wfs_outside_is_settled(const struct wfs_outside *outside, const char *server);

/** wfs_outside_call_start() - begin a call; the server is started if it is not running. After a
 *  failure `done` is not called
 *  @ret_call: the client owns it; valid until `done` is called; may be NULL
 *  Return: 0, -ENOENT (not_found: no such server), -EFBIG (too_large: the arguments), -EAGAIN
 *  (overloaded: too many calls wait for the server), -EINVAL (the arguments are not an object),
 *  -ENOMEM. */
int wfs_outside_call_start(struct wfs_outside *outside, const struct wfs_outside_request *request,
	struct wfs_outside_call **ret_call, struct wfs_error *error);

/** wfs_outside_call_cancel() - end a call with WFS_E_CANCELLED, and tell its server; `done` is
 *  called when the loop runs. */
void wfs_outside_call_cancel(struct wfs_outside_call *call);
