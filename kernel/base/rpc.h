/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC 2.0 messages, as the Model Context Protocol narrows them: one a line, no batches, ids
 * are strings or integers. Our server and our client of that protocol read and write them here.
 * Source: JSON-RPC 2.0; MCP 2025-06-18, "Messages".
 */
#pragma once

#include <jansson.h>

#include "kernel/base/buffer.h"

enum wfs_rpc_code {
	WFS_RPC_PARSE_ERROR = -32700,
	WFS_RPC_INVALID_REQUEST = -32600,
	WFS_RPC_METHOD_NOT_FOUND = -32601,
	WFS_RPC_INVALID_PARAMS = -32602,
	WFS_RPC_INTERNAL_ERROR = -32603,
	WFS_RPC_RESOURCE_NOT_FOUND = -32002, /* of MCP */
};

/* A received message. Plain value; release with wfs_rpc_message_done. */
struct wfs_rpc_message {
	json_t *document;   /* owned */
	const char *method; /* borrowed; NULL: a response */
	json_t *id;         /* borrowed; NULL: a notification, or an error without an id */
	json_t *params;     /* borrowed; of a request or notification: an object or NULL */
	json_t *result;     /* borrowed; of a response; NULL: it has failed */
	json_t *error;      /* borrowed; of a response that has failed; any value */
};
void wfs_rpc_message_done(struct wfs_rpc_message *message);
#define WFS_AUTO_RPC_MESSAGE WFS_CLEANUP(wfs_rpc_message_done)

/** wfs_rpc_open() - read a message from a parsed value
 *  @document: the value; taken, whatever is returned. It may be an element of a batch.
 *  @ret_message: caller calls wfs_rpc_message_done(); written also after a failure, with as many
 *  members as the value has
 *  Return: NULL: @document is a message; otherwise words, static, for what is wrong with it. A
 *  member `params` that is not an object is not reported: ret_message->params is NULL then, as
 *  without this member; ret_message->document still has the member. */
const char *wfs_rpc_open(json_t *document, struct wfs_rpc_message *ret_message);

/** wfs_rpc_read() - read a message from a line
 *  @ret_message: zero-initialised; caller calls wfs_rpc_message_done(), whatever is returned
 *  @output: gets the answer to a line that is not a valid message: an error
 *  Return: true: the caller has a request or notification to handle; false: an error was appended,
 *  or the message is a response, or a notification whose `params` is not an object; these two are
 *  ignored. */
bool wfs_rpc_read(
	struct wfs_bytes line, struct wfs_rpc_message *ret_message, struct wfs_buffer *output);

/** wfs_rpc_request() - append a request, or, if @id is 0, a notification to @output. @params:
 *  taken; NULL: the caller had no memory for them, and @output is marked as failed */
void wfs_rpc_request(struct wfs_buffer *output, int64_t id, const char *method, json_t *params);

/** wfs_rpc_result() - append the answer to the request @id to @output. @result: taken; NULL: the
 *  caller had no memory for it, and the answer is an internal error */
void wfs_rpc_result(struct wfs_buffer *output, const json_t *id, json_t *result);

/** wfs_rpc_error() - append an error as the answer to the request @id to @output. @id: NULL: not
 *  known. @data: member of the error; taken; NULL: none. @format: the message, printf style */
void wfs_rpc_error(struct wfs_buffer *output, const json_t *id, enum wfs_rpc_code code,
	json_t *data, const char *format, ...) __attribute__((format(printf, 5, 6)));
