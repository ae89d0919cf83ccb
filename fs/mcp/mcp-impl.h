/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/mcp/: the server, its calls, and what its methods share. */
#pragma once

#include "fs/client/access.h"
#include "fs/mcp/mcp.h"
#include "fs/tool/tool.h"
#include "kernel/base/rpc.h"

/* A request whose answer needs the world. */
struct wfs_mcp_call {
	struct wfs_mcp_call *next;
	json_t *id; /* owned */
	struct wfs_task task;
	/* Appends the answer to mcp->output when the task has ended, also if it has failed. */
	void (*finish)(struct wfs_mcp *mcp, const struct wfs_mcp_call *call);
	const char *verb; /* the next verb to be posted */
	json_t *payload;  /* of the verb; owned */
	bool cancelled;   /* the client wants no answer */
};

struct wfs_mcp_queue {
	struct wfs_mcp_call *first;
	struct wfs_mcp_call *last;
};

struct wfs_mcp {
	struct wfs_access_options options; /* with which `access` is opened */
	bool initialized;                  /* `initialize` was answered */
	struct wfs_buffer output;
	struct wfs_access *access;    /* NULL while no call is open */
	struct wfs_mcp_queue waiting; /* calls with a verb to be posted, in order */
	struct wfs_mcp_queue asked; /* calls whose verb was posted, in order, as are the answers */
	size_t count;               /* of calls in both queues */
	bool outside;               /* tools of outside servers are offered */
	json_t *outside_names;      /* {name for the client: full name}; owned; NULL: not known */
};

/* --- fs/mcp/mcp-call.c --- */

/** wfs_mcp_call_begin() - begin a call: a task that answers the request with this id.
 *  @id: a reference is kept; @kind: of the task; @arguments: of the task, taken; @finish: called
 *  when the task has ended, to append the answer to mcp->output
 *  Without memory for the call, the answer is an internal error, and @finish is not called. */
void wfs_mcp_call_begin(struct wfs_mcp *mcp, const json_t *id, const struct wfs_task_kind *kind,
	json_t *arguments, void (*finish)(struct wfs_mcp *mcp, const struct wfs_mcp_call *call));

/** wfs_mcp_call_find() - find the open call with this id that is not cancelled. Return: borrowed
 *  from @mcp; NULL: no such call. */
struct wfs_mcp_call *wfs_mcp_call_find(const struct wfs_mcp *mcp, const json_t *id);

/** wfs_mcp_call_cancel() - have a call end without an answer to the client, and abandon the verb
 *  for which it waits
 *  @call: stays with @mcp; a later wfs_mcp_advance() (mcp.h) frees it: when it would post the verb,
 *  or, if the verb was posted, when it has the answer to it */
void wfs_mcp_call_cancel(struct wfs_mcp *mcp, struct wfs_mcp_call *call);

/** wfs_mcp_calls_free() - free all calls, without answering them, and close mcp->access. */
void wfs_mcp_calls_free(struct wfs_mcp *mcp);

/** wfs_mcp_error_data() - make the `data` of a protocol error: {category, code, meta?, retriable,
 *  uri?}. @meta: of the failed task, borrowed; NULL: left out; @uri: of the resource that was asked
 *  for; NULL: left out. Return: new reference, NULL without memory. */
json_t *wfs_mcp_error_data(const struct wfs_error *error, json_t *meta, const char *uri);

/** wfs_mcp_error_document() - make {"error":{category,code,details?,message,retriable},"meta"?} of
 *  a failed task. Return: new reference, NULL without memory. */
json_t *wfs_mcp_error_document(const struct wfs_task *task);

/* --- fs/mcp/mcp-outside.c: tools of outside servers --- */

/** wfs_mcp_outside_list() - answer `tools/list` with our own tools and those of outside servers. */
void wfs_mcp_outside_list(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);

/** wfs_mcp_outside_call() - answer `tools/call` for a name that none of our own tools has. */
void wfs_mcp_outside_call(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);

/* --- fs/mcp/mcp-tool.c, fs/mcp/mcp-resource.c: methods --- */

/** wfs_mcp_own_tools() - make the list of our own tools, as `tools/list` gives it. Return: new
 *  reference, NULL without memory. */
json_t *wfs_mcp_own_tools(void);

/** wfs_mcp_add_text() - append a text to the content of the answer to a tool's call. Return: 0, or
 *  -1 without memory. */
int wfs_mcp_add_text(json_t *content, const char *text, size_t size);

void wfs_mcp_tools_list(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);
void wfs_mcp_tools_call(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);
void wfs_mcp_resources_list(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);
void wfs_mcp_resources_templates(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);
void wfs_mcp_resources_read(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);

/** wfs_mcp_refuse_cursor() - answer @message with an error if it has a cursor, although its list
 *  has one page only. Return: has it a cursor? */
bool wfs_mcp_refuse_cursor(struct wfs_mcp *mcp, const struct wfs_rpc_message *message);
