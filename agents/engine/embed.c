/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An action that needs an embedding waits here until a server has made it (kernel/world/world.h,
 * struct wfs_embedder). The journal gets only the embedding, with the action.
 */
#include "agents/engine/embed.h"

#include "agents/engine/engine.h"
#include "agents/host/endpoint.h"
#include "agents/host/models.h"
#include "agents/model/embedding.h"
#include "caps/authority.h"
#include "kernel/base/json.h"
#include "kernel/base/log.h"

enum { EMBEDS_MAX = 1024 }; /* texts that servers are asked about at one time */

#define CLOSING "the world is being closed: no more embeddings are made"

/* One text. */
struct embed {
	struct job job;
	struct engine *engine;
	LIST_ENTRY(embed) all;
	struct wfs_request *request; /* that waits for it */
	json_t *entry;               /* of host.json; owned */
	struct wfs_model_endpoint endpoint;
	struct wfs_buffer body;
	struct wfs_model_call *call;
	char key[WFS_HASH_TEXT_SIZE];
};

static void release(struct embed *embed)
{
	struct engine *const engine = embed->engine;

	if (embed->call)
		wfs_model_call_cancel(WFS_STEAL(embed->call));
	LIST_REMOVE(embed, all);
	wfs_buffer_done(&embed->body);
	json_decref(embed->entry);
	free(embed);
	engine->embed_count--;
	engine_one_less(engine);
}

/* @embedding: taken; a {code, message} makes the action fail */
static void give(struct embed *embed, json_t *embedding)
{
	struct wfs_request *const request = embed->request;
	const struct wfs_driving *const driving = &embed->engine->driving;

	release(embed);
	wfs_driving_embedded(driving, request, embedding);
}

static void give_failure(struct embed *embed, const char *code, const char *message)
{
	give(embed, json_pack("{s:s, s:s}", "code", code, "message", message));
}

/* --- the answer --- */

/* Base64 of little-endian float32. NULL without memory. */
static json_t *document_of(const struct wfs_embedding *embedding)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_JSON json_t *document = json_pack("{s:I}", "dims", (json_int_t)embedding->count);

	for (size_t i = 0; i < embedding->count; i++) {
		uint32_t bits;

		memcpy(&bits, &embedding->values[i], sizeof(bits));
		for (int j = 0; j < 4; j++, bits >>= 8)
			wfs_buffer_append_byte(&bytes, (char)(bits & 0xFF));
	}
	return document && !wfs_buffer_check(&bytes) &&
			!wfs_json_set_base64(document, "embedding", bytes.data, bytes.size)
		? WFS_STEAL(document)
		: NULL;
}

static void on_done(void *context, const struct wfs_model_result *result)
{
	struct embed *const embed = context;
	struct wfs_embedding embedding = {.values = NULL};
	struct wfs_model_failure failure = {0};

	embed->call = NULL;
	if (wfs_embedding_result(result, &embed->endpoint, embed->entry, &embedding, &failure)) {
		give_failure(
			embed, *failure.code ? failure.code : "effect_failed", failure.message);
		return;
	}
	json_t *const document = document_of(&embedding);
	wfs_embedding_done(&embedding);
	give(embed, document);
}

/* --- the question --- */

static int ask(struct embed *embed, struct wfs_error *error)
{
	const char *const text = wfs_json_text(embed->request->action.wanted, "text");
	const struct wfs_hash hash = wfs_hash_of(text, strlen(text));
	WFS_AUTO_JSON json_t *body = NULL;
	int r = wfs_models_find(wfs_authority_directory(embed->engine->authority),
		WFS_EMBEDDING_MODEL, &embed->entry, error);

	if (!r &&
		strcmp(wfs_json_text(embed->entry, "model"),
			wfs_json_text(embed->request->action.wanted, "model")) != 0)
		r = wfs_error_set(error, WFS_E_CONFLICT,
			"host.json names another model than when the owner process read it; SIGHUP "
			"has the process read it again");
	if (!r)
		r = agents_endpoint_make(embed->entry, INT64_MAX, &embed->endpoint, error);
	if (!r)
		r = wfs_embedding_request(embed->entry, text, &body, error);
	if (r)
		return r;
	wfs_json_write(body, &embed->body);
	r = wfs_buffer_check(&embed->body);
	if (r)
		return wfs_error_from_errno(error, r, "ask for an embedding");
	/* Servers that remember keys see all attempts for one text as one request. */
	wfs_hash_text(&hash, embed->key);
	const struct wfs_model_request request = {
		.endpoint = &embed->endpoint,
		.service = WFS_MODEL_EMBEDDINGS,
		.body = wfs_buffer_bytes(&embed->body),
		.idempotency_key = embed->key,
		.context = embed,
		.done = on_done,
	};
	return wfs_model_call_start(embed->engine->client, &request, &embed->call, error);
}

static void refuse(struct wfs_request *request, enum wfs_error_code code, const char *reason)
{
	struct wfs_error error;

	(void)wfs_error_set(&error, code, "%s", reason);
	wfs_driving_unembedded(request, &error);
}

static void drop(struct embed *embed, enum wfs_error_code code, const char *reason)
{
	struct wfs_request *const request = embed->request;

	release(embed);
	refuse(request, code, reason);
}

static void start(struct engine *engine, struct job *job)
{
	struct embed *const embed = (struct embed *)job;
	struct wfs_error error = {0};

	engine->open_count++;
	engine->embed_count++;
	LIST_INSERT_HEAD(&engine->embeds, embed, all);
	if (engine_stopping(engine))
		drop(embed, WFS_E_CANCELLED, CLOSING);
	else if (engine->embed_count > EMBEDS_MAX)
		drop(embed, WFS_E_OVERLOADED, "too many texts wait for embeddings, try again");
	else if (ask(embed, &error))
		give_failure(embed, wfs_error_info(error.code)->name, error.message);
}

/* On the publisher's thread. */
static void take(struct wfs_embedder *embedder, struct wfs_request *request)
{
	struct engine *const engine = ((struct engine_embedder *)embedder)->engine;
	struct embed *const embed = calloc(1, sizeof(*embed));

	if (embed) {
		embed->engine = engine;
		embed->request = request;
		if (engine_post(engine, &embed->job, start))
			return;
	}
	if (embed)
		refuse(request, WFS_E_CANCELLED, CLOSING);
	else
		refuse(request, WFS_E_INTERNAL_ERROR, "no memory to ask for an embedding");
	free(embed);
}

void embed_drop_all(struct engine *engine)
{
	while (!LIST_EMPTY(&engine->embeds))
		drop(LIST_FIRST(&engine->embeds), WFS_E_CANCELLED, CLOSING);
}

/* --- being it --- */

/* The world's embedder changes at once: no action is folded without one in between. */
static void become(struct engine *engine, const char *model)
{
	struct engine_embedder *own = &engine->embedders[engine->embedder_index];

	if (own->engine && strcmp(own->model, model) == 0) {
		wfs_driving_set_embedder(&engine->driving, &own->embedder);
		return;
	}
	engine->embedder_index = !engine->embedder_index;
	own = &engine->embedders[engine->embedder_index];
	own->engine = engine;
	snprintf(own->model, sizeof(own->model), "%s", model);
	own->embedder = (struct wfs_embedder){.model = own->model, .embed = take};
	wfs_driving_set_embedder(&engine->driving, &own->embedder);
}

void embed_start(struct engine *engine)
{
	WFS_AUTO_JSON json_t *entry = NULL;
	struct wfs_error error = {0};
	int r = wfs_models_find(
		wfs_authority_directory(engine->authority), WFS_EMBEDDING_MODEL, &entry, &error);
	const char *const model = wfs_json_text(entry, "model");

	if (r == -ENOENT) {
		embed_stop(engine);
		return;
	}
	if (!r && (!*model || strlen(model) > WFS_EMBEDDER_MODEL_MAX))
		r = wfs_error_set(&error, WFS_E_INVALID_ARGUMENT,
			"the model '" WFS_EMBEDDING_MODEL "' of host.json names no model");
	if (r) {
		wfs_log(WFS_LOG_AGENTS, WFS_LOG_WARNING, "embeddings are made locally: %s",
			error.message);
		embed_stop(engine);
		return;
	}
	become(engine, model);
	if (engine_stopping(engine)) /* which ended it just before */
		embed_stop(engine);
}

void embed_stop(struct engine *engine)
{
	wfs_driving_set_embedder(&engine->driving, NULL);
}
