/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of model servers: status and service (1 byte), size of pieces (1 byte), body. The secret
 * must be in no text of a failure, and the pieces in which the body comes must not change the
 * result.
 */
#include "tests/fuzz/fuzz.h"

#include "agents/adapter/parser.h"
#include "agents/model/answer.h"
#include "agents/model/embedding.h"
#include "kernel/base/json.h"

enum { EMBEDDINGS = 64 };

static const char secret[] = "sk-SECRETSECRETSECRET";

static void check_text(const char *text)
{
	FUZZ_MUST(!strstr(text, secret));
	FUZZ_MUST(wfs_utf8_valid(text, strlen(text)));
	FUZZ_MUST(!strpbrk(text, "\n\r"));
}

static void check_failure(const struct wfs_model_failure *failure)
{
	check_text(failure->message);
	check_text(failure->code);
	check_text(failure->type);
	FUZZ_MUST(failure->message[0]);
}

static void read_completion(const json_t *value, struct wfs_buffer *out)
{
	WFS_AUTO_JSON json_t *offered = json_pack("[s,s]", "a", "fs_ls");
	WFS_AUTO_JSON json_t *parsed = NULL;

	FUZZ_MUST(offered && wfs_parser_parse(value, offered, &parsed) == 0);
	FUZZ_MUST(json_is_array(json_object_get(parsed, "tool_calls")));
	wfs_json_write(parsed, out);
}

static void read_embedding(const json_t *value, struct wfs_model_failure *failure)
{
	WFS_AUTO_JSON json_t *entry = json_pack(
		"{s:s,s:s,s:s}", "provider", "openai", "model", "m", "base_url", "http://x/");
	WFS_AUTO_EMBEDDING struct wfs_embedding embedding = {.count = 0};

	FUZZ_MUST(entry != NULL);
	if (wfs_embedding_read(value, entry, &embedding, failure) < 0) {
		check_failure(failure);
		return;
	}
	FUZZ_MUST(embedding.count > 0 && embedding.count <= WFS_EMBEDDING_DIMENSIONS_MAX);
	for (size_t i = 0; i < embedding.count; i++)
		FUZZ_MUST(embedding.values[i] - embedding.values[i] == 0);
}

/* Feeds the body in pieces of @step bytes. Return: as wfs_model_answer_finish() */
static int take(struct wfs_model_answer *answer, const uint8_t *data, size_t size, size_t step,
	struct wfs_model_failure *failure, json_t **ret_value)
{
	const int status = failure->status;

	for (size_t at = 0; at < size; at += step) {
		const size_t part = size - at < step ? size - at : step;
		char *const piece = fuzz_text(WFS_BYTES(data + at, part));
		const int r = wfs_model_answer_feed(answer, status, piece, part, failure);

		free(piece);
		const struct wfs_bytes text = wfs_model_answer_text(answer);
		FUZZ_MUST(wfs_utf8_valid(text.data, text.size));
		(void)wfs_model_answer_complete(answer);
		if (r < 0)
			return r;
		if (wfs_model_answer_ended(answer))
			break;
	}
	failure->status = status;
	return wfs_model_answer_finish(answer, ret_value, failure);
}

static int read_answer(const uint8_t *data, size_t size, size_t step, int status,
	enum wfs_model_service service, struct wfs_buffer *out)
{
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	WFS_AUTO_JSON json_t *value = NULL;
	struct wfs_model_failure failure = {.secret = secret, .status = status};

	FUZZ_MUST(wfs_model_answer_new(service, &answer) == 0);
	const int r = take(answer, data, size, step, &failure, &value);
	FUZZ_MUST(r == 0 || r == -EBADMSG);
	if (r < 0) {
		check_failure(&failure);
		return r;
	}
	wfs_json_write(value, out);
	if (service == WFS_MODEL_CHAT)
		read_completion(value, out);
	else
		read_embedding(value, &failure);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = {200, 200, 200, 400, 401, 429, 500, 503};
	WFS_AUTO_BUFFER struct wfs_buffer one = {.size = 0};
	WFS_AUTO_BUFFER struct wfs_buffer many = {.size = 0};
	const uint8_t selector = fuzz_byte(&data, &size);
	const size_t step = fuzz_byte(&data, &size) % 32 + 1;
	const int status = statuses[selector % 8];
	const enum wfs_model_service service =
		selector & EMBEDDINGS ? WFS_MODEL_EMBEDDINGS : WFS_MODEL_CHAT;
	const int whole = read_answer(data, size, size + 1, status, service, &one);
	const int pieces = read_answer(data, size, step, status, service, &many);

	if (whole == 0 && pieces == 0)
		FUZZ_MUST(wfs_bytes_equal(wfs_buffer_bytes(&one), wfs_buffer_bytes(&many)));
	return 0;
}
