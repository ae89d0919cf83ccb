/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/prepare/private.h"

#include <string.h>

#include "agents/prepare/tool.h"
#include "caps/driving.h"
#include "caps/session-read.h"
#include "caps/session-text.h"
#include "kernel/base/json.h"

#define NOT_KEPT "[a private text that this world does not keep]"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "hide a private text")

/* --- tool calls --- */

/* The action that a call's arguments ask for. Arguments that do not fit the tool belong to an
 * artifact, too. @ret_action: NULL if the tool reads, or if the arguments make no action */
static int action_of(
	const json_t *tools, const json_t *call, json_t **ret_action, struct wfs_error *error)
{
	const json_t *const tool = agents_tool_find(tools, wfs_json_text(call, "name"));
	const char *const kind = wfs_json_text(tool, "kind");
	const char *const text = wfs_json_text(call, "arguments");
	const bool invokes = strcmp(kind, WFS_TOOL_KIND_ARTIFACT) == 0;
	WFS_AUTO_JSON json_t *arguments = NULL;

	*ret_action = NULL;
	if (!invokes && strcmp(kind, WFS_TOOL_KIND_ACTION) != 0 &&
		strcmp(kind, WFS_TOOL_KIND_ACT) != 0)
		return 0;
	int r = wfs_json_look(text, strlen(text), &arguments);
	if (r || (!invokes && !json_is_object(arguments)))
		return r == -ENOMEM ? no_memory(error) : 0;
	*ret_action = agents_tool_asked(tool, arguments);
	return *ret_action ? 0 : no_memory(error);
}

/* @origin: gets the artifacts that the hidden texts belong to */
static int hide_call(struct wfs_view *view, const json_t *tools, struct wfs_texts *texts,
	json_t *call, struct agents_origin *origin, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *action = NULL;
	WFS_AUTO_JSON json_t *of = NULL;
	WFS_AUTO_JSON json_t *gives = NULL;
	int r = action_of(tools, call, &action, error);

	if (!r && action)
		r = wfs_driving_privacy(view, action, &of, &gives, error);
	if (r || !of)
		return r;
	r = wfs_text_hide_member(texts, of, call, "arguments", error);
	if (!r && agents_origin_add_hidden(origin, call))
		r = no_memory(error);
	return r;
}

int agents_hide_answer(struct wfs_view *view, const json_t *tools, struct wfs_texts *texts,
	json_t *completion, struct wfs_error *error)
{
	WFS_CLEANUP(agents_origin_done) struct agents_origin origin = {.of = NULL};
	json_t *call;
	size_t i;
	int r = 0;

	json_array_foreach(json_object_get(completion, "tool_calls"), i, call)
		if (!r)
			r = hide_call(view, tools, texts, call, &origin, error);
	if (r || !agents_origin_is_private(&origin))
		return r;
	WFS_AUTO_JSON json_t *of = agents_origin_list(&origin);
	return of ? wfs_text_hide_member(texts, of, completion, "raw_content", error)
		  : no_memory(error);
}

/* --- reading --- */

static int say_not_kept(void *context, const json_t *stand_in, json_t **ret_value)
{
	(void)context;
	(void)stand_in;
	*ret_value = json_string(NOT_KEPT);
	return *ret_value ? 1 : -ENOMEM;
}

int agents_reveal(const struct wfs_session *session, struct wfs_view *view, const json_t *document,
	json_t **ret_copy, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *revealed = NULL;
	int r = wfs_session_reveal(session, view, document, &revealed, error);

	if (r)
		return r;
	r = wfs_text_reveal(revealed, say_not_kept, NULL, ret_copy);
	return r ? no_memory(error) : 0;
}

/* --- origins --- */

void agents_origin_done(struct agents_origin *origin)
{
	json_decref(origin->of);
	origin->of = NULL;
}

bool agents_origin_is_private(const struct agents_origin *origin)
{
	return origin->nobodys || json_array_size(origin->of) > 0;
}

static int add_all(struct agents_origin *origin, const json_t *of)
{
	if (!origin->of)
		origin->of = json_array();
	return origin->of ? wfs_json_add_missing(origin->of, of) : -ENOMEM;
}

int agents_origin_add(struct agents_origin *origin, struct wfs_view *view, const json_t *action,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *said = NULL;
	WFS_AUTO_JSON json_t *gives = NULL;
	int r = wfs_driving_privacy(view, action, &said, &gives, error);

	if (r)
		return r;
	return add_all(origin, gives) ? no_memory(error) : 0;
}

static int add_stand_in(void *context, const json_t *stand_in, json_t **ret_value)
{
	struct agents_origin *const origin = context;
	const json_t *const of = json_object_get(stand_in, "of");

	(void)ret_value;
	origin->nobodys |= json_array_size(of) == 0;
	return add_all(origin, of);
}

int agents_origin_add_hidden(struct agents_origin *origin, const json_t *document)
{
	WFS_AUTO_JSON json_t *same = NULL;

	return wfs_text_reveal(document, add_stand_in, origin, &same);
}

/* A text that belongs to no artifact is hidden from all but the agent. */
json_t *agents_origin_list(const struct agents_origin *origin)
{
	return origin->nobodys || !origin->of ? json_array() : json_incref(origin->of);
}

/* --- steps --- */

int agents_origin_add_agent(struct agents_origin *origin, const struct wfs_session *session,
	const char *agent, struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *reads =
		json_pack("{s:s, s:s}", "action_type", "read_artifact", "artifact_id", agent);
	int r = reads ? wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error) : no_memory(error);

	return r ? r : agents_origin_add(origin, &view, reads, error);
}

/* The caller's message is the last one. An earlier message with an equal text is hidden: if it
 * were open, it would tell the caller that its guess was right. */
static bool is_of_asker(const json_t *params, const json_t *messages, size_t index)
{
	const json_t *const told = json_object_get(params, "message");
	const json_t *const message = json_array_get(messages, index);

	return told && index + 1 == json_array_size(messages) &&
		strcmp(wfs_json_text(message, "role"), "user") == 0 &&
		json_equal(told, json_object_get(message, "content"));
}

static int hide_messages(struct wfs_texts *texts, const json_t *of, const json_t *params,
	json_t *messages, struct wfs_error *error)
{
	json_t *message;
	size_t i;
	int r = 0;

	if (json_object_get(params, "messages"))
		return 0;
	json_array_foreach(messages, i, message)
		if (!r && !is_of_asker(params, messages, i))
			r = wfs_text_hide_member(texts, of, message, "content", error);
	return r;
}

/* The arguments of the action become one text. */
static int hide_reflex(
	struct wfs_texts *texts, const json_t *of, json_t *step, struct wfs_error *error)
{
	json_t *const reflex = json_object_get(step, "reflex");
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *arguments = wfs_json_copy(reflex);

	if (!reflex)
		return 0;
	(void)json_object_del(arguments, "action_type");
	wfs_json_write(arguments, &text);
	WFS_AUTO_JSON json_t *hidden =
		json_pack("{s:O, s:s#}", "action_type", json_object_get(reflex, "action_type"),
			"arguments", wfs_buffer_text(&text), (int)text.size);
	if (!arguments || wfs_buffer_check(&text) || !hidden ||
		json_object_set(step, "reflex", hidden) < 0)
		return no_memory(error);
	return wfs_text_hide_member(texts, of, hidden, "arguments", error);
}

/* Every stand-in in the record of a step is for a text that this step hides. */
static int refuse_alike(const json_t *step, struct wfs_error *error)
{
	static const char *const members[] = {"messages", "notes", "reflex", "setup"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++)
		if (wfs_text_has_hidden(json_object_get(step, members[i])))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'%s': it contains an object {hash, of, size}, which stands for a "
				"private text",
				members[i]);
	return 0;
}

int agents_hide_step(const struct wfs_session *session, struct agents_origin *origin,
	const json_t *params, json_t *step, struct wfs_texts *texts, struct wfs_error *error)
{
	static const char *const members[] = {"conditions", "transition_prompt", "working_memory"};
	static const char *const asked[] = {"constraint", "extra_body"};
	json_t *const settings = json_object_get(json_object_get(step, "setup"), "settings");
	json_t *const mind = json_object_get(json_object_get(step, "setup"), "mind");
	json_t *const messages = json_object_get(step, "messages");
	int r = agents_origin_add_agent(origin, session, wfs_json_text(step, "agent"), error);

	if (!r)
		r = refuse_alike(step, error);
	if (r || !agents_origin_is_private(origin))
		return r;
	WFS_AUTO_JSON json_t *of = agents_origin_list(origin);
	if (!of)
		return no_memory(error);
	r = hide_messages(texts, of, params, messages, error);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(members); i++)
		r = wfs_text_hide_member(texts, of, mind, members[i], error);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(asked); i++)
		r = wfs_text_hide_member(texts, of, settings, asked[i], error);
	return r ? r : hide_reflex(texts, of, step, error);
}
