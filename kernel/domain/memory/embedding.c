/* SPDX-License-Identifier: Apache-2.0 */
/* Makes embeddings, locally or from the answers of a server, and reads and writes them. */
#include "kernel/domain/memory/embedding.h"

#include <endian.h>
#include <math.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"

void embedding_done(struct embedding *embedding)
{
	free(embedding->vector);
	embedding->vector = NULL;
}

static int embed_locally(const char *text, struct embedding *ret_embedding, struct wfs_error *error)
{
	struct embedding made = {.model = WFS_EMBED_MODEL, .dims = WFS_EMBED_DIMS};

	made.vector = malloc(WFS_EMBED_DIMS * sizeof(*made.vector));
	if (!made.vector)
		return fold_no_memory(error);
	int r = wfs_embed_local(wfs_bytes_text(text), made.vector, error);
	if (r)
		embedding_done(&made);
	else
		*ret_embedding = made;
	return wfs_trace(r);
}

/* --- those of a server --- */

const char *embedding_host_model(struct act *act)
{
	const json_t *const recorded = act->nest->recorded;
	const char *const model = recorded
		? json_string_value(json_object_get(recorded, "embedder"))
		: act->fold->input.embedder;

	act->nest->embedder_told |= model != NULL;
	return model ? model : WFS_EMBED_MODEL;
}

/* Finds the embedding of a text by hash. @list: of embeddings. Return: borrowed from it, or
 * NULL. */
static json_t *find(const json_t *list, const char *model, const char *hash)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		if (strcmp(wfs_json_text(item, "model"), model) == 0 &&
			strcmp(wfs_json_text(item, "hash"), hash) == 0)
			return item;
	}
	return NULL;
}

/* Ends the fold, which is repeated when the embedding has come. */
static int want(struct act *act, const char *model, const char *text, struct wfs_error *error)
{
	struct wfs_fold *const fold = act->fold;

	if (act->nest->recorded)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"the record lacks an embedding of '%.128s'", model);
	json_decref(fold->outcome.wanted);
	fold->outcome.wanted = json_pack("{s:s, s:s}", "model", model, "text", text);
	return fold->outcome.wanted
		? wfs_error_set(error, WFS_E_BUSY, "waits for an embedding of '%.128s'", model)
		: fold_no_memory(error);
}

/* Reads the answer of a server. @given: an embedding, or why the server gave none */
static int read_given(const json_t *given, struct embedding *ret_embedding, struct wfs_error *error)
{
	const char *const message = json_string_value(json_object_get(given, "message"));

	if (message)
		return wfs_error_set(
			error, WFS_E_EFFECT_FAILED, "Embedding generation failed: %.400s", message);
	return wfs_trace(embedding_read(given, ret_embedding, error));
}

static int embed_by_server(struct act *act, const char *model, const char *text,
	struct embedding *ret_embedding, struct wfs_error *error)
{
	const json_t *const given = act->nest->recorded
		? json_object_get(act->nest->recorded, "embeddings")
		: act->fold->input.embeddings;
	const struct wfs_hash hash = wfs_hash_of(text, strlen(text));
	char hash_text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&hash, hash_text);
	json_t *const used = find(act->nest->embeddings, model, hash_text);
	json_t *const found = used ? used : find(given, model, hash_text);
	if (strcmp(embedding_host_model(act), model) != 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"embeddings of '%.128s' are needed, and this host has '%.128s'", model,
			embedding_host_model(act));
	if (!used && json_array_size(act->nest->embeddings) >= WFS_EMBEDDINGS_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"more than %d embeddings of '%.128s' in one action", WFS_EMBEDDINGS_MAX,
			model);
	if (!found)
		return wfs_trace(want(act, model, text, error));
	if (!used && json_array_append(act->nest->embeddings, found) < 0)
		return fold_no_memory(error);
	return wfs_trace(read_given(found, ret_embedding, error));
}

/* --- both --- */

int embedding_check_text(const char *text, struct wfs_error *error)
{
	const size_t size = strlen(text);

	if (text[strspn(text, " \t\r\n")] == '\0')
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "Text cannot be empty");
	if (size > EMBEDDING_TEXT_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the text has %zu bytes, at most %d are taken", size, EMBEDDING_TEXT_MAX);
	return 0;
}

int embedding_make(struct act *act, const char *model, const char *text,
	struct embedding *ret_embedding, struct wfs_error *error)
{
	const char *const wanted = model ? model : embedding_host_model(act);
	int r = embedding_check_text(text, error);

	if (r)
		return wfs_trace(r);
	return wfs_trace(strcmp(wanted, WFS_EMBED_MODEL) == 0
			? embed_locally(text, ret_embedding, error)
			: embed_by_server(act, wanted, text, ret_embedding, error));
}

/* --- as a document --- */

int embedding_write(const struct embedding *embedding, json_t *document)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};

	for (size_t i = 0; i < embedding->dims; i++) {
		uint32_t bits;

		memcpy(&bits, &embedding->vector[i], sizeof(bits));
		bits = htole32(bits);
		wfs_buffer_append(&bytes, &bits, sizeof(bits));
	}
	return wfs_buffer_check(&bytes) ||
			wfs_json_set_base64(document, "embedding", bytes.data, bytes.size) ||
			json_object_set_new(
				document, "dims", json_integer((json_int_t)embedding->dims)) < 0 ||
			json_object_set_new(document, "model", json_string(embedding->model)) < 0
		? -ENOMEM
		: 0;
}

static int take_vector(struct wfs_bytes bytes, struct embedding *embedding, struct wfs_error *error)
{
	embedding->vector = malloc(bytes.size);
	if (!embedding->vector)
		return fold_no_memory(error);
	for (size_t i = 0; i < embedding->dims; i++) {
		uint32_t bits;

		memcpy(&bits, (const char *)bytes.data + i * sizeof(bits), sizeof(bits));
		bits = le32toh(bits);
		memcpy(&embedding->vector[i], &bits, sizeof(bits));
	}
	return 0;
}

int embedding_read(const json_t *document, struct embedding *ret_embedding, struct wfs_error *error)
{
	const json_t *const text = json_object_get(document, "embedding");
	const char *const model = wfs_json_text(document, "model");
	const json_int_t dims = json_integer_value(json_object_get(document, "dims"));
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct embedding read = {.dims = (size_t)dims};
	int r = json_is_string(text)
		? wfs_base64_decode(json_string_value(text), json_string_length(text), &bytes, NULL)
		: -EINVAL;

	if (r == -ENOMEM)
		return fold_no_memory(error);
	if (r || dims < 1 || dims > EMBEDDING_DIMS_MAX ||
		bytes.size != (size_t)dims * sizeof(float) || strlen(model) > EMBEDDING_MODEL_MAX)
		return wfs_error_set(
			error, WFS_E_INTERNAL_ERROR, "an embedding is not of its form");
	snprintf(read.model, sizeof(read.model), "%s", model);
	r = take_vector(wfs_buffer_bytes(&bytes), &read, error);
	if (!r)
		*ret_embedding = read;
	return wfs_trace(r);
}
