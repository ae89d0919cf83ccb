/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC 2.0 messages, as the Model Context Protocol narrows them: one a line, no batches, ids
 * are strings or integers.
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
	const char *method; /* borrowed; NULL: a response, which is ignored */
	json_t *id;         /* borrowed; NULL: a notification */
	json_t *params;     /* borrowed; an object or NULL */
};
void wfs_rpc_message_done(struct wfs_rpc_message *message);
#define WFS_AUTO_RPC_MESSAGE WFS_CLEANUP(wfs_rpc_message_done)

/** wfs_rpc_read() - read a message from a line
 *  @ret_message: zero-initialised; caller calls wfs_rpc_message_done(), whatever is returned
 *  @output: gets the error for a line that is not a valid message
 *  Return: true: there is a message to handle; false: an error was appended, or the message is a
 *  response, or an invalid notification: both are ignored. */
bool wfs_rpc_read(
	struct wfs_bytes line, struct wfs_rpc_message *ret_message, struct wfs_buffer *output);

/** wfs_rpc_result() - append the answer to the request @id. @result: taken; NULL: memory for it was
 *  lacking, and the answer is an internal error */
void wfs_rpc_result(struct wfs_buffer *output, const json_t *id, json_t *result);

/** wfs_rpc_error() - append an error as the answer to the request @id; NULL: the id is not known.
 *  @data: taken; NULL: none; @format: the message, printf style */
void wfs_rpc_error(struct wfs_buffer *output, const json_t *id, enum wfs_rpc_code code,
	json_t *data, const char *format, ...) __attribute__((format(printf, 5, 6)));
