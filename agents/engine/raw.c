/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/raw.h"

#include "agents/host/secret.h"
#include "agents/model/answer.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"
#include "kernel/value/stand-in.h"

#define LEFT_OUT "[left out: the key of the model is in these bytes]\n"
#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "keep what a model was sent")

void raw_done(struct raw *raw)
{
	for (size_t i = 0; i < raw->count; i++)
		wfs_buffer_done(&raw->sent[i]);
	free(raw->sent);
	free(raw->bytes);
	agents_origin_done(&raw->origin);
	*raw = (struct raw){.wanted = raw->wanted};
}

/* --- the key --- */

static bool has(struct wfs_bytes text, const char *secret)
{
	return text.size > 0 && memmem(text.data, text.size, secret, strlen(secret));
}

static int hex_of(char digit)
{
	return digit >= '0' && digit <= '9'                      ? digit - '0'
		: (digit | 0x20) >= 'a' && (digit | 0x20) <= 'f' ? (digit | 0x20) - 'a' + 10
								 : -1;
}

/* Reads `\u00XX`, of an ASCII character. Return: the character, or -1. */
static int escaped(const char *at, size_t left)
{
	int value = 0;

	if (left < 6 || at[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		const int digit = hex_of(at[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value < 0x80 ? value : -1;
}

/* Is the key in the text, if JSON's escapes in it are read? Return: 1, 0, or -ENOMEM. */
static int has_escaped(struct wfs_bytes text, const char *secret)
{
	const char *const data = text.data;
	WFS_AUTO_BUFFER struct wfs_buffer plain = {0};

	if (text.size == 0 || !memchr(data, '\\', text.size))
		return 0;
	for (size_t i = 0; i < text.size; i++) {
		const size_t left = text.size - i;
		const int character = data[i] == '\\' ? escaped(data + i, left) : -1;

		if (character >= 0) {
			wfs_buffer_append_byte(&plain, (char)character);
			i += 5;
			continue;
		}
		if (data[i] == '\\' && left > 1)
			i++;
		wfs_buffer_append_byte(&plain, data[i]);
	}
	return wfs_buffer_check(&plain) ? -ENOMEM : has(wfs_buffer_bytes(&plain), secret);
}

/* Is the key in the texts that a reader of the stream puts together? Return: 1, 0, or -ENOMEM. */
static int has_pieces(struct wfs_bytes bytes, const char *secret)
{
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	WFS_AUTO_JSON json_t *completion = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_model_failure failure = {.status = 200};
	int r = wfs_model_answer_new(WFS_MODEL_CHAT, &answer);

	if (!r)
		r = wfs_model_answer_feed(answer, 200, bytes.data, bytes.size, &failure);
	if (!r)
		r = wfs_model_answer_finish(answer, &completion, &failure);
	if (r == -ENOMEM)
		return r;
	if (has(wfs_model_answer_text(answer), secret))
		return 1;
	if (completion)
		wfs_json_write(completion, &text);
	return wfs_buffer_check(&text) ? -ENOMEM : has(wfs_buffer_bytes(&text), secret);
}

int raw_write(struct wfs_buffer *buffer, struct wfs_bytes bytes, const char *secret)
{
	WFS_AUTO_BUFFER struct wfs_buffer masked = {0};

	if (strlen(secret ? secret : "") < AGENTS_SECRET_SIZE_MIN) {
		wfs_buffer_append(buffer, bytes.data, bytes.size);
		return wfs_buffer_check(buffer);
	}
	wfs_model_mask(&masked, bytes, secret);
	int r = wfs_buffer_check(&masked);
	if (!r)
		r = has_escaped(wfs_buffer_bytes(&masked), secret);
	if (!r && masked.size > 0)
		r = has_pieces(wfs_buffer_bytes(&masked), secret);
	if (r < 0)
		return r;
	if (r > 0)
		wfs_buffer_append_text(buffer, LEFT_OUT);
	else
		wfs_buffer_append(buffer, masked.data, masked.size);
	return wfs_buffer_check(buffer);
}

/* --- taking --- */

static int take(struct raw *raw, struct wfs_bytes request, const struct wfs_buffer *answers,
	size_t count, const char *secret)
{
	raw->sent = calloc(1 + count, sizeof(*raw->sent));
	raw->bytes = calloc(1 + count, sizeof(*raw->bytes));
	if (!raw->sent || !raw->bytes)
		return -ENOMEM;
	raw->count = 1 + count;
	int r = raw_write(&raw->sent[0], request, secret);
	for (size_t i = 0; !r && i < count; i++)
		r = raw_write(&raw->sent[1 + i], wfs_buffer_bytes(&answers[i]), secret);
	for (size_t i = 0; !r && i < raw->count; i++)
		if (raw->sent[i].size > 0)
			raw->bytes[raw->bytes_count++] = wfs_buffer_bytes(&raw->sent[i]);
	return r;
}

int raw_take(struct raw *raw, struct wfs_bytes request, const struct wfs_buffer *answers,
	size_t count, const char *secret)
{
	const struct agents_origin origin = raw->origin;

	raw->origin = (struct agents_origin){.of = NULL};
	raw_done(raw);
	raw->origin = origin;
	if (!raw->wanted || request.size == 0 || count == 0)
		return 0;
	int r = take(raw, request, answers, count, secret);
	if (r)
		raw_done(raw);
	return r;
}

/* --- naming --- */

/* The hash of the bytes; @of: ids of the artifacts whose texts may be in them; NULL: none. */
static int make_hash(const struct wfs_buffer *sent, json_t *of, struct wfs_texts *texts,
	json_t **ret_hash, struct wfs_error *error)
{
	const struct wfs_hash hash = wfs_hash_of(sent->data, sent->size);
	WFS_AUTO_JSON json_t *text = json_string(WFS_HASH_TEXT(&hash));

	if (!text)
		return no_memory(error);
	if (!of) {
		*ret_hash = WFS_STEAL(text);
		return 0;
	}
	int r = wfs_text_hide(texts, of, text, ret_hash);
	return r ? wfs_error_from_errno(error, r, "hide a private text") : 0;
}

static int name_all(struct raw *raw, json_t *receipt, json_t *of, struct wfs_texts *texts,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *earlier = json_array();
	bool bad = !earlier;
	int r = 0;

	for (size_t i = 0; !r && !bad && i < raw->count; i++) {
		const bool last = i + 1 == raw->count;
		json_t *hash = NULL;

		if (raw->sent[i].size > 0)
			r = make_hash(&raw->sent[i], of, texts, &hash, error);
		else if (i > 0 && !last)
			hash = json_null();
		if (hash)
			bad = i > 0 && !last
				? json_array_append_new(earlier, hash) < 0
				: json_object_set_new(receipt,
					  i == 0 ? "request_hash" : "response_hash", hash) < 0;
	}
	if (!r && !bad && json_array_size(earlier) > 0)
		bad = json_object_set(receipt, "earlier_hashes", earlier) < 0;
	return r ? r : bad ? no_memory(error) : 0;
}

int raw_name(struct raw *raw, json_t *receipt, struct wfs_texts *texts, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *of = NULL;

	if (raw->count == 0)
		return 0;
	if (agents_origin_add_hidden(&raw->origin, json_object_get(receipt, "payload")))
		return no_memory(error);
	if (agents_origin_is_private(&raw->origin)) {
		of = agents_origin_list(&raw->origin);
		if (!of)
			return no_memory(error);
	}
	return name_all(raw, receipt, of, texts, error);
}
