/* SPDX-License-Identifier: Apache-2.0 */
/* Makes bodies of requests for embeddings, and reads vectors from answers. */
#include "agents/model/embedding.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

static_assert(sizeof(float) == sizeof(uint32_t), "float is float32");

/* --- requests --- */

static int check_extra(const json_t *extra, struct wfs_error *error)
{
	static const char *const protected[] = {"input", "model", "stream"};

	if (extra && !json_is_null(extra) && !json_is_object(extra))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'extra_body' of the model: expected an object");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(protected); i++)
		if (json_object_get(extra, protected[i]))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'extra_body' of the model: '%s' cannot be replaced", protected[i]);
	return 0;
}

/* The entry must name a model: vectors of different models cannot be compared. */
static int check_entry(const json_t *entry, struct wfs_error *error)
{
	const char *provider = "";
	const char *model = "";
	int64_t dimensions = 1;
	int r = wfs_json_get_string(entry, "provider", &provider, error);

	if (r == 0 && strcmp(provider, "openai") != 0)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'provider': expected \"openai\", got '%.60s', which gives no embeddings",
			provider);
	if (r == 0)
		r = wfs_json_get_string(entry, "model", &model, error);
	if (r == 0 && model[0] == '\0')
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'model': expected the name of a model, got an empty string");
	if (r == 0)
		r = wfs_json_get_integer(
			entry, "dimensions", 1, WFS_EMBEDDING_DIMENSIONS_MAX, &dimensions, error);
	return r == 0 ? check_extra(json_object_get(entry, "extra_body"), error) : r;
}

static int check_text(const char *text, struct wfs_error *error)
{
	if (text[0] == '\0')
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected a text to embed, got an empty one");
	if (!wfs_utf8_valid(text, strlen(text)))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected a text to embed, got bytes that are not UTF-8");
	return 0;
}

int wfs_embedding_request(
	const json_t *entry, const char *text, json_t **ret_body, struct wfs_error *error)
{
	json_t *const extra = json_object_get(entry, "extra_body");
	WFS_AUTO_JSON json_t *body = NULL;
	int r = check_entry(entry, error);

	if (r == 0)
		r = check_text(text, error);
	if (r < 0)
		return r;
	body = json_pack("{s:[s], s:O, s:s, s:O*}", "input", text, "model",
		json_object_get(entry, "model"), "encoding_format", "float", "dimensions",
		json_object_get(entry, "dimensions"));
	if (!body || (json_is_object(extra) && json_object_update(body, extra) < 0))
		return wfs_error_from_errno(error, -ENOMEM, "ask for an embedding");
	*ret_body = WFS_STEAL(body);
	return 0;
}

/* --- vectors --- */

/* @dimensions: of the entry; 0: any number */
static int check_count(size_t count, size_t dimensions, struct wfs_model_failure *failure)
{
	if (dimensions > 0 && count != dimensions)
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_INVALID,
			"expected an embedding of %zu numbers ('dimensions' of the model), got %zu",
			dimensions, count);
	if (count == 0 || count > WFS_EMBEDDING_DIMENSIONS_MAX)
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_INVALID, "expected an embedding of 1 to %d numbers, got %zu",
			WFS_EMBEDDING_DIMENSIONS_MAX, count);
	return 0;
}

/* A vector of zeros has no direction. */
static int check_values(const float *values, size_t count, struct wfs_model_failure *failure)
{
	bool zero = true;

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
				WFS_MODEL_CODE_INVALID,
				"expected finite numbers (float32) in the embedding, got %f at "
				"index %zu",
				(double)values[i], i);
		zero = zero && values[i] == 0;
	}
	if (!zero)
		return 0;
	return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER, WFS_MODEL_CODE_INVALID,
		"expected an embedding that is not all zeros, got %zu zeros", count);
}

/* Numbers beyond float32 become infinite here, and check_values() refuses them. */
static int read_numbers(const json_t *list, float *values, struct wfs_model_failure *failure)
{
	const json_t *item;
	size_t index;

	json_array_foreach(list, index, item) {
		if (!json_is_number(item))
			return wfs_model_failure_refuse(
				failure, "expected numbers in the embedding", item);
		values[index] = (float)json_number_value(item);
	}
	return 0;
}

/* Return: 0, -EBADMSG, -ENOMEM. */
static int decode(const json_t *value, struct wfs_buffer *bytes, struct wfs_model_failure *failure)
{
	const int r =
		wfs_base64_decode(json_string_value(value), json_string_length(value), bytes, NULL);

	if (r == -ENOMEM)
		return r;
	if (r < 0 || bytes->size % sizeof(float) != 0)
		return wfs_model_failure_refuse(failure,
			"expected an array of numbers, or base64 of float32, as embedding", value);
	return 0;
}

/* @value: an array or a text. */
static int read_vector(const json_t *value, size_t dimensions, struct wfs_embedding *embedding,
	struct wfs_model_failure *failure)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	int r = json_is_string(value) ? decode(value, &bytes, failure) : 0;
	const size_t count =
		json_is_string(value) ? bytes.size / sizeof(float) : json_array_size(value);

	if (r == 0)
		r = check_count(count, dimensions, failure);
	if (r < 0)
		return r;
	embedding->values = calloc(count, sizeof(*embedding->values));
	if (!embedding->values)
		return -ENOMEM;
	embedding->count = count;
	for (size_t i = 0; i < bytes.size / sizeof(float); i++) {
		uint32_t bits;

		memcpy(&bits, bytes.data + i * sizeof(bits), sizeof(bits));
		bits = le32toh(bits);
		memcpy(&embedding->values[i], &bits, sizeof(bits));
	}
	if (json_is_array(value))
		r = read_numbers(value, embedding->values, failure);
	return r == 0 ? check_values(embedding->values, count, failure) : r;
}

/* --- answers --- */

/* Finds the embedding in @answer; borrowed. */
static int find_vector(
	const json_t *answer, const json_t **ret_value, struct wfs_model_failure *failure)
{
	const json_t *const data = json_object_get(answer, "data");
	const json_t *const value = json_object_get(json_array_get(data, 0), "embedding");
	const int r = wfs_model_failure_find(failure, answer);

	if (r < 0)
		return r;
	if (!json_is_array(data))
		return wfs_model_failure_refuse(
			failure, "expected 'data' with one embedding", answer);
	if (json_array_size(data) != 1)
		return wfs_model_failure_set(failure, WFS_MODEL_FAILURE_ANSWER,
			WFS_MODEL_CODE_INVALID, "expected 'data' with one embedding, got %zu",
			json_array_size(data));
	if (!json_is_array(value) && !json_is_string(value))
		return wfs_model_failure_refuse(failure,
			"expected an array of numbers, or base64 of float32, as embedding",
			value ? value : json_array_get(data, 0));
	*ret_value = value;
	return 0;
}

int wfs_embedding_read(const json_t *answer, const json_t *entry,
	struct wfs_embedding *ret_embedding, struct wfs_model_failure *failure)
{
	const size_t dimensions = (size_t)json_integer_value(json_object_get(entry, "dimensions"));
	WFS_AUTO_EMBEDDING struct wfs_embedding embedding = {0};
	const json_t *value = NULL;
	int r = find_vector(answer, &value, failure);

	if (r == 0)
		r = read_vector(value, dimensions, &embedding, failure);
	if (r < 0)
		return r;
	*ret_embedding = embedding;
	embedding.values = NULL;
	return 0;
}

/* The client returns documents of any 2xx status, without the status. */
int wfs_embedding_result(const struct wfs_model_result *result,
	const struct wfs_model_endpoint *endpoint, const json_t *entry,
	struct wfs_embedding *ret_embedding, struct wfs_model_failure *ret_failure)
{
	struct wfs_model_failure failure = {.status = 200, .secret = endpoint->api_key};

	if (result->failure) {
		*ret_failure = *result->failure;
		return -EBADMSG;
	}
	const int r = wfs_embedding_read(result->completion, entry, ret_embedding, &failure);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		wfs_model_failure_set(&failure, WFS_MODEL_FAILURE_TRANSPORT,
			WFS_MODEL_CODE_NO_MEMORY, "no memory for the embedding");
	failure.secret = NULL;
	*ret_failure = failure;
	return -EBADMSG;
}

void wfs_embedding_done(struct wfs_embedding *embedding)
{
	free(embedding->values);
	*embedding = (struct wfs_embedding){0};
}
