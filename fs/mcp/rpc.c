/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes JSON-RPC messages. */
#include "fs/mcp/rpc.h"

#include <stdarg.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

enum { MESSAGE_MAX = 1024 }; /* bytes of an error's message */

void wfs_rpc_message_done(struct wfs_rpc_message *message)
{
	json_decref(WFS_STEAL(message->document));
}

void wfs_rpc_result(struct wfs_buffer *output, const json_t *id, json_t *result)
{
	WFS_AUTO_JSON json_t *document = result
		? json_pack("{s:O, s:s, s:o}", "id", id, "jsonrpc", "2.0", "result", result)
		: NULL;

	if (!document) {
		wfs_rpc_error(output, id, WFS_RPC_INTERNAL_ERROR, NULL, "out of memory");
		return;
	}
	wfs_json_write(document, output);
	wfs_buffer_append_byte(output, '\n');
}

/* Needs no memory except the buffer's. */
void wfs_rpc_error(struct wfs_buffer *output, const json_t *id, enum wfs_rpc_code code,
	json_t *data, const char *format, ...)
{
	char message[MESSAGE_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	const size_t size = wfs_utf8_cut(message, strlen(message));

	wfs_utf8_clean(message, size);
	wfs_buffer_printf(output, "{\"error\":{\"code\":%d,", (int)code);
	if (data) {
		wfs_buffer_append_text(output, "\"data\":");
		wfs_json_write(data, output);
		wfs_buffer_append_text(output, ",");
	}
	wfs_buffer_append_text(output, "\"message\":");
	wfs_json_write_string(output, message, size);
	wfs_buffer_append_text(output, "},\"id\":");
	if (id)
		wfs_json_write(id, output);
	else
		wfs_buffer_append_text(output, "null");
	wfs_buffer_append_text(output, ",\"jsonrpc\":\"2.0\"}\n");
	json_decref(data);
}

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

/* The error of a message; NULL: it is valid. */
static const char *fault_of(const json_t *document)
{
	const json_t *const version = json_object_get(document, "jsonrpc");
	const json_t *const id = json_object_get(document, "id");
	const json_t *const method = json_object_get(document, "method");

	if (json_is_array(document))
		return "batches are not supported; send one message a line";
	if (!json_is_object(document))
		return "expected a message: an object";
	if (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)
		return "'jsonrpc': expected \"2.0\"";
	if (id && !is_id(id))
		return "'id': expected a string or an integer";
	if (method && !json_is_string(method))
		return "'method': expected a string";
	if (!method && !json_object_get(document, "result") && !json_object_get(document, "error"))
		return "expected 'method'";
	return NULL;
}

bool wfs_rpc_read(
	struct wfs_bytes line, struct wfs_rpc_message *ret_message, struct wfs_buffer *output)
{
	WFS_AUTO_RPC_MESSAGE struct wfs_rpc_message message = {.method = NULL};
	struct wfs_error error = {.code = WFS_OK};
	int r = wfs_json_parse_bounded(line.data, line.size, &message.document, &error);
	const char *const fault = r ? NULL : fault_of(message.document);
	json_t *const id = json_object_get(message.document, "id");

	if (r) {
		wfs_rpc_error(output, NULL,
			r == -EINVAL          ? WFS_RPC_PARSE_ERROR
				: r == -EFBIG ? WFS_RPC_INVALID_REQUEST
					      : WFS_RPC_INTERNAL_ERROR,
			NULL, "%s", error.code ? error.message : "out of memory");
		return false;
	}
	message.id = id;
	message.method = json_string_value(json_object_get(message.document, "method"));
	message.params = json_object_get(message.document, "params");
	if (fault) {
		wfs_rpc_error(
			output, is_id(id) ? id : NULL, WFS_RPC_INVALID_REQUEST, NULL, "%s", fault);
		return false;
	}
	if (message.method && message.params && !json_is_object(message.params)) {
		/* A notification is never answered. */
		if (id)
			wfs_rpc_error(output, id, WFS_RPC_INVALID_PARAMS, NULL,
				"'params': expected an object");
		return false;
	}
	*ret_message = message;
	message.document = NULL;
	return ret_message->method != NULL;
}
