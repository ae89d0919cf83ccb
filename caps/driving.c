/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/driving.h"
#include "caps/authority.h"

#include "caps/session-read.h"
#include "caps/session-text.h"
#include "caps/session-turn.h"
#include "caps/session.h"
#include "kernel/base/json.h"
#include "kernel/domain/plan/plan-file.h"
#include "kernel/domain/turn/events.h"
#include "kernel/domain/turn/turn-read.h"
#include "kernel/domain/turn/turn.h"
#include "kernel/read/record.h"
#include "kernel/read/view-document.h"
#include "kernel/world/domains.h"
#include "kernel/world/world.h"

static void find_timers(struct wfs_driving *driving, struct wfs_view *view)
{
	struct wfs_reducer reducer;

	if (wfs_view_builtin(view, WFS_BUILTIN_TIMER, &reducer) == 0)
		driving->timers_id = reducer.reducer_id;
	if (wfs_view_builtin(view, WFS_BUILTIN_WAIT, &reducer) == 0)
		driving->waits_id = reducer.reducer_id;
}

/* A manifest can bring timers to a world that an earlier program has made. */
static void find_new_timers(struct wfs_driving *driving)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_error ignored = {0};

	if (!wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, &ignored))
		find_timers(driving, &view);
}

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
	if (!r)
		find_timers(driving, &view);
	return r;
}

static void on_told(struct wfs_observer *observer, const struct wfs_commit *commit)
{
	struct wfs_driving *const driving =
		(struct wfs_driving *)((char *)observer - offsetof(struct wfs_driving, observer));

	bool timers = false;

	if (commit->manifest_changed && !driving->timers_id)
		find_new_timers(driving);
	for (size_t i = 0; i < commit->change_count; i++) {
		const struct wfs_change *const change = &commit->changes[i];
		const uint32_t id = change->reducer_id;

		if (id == driving->intents_id)
			driving->intent_changed(driving, change->key);
		else if (id == driving->turns_id || id == driving->chats_id ||
			id == driving->plans_id)
			driving->owner_changed(driving, change->key);
		timers |=
			driving->timers_id && (id == driving->timers_id || id == driving->waits_id);
	}
	if (timers)
		driving->timer_changed(driving);
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
	struct wfs_document_intent *ret_intent, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	int r = wfs_document_read_intent(NULL, ret_intent, error);

	if (!r)
		r = wfs_view_open(driving->world, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = wfs_view_read_intent(&view, intent_id, ret_intent, error);
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
		if (wfs_kernel_event_find(parsed.body.event.schema) < WFS_KERNEL_EVENT_COUNT)
			event(context, height, parsed.body.event.value);
	}
	return height;
}

/* --- what a principal drives --- */

void wfs_driving_run_done(struct wfs_driving_run *run)
{
	wfs_view_close(&run->view);
	wfs_document_done(&run->state);
	json_decref(run->setup);
}

static int check_caller(struct wfs_driving_run *run, struct wfs_error *error)
{
	const char *const called_by = run->state.called_by;
	WFS_AUTO_JSON json_t *intent = NULL;
	int r = called_by
		? wfs_view_document(&run->view, WFS_BUILTIN_INTENT, called_by, &intent, error)
		: 0;

	return r == -ENOENT ? wfs_error_set(error, WFS_E_CANCELLED,
				      "the tool call that has begun this run is over")
			    : wfs_trace(r);
}

int wfs_driving_run(const struct wfs_session *session, const char *run_id,
	struct wfs_driving_run *ret_run, struct wfs_error *error)
{
	const char *const principal = wfs_session_principal(session);
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &ret_run->view, error);

	ret_run->run_id = run_id;
	if (!r)
		r = wfs_turn_state(&ret_run->view, run_id, &ret_run->state, error);
	if (!r && strcmp(ret_run->state.agent, principal) != 0)
		r = wfs_error_set(error, WFS_E_NOT_AUTHORIZED, "the run '%s' is not a run of '%s'",
			run_id, principal);
	if (!r)
		r = check_caller(ret_run, error);
	return r ? r : wfs_turn_setup(&ret_run->view, run_id, &ret_run->setup, error);
}

int wfs_driving_call(struct wfs_driving_run *run, int64_t turn, int64_t index,
	struct wfs_document_tool_call *ret_call, struct wfs_error *error)
{
	return wfs_turn_call(&run->view, run->run_id, turn, index, ret_call, error);
}

int wfs_driving_sent(struct wfs_driving_run *run, json_t **ret_messages, struct wfs_error *error)
{
	return wfs_turn_sent(&run->view, &run->state, ret_messages, error);
}

/* The output of a tool call has all of the result except the history; if that has private texts,
 * the output is private. */
static int note_told(const struct wfs_session *session, const json_t *result)
{
	WFS_AUTO_JSON json_t *told = json_copy((json_t *)(uintptr_t)result);

	(void)json_object_del(told, "history");
	return told ? wfs_session_note_hidden(session, told) : -ENOMEM;
}

int wfs_driving_result(const struct wfs_session *session, const char *run_id, bool tells,
	json_t **ret_result, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *stored = NULL;
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_turn_result(&view, run_id, &stored, error);
	if (!r && tells && note_told(session, stored))
		r = wfs_error_from_errno(error, -ENOMEM, "drive an agent");
	return r ? r : wfs_session_reveal(session, &view, stored, ret_result, error);
}

int wfs_driving_own(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_builtin_reducer reducer, json_t **ret_document, struct wfs_error *error)
{
	return wfs_view_document(
		view, reducer, wfs_session_principal(session), ret_document, error);
}

int wfs_driving_agent(const struct wfs_session *session, struct wfs_view *view, const char *agent,
	struct wfs_document_artifact *ret_artifact, struct wfs_content *ret_content,
	struct wfs_error *error)
{
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_session_find_agent(session, view, agent, error);

	if (!r)
		r = wfs_view_read_artifact(view, agent, ret_artifact, error);
	if (r || strcmp(ret_artifact->type, WFS_ARTIFACT_TYPE_AGENT) != 0)
		return wfs_trace(r);
	r = wfs_view_builtin(view, WFS_BUILTIN_CONTENT, &reducer);
	if (!r)
		r = wfs_view_cell(view, reducer.reducer_id, wfs_bytes_text(agent), &version);
	if (r)
		return wfs_error_from_errno(error, -EIO, "read the agent '%s'", agent);
	return wfs_view_content(view, &version, WFS_RANGE_ALL, ret_content, error);
}

int wfs_driving_privacy(struct wfs_view *view, const json_t *action, json_t **ret_said,
	json_t **ret_gives, struct wfs_error *error)
{
	WFS_AUTO_PRIVACY struct wfs_privacy privacy = {.of = NULL};
	int r = wfs_privacy_in(view, action, &privacy, error);

	if (r)
		return wfs_trace(r);
	const bool hides = wfs_privacy_hides(&privacy, action);
	json_t *const said = hides ? wfs_privacy_said(&privacy) : NULL;
	if (hides && !said)
		return wfs_error_from_errno(error, -ENOMEM, "hide a private text");
	*ret_said = said;
	*ret_gives = WFS_STEAL(privacy.of);
	return 0;
}

/* --- plans and chats --- */

int wfs_driving_plan(struct wfs_view *view, const char *plan_id, struct wfs_document_plan *ret_plan,
	struct wfs_error *error)
{
	int r = wfs_view_read_plan(view, plan_id, ret_plan, error);

	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Plan '%.64s' not found", plan_id);
	return wfs_trace(r);
}

int wfs_driving_step(struct wfs_view *view, const char *plan_id, int64_t index,
	struct wfs_document_plan_step *ret_step, struct wfs_error *error)
{
	char key[WFS_PLAN_KEY_SIZE];

	wfs_plan_key(plan_id, index, key);
	int r = wfs_view_read_plan_step(view, key, ret_step, error);
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Plan '%.64s' has no step %lld",
			plan_id, (long long)index);
	return wfs_trace(r);
}

int wfs_driving_step_result(struct wfs_view *view, const char *plan_id, int64_t index,
	json_t **ret_result, struct wfs_error *error)
{
	char key[WFS_PLAN_KEY_SIZE];

	wfs_plan_key(plan_id, index, key);
	int r = wfs_view_document(view, WFS_BUILTIN_PLAN_RESULT, key, ret_result, error);
	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"Step %lld of plan '%.64s' has no result", (long long)index, plan_id);
	return wfs_trace(r);
}

int wfs_driving_step_refs(struct wfs_view *view, const char *plan_id, int64_t index,
	json_t **ret_refs, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan_edge edge;
	char key[WFS_PLAN_KEY_SIZE];

	wfs_plan_key(plan_id, index, key);
	int r = wfs_view_read_plan_edge(view, key, &edge, error);
	if (r && r != -ENOENT)
		return wfs_trace(r);
	*ret_refs = json_incref(edge.refs);
	return 0;
}

int wfs_driving_source(struct wfs_view *view, const char *message_id,
	struct wfs_document_plan_source *ret_source, struct wfs_error *error)
{
	int r = wfs_view_read_plan_source(view, message_id, ret_source, error);

	if (r == -ENOENT)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "Chat '%.240s' has no plan", message_id);
	return wfs_trace(r);
}

int wfs_driving_message(struct wfs_view *view, const char *message_id,
	struct wfs_document_chat_message *ret_message, struct wfs_error *error)
{
	int r = wfs_view_read_chat_message(view, message_id, ret_message, error);

	if (r == -ENOENT)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Chat '%.240s' not found", message_id);
	return wfs_trace(r);
}

int wfs_driving_plan_file(struct wfs_view *view, const struct wfs_document_plan *plan,
	json_t **ret_document, uint64_t *ret_size_bytes, struct wfs_error *error)
{
	const struct wfs_range range = ret_document ? WFS_RANGE_ALL : (struct wfs_range){0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = wfs_plan_document(view, plan, range, &text, ret_size_bytes);

	if (r)
		return wfs_error_from_errno(error, r, "show a plan");
	return ret_document ? wfs_json_parse(text.data, text.size, ret_document, error) : 0;
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
