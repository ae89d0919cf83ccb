/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a server: started when it is needed, asked for its version and its tools, and started
 * again, after a pause, when it has failed.
 *
 * All work is done by its two timers, so that the functions that others call never call back.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "agents/outside/outside-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

enum {
	TIMEOUT_MS = 60000,
	OUTPUT_MAX = 1 << 20,
	CONCURRENCY = 4,
	PAUSE_MS = 2000,      /* of a server that has failed once, as long as its end may take */
	PAUSE_MAX_MS = 60000, /* it doubles up to that */
	STEADY_S = 60,        /* ready for so long, a server counts as not having failed */
	PING_MS = 10000,      /* a server that does not answer one within this time hangs */
	LIST_PAUSE_MS = 1000, /* between two lists, however often the tools change */
	NOISE_MAX = 5000,     /* messages in a second that no call waits for */
	NOISE_SIZE = 4 << 10, /* bytes for which a longer one counts once more */
	NS_PER_MS = 1000000,
	NS_PER_S = 1000000000,
};

/* From the newest to the oldest. */
static const char *const versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

static void changed(const struct outside_server *server)
{
	const struct wfs_outside_callbacks *const callbacks = &server->outside->callbacks;

	if (callbacks->changed)
		callbacks->changed(callbacks->context, server->index);
}

/* The loop's time stands still while it works. */
static void start_timer(uv_timer_t *timer, void (*fired)(uv_timer_t *timer), int64_t wait_ms)
{
	uv_update_time(timer->loop);
	uv_timer_start(timer, fired, (uint64_t)wait_ms, 0);
}

/* --- what the client asks for --- */

/* @message: taken */
static void send_message(struct outside_server *server, struct wfs_buffer *message, bool asked)
{
	int r = wfs_buffer_check(message);

	if (r) /* the message is lost, and the server waits for it */
		wfs_buffer_done(message);
	else
		r = server->transport->send(server, message, NULL, asked);
	if (r)
		outside_fail(server, "a message could not be sent to it: %s", outside_reason(r));
}

void outside_send(struct outside_server *server, struct wfs_buffer *message)
{
	send_message(server, message, false);
}

static void on_timer(uv_timer_t *timer);

static void ask(struct outside_server *server, enum outside_asked asked, const char *method,
	json_t *params, int64_t limit_ms)
{
	struct wfs_buffer message = {0};

	server->asked = asked;
	server->asked_id = ++server->last_id;
	wfs_rpc_request(&message, server->asked_id, method, params);
	start_timer(&server->timer, on_timer, limit_ms);
	send_message(server, &message, true);
}

static void ask_for_tools(struct outside_server *server, const char *cursor)
{
	server->list_wanted = false;
	server->listed_ns = wfs_clock_monotonic_ns();
	ask(server, OUTSIDE_ASKED_LIST, "tools/list",
		cursor ? json_pack("{s:s}", "cursor", cursor) : json_object(),
		server->host.timeout_ms);
}

static void initialize(struct outside_server *server)
{
	server->version = versions[0];
	ask(server, OUTSIDE_ASKED_INITIALIZE, "initialize",
		json_pack("{s:s, s:{s:{}}, s:{s:s, s:s}}", "protocolVersion", server->version,
			"capabilities", "roots", "clientInfo", "name", "worldfs", "version",
			WFS_VERSION),
		server->host.timeout_ms);
}

/* --- starting and failing --- */

static void begin(struct outside_server *server)
{
	struct wfs_error error = {.code = WFS_OK};

	server->state = WFS_OUTSIDE_STARTING;
	server->wanted = false;
	const int r = server->transport->open(server, &error);
	if (r)
		outside_fail(server, "%s", error.code ? error.message : outside_reason(r));
	else
		initialize(server);
}

/* Ends the first @count calls of a list. Callbacks may add to it, or free the client, which empties
 * it. */
static void fail_calls(struct outside_server *server, struct outside_calls *calls, size_t count)
{
	struct wfs_outside_call *call = NULL;

	for (; count > 0 && (call = TAILQ_FIRST(calls)); count--)
		outside_call_fail(
			call, WFS_E_UNAVAILABLE, "server '%s': %s", server->name, server->reason);
}

void outside_fail(struct outside_server *server, const char *format, ...)
{
	char reason[WFS_OUTSIDE_REASON_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	if (server->outside->freed || server->state == WFS_OUTSIDE_WAITING ||
		server->state == WFS_OUTSIDE_DOWN)
		return;
	outside_line(server->reason, sizeof(server->reason), wfs_bytes_text(reason));
	if (server->state == WFS_OUTSIDE_READY &&
		wfs_clock_monotonic_ns() - server->ready_ns > (int64_t)STEADY_S * NS_PER_S)
		server->failure_count = 0;
	int64_t pause_ms = PAUSE_MS;
	for (unsigned int i = 0; i < server->failure_count && pause_ms < PAUSE_MAX_MS; i++)
		pause_ms *= 2;
	server->failure_count++;
	server->state = WFS_OUTSIDE_WAITING;
	server->asked = OUTSIDE_ASKED_NOTHING;
	server->ping_wanted = false;
	server->list_wanted = false;
	if (server->link)
		server->transport->close(server);
	start_timer(&server->timer, on_timer, pause_ms < PAUSE_MAX_MS ? pause_ms : PAUSE_MAX_MS);
	wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING, "server of tools: failed: '%s': %s", server->name,
		server->reason);
	changed(server);
	fail_calls(server, &server->running, server->running_count);
	fail_calls(server, &server->waiting, server->waiting_count);
}

void outside_again(struct outside_server *server)
{
	server->state = WFS_OUTSIDE_STARTING;
	server->asked = OUTSIDE_ASKED_NOTHING;
	initialize(server);
}

bool outside_noise(struct outside_server *server, size_t size)
{
	const int64_t second = wfs_clock_monotonic_ns() / NS_PER_S;

	if (second != server->noise_second)
		server->noise = 0;
	server->noise_second = second;
	server->noise += 1 + size / NOISE_SIZE;
	if (server->noise <= NOISE_MAX)
		return true;
	outside_fail(server, "it sends more than %d messages a second that nobody has asked for",
		NOISE_MAX);
	return false;
}

/* --- answers --- */

static void ready(struct outside_server *server)
{
	server->state = WFS_OUTSIDE_READY;
	server->ready_ns = wfs_clock_monotonic_ns();
	server->reason[0] = '\0';
	changed(server);
	if (!server->outside->freed)
		outside_soon(server);
}

static const char *version_of(const json_t *result)
{
	const char *const version = wfs_json_text(result, "protocolVersion");

	for (size_t i = 0; i < WFS_ARRAY_COUNT(versions); i++)
		if (strcmp(version, versions[i]) == 0)
			return versions[i];
	return NULL;
}

static void take_version(struct outside_server *server, const json_t *result)
{
	const char *const version = version_of(result);
	struct wfs_buffer message = {0};

	if (!version) {
		outside_fail(server,
			"expected the protocol version %s or an older one, got '%.20s'",
			versions[0], wfs_json_text(result, "protocolVersion"));
		return;
	}
	server->version = version;
	wfs_rpc_request(&message, 0, "notifications/initialized", json_object());
	if (server->transport->agreed)
		server->transport->agreed(server);
	outside_send(server, &message);
	if (server->state != WFS_OUTSIDE_STARTING)
		return;
	outside_tools_done(&server->listing);
	server->has_tools =
		json_is_object(json_object_get(json_object_get(result, "capabilities"), "tools"));
	if (server->has_tools) {
		server->state = WFS_OUTSIDE_LISTING;
		ask_for_tools(server, NULL);
	} else {
		outside_tools_done(&server->tools);
		server->listed = true;
		ready(server);
	}
}

/* Uses the new list in place of the old one. */
static void tools_listed(struct outside_server *server)
{
	const bool same = server->listed && outside_tools_same(&server->tools, &server->listing);

	outside_tools_done(&server->tools);
	server->tools = server->listing;
	server->listing = (struct outside_tools){0};
	server->listed = true;
	if (server->state == WFS_OUTSIDE_LISTING)
		ready(server);
	else if (!same)
		changed(server);
}

static void take_tools(struct outside_server *server, const json_t *result)
{
	struct wfs_error error = {.code = WFS_OK};
	const char *cursor = NULL;
	const int r = outside_tools_add(server, &server->listing, result, &cursor, &error);

	if (r)
		outside_fail(server, "its tools cannot be listed: %s",
			error.code ? error.message : outside_reason(r));
	else if (cursor)
		ask_for_tools(server, cursor);
	else
		tools_listed(server);
}

void outside_answered(
	struct outside_server *server, const struct wfs_rpc_message *message, const char *fault)
{
	static const char *const names[] = {
		[OUTSIDE_ASKED_INITIALIZE] = "initialize",
		[OUTSIDE_ASKED_LIST] = "tools/list",
		[OUTSIDE_ASKED_PING] = "ping",
	};
	const enum outside_asked asked = server->asked;

	server->asked = OUTSIDE_ASKED_NOTHING;
	uv_timer_stop(&server->timer);
	if (asked == OUTSIDE_ASKED_PING) /* any answer shows that it does not hang */
		outside_soon(server);
	else if (!message)
		outside_fail(server, "its answer to %s is not valid: %s", names[asked], fault);
	else if (!message->result)
		outside_fail(server, "%s: error %" PRId64 ": %.200s", names[asked],
			(int64_t)json_integer_value(json_object_get(message->error, "code")),
			wfs_json_text(message->error, "message"));
	else if (asked == OUTSIDE_ASKED_INITIALIZE)
		take_version(server, message->result);
	else
		take_tools(server, message->result);
}

/* --- timers --- */

static void on_timer(uv_timer_t *timer)
{
	struct outside_server *const server = timer->data;

	if (server->state == WFS_OUTSIDE_WAITING) {
		server->state = WFS_OUTSIDE_DOWN;
		if (strcmp(server->host.start, "always") == 0)
			server->wanted = true;
		changed(server);
		if (!server->outside->freed)
			outside_soon(server);
	} else if (server->asked == OUTSIDE_ASKED_PING) {
		outside_fail(server, "it does not answer any more");
	} else {
		outside_fail(server, "it has not %s within %" PRId64 " ms",
			server->state == WFS_OUTSIDE_STARTING ? "answered initialize"
							      : "listed its tools",
			server->host.timeout_ms);
	}
}

static void on_soon(uv_timer_t *timer);

/* Asks for what is wanted of a ready server, one thing after the other. */
static void ask_for_wanted(struct outside_server *server)
{
	const int64_t since_ms = (wfs_clock_monotonic_ns() - server->listed_ns) / NS_PER_MS;

	if (server->asked != OUTSIDE_ASKED_NOTHING)
		return;
	if (server->ping_wanted) {
		server->ping_wanted = false;
		ask(server, OUTSIDE_ASKED_PING, "ping", json_object(), PING_MS);
	} else if (server->list_wanted && since_ms >= LIST_PAUSE_MS) {
		outside_tools_done(&server->listing);
		ask_for_tools(server, NULL);
	} else if (server->list_wanted) {
		start_timer(&server->soon, on_soon, LIST_PAUSE_MS - since_ms);
	}
}

static void on_soon(uv_timer_t *timer)
{
	struct outside_server *const server = timer->data;

	if (server->state == WFS_OUTSIDE_DOWN && (server->wanted || server->waiting_count > 0)) {
		begin(server);
	} else if (server->state == WFS_OUTSIDE_WAITING) {
		fail_calls(server, &server->waiting, server->waiting_count);
	} else if (server->state == WFS_OUTSIDE_READY) {
		server->wanted = false;
		ask_for_wanted(server);
		while (server->state == WFS_OUTSIDE_READY && !server->outside->freed &&
			server->waiting_count > 0 &&
			server->running_count < (size_t)server->host.concurrency)
			outside_call_send(TAILQ_FIRST(&server->waiting));
	}
}

void outside_soon(struct outside_server *server)
{
	start_timer(&server->soon, on_soon, 0);
}

/* --- life --- */

static void on_closed(uv_handle_t *handle)
{
	struct outside_server *const server = handle->data;

	outside_handle_closed(server->outside);
}

int outside_server_init(struct outside_server *server, struct wfs_error *error)
{
	struct wfs_outside *const outside = server->outside;
	struct wfs_host_server *const host = &server->host;

	TAILQ_INIT(&server->waiting);
	TAILQ_INIT(&server->running);
	uv_timer_init(outside->loop, &server->timer);
	uv_timer_init(outside->loop, &server->soon);
	server->timer.data = server;
	server->soon.data = server;
	outside->handle_count += 2;
	const int r = wfs_form_read(&wfs_host_server_form, server->name,
		json_object_get(outside->table, server->name), host, error);
	if (r)
		return r;
	host->timeout_ms = host->timeout_ms > 0 ? host->timeout_ms : TIMEOUT_MS;
	host->output_max_bytes = host->output_max_bytes > 0 ? host->output_max_bytes : OUTPUT_MAX;
	host->concurrency = host->concurrency > 0 ? host->concurrency : CONCURRENCY;
	host->start = host->start ? host->start : "lazy";
	server->transport = host->url ? &outside_http : &outside_child;
	server->wanted = strcmp(host->start, "always") == 0;
	outside_soon(server);
	return 0;
}

void outside_server_close(struct outside_server *server)
{
	struct wfs_outside_call *call = NULL;

	while ((call = TAILQ_FIRST(&server->running)) || (call = TAILQ_FIRST(&server->waiting)))
		outside_call_free(call);
	if (server->link)
		server->transport->close(server);
	server->state = WFS_OUTSIDE_DOWN;
	uv_close((uv_handle_t *)&server->timer, on_closed);
	uv_close((uv_handle_t *)&server->soon, on_closed);
}
