/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport Streamable HTTP: each message to the server is a POST, whose answer is a message or
 * a stream of them; a GET opens a stream of what the server says unasked.
 *
 * curl's callbacks must not begin or end transfers. So they only keep what has come, and a timer
 * takes the messages out of it.
 */
#include <string.h>

#include "agents/host/endpoint.h"
#include "agents/host/secret.h"
#include "agents/model/multi.h"
#include "agents/model/sse.h"
#include "agents/outside/outside-impl.h"
#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"
#include "kernel/base/text.h"

enum {
	CONNECT_TIMEOUT_MS = 5000,
	NOTE_TIMEOUT_MS = 30000,  /* for messages that have no answer */
	DELETE_TIMEOUT_MS = 1000, /* for the end of the session; 6 s are left to a daemon */
	/* Messages without an answer that are under way: all calls may be cancelled at once. */
	NOTES_MAX = WFS_HOST_CONCURRENCY_MAX + 64,
	RESPONSE_MAX = 64 << 20, /* bytes of one stream */
	HEADERS_MAX = 64 << 10,  /* bytes of the headers of one answer */
	REFUSAL_MAX = 4096,      /* bytes that are kept of an answer that is an error */
	REFUSAL_SHOWN = 200,     /* characters of it in a message */
	SESSION_MAX = 256,       /* bytes of a session's id */
	STREAM_PAUSE_MS = 1000,  /* before the stream is opened again; it doubles */
	STREAM_PAUSE_MAX_MS = 60000,
	SECRET_SIZE_MIN = 8, /* a shorter value may be a word that texts have */
	STATUS_OK = 200,
	STATUS_ERROR = 300,     /* the first that is none of success; no redirect is followed */
	STATUS_NOT_FOUND = 404, /* of a session: it has ended */
	STATUS_FAILURE = 500,   /* the first that says that the server has failed */
	NS_PER_MS = 1000000,
};

enum post_kind {
	POST_CALL,
	POST_ASKED, /* by the client, for itself */
	POST_NOTE,  /* a notification, or the answer to a request of the server */
	POST_STREAM,
	POST_DELETE,
};

struct http;

struct post {
	struct http *http;
	TAILQ_ENTRY(post) all;
	enum post_kind kind;
	struct wfs_outside_call *call; /* of POST_CALL */
	int64_t asked_id;              /* of POST_ASKED */
	bool initialize;               /* its answer begins a session */
	char *session;                 /* that it belongs to; NULL: none */
	CURL *easy;
	struct curl_slist *headers;
	struct wfs_buffer body;  /* of the request */
	struct wfs_buffer input; /* that has come, and was not looked at */
	struct wfs_sse sse;
	size_t received_bytes;
	size_t header_bytes;
	bool started;
	bool busy; /* its messages are being taken; it is freed later */
	bool dead; /* free it when it is not busy */
	int fault; /* why it takes no more: 0, -EFBIG, -ENOMEM */
	int64_t began_ns;
	char reason[CURL_ERROR_SIZE];
};

TAILQ_HEAD(posts, post);

/* A connection. */
struct http {
	struct wfs_outside *outside;
	struct outside_server *server; /* NULL: closed; there is at most a POST_DELETE */
	struct posts posts;
	struct post *barrier; /* before it is over, no other POST begins; NULL: none */
	bool barrier_next;    /* the next message is it */
	size_t note_count;
	char *session; /* NULL: the server has none */
	CURLU *url;
	struct curl_slist *headers; /* those of the entry: name and value */
	uv_timer_t work;            /* input has come */
	uv_timer_t pause;           /* before the stream is opened */
	bool renewed;               /* this is not its first session */
	bool no_stream;             /* the server has none */
	bool stream_lost;           /* the last one was answered with 404 */
	int64_t stream_pause_ms;
	unsigned int handle_count;
};

/* --- freeing --- */

static void release(struct http *http);

static void post_free(struct post *post)
{
	struct http *const http = post->http;

	if (post->busy) {
		post->dead = true;
		post->call = NULL;
		return;
	}
	if (post->started && http->outside->multi)
		wfs_multi_remove(http->outside->multi, post->easy);
	TAILQ_REMOVE(&http->posts, post, all);
	if (http->barrier == post)
		http->barrier = NULL;
	http->note_count -= post->kind == POST_NOTE;
	curl_easy_cleanup(post->easy);
	wfs_multi_headers_free(post->headers);
	wfs_buffer_done(&post->body);
	wfs_buffer_done(&post->input);
	wfs_sse_done(&post->sse);
	free(post->session);
	free(post);
	if (!http->server)
		release(http);
}

void outside_http_release(struct wfs_outside *outside)
{
	if (outside->freed && outside->link_count == 0)
		wfs_multi_free(WFS_STEAL(outside->multi));
}

static void on_closed(uv_handle_t *handle)
{
	struct http *const http = handle->data;
	struct wfs_outside *const outside = http->outside;

	if (--http->handle_count > 0)
		return;
	free(http->session);
	curl_url_cleanup(http->url);
	wfs_multi_headers_free(http->headers);
	free(http);
	outside_handle_closed(outside);
}

/* Frees a closed connection when its last transfer is over. */
static void release(struct http *http)
{
	if (http->server || !TAILQ_EMPTY(&http->posts) || uv_is_closing((uv_handle_t *)&http->work))
		return;
	uv_close((uv_handle_t *)&http->work, on_closed);
	uv_close((uv_handle_t *)&http->pause, on_closed);
	http->outside->link_count--;
	outside_http_release(http->outside);
}

/* --- what has come --- */

static long status_of(const struct post *post)
{
	long status = 0;

	(void)curl_easy_getinfo(post->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static bool is_type(const struct post *post, const char *type)
{
	const size_t size = strlen(type);
	char *found = NULL;

	return curl_easy_getinfo(post->easy, CURLINFO_CONTENT_TYPE, &found) == CURLE_OK && found &&
		strncasecmp(found, type, size) == 0 && strchr("; ", found[size]);
}

static void on_work(uv_timer_t *timer);

static size_t on_header(char *data, size_t size, size_t count, void *context)
{
	struct post *const post = context;

	(void)data;
	post->header_bytes += size * count;
	if (post->header_bytes > HEADERS_MAX)
		post->fault = -EFBIG;
	return post->fault ? 0 : size * count;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
	struct post *const post = context;
	struct http *const http = post->http;
	const long status = status_of(post);
	size_t taken = size * count;

	if (status >= STATUS_ERROR || !is_type(post, "text/event-stream")) {
		const size_t most = status >= STATUS_ERROR ? REFUSAL_MAX : WFS_OUTSIDE_MESSAGE_MAX;

		if (post->input.size + taken > most && status < STATUS_ERROR)
			post->fault = -EFBIG;
		if (taken > most - post->input.size)
			taken = most - post->input.size;
	}
	post->received_bytes += size * count;
	if (post->received_bytes > RESPONSE_MAX)
		post->fault = -EFBIG;
	wfs_buffer_append(&post->input, data, taken);
	if (wfs_buffer_check(&post->input))
		post->fault = -ENOMEM;
	uv_timer_start(&http->work, on_work, 0, 0);
	return post->fault ? 0 : size * count;
}

/* --- beginning --- */

static int add_headers(struct post *post)
{
	struct http *const http = post->http;
	const char *const version = http->server ? http->server->version : NULL;
	int r = 0;

	for (const struct curl_slist *at = http->headers; at && !r; at = at->next)
		r = wfs_multi_add_header(&post->headers, at->data, "");
	if (!r && post->kind != POST_STREAM)
		r = wfs_multi_add_header(&post->headers, "Content-Type: ", "application/json");
	if (!r)
		r = wfs_multi_add_header(&post->headers, "Accept: ",
			post->kind == POST_STREAM ? "text/event-stream"
						  : "application/json, text/event-stream");
	if (!r)
		r = wfs_multi_add_header(&post->headers, "Expect:", "");
	if (!r && version && !post->initialize)
		r = wfs_multi_add_header(&post->headers, "MCP-Protocol-Version: ", version);
	if (!r && post->session)
		r = wfs_multi_add_header(&post->headers, "Mcp-Session-Id: ", post->session);
	return r;
}

static int set_options(struct post *post)
{
	static const long timeouts[] = {[POST_CALL] = 0,
		[POST_ASKED] = 0,
		[POST_NOTE] = NOTE_TIMEOUT_MS,
		[POST_STREAM] = 0,
		[POST_DELETE] = DELETE_TIMEOUT_MS};
	CURL *const easy = post->easy;
	int r = 0;

	r |= (int)curl_easy_setopt(easy, CURLOPT_PRIVATE, post);
	r |= (int)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, post->reason);
	r |= (int)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	r |= (int)curl_easy_setopt(easy, CURLOPT_HEADERDATA, post);
	r |= (int)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	r |= (int)curl_easy_setopt(easy, CURLOPT_WRITEDATA, post);
	r |= (int)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, post->headers);
	r |= (int)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeouts[post->kind]);
	/* curl sends a request again, unasked, if a connection that it has used before breaks off
	 * without an answer. The server may have done the call. */
	r |= (int)curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, post->kind == POST_CALL ? 1L : 0L);
	if (post->kind == POST_DELETE)
		r |= (int)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
	if (post->kind == POST_STREAM || post->kind == POST_DELETE)
		return r ? -ENOMEM : 0;
	r |= (int)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post->body.data);
	r |= (int)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body.size);
	return r ? -ENOMEM : 0;
}

/* @body: taken; NULL: none. @ret_post: belongs to the connection */
static int post_new(struct http *http, enum post_kind kind, bool initialize,
	struct wfs_buffer *body, struct post **ret_post)
{
	struct post *const post = calloc(1, sizeof(*post));

	if (!post) {
		if (body)
			wfs_buffer_done(body);
		return -ENOMEM;
	}
	*post = (struct post){.http = http,
		.kind = kind,
		.initialize = initialize,
		.body = body ? *body : (struct wfs_buffer){0},
		.sse.event_max = WFS_OUTSIDE_MESSAGE_MAX,
		.began_ns = wfs_clock_monotonic_ns()};
	TAILQ_INSERT_TAIL(&http->posts, post, all);
	http->note_count += kind == POST_NOTE;
	int r = wfs_multi_easy_new(&post->easy);
	if (!r && !initialize && http->session && !(post->session = strdup(http->session)))
		r = -ENOMEM;
	if (!r)
		r = add_headers(post);
	if (!r)
		r = set_options(post);
	if (!r)
		r = wfs_multi_set_url(post->easy, http->url);
	if (r)
		post_free(post);
	else
		*ret_post = post;
	return r;
}

static int post_start(struct post *post)
{
	const int r = wfs_multi_add(post->http->outside->multi, post->easy);

	post->started = r == 0;
	return r;
}

static int http_send(struct outside_server *server, struct wfs_buffer *message,
	struct wfs_outside_call *call, bool asked)
{
	struct http *const http = server->link;
	struct post *post = NULL;
	const enum post_kind kind = call ? POST_CALL : asked ? POST_ASKED : POST_NOTE;

	if (kind == POST_NOTE && http->note_count >= NOTES_MAX) {
		wfs_buffer_done(message);
		return -ENOBUFS;
	}
	int r = post_new(
		http, kind, asked && server->asked == OUTSIDE_ASKED_INITIALIZE, message, &post);
	if (r)
		return r;
	post->call = call;
	post->asked_id = server->asked_id;
	if (http->barrier_next) {
		http->barrier_next = false;
		http->barrier = post;
	} else if (http->barrier) {
		return 0; /* begins later */
	}
	r = post_start(post);
	if (r)
		post_free(post);
	return r;
}

/* --- the stream of what the server says unasked --- */

static void on_pause(uv_timer_t *timer)
{
	struct http *const http = timer->data;
	struct post *post = NULL;

	if (http->server && !post_new(http, POST_STREAM, false, NULL, &post) && post_start(post))
		post_free(post);
}

static void open_stream(struct http *http, int64_t pause_ms)
{
	if (!http->no_stream)
		uv_timer_start(&http->pause, on_pause, (uint64_t)pause_ms, 0);
}

/* --- answers --- */

/* Takes the id of a session that an answer begins. Return: false: outside_fail() was called */
static bool take_session(struct post *post)
{
	struct http *const http = post->http;
	struct curl_header *found = NULL;

	if (!post->initialize || http->session ||
		curl_easy_header(post->easy, "mcp-session-id", 0, CURLH_HEADER, -1, &found) !=
			CURLHE_OK)
		return true;
	const size_t size = strlen(found->value);
	for (size_t i = 0; i < size; i++)
		if (found->value[i] <= ' ' || found->value[i] > '~') {
			outside_fail(http->server, "the id of its session is not visible ASCII");
			return false;
		}
	if (size == 0 || size > SESSION_MAX) {
		outside_fail(http->server, "the id of its session has %zu bytes, and may have %d",
			size, SESSION_MAX);
		return false;
	}
	http->session = strdup(found->value);
	if (!http->session)
		outside_fail(http->server, "out of memory");
	return http->session != NULL;
}

static int on_event(void *context, struct wfs_bytes data)
{
	struct post *const post = context;

	/* An earlier event may have ended the server or the call. */
	if (!post->dead && post->http->server)
		outside_take(post->http->server, data, post->call);
	return 0;
}

/* Takes the messages of what has come of a stream. @end: nothing more comes
 * Return: false: the post is gone */
static bool take_events(struct post *post, bool end)
{
	const struct wfs_sse_sink sink = {.context = post, .event = on_event};
	struct wfs_buffer input = post->input;

	post->input = (struct wfs_buffer){0};
	post->busy = true;
	int r = wfs_sse_feed(&post->sse, input.data, input.size, &sink);
	if (!r && end)
		r = wfs_sse_end(&post->sse, &sink);
	wfs_buffer_done(&input);
	post->busy = false;
	if (r && !post->fault)
		post->fault = r;
	const bool dead = post->dead;
	if (dead)
		post_free(post);
	return !dead;
}

/* Does the client still wait for what it has asked for by this post? */
static bool is_asked(const struct post *post)
{
	const struct outside_server *const server = post->http->server;

	return post->kind == POST_ASKED && server->asked != OUTSIDE_ASKED_NOTHING &&
		post->asked_id == server->asked_id;
}

static void post_failed(
	struct post *post, enum wfs_error_code code, const char *what, const char *more)
{
	struct http *const http = post->http;
	struct outside_server *const server = http->server;
	struct wfs_outside_call *const call = post->call;
	const enum post_kind kind = post->kind;
	const bool asked = is_asked(post);
	const bool barrier = http->barrier == post;
	char text[WFS_ERROR_MESSAGE_SIZE];

	snprintf(text, sizeof(text), "%s%s", what, more); /* it may be a part of the post */
	post->call = NULL;
	post_free(post);
	if (call)
		outside_call_fail(call, code, "server '%s': %s", server->name, text);
	else if (asked || barrier)
		outside_fail(server, "%s", text);
	else if (kind == POST_NOTE)
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_INFO,
			"server of tools: a message is lost: '%s': %s", server->name, text);
}

static void close_stream(struct http *http)
{
	struct post *post = NULL;

	uv_timer_stop(&http->pause);
	TAILQ_FOREACH(post, &http->posts, all)
	if (post->kind == POST_STREAM)
		break;
	if (post)
		post_free(post);
}

/* The session that a post belongs to has ended. */
static void session_over(struct post *post)
{
	struct http *const http = post->http;
	struct outside_server *const server = http->server;
	struct wfs_outside_call *const call = post->call;
	const bool current = http->session && strcmp(http->session, post->session) == 0;
	const bool again =
		call ? !call->resent : !http->renewed || server->state == WFS_OUTSIDE_READY;

	if (!again) { /* it would begin sessions without end */
		post_failed(post, WFS_E_UNAVAILABLE, "it ends each session at once", "");
		return;
	}
	if (call)
		outside_call_put_back(call, &post->body);
	post->call = NULL;
	post_free(post);
	if (current) {
		free(WFS_STEAL(http->session));
		http->renewed = true;
		close_stream(http);
		outside_again(server);
	} else if (call) {
		outside_soon(server);
	}
}

/*
 * The server has ended the stream, or refused to begin one. 404 says that the session has ended, or
 * that the server knows no GET: then the next session has no stream either.
 */
static void stream_over(struct post *post)
{
	struct http *const http = post->http;
	const int64_t lived_ms = (wfs_clock_monotonic_ns() - post->began_ns) / NS_PER_MS;
	const long status = status_of(post);
	const bool lost = status == STATUS_NOT_FOUND && post->session;

	if (lost && !http->stream_lost) {
		http->stream_lost = true;
		session_over(post);
		return;
	}
	http->stream_lost = lost;
	if (status >= STATUS_ERROR && status < STATUS_FAILURE)
		http->no_stream = true;
	if (lived_ms > STREAM_PAUSE_MAX_MS)
		http->stream_pause_ms = STREAM_PAUSE_MS;
	post_free(post);
	open_stream(http, http->stream_pause_ms);
	if (http->stream_pause_ms < STREAM_PAUSE_MAX_MS)
		http->stream_pause_ms *= 2;
}

/* An answer with a status that is not one of success. */
static void post_refused(struct post *post, long status)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = post->input;
	char line[REFUSAL_SHOWN + 1];
	char what[64];

	post->input = (struct wfs_buffer){0};
	outside_mask_bytes(post->http->server, &text);
	outside_line(line, sizeof(line), wfs_buffer_bytes(&text));
	snprintf(what, sizeof(what), "it has answered with status %ld%s", status,
		line[0] ? ": " : "");
	post_failed(post, WFS_E_UNAVAILABLE, what, line);
}

static void begin_held(struct http *http)
{
	struct post *post = NULL;
	struct post *next = NULL;

	for (post = TAILQ_FIRST(&http->posts); post; post = next) {
		next = TAILQ_NEXT(post, all);
		if (!post->started && post_start(post)) {
			outside_fail(http->server, "out of memory");
			return;
		}
	}
}

/* A whole answer has come. */
static void post_answered(struct post *post)
{
	struct http *const http = post->http;

	if (post->kind == POST_NOTE) { /* nothing is expected in it */
		const bool barrier = http->barrier == post;

		post_free(post);
		if (barrier) {
			begin_held(http);
			if (http->server)
				open_stream(http, 0);
		}
		return;
	}
	if (!take_session(post))
		return;
	if (is_type(post, "text/event-stream")) {
		if (take_events(post, true))
			post_failed(post,
				post->fault == -EFBIG ? WFS_E_TOO_LARGE : WFS_E_UNAVAILABLE,
				"the stream has ended before the answer", "");
		return;
	}
	if (!is_type(post, "application/json")) {
		post_failed(post, WFS_E_EFFECT_FAILED,
			"expected an answer of the type application/json or text/event-stream", "");
		return;
	}
	post->busy = true;
	outside_take(http->server, wfs_buffer_bytes(&post->input), post->call);
	post->busy = false;
	if (post->dead)
		post_free(post);
	else if (http->server)
		post_failed(post, WFS_E_EFFECT_FAILED, "it has not answered what it was asked", "");
}

void outside_http_over(void *ended, int result)
{
	struct post *const post = ended;
	struct http *const http = post->http;
	const long status = status_of(post);

	wfs_multi_remove(http->outside->multi, post->easy);
	post->started = false;
	if (!http->server) {
		post_free(post);
	} else if (post->kind == POST_STREAM) {
		stream_over(post);
	} else if (post->fault) {
		post_failed(post, post->fault == -EFBIG ? WFS_E_TOO_LARGE : WFS_E_UNAVAILABLE,
			post->fault == -EFBIG ? "its answer is too large" : "out of memory", "");
	} else if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST) {
		if (post->call && !post->call->resent)
			post->call->sent = false;
		outside_fail(http->server, "%s", post->reason);
	} else if (status == STATUS_NOT_FOUND && post->session) {
		session_over(post);
	} else if (status >= STATUS_ERROR) {
		post_refused(post, status);
	} else if (result != CURLE_OK) {
		post_failed(post, WFS_E_UNAVAILABLE, "the connection broke off: ",
			post->reason[0] ? post->reason : curl_easy_strerror((CURLcode)result));
	} else {
		post_answered(post);
	}
}

/* A part of a stream has been taken, and the post is still there. */
static void stream_taken(struct post *post)
{
	if (post->fault && post->kind == POST_STREAM)
		stream_over(post);
	else if (post->fault)
		post_failed(post, WFS_E_TOO_LARGE, "its answer is too large", "");
	else if (post->kind == POST_ASKED && !is_asked(post))
		post_free(post); /* the server may keep the stream open for ever */
}

/* Takes messages out of what has come of streams. They may end any post, so each round begins
 * anew. */
static void on_work(uv_timer_t *timer)
{
	struct http *const http = timer->data;
	struct post *post = NULL;

	do {
		TAILQ_FOREACH(post, &http->posts, all)
		if (post->input.size > 0 && !post->fault && status_of(post) == STATUS_OK &&
			is_type(post, "text/event-stream"))
			break;
		if (post && take_session(post) && take_events(post, false) && http->server)
			stream_taken(post);
	} while (post && http->server);
}

/* --- life --- */

/* Adds a value that must not come back, and its part after a word such as `Bearer`. */
static int add_secret(struct outside_server *server, const char *value)
{
	const char *const space = strchr(value, ' ');
	int r = 0;

	if (strlen(value) >= SECRET_SIZE_MIN)
		r = json_array_append_new(server->secrets, json_string(value));
	if (!r && space && strlen(space + 1) >= SECRET_SIZE_MIN)
		r = json_array_append_new(server->secrets, json_string(space + 1));
	return r ? -ENOMEM : 0;
}

/* Reads the headers of the entry anew, with their values. */
static int read_headers(struct http *http, struct wfs_error *error)
{
	struct outside_server *const server = http->server;
	const char *header;
	json_t *variable;

	json_decref(server->secrets);
	server->secrets = json_array();
	json_object_foreach((json_t *)server->host.headers_env, header, variable) {
		const char *const name = json_string_value(variable);
		WFS_AUTO_BUFFER struct wfs_buffer start = {0};
		int r = agents_endpoint_check(name, server->host.url, error);

		if (r)
			return r;
		const char *const value = agents_secret_get(name);
		if (!value)
			return wfs_error_set(error, WFS_E_NOT_FOUND,
				"headers_env names '%.80s', which is not in the environment of the "
				"process that owns the world",
				name);
		r = wfs_multi_check_value(name, value, error);
		if (r)
			return r;
		wfs_buffer_printf(&start, "%s: ", header);
		r = wfs_multi_add_header(&http->headers, wfs_buffer_text(&start), value);
		if (!r)
			r = add_secret(server, value);
		if (r)
			return wfs_error_from_errno(error, r, "read headers_env");
	}
	return 0;
}

static int http_open(struct outside_server *server, struct wfs_error *error)
{
	struct wfs_outside *const outside = server->outside;
	struct http *const http = calloc(1, sizeof(*http));

	if (!http)
		return wfs_error_from_errno(error, -ENOMEM, "connect to a server of tools");
	*http = (struct http){.outside = outside,
		.server = server,
		.url = curl_url(),
		.stream_pause_ms = STREAM_PAUSE_MS,
		.handle_count = 2};
	TAILQ_INIT(&http->posts);
	uv_timer_init(outside->loop, &http->work);
	uv_timer_init(outside->loop, &http->pause);
	http->work.data = http;
	http->pause.data = http;
	outside->handle_count++;
	outside->link_count++;
	server->link = http;
	const int r = http->url ? wfs_multi_parse_url("url", server->host.url, http->url, error)
				: -ENOMEM;
	return r ? r : read_headers(http, error);
}

static void http_agreed(struct outside_server *server)
{
	struct http *const http = server->link;

	http->barrier_next = true;
}

static void http_drop(struct outside_server *server, struct wfs_outside_call *call)
{
	struct http *const http = server->link;
	struct post *post = NULL;

	TAILQ_FOREACH(post, &http->posts, all)
	if (post->call == call)
		break;
	if (!post)
		return;
	post->call = NULL;
	post_free(post);
}

static void http_close(struct outside_server *server)
{
	struct http *const http = WFS_STEAL(server->link);
	struct post *post = NULL;
	struct post *next = NULL;

	for (post = TAILQ_FIRST(&http->posts); post; post = next) {
		next = TAILQ_NEXT(post, all);
		post_free(post);
	}
	uv_timer_stop(&http->work);
	uv_timer_stop(&http->pause);
	/* Tell the server that the session is over. */
	if (http->session && !post_new(http, POST_DELETE, false, NULL, &post) && post_start(post))
		post_free(post);
	http->server = NULL;
	release(http);
}

const struct outside_transport outside_http = {
	.open = http_open,
	.send = http_send,
	.agreed = http_agreed,
	.drop = http_drop,
	.close = http_close,
};
