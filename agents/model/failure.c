/* SPDX-License-Identifier: Apache-2.0 */
/* Reads error bodies in all known forms, and removes the secret from texts. */
#include "agents/model/failure.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

#define MASK "***"

/*
 * Texts of servers without an error code for a request that is longer than the model can read: vLLM
 * and Mistral, SGLang, older llama.cpp, LM Studio, Ollama, gateways.
 */
static const char *const context_phrases[] = {
	"maximum context length",
	"model's context length",
	"available context size",
	"context size has been exceeded",
	"greater than the context length",
	"exceeds the context length",
	"exceeds the context window",
	"exceeds the maximum context",
	"context_length_exceeded",
};

/* The type in llama.cpp's errors. */
#define CONTEXT_TYPE "exceed_context_size_error"

void wfs_model_failure_begin(struct wfs_model_failure *failure)
{
	*failure = (struct wfs_model_failure){.secret = failure->secret};
}

/* --- texts --- */

void wfs_model_mask(struct wfs_buffer *buffer, struct wfs_bytes text, const char *secret)
{
	const size_t secret_size = secret ? strlen(secret) : 0;
	const char *at = text.data;
	const char *const end = at + text.size;

	while (at < end) {
		const char *const found = secret_size > 0
			? memmem(at, (size_t)(end - at), secret, secret_size)
			: NULL;

		wfs_buffer_append(buffer, at, (size_t)((found ? found : end) - at));
		if (found)
			wfs_buffer_append_text(buffer, MASK);
		at = found ? found + secret_size : end;
	}
}

void wfs_model_failure_text(const struct wfs_model_failure *failure, struct wfs_bytes text,
	char *target, size_t target_size)
{
	WFS_AUTO_BUFFER struct wfs_buffer masked = {0};
	size_t size;

	wfs_model_mask(&masked, text, failure->secret);
	if (wfs_buffer_check(&masked) < 0)
		masked.size = 0; /* the text may end in the middle of the secret */
	size = masked.size < target_size ? masked.size : wfs_utf8_cut(masked.data, target_size - 1);
	if (size > 0)
		memcpy(target, masked.data, size);
	target[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if (target[i] == '\n' || target[i] == '\r' || target[i] == '\t')
			target[i] = ' '; /* wfs_line_clean() would make it a `?` */
	wfs_line_clean(target, size);
}

static void set_message(struct wfs_model_failure *failure, struct wfs_bytes text)
{
	wfs_model_failure_text(failure, text, failure->message, sizeof(failure->message));
}

int wfs_model_failure_set(struct wfs_model_failure *failure, enum wfs_model_failure_kind kind,
	const char *code, const char *format, ...)
{
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};
	va_list arguments;

	va_start(arguments, format);
	wfs_buffer_vprintf(&message, format, arguments);
	va_end(arguments);
	failure->kind = kind;
	(void)snprintf(failure->code, sizeof(failure->code), "%s", code);
	set_message(failure, wfs_bytes_text(wfs_buffer_text(&message)));
	return -EBADMSG;
}

int wfs_model_failure_quote(struct wfs_model_failure *failure, enum wfs_model_failure_kind kind,
	const char *code, const char *expected, struct wfs_bytes came)
{
	WFS_AUTO_BUFFER struct wfs_buffer message = {0};

	wfs_buffer_printf(&message, "%s, got: ", expected);
	wfs_buffer_append(&message, came.data, came.size);
	failure->kind = kind;
	(void)snprintf(failure->code, sizeof(failure->code), "%s", code);
	set_message(failure, wfs_buffer_bytes(&message));
	return -EBADMSG;
}

int wfs_model_failure_refuse(
	struct wfs_model_failure *failure, const char *expected, const json_t *came)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (came)
		wfs_json_write(came, &text);
	else
		wfs_buffer_append_text(&text, "nothing");
	return wfs_model_failure_quote(failure, WFS_MODEL_FAILURE_ANSWER, WFS_MODEL_CODE_INVALID,
		expected, wfs_buffer_bytes(&text));
}

/* --- bodies --- */

/* Writes a text as it is, other values as JSON, and nothing for null and absent members. */
static void set_member(const struct wfs_model_failure *failure, const json_t *value, char *target,
	size_t target_size)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!value || json_is_null(value))
		return;
	if (json_is_string(value))
		wfs_buffer_append(&text, json_string_value(value), json_string_length(value));
	else
		wfs_json_write(value, &text);
	wfs_model_failure_text(failure, wfs_buffer_bytes(&text), target, target_size);
}

/* Reads an object with message, type and code; in Google's, `status` is the type. */
static void read_object(struct wfs_model_failure *failure, const json_t *error)
{
	const json_t *const type = json_object_get(error, "type");

	set_member(failure, json_object_get(error, "message"), failure->message,
		sizeof(failure->message));
	set_member(failure, json_object_get(error, "code"), failure->code, sizeof(failure->code));
	set_member(failure, type ? type : json_object_get(error, "status"), failure->type,
		sizeof(failure->type));
}

/* Return: does @answer report an error? */
static bool read_error(struct wfs_model_failure *failure, const json_t *answer)
{
	const json_t *const error = json_object_get(answer, "error");
	const char *const object = json_string_value(json_object_get(answer, "object"));

	if (json_is_object(error))
		read_object(failure, error);
	else if (error && !json_is_null(error) && !json_is_false(error))
		set_member(failure, error, failure->message, sizeof(failure->message));
	else if (object && strcmp(object, "error") == 0)
		read_object(failure, answer);
	else
		return false;
	return true;
}

/* Reads members that only mean an error together with an error status. */
static bool read_detail(struct wfs_model_failure *failure, const json_t *answer)
{
	const json_t *const detail = json_object_get(answer, "detail");

	if (json_is_string(json_object_get(answer, "message")))
		read_object(failure, answer);
	else if (detail)
		set_member(failure, detail, failure->message, sizeof(failure->message));
	else
		return false;
	return true;
}

/* Google's compatible server puts the error into a list. */
static const json_t *unwrapped(const json_t *answer)
{
	return json_is_array(answer) ? json_array_get(answer, 0) : answer;
}

static bool names_context(const struct wfs_model_failure *failure)
{
	if (strcmp(failure->type, CONTEXT_TYPE) == 0)
		return true;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(context_phrases); i++)
		if (strcasestr(failure->message, context_phrases[i]))
			return true;
	return false;
}

static int finish(struct wfs_model_failure *failure, enum wfs_model_failure_kind kind)
{
	failure->kind = kind;
	if (names_context(failure))
		(void)snprintf(failure->code, sizeof(failure->code), "%s", WFS_MODEL_CODE_CONTEXT);
	if (failure->message[0] != '\0')
		return -EBADMSG;
	if (kind == WFS_MODEL_FAILURE_HTTP)
		(void)snprintf(failure->message, sizeof(failure->message),
			"HTTP status %d without a reason", failure->status);
	else
		(void)snprintf(
			failure->message, sizeof(failure->message), "error without a reason");
	return -EBADMSG;
}

int wfs_model_failure_find(struct wfs_model_failure *failure, const json_t *answer)
{
	return read_error(failure, unwrapped(answer)) ? finish(failure, WFS_MODEL_FAILURE_ANSWER)
						      : 0;
}

int wfs_model_failure_read(struct wfs_model_failure *failure, struct wfs_bytes body)
{
	WFS_AUTO_JSON json_t *json = NULL;

	if (failure->status >= 300 && failure->status < 400)
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_HTTP, "",
			"HTTP status %d: redirects are not followed", failure->status);
	if (wfs_json_parse_bounded(body.data, body.size, &json, NULL) < 0 ||
		(!read_error(failure, unwrapped(json)) && !read_detail(failure, unwrapped(json))))
		set_message(failure, body);
	return finish(failure, WFS_MODEL_FAILURE_HTTP);
}
