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

/* A caller that waits for the list of a server, or of all. Zero-initialise, set `then`. */
struct outside_wait {
	LIST_ENTRY(outside_wait) all;
	bool waits;
	char server[WFS_TOOL_SERVER_MAX + 1]; /* "": every server */
	/* The server has listed its tools, or has failed. May call all functions here. */
	void (*then)(struct outside_wait *wait);
};

/* A tool that is to be called. Zero-initialise, set the members up to `arguments`. */
struct outside_wanted {
	struct outside_wait listing;       /* with `then` */
	const struct wfs_session *session; /* borrowed until outside_wanted_done() */
	char name[WFS_TOOL_NAME_MAX + 1];  /* full name */
	json_t *arguments;                 /* owned */
	bool listed;                       /* its server was asked for its list */
	/* As in the list, also if the session may not see it; owned; NULL: not found. */
	json_t *tool;
	struct wfs_session_outside call; /* for wfs_session_outside_begin(); made by find() */
};
void outside_wanted_done(struct outside_wanted *wanted);

/** outside_start() - make the client of the servers in host.json; again, after host.json was
 *  changed. A mistake in it is logged, and the client then has no servers. */
void outside_start(struct engine *engine);

/** outside_stop() - end the servers; no call and no wait may be left. */
void outside_stop(struct engine *engine);

/** outside_list() - have the server of a tool list its tools, if it has not yet, and the session
 *  may call the tool
 *  @server: the full name of the tool; NULL: every server, if the session may call tools
 *  Return: true: `then` of @wait will be called; false: it will not, because the list is complete
 *  already, or no server has this name. */
bool outside_list(struct engine *engine, const struct wfs_session *session, const char *server,
	struct outside_wait *wait);
void outside_unwait(struct outside_wait *wait); /* does nothing if it does not wait */

/** outside_find() - find a tool that is to be called, and make wanted->call; a tool that is not
 *  listed has no hash there, so that judging refuses it
 *  Return: 1 (`then` of wanted->listing will be called, which calls this again), 0, -EAGAIN
 *  (unavailable: the server has failed before it listed its tools), or another -errno, with
 *  @error. */
int outside_find(struct engine *engine, struct outside_wanted *wanted, struct wfs_error *error);

/** outside_call() - begin a call
 *  @request: its `done` is called exactly once, unless outside_drop() comes first
 *  @ret_call: valid until `done` is called
 *  Return: as wfs_outside_call_start(). */
int outside_call(struct engine *engine, const struct wfs_outside_request *request,
	struct outside_call **ret_call, struct wfs_error *error);

/** outside_cancel() - end a call with WFS_E_CANCELLED, and tell its server. */
void outside_cancel(struct outside_call *call);

/** outside_drop() - as outside_cancel(), without calling `done`. */
void outside_drop(struct outside_call *call);
