/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers of outside tools that host.json names (agents/outside/outside.h): the engine's client
 * of them, the list of their tools that readers get (caps/session-tools.h), and callers that wait
 * until that list is complete.
 *
 * When host.json changes, a new client takes the place of the one before, which lives until its
 * calls have ended. Thread: the engine's.
 */
#pragma once

#include "agents/engine/engine.h"
#include "agents/outside/outside.h"
#include "caps/session-outside.h"
#include "kernel/value/tool.h"

struct outside_call;

/* A caller that waits for the list of tools of one server, or of every server. Zero-initialise, set
 * `then`. */
struct outside_wait {
	LIST_ENTRY(outside_wait) all;
	bool waits;                           /* it is in the engine's list of waits */
	char server[WFS_TOOL_SERVER_MAX + 1]; /* "": every server */
	/* Called once, when the server has listed its tools, or has failed; the wait is over then.
	 * May call all functions of this header. */
	void (*then)(struct outside_wait *wait);
};

/* A tool that is to be called. Zero-initialise, set the members up to `arguments`. */
struct outside_wanted {
	struct outside_wait listing;       /* the caller sets its `then` */
	const struct wfs_session *session; /* borrowed until outside_wanted_done() */
	char name[WFS_TOOL_NAME_MAX + 1];  /* full name */
	json_t *arguments;                 /* owned */
	bool listed;                       /* its server was asked for its list */
	/* The tool's entry in the list, even if the session may not see it; owned; NULL: not
	 * found. */
	json_t *tool;
	struct wfs_session_outside call; /* for wfs_session_outside_begin(); see outside_find() */
};
void outside_wanted_done(struct outside_wanted *wanted);

/** outside_start() - make a client of the servers of tools that host.json names, in place of the
 *  one before; to be called again after host.json has changed. Does nothing if the servers have not
 *  changed. If host.json is wrong, this is logged, and no outside tools can be called. */
void outside_start(struct engine *engine);

/** outside_stop() - end the servers; no call and no wait may be left. */
void outside_stop(struct engine *engine);

/** outside_list() - have a server list its tools, if it has not yet, and have @wait wait for the
 *  list
 *  @server: the full name of one of the server's tools; nothing is done if the session may not call
 *  this tool; NULL: every server; the caller has checked that the session may list all tools
 *  @wait: must live until its `then` is called, or outside_unwait()
 *  Return: true: `then` of @wait will be called; false: it will not, because the list is complete
 *  already, no server has this name, or the session may not call the tool. */
bool outside_list(struct engine *engine, const struct wfs_session *session, const char *server,
	struct outside_wait *wait);
void outside_unwait(struct outside_wait *wait); /* does nothing if @wait does not wait */

/** outside_find() - find the tool wanted->name, and set wanted->call; if no server lists the tool,
 *  wanted->call has no hash, so that the call will be refused
 *  Return: 1 (the list must come first: `then` of wanted->listing will be called, and must call
 *  this function again), 0 (wanted->call is set), -EAGAIN (unavailable: the server has failed
 *  before it listed its tools), or another -errno of looking the tool up; every -errno with
 *  @error. */
int outside_find(struct engine *engine, struct outside_wanted *wanted, struct wfs_error *error);

/** outside_call() - begin a call of an outside tool
 *  @request: copied with what it points to, except for its context. If 0 is returned, its `done` is
 *  called exactly once, unless outside_drop() is called before; after a failure never
 *  @ret_call: valid until `done` or outside_drop() is called
 *  Return: 0, -ENOENT (not_found: host.json names no such server), or another -errno of
 *  wfs_outside_call_start() (agents/outside/outside.h), with @error. */
int outside_call(struct engine *engine, const struct wfs_outside_request *request,
	struct outside_call **ret_call, struct wfs_error *error);

/** outside_cancel() - end a call, and tell its server; `done` is then called with
 *  WFS_E_CANCELLED. */
void outside_cancel(struct outside_call *call);

/** outside_drop() - end a call, and tell its server; `done` is not called. */
void outside_drop(struct outside_call *call);
