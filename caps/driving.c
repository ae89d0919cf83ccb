/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/driving.h"

#include "kernel/base/json.h"
#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn.h"
#include "kernel/read/record.h"

int wfs_driving_init(
	struct wfs_driving *driving, struct wfs_authority *authority, struct wfs_error *error)
{
	const struct {
		enum wfs_builtin_reducer reducer;
		uint32_t *id;
	} watched[] = {
		{WFS_BUILTIN_INTENT, &driving->intents_id},
		{WFS_BUILTIN_TURN, &driving->turns_id},
		{WFS_BUILTIN_CHAT_MESSAGE, &driving->chats_id},
		{WFS_BUILTIN_PLAN, &driving->plans_id},
	};
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r;

	driving->world = wfs_authority_world(authority);
	r = wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, error);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(watched); i++) {
		struct wfs_reducer reducer;

		r = wfs_view_builtin(&view, watched[i].reducer, &reducer);
		if (!r)
			*watched[i].id = reducer.reducer_id;
	}
	return r;
}

static void on_told(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct wfs_driving *const driving =
		(struct wfs_driving *)((char *)observer - offsetof(struct wfs_driving, observer));

	for (size_t i = 0; i < commit->change_count; i++) {
		const struct wfs_change *const change = &commit->changes[i];
		const uint32_t id = change->reducer_id;

		if (id == driving->intents_id)
			driving->intent_changed(driving, change->key);
		else if (id == driving->turns_id || id == driving->chats_id ||
			id == driving->plans_id)
			driving->owner_changed(driving, change->key);
	}
}

void wfs_driving_begin(struct wfs_driving *driving)
{
	driving->observer = (struct wfs_observer){.told = on_told};
	wfs_world_observe(driving->world, &driving->observer);
}

void wfs_driving_end(struct wfs_driving *driving)
{
	wfs_world_unobserve(driving->world, &driving->observer);
}

/* --- intents --- */

int wfs_driving_intents(
	const struct wfs_driving *driving, json_t **ret_ids, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	WFS_AUTO_JSON json_t *ids = json_array();
	struct wfs_entry entry;
	int r = wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_entry_walk_init(&walk, &view, driving->intents_id, 0);
	while (!r && (r = wfs_entry_walk_next(&walk, &entry)) > 0)
		r = json_array_append_new(ids, json_stringn(entry.key.data, entry.key.size)) < 0
			? -ENOMEM
			: 0;
	if (!r)
		*ret_ids = WFS_STEAL(ids);
	return r && error->code == WFS_OK ? wfs_error_from_errno(error, r, "list open intents") : r;
}

int wfs_driving_intent(const struct wfs_driving *driving, const char *intent_id,
	json_t **ret_intent, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_view_document(&view, WFS_BUILTIN_INTENT, intent_id, ret_intent, error);
	if (r == -ENOENT)
		*ret_intent = NULL;
	return r == -ENOENT ? 0 : r;
}

/* --- events --- */

uint64_t wfs_driving_height(const struct wfs_driving *driving)
{
	struct wfs_world_figures figures;

	wfs_world_figures(driving->world, &figures);
	return figures.height;
}

uint64_t wfs_driving_events(const struct wfs_driving *driving, uint64_t height,
	void (*event)(void *context, uint64_t seq, const json_t *value), void *context)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_error ignored;
	struct wfs_bytes line;

	if (wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, &ignored))
		return height;
	for (; height < view.height; height++) {
		WFS_AUTO_RECORD struct wfs_record_parsed parsed = {0};

		if (wfs_view_record(&view, height, &line) ||
			wfs_record_parse(line, &parsed, NULL) ||
			parsed.record.kind != WFS_RECORD_EVENT)
			continue;
		const char *const schema = wfs_json_text(parsed.body_json, "schema");
		if (wfs_kernel_event_find(schema) < WFS_KERNEL_EVENT_COUNT)
			event(context, height, json_object_get(parsed.body_json, "value"));
	}
	return height;
}

/* --- embeddings --- */

void wfs_driving_set_embedder(const struct wfs_driving *driving, struct wfs_embedder *embedder)
{
	wfs_world_set_embedder(driving->world, embedder);
}

void wfs_driving_embedded(
	const struct wfs_driving *driving, struct wfs_request *request, json_t *embedding)
{
	wfs_world_embedded(driving->world, request, embedding);
}

void wfs_driving_unembedded(struct wfs_request *request, const struct wfs_error *error)
{
	wfs_world_unembedded(request, error);
}
