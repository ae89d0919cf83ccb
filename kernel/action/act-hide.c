/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose text is it? Which members of an action are texts of something private, so that its record has
 * stand-ins for them (kernel/text.h), and who its output belongs to.
 *
 * The answer is found before the action is done: a rule that the action itself changes does not count.
 */
#include "kernel/action/invoke.h"

#include "kernel/base/json.h"
#include "kernel/service/service.h"

bool wfs_artifact_is_open(const json_t *state)
{
	return wfs_artifact_reads(state, "");
}

/* Adds the id of an artifact, if it is private. Return: 1 (it is there, and open to everybody), 0, -errno */
static int note_artifact(struct act_hiding *hiding, const char *id, struct wfs_error *error)
{
	ARTIFACT_AUTO struct artifact artifact = {.document = NULL};
	struct wfs_error missing = {0};
	int r = artifact_get(hiding->act->fold, id, &artifact, &missing);

	if (r && invoke_fails_all(&missing)) {
		*error = missing;
		return wfs_trace(r);
	}
	if (r)
		return 0;
	if (wfs_artifact_is_open(artifact.document))
		return 1;
	return json_array_append_new(hiding->of, json_string(artifact.id)) < 0
		? fold_no_memory(error)
		: 0;
}

static bool is_private(const struct act_hiding *hiding)
{
	return json_array_size(hiding->of) > 0;
}

/* The record gets a stand-in for the member, if there is one. */
static int hide(struct act_hiding *hiding, const json_t *action, const char *member,
	struct wfs_error *error)
{
	const json_t *const value = json_object_get(action, member);
	json_t *stand_in;

	if (!value)
		return 0;
	int r = wfs_text_hide(&hiding->act->fold->texts, hiding->of, value, &stand_in);
	if (r)
		return wfs_error_from_errno(error, r, "hide a private text");
	return json_object_set_new(hiding->members, member, stand_in) < 0 ? fold_no_memory(error)
									  : 0;
}

/* --- invocations --- */

/* Arguments of services are hidden, unless they are understood and are about no memory store, or about one
 * that everybody may read. */
static int hide_service(struct act_hiding *hiding, const struct service *service,
	const json_t *action, struct wfs_error *error)
{
	SERVICE_CALL_AUTO struct service_call call = {.act = hiding->act};
	const json_t *const args = json_object_get(action, "args");
	const json_t *const method = json_object_get(action, "method");
	WFS_AUTO_JSON json_t *none = json_array();
	struct wfs_error reason = {0};

	if (!none)
		return fold_no_memory(error);
	int r = service_parse(service, json_is_string(method) ? json_string_value(method) : "run",
		json_is_array(args) ? args : none, &call, &reason);
	const char *const memory = r ? "" : service_text(&call, "memory");
	if (!r && !*memory)
		return 0;
	r = r ? 0 : note_artifact(hiding, memory, error);
	if (r < 0)
		return wfs_trace(r);
	return r > 0 ? 0 : hide(hiding, action, "args", error);
}

static int hide_secrets(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	const json_t *const method = json_object_get(action, "method");
	ARTIFACT_AUTO struct artifact artifact = {.document = NULL};
	int r = artifact_get(
		hiding->act->fold, wfs_json_text(action, "artifact_id"), &artifact, error);

	if (r)
		return wfs_trace(r);
	hiding->secret = interface_has_secrets(
		&artifact, json_is_string(method) ? json_string_value(method) : "run");
	return hiding->secret ? hide(hiding, action, "args", error) : 0;
}

static int hide_invocation(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	const char *const id = wfs_json_text(action, "artifact_id");
	const struct service *const service = service_find(id);

	if (service)
		return wfs_trace(hide_service(hiding, service, action, error));
	int r = note_artifact(hiding, id, error);
	if (r > 0)
		return wfs_trace(hide_secrets(hiding, action, error));
	if (r || !is_private(hiding))
		return wfs_trace(r);
	return hide(hiding, action, "args", error);
}

/* --- all --- */

static int hide_own(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	static const char *const edited[] = {"old_string", "new_string"};
	const enum wfs_effect effect = wfs_action_effect(action);
	int r = 0;

	if (effect == WFS_EFFECT_ACTION_INVOKE_ARTIFACT)
		return wfs_trace(hide_invocation(hiding, action, error));
	if (effect != WFS_EFFECT_ACTION_READ_ARTIFACT && effect != WFS_EFFECT_ACTION_EDIT_ARTIFACT)
		return 0;
	r = note_artifact(hiding, wfs_json_text(action, "artifact_id"), error);
	if (r < 0)
		return wfs_trace(r);
	r = 0;
	for (size_t i = 0; !r && is_private(hiding) && i < WFS_ARRAY_COUNT(edited); i++)
		if (effect == WFS_EFFECT_ACTION_EDIT_ARTIFACT)
			r = hide(hiding, action, edited[i], error);
	return wfs_trace(r);
}

/* The record of a write has hash and size of content and code in any case. */
static bool is_hashed(const json_t *action, const char *member)
{
	return wfs_action_effect(action) == WFS_EFFECT_ACTION_WRITE_ARTIFACT &&
		(strcmp(member, "content") == 0 || strcmp(member, "code") == 0);
}

/* What looks like a stand-in is hidden, so that each one in a record is one. */
static int hide_alike(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	const char *member;
	json_t *value;
	int r = 0;

	json_object_foreach((json_t *)(uintptr_t)action, member, value)
	{
		if (!r && !is_hashed(action, member) && wfs_text_has_hidden(value) &&
			!json_object_get(hiding->members, member))
			r = hide(hiding, action, member, error);
	}
	return wfs_trace(r);
}

int act_hide(struct act_hiding *hiding, const json_t *action, struct wfs_error *error)
{
	hiding->of = json_array();
	hiding->members = json_object();
	if (!hiding->of || !hiding->members)
		return fold_no_memory(error);
	int r = hide_own(hiding, action, error);
	return wfs_trace(r ? r : hide_alike(hiding, action, error));
}

void act_hiding_done(struct act_hiding *hiding)
{
	json_decref(hiding->of);
	json_decref(hiding->members);
}

/* --- out of a journal --- */

/* Where texts are found again. */
struct revealing {
	struct wfs_action_recorded *recorded;
	struct wfs_error *error;
};

static int reveal(void *context, const json_t *stand_in, json_t **ret_value)
{
	const struct revealing *const revealing = context;
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	struct wfs_hash hash;

	(void)wfs_text_is_hidden(stand_in, &hash);
	int r = revealing->recorded->hidden(revealing->recorded, &hash, &bytes, revealing->error);
	if (r)
		return wfs_trace(r);
	r = wfs_text_value(wfs_buffer_bytes(&bytes), ret_value);
	return r ? wfs_error_from_errno(revealing->error, r, "read a private text") : 1;
}

int act_reveal(struct wfs_action_recorded *recorded, const json_t *document, json_t **ret_copy,
	struct wfs_error *error)
{
	struct revealing revealing = {recorded, error};
	int r = wfs_text_reveal(document, reveal, &revealing, ret_copy);

	if (r && error->code == WFS_OK)
		return fold_no_memory(error);
	if (r && !invoke_fails_all(error))
		error->code = WFS_E_INTERNAL_ERROR; /* the action was not refused for it */
	return wfs_trace(r);
}
