/* SPDX-License-Identifier: Apache-2.0 */
/* Messages from a server: read, without the values that must not come back, and given to what waits
 * for them. */
#include <string.h>

#include "agents/outside/outside-impl.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/text.h"

enum { BATCH_MAX = 1000 }; /* messages of a batch, which 2025-03-26 allows */

static void log_ignored(const struct outside_server *server, const char *why)
{
	wfs_log(WFS_LOG_AGENTS, WFS_LOG_INFO, "server of tools: a message is ignored: '%s': %s",
		server->name, why);
}

/* --- requests and notifications of the server --- */

static void take_request(struct outside_server *server, const struct wfs_rpc_message *message)
{
	struct wfs_buffer answer = {0};

	if (strcmp(message->method, "ping") == 0)
		wfs_rpc_result(&answer, message->id, json_object());
	else if (strcmp(message->method, "roots/list") == 0)
		wfs_rpc_result(&answer, message->id, json_pack("{s:[]}", "roots"));
	else
		wfs_rpc_error(&answer, message->id, WFS_RPC_METHOD_NOT_FOUND, NULL,
			"this client refuses '%.100s'", message->method);
	outside_send(server, &answer);
}

static void take_progress(const struct outside_server *server, const json_t *params)
{
	const json_t *const token = json_object_get(params, "progressToken");
	struct wfs_outside_call *const call = json_is_integer(token)
		? outside_call_find(server, json_integer_value(token))
		: NULL;
	char message[WFS_OUTSIDE_REASON_SIZE];

	if (!call || !call->progress)
		return;
	outside_line(message, sizeof(message), wfs_text_of(json_object_get(params, "message")));
	call->progress(call->context, json_number_value(json_object_get(params, "progress")),
		json_number_value(json_object_get(params, "total")), message);
}

static void take_notification(struct outside_server *server, const struct wfs_rpc_message *message)
{
	if (strcmp(message->method, "notifications/tools/list_changed") == 0) {
		server->list_wanted = server->has_tools;
		if (server->state == WFS_OUTSIDE_READY)
			outside_soon(server);
	} else if (strcmp(message->method, "notifications/progress") == 0) {
		take_progress(server, message->params);
	}
}

/* --- answers --- */

static void take_error(struct wfs_outside_call *call, const json_t *error)
{
	const json_t *const code = json_object_get(error, "code");
	char text[WFS_ERROR_MESSAGE_SIZE];

	outside_line(text, sizeof(text), wfs_text_of(json_object_get(error, "message")));
	outside_call_fail(call, WFS_E_EFFECT_FAILED,
		"server '%s': error %" JSON_INTEGER_FORMAT ": %s", call->server->name,
		json_integer_value(code), text);
}

static void take_result(struct wfs_outside_call *call, const json_t *result)
{
	WFS_CLEANUP(outside_reading_done) struct outside_reading reading = {.server = call->server};
	const int r = outside_reading_read(
		&reading, outside_tools_find(&call->server->tools, call->tool), result);

	if (r == -EBADMSG)
		outside_call_fail(
			call, reading.code, "server '%s': %s", call->server->name, reading.fault);
	else if (r)
		outside_call_fail(call, WFS_E_UNAVAILABLE, "out of memory");
	else
		outside_call_end(call,
			&(struct wfs_outside_result){
				.code = WFS_OK,
				.message = "",
				.is_error = json_is_true(json_object_get(result, "isError")),
				.text = wfs_buffer_bytes(&reading.text),
				.content = reading.content,
				.structured = json_object_get(result, "structuredContent"),
				.blobs = reading.blobs,
				.blob_count = reading.blob_count,
			});
}

/* @fault: the answer is not valid; NULL: it is */
static void take_answer(struct outside_server *server, int64_t id,
	const struct wfs_rpc_message *message, enum wfs_error_code code, const char *fault)
{
	struct wfs_outside_call *const call = outside_call_find(server, id);

	if (server->asked != OUTSIDE_ASKED_NOTHING && id == server->asked_id)
		outside_answered(server, fault ? NULL : message, fault);
	else if (!call)
		log_ignored(server, "no call waits for this answer");
	else if (fault)
		outside_call_fail(call, code, "server '%s': %s", server->name, fault);
	else if (message->result)
		take_result(call, message->result);
	else
		take_error(call, message->error);
}

/* Is a message with this id an answer that something waits for? */
static bool is_expected(const struct outside_server *server, const json_t *id)
{
	return json_is_integer(id) &&
		((server->asked != OUTSIDE_ASKED_NOTHING &&
			 json_integer_value(id) == server->asked_id) ||
			outside_call_find(server, json_integer_value(id)));
}

/* @document: taken */
static void take_one(struct outside_server *server, json_t *document, size_t size)
{
	WFS_AUTO_RPC_MESSAGE struct wfs_rpc_message message = {.document = NULL};
	const char *const fault = wfs_rpc_open(document, &message);

	if ((message.method || !is_expected(server, message.id)) && !outside_noise(server, size))
		return;
	if (fault && (message.method || !is_expected(server, message.id)))
		log_ignored(server, fault);
	else if (message.method && message.id)
		take_request(server, &message);
	else if (message.method)
		take_notification(server, &message);
	else if (json_is_integer(message.id))
		take_answer(server, json_integer_value(message.id), &message, WFS_E_EFFECT_FAILED,
			fault);
	else
		log_ignored(server, "an answer without the number of a request");
}

static void take_batch(struct outside_server *server, const json_t *batch, size_t size)
{
	const size_t count = json_array_size(batch);

	if (count > BATCH_MAX) {
		log_ignored(server, "the batch is too large");
		return;
	}
	for (size_t i = 0; i < count && server->link; i++)
		take_one(server, json_incref(json_array_get(batch, i)), size / count);
}

/* --- what cannot be read --- */

/* The number after `"id":` at @text, or 0. */
static int64_t number_after(const char *text, const char *end)
{
	uint64_t number = 0;

	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	return wfs_decimal_read(text, (size_t)(end - text), &number) > 0 && number <= INT64_MAX
		? (int64_t)number
		: 0;
}

/* The id of an answer whose text cannot be parsed. Servers write it first or last. Return: 0: not
 * found */
static int64_t find_id(struct wfs_bytes head, struct wfs_bytes tail)
{
	static const char name[] = "\"id\":";
	const size_t name_size = sizeof(name) - 1;
	if (head.size == 0 || tail.size == 0)
		return 0;
	const char *const first = memmem(head.data, head.size, name, name_size);
	const char *const result = memmem(head.data, head.size, "\"result\"", strlen("\"result\""));
	const char *last = NULL;

	if (first && (!result || first < result))
		return number_after(first + name_size, (const char *)head.data + head.size);
	for (const char *at = tail.data;
		(at = memmem(
			 at, tail.size - (size_t)(at - (const char *)tail.data), name, name_size));)
		last = at += name_size;
	return last ? number_after(last, (const char *)tail.data + tail.size) : 0;
}

void outside_take_broken(struct outside_server *server, struct wfs_bytes head,
	struct wfs_bytes tail, size_t size, enum wfs_error_code code, const char *why)
{
	WFS_AUTO_JSON json_t *id = json_integer(find_id(head, tail));

	if (is_expected(server, id))
		take_answer(server, json_integer_value(id), NULL, code, why);
	else if (outside_noise(server, size))
		log_ignored(server, why);
}

/* Why a text cannot be parsed. The reason may have a part of the text, and a secret in it. */
static const char *reason_of(const struct outside_server *server, const struct wfs_error *error)
{
	if (!error->code)
		return "out of memory";
	return json_array_size(server->secrets) > 0 ? "it is not valid JSON, or too large"
						    : error->message;
}

void outside_take(
	struct outside_server *server, struct wfs_bytes text, struct wfs_outside_call *call)
{
	struct wfs_error error = {.code = WFS_OK};
	json_t *parsed = NULL;
	const int r = wfs_json_parse_bounded(text.data, text.size, &parsed, &error);
	WFS_AUTO_JSON json_t *document = r ? NULL : outside_mask(server, parsed);
	const enum wfs_error_code code = r == -EFBIG ? WFS_E_TOO_LARGE : WFS_E_EFFECT_FAILED;
	const char *const why = reason_of(server, &error);

	if (!document && call)
		outside_call_fail(
			call, code, "server '%s': its answer is not valid: %s", server->name, why);
	else if (!document)
		outside_take_broken(server, text, text, text.size, code, why);
	else if (json_is_array(document) && server->version &&
		strcmp(server->version, "2025-03-26") == 0)
		take_batch(server, document, text.size);
	else
		take_one(server, json_incref(document), text.size);
}
