/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes JSON-RPC messages. */
#include "kernel/base/rpc.h"

#include <stdarg.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

enum { MESSAGE_MAX = 1024 }; /* bytes of an error's message */

void wfs_rpc_message_done(struct wfs_rpc_message *message)
{
	json_decref(WFS_STEAL(message->document));
}

void wfs_rpc_request(struct wfs_buffer *output, int64_t id, const char *method, json_t *params)
{
	WFS_AUTO_JSON json_t *document = params
		? json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method", method, "params", params)
		: NULL;

	if (!document || (id != 0 && json_object_set_new(document, "id", json_integer(id)) < 0)) {
		output->failed = true;
		return;
	}
	wfs_json_write(document, output);
	wfs_buffer_append_byte(output, '\n');
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

/* The fault of a message; NULL: it is valid. */
static const char *fault_of(const json_t *document, const struct wfs_rpc_message *message)
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
	if (id && !is_id(id) && !(json_is_null(id) && message->error && !method))
		return "'id': expected a string or an integer";
	if (method && !json_is_string(method))
		return "'method': expected a string";
	if (!method && message->result && message->error)
		return "an answer with both 'result' and 'error'";
	if (!method && !message->result && !message->error)
		return "expected 'method', or in an answer 'result' or 'error'";
	return NULL;
}

const char *wfs_rpc_open(json_t *document, struct wfs_rpc_message *ret_message)
{
	json_t *const id = json_object_get(document, "id");
	json_t *const params = json_object_get(document, "params");

	*ret_message = (struct wfs_rpc_message){
		.document = document,
		.method = json_string_value(json_object_get(document, "method")),
		.id = is_id(id) ? id : NULL,
		.params = json_is_object(params) ? params : NULL,
		.result = json_object_get(document, "result"),
		.error = json_object_get(document, "error"),
	};
	return fault_of(document, ret_message);
}

bool wfs_rpc_read(
	struct wfs_bytes line, struct wfs_rpc_message *ret_message, struct wfs_buffer *output)
{
	struct wfs_error error = {.code = WFS_OK};
	json_t *document = NULL;
	int r = wfs_json_parse_bounded(line.data, line.size, &document, &error);

	if (r) {
		wfs_rpc_error(output, NULL,
			r == -EINVAL          ? WFS_RPC_PARSE_ERROR
				: r == -EFBIG ? WFS_RPC_INVALID_REQUEST
					      : WFS_RPC_INTERNAL_ERROR,
			NULL, "%s", error.code ? error.message : "out of memory");
		return false;
	}
	const char *const fault = wfs_rpc_open(document, ret_message);
	if (fault) {
		wfs_rpc_error(output, ret_message->id, WFS_RPC_INVALID_REQUEST, NULL, "%s", fault);
		return false;
	}
	if (ret_message->method && !ret_message->params && json_object_get(document, "params")) {
		/* A notification is never answered. */
		if (ret_message->id)
			wfs_rpc_error(output, ret_message->id, WFS_RPC_INVALID_PARAMS, NULL,
				"'params': expected an object");
		return false;
	}
	return ret_message->method != NULL;
}
