/* SPDX-License-Identifier: Apache-2.0 */
/* One call: its request, its time limit, its end. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "agents/outside/outside-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"

enum { NS_PER_MS = 1000000 };

/* --- lists --- */

static void enter(struct wfs_outside_call *call, enum outside_call_state state)
{
	struct outside_server *const server = call->server;

	call->state = state;
	if (state == OUTSIDE_CALL_RUNNING) {
		TAILQ_INSERT_TAIL(&server->running, call, all);
		server->running_count++;
	} else if (call->resent) {
		TAILQ_INSERT_HEAD(&server->waiting, call, all);
	} else {
		TAILQ_INSERT_TAIL(&server->waiting, call, all);
	}
	if (state == OUTSIDE_CALL_WAITING) {
		server->waiting_count++;
		server->waiting_bytes += call->message_bytes;
	}
}

static void leave(struct wfs_outside_call *call)
{
	struct outside_server *const server = call->server;

	if (call->state == OUTSIDE_CALL_RUNNING) {
		TAILQ_REMOVE(&server->running, call, all);
		server->running_count--;
	} else {
		TAILQ_REMOVE(&server->waiting, call, all);
		server->waiting_count--;
		server->waiting_bytes -= call->message_bytes;
	}
}

/* --- ends --- */

static void on_closed(uv_handle_t *handle)
{
	struct wfs_outside_call *const call = handle->data;

	outside_handle_closed(call->server->outside);
	free(call);
}

void outside_call_free(struct wfs_outside_call *call)
{
	struct outside_server *const server = call->server;

	if (call->state == OUTSIDE_CALL_RUNNING && server->link && server->transport->drop)
		server->transport->drop(server, call);
	leave(call);
	call->state = OUTSIDE_CALL_ENDED;
	wfs_buffer_done(&call->message);
	free(WFS_STEAL(call->tool));
	uv_close((uv_handle_t *)&call->timer, on_closed);
}

void outside_call_end(struct wfs_outside_call *call, struct wfs_outside_result *result)
{
	struct outside_server *const server = call->server;

	result->sent = call->sent;
	result->duration_ms = (wfs_clock_monotonic_ns() - call->began_ns) / NS_PER_MS;
	outside_call_free(call);
	if (server->waiting_count > 0)
		outside_soon(server);
	call->done(call->context, result);
}

void outside_call_fail(
	struct wfs_outside_call *call, enum wfs_error_code code, const char *format, ...)
{
	char text[WFS_ERROR_MESSAGE_SIZE];
	char message[WFS_ERROR_MESSAGE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	outside_line(message, sizeof(message), wfs_bytes_text(text));
	outside_call_end(call, &(struct wfs_outside_result){.code = code, .message = message});
}

/* Tells the server that nobody waits for the call any more. */
static void tell_cancelled(struct wfs_outside_call *call, const char *reason)
{
	struct wfs_buffer message = {0};

	wfs_rpc_request(&message, 0, "notifications/cancelled",
		json_pack("{s:I, s:s}", "requestId", (json_int_t)call->id, "reason", reason));
	outside_send(call->server, &message);
}

static void on_timer(uv_timer_t *timer)
{
	struct wfs_outside_call *const call = timer->data;
	struct outside_server *const server = call->server;
	const bool running = call->state == OUTSIDE_CALL_RUNNING;

	if (running && server->link) {
		/* Ends the call if the server fails by it; then there is nobody to tell. */
		server->ping_wanted |= !call->cancelled;
		tell_cancelled(call, call->cancelled ? "cancelled" : "timed out");
		if (call->state == OUTSIDE_CALL_ENDED)
			return;
		outside_soon(server);
	}
	if (call->cancelled)
		outside_call_fail(call, WFS_E_CANCELLED, "the call was cancelled");
	else
		outside_call_fail(call, WFS_E_TIMEOUT,
			"server '%s' has not %s within %" PRId64 " ms", server->name,
			running ? "answered" : "taken the call", call->timeout_ms);
}

void wfs_outside_call_cancel(struct wfs_outside_call *call)
{
	call->cancelled = true;
	uv_timer_start(&call->timer, on_timer, 0, 0);
}

/* --- sending --- */

struct wfs_outside_call *outside_call_find(const struct outside_server *server, int64_t id)
{
	struct wfs_outside_call *call = NULL;

	TAILQ_FOREACH(call, &server->running, all)
	if (call->id == id)
		return call;
	return NULL;
}

void outside_call_send(struct wfs_outside_call *call)
{
	struct outside_server *const server = call->server;

	const struct wfs_outside_tool *const tool = outside_tools_find(&server->tools, call->tool);

	if (!tool) {
		outside_call_fail(call, WFS_E_NOT_FOUND, "server '%s' has no tool '%.128s'",
			server->name, call->tool);
		return;
	}
	if (call->has_hash && !wfs_hash_equal(&tool->hash, &call->hash)) {
		outside_call_fail(call, WFS_E_CONFLICT,
			"the tool '%.128s' of server '%s' has changed since the call was allowed",
			call->tool, server->name);
		return;
	}
	leave(call);
	enter(call, OUTSIDE_CALL_RUNNING);
	call->sent = true;
	struct wfs_buffer message = call->message;
	call->message = (struct wfs_buffer){0};
	const int r = server->transport->send(server, &message, call, false);
	if (r)
		outside_fail(server, "a call could not be sent to it: %s", outside_reason(r));
}

void outside_call_put_back(struct wfs_outside_call *call, struct wfs_buffer *message)
{
	leave(call);
	call->message = *message;
	*message = (struct wfs_buffer){0};
	call->resent = true;
	enter(call, OUTSIDE_CALL_WAITING);
}

/* --- beginning --- */

static int make_message(struct wfs_outside_call *call, const struct wfs_outside_request *request)
{
	json_t *const params = json_pack("{s:{s:I, s:s*}, s:O, s:s}", "_meta", "progressToken",
		(json_int_t)call->id, "worldfs/intent_id", request->intent_id, "arguments",
		request->arguments, "name", request->tool);

	wfs_rpc_request(&call->message, call->id, "tools/call", params);
	call->message_bytes = call->message.size;
	return wfs_buffer_check(&call->message);
}

static int check(const struct outside_server *server, const struct wfs_outside_request *request,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer arguments = {0};

	if (!json_is_object(request->arguments))
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "arguments of a tool: expected an object");
	if (server->waiting_count >= WFS_OUTSIDE_WAITING_MAX ||
		server->waiting_bytes >= WFS_OUTSIDE_WAITING_BYTES_MAX)
		return wfs_error_set(error, WFS_E_OVERLOADED,
			"%zu calls wait for the server '%s' already", server->waiting_count,
			server->name);
	wfs_json_write(request->arguments, &arguments);
	if (wfs_buffer_check(&arguments))
		return wfs_error_from_errno(error, -ENOMEM, "call a tool");
	if (arguments.size > WFS_OUTSIDE_ARGUMENTS_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the arguments have %zu bytes, and a call may have %d", arguments.size,
			WFS_OUTSIDE_ARGUMENTS_MAX);
	return 0;
}

int outside_call_new(struct outside_server *server, const struct wfs_outside_request *request,
	struct wfs_outside_call **ret_call, struct wfs_error *error)
{
	int r = check(server, request, error);
	struct wfs_outside_call *const call = r ? NULL : calloc(1, sizeof(*call));

	if (r)
		return r;
	if (!call)
		return wfs_error_from_errno(error, -ENOMEM, "call a tool");
	*call = (struct wfs_outside_call){
		.server = server,
		.id = ++server->last_id,
		.tool = strdup(request->tool),
		.hash = request->hash ? *request->hash : (struct wfs_hash){.bytes = {0}},
		.has_hash = request->hash != NULL,
		.began_ns = wfs_clock_monotonic_ns(),
		.timeout_ms =
			request->timeout_ms > 0 ? request->timeout_ms : server->host.timeout_ms,
		.context = request->context,
		.progress = request->progress,
		.done = request->done,
	};
	r = make_message(call, request);
	if (r || !call->tool) {
		wfs_buffer_done(&call->message);
		free(call->tool);
		free(call);
		return wfs_error_from_errno(error, -ENOMEM, "call a tool");
	}
	uv_timer_init(server->outside->loop, &call->timer);
	call->timer.data = call;
	server->outside->handle_count++;
	uv_update_time(server->outside->loop);
	uv_timer_start(&call->timer, on_timer, (uint64_t)call->timeout_ms, 0);
	enter(call, OUTSIDE_CALL_WAITING);
	outside_soon(server);
	if (ret_call)
		*ret_call = call;
	return 0;
}
