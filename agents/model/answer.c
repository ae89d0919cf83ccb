/* SPDX-License-Identifier: Apache-2.0 */
/* Reads bodies of answers: documents and streams of events. */
#include "agents/model/answer.h"

#include <errno.h>
#include <string.h>

#include "agents/model/sse.h"
#include "agents/model/stream.h"
#include "kernel/base/json.h"

struct wfs_model_answer {
	enum wfs_model_service service;
	bool begun;                /* the first significant byte was seen */
	struct wfs_buffer body;    /* of a document */
	struct wfs_stream *stream; /* owned; NULL: a document */
	struct wfs_sse sse;
	struct wfs_model_failure *failure; /* of the current caller of feed */
};

static bool is_success(int status)
{
	return status >= 200 && status < 300;
}

int wfs_model_answer_new(enum wfs_model_service service, struct wfs_model_answer **ret_answer)
{
	struct wfs_model_answer *const answer = calloc(1, sizeof(*answer));

	if (!answer)
		return -ENOMEM;
	answer->service = service;
	*ret_answer = answer;
	return 0;
}

void wfs_model_answer_free(struct wfs_model_answer *answer)
{
	if (!answer)
		return;
	wfs_buffer_done(&answer->body);
	wfs_stream_free(answer->stream);
	wfs_sse_done(&answer->sse);
	free(answer);
}

/* --- feeding --- */

/* A stray line is an error, or not JSON: both end the stream. */
static int on_event(void *context, struct wfs_bytes data)
{
	struct wfs_model_answer *const answer = context;

	return wfs_stream_event(answer->stream, data, answer->failure);
}

/* Return: 0, -EBADMSG, -ENOMEM. */
static int sse_result(int r, struct wfs_model_failure *failure)
{
	if (r != -EFBIG)
		return r;
	return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TOO_LARGE, WFS_MODEL_CODE_TOO_LARGE,
		"expected at most %d bytes in an event of the stream, got more", WFS_SSE_EVENT_MAX);
}

/* Is it the first letter of data, event, id or retry,
 * or of a comment? No JSON begins with one of these. */
static bool begins_stream(enum wfs_model_service service, char first)
{
	return service == WFS_MODEL_CHAT && first != '\0' && strchr("deir:", first);
}

int wfs_model_answer_feed(struct wfs_model_answer *answer, int status, const void *data,
	size_t size, struct wfs_model_failure *failure)
{
	const struct wfs_sse_sink sink = {.context = answer, .event = on_event};
	const char *text = data;

	if (!answer->begun) {
		/* The parser of documents accepts no white space, and no byte order mark. */
		for (; size > 0 && *text && strchr(" \t\r\n\xef\xbb\xbf", *text); size--)
			text++;
		if (size == 0)
			return 0;
		answer->begun = true;
		if (is_success(status) && begins_stream(answer->service, *text) &&
			wfs_stream_new(&answer->stream) < 0)
			return -ENOMEM;
	}
	if (!answer->stream) {
		const size_t kept = is_success(status) ? SIZE_MAX : WFS_MODEL_ERROR_BODY_MAX;
		const size_t room = kept > answer->body.size ? kept - answer->body.size : 0;

		wfs_buffer_append(&answer->body, text, size < room ? size : room);
		return wfs_buffer_check(&answer->body);
	}
	answer->failure = failure;
	return sse_result(wfs_sse_feed(&answer->sse, text, size, &sink), failure);
}

struct wfs_bytes wfs_model_answer_text(const struct wfs_model_answer *answer)
{
	return answer->stream ? wfs_stream_text(answer->stream) : WFS_BYTES(NULL, 0);
}

bool wfs_model_answer_ended(const struct wfs_model_answer *answer)
{
	return answer->stream && wfs_stream_ended(answer->stream);
}

bool wfs_model_answer_complete(const struct wfs_model_answer *answer)
{
	return answer->stream && wfs_stream_complete(answer->stream);
}

/* --- finishing --- */

/* A connection that closes early looks like the end of a body, if no length was announced. */
static bool is_cut(struct wfs_bytes body)
{
	const char *const text = body.data;
	size_t size = body.size;

	while (size > 0 && strchr(" \t\r\n", text[size - 1]))
		size--;
	return size > 0 && text[0] == '{' && text[size - 1] != '}';
}

/* @r: result of parsing, not 0. Return: -EBADMSG, -ENOMEM. */
static int refuse_document(const struct wfs_model_answer *answer, int r,
	const struct wfs_error *error, struct wfs_model_failure *failure)
{
	static const char *const names[] = {
		[WFS_MODEL_CHAT] = "a completion",
		[WFS_MODEL_EMBEDDINGS] = "embeddings",
	};
	const struct wfs_bytes body = wfs_buffer_bytes(&answer->body);
	const char *const name = names[answer->service];
	char expected[48];

	if (r == -ENOMEM)
		return r;
	if (r == -EFBIG)
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_TOO_LARGE,
			WFS_MODEL_CODE_TOO_LARGE, "%s", error->message);
	if (is_cut(body))
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_INCOMPLETE,
			"expected %s, got the end of the answer within it, after %zu bytes", name,
			body.size);
	if (body.size == 0)
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_INVALID, "expected %s, got an empty answer", name);
	(void)snprintf(expected, sizeof(expected), "expected %s as JSON", name);
	return wfs_model_failure_quote(
		failure, WFS_MODEL_FAILURE_ANSWER, WFS_MODEL_CODE_INVALID, expected, body);
}

static int finish_document(const struct wfs_model_answer *answer, json_t **ret_answer,
	struct wfs_model_failure *failure)
{
	WFS_AUTO_JSON json_t *json = NULL;
	struct wfs_error error = {0};
	int r = wfs_json_parse_bounded(answer->body.data, answer->body.size, &json, &error);

	if (r < 0)
		return refuse_document(answer, r, &error, failure);
	r = wfs_model_failure_find(failure, json);
	if (r < 0)
		return r;
	if (answer->service == WFS_MODEL_CHAT)
		return wfs_completion_read(json, ret_answer, failure);
	*ret_answer = WFS_STEAL(json);
	return 0;
}

int wfs_model_answer_finish(
	struct wfs_model_answer *answer, json_t **ret_answer, struct wfs_model_failure *failure)
{
	const struct wfs_sse_sink sink = {.context = answer, .event = on_event};

	if (!is_success(failure->status))
		return wfs_model_failure_read(failure, wfs_buffer_bytes(&answer->body));
	if (!answer->stream)
		return finish_document(answer, ret_answer, failure);
	answer->failure = failure;
	const int r = sse_result(wfs_sse_end(&answer->sse, &sink), failure);
	return r < 0 ? r : wfs_stream_finish(answer->stream, ret_answer, failure);
}
