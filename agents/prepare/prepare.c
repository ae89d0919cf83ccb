/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/prepare/prepare-impl.h"

#include "agents/prepare/variables.h"
#include "caps/driving.h"
#include "caps/session-read.h"
#include "caps/session.h"
#include "kernel/base/json.h"

bool agents_has_mind(const json_t *content)
{
	static const char *const members[] = {PREPARE_PERSONALITY, PREPARE_WORKFLOW, PREPARE_REFLEX,
		PREPARE_WORKING_MEMORY, PREPARE_LONG_MEMORY, "prompts", "workflow"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++)
		if (json_object_get(content, members[i]) &&
			!json_is_null(json_object_get(content, members[i])))
			return true;
	return false;
}

static void preparing_done(struct preparing *turn)
{
	json_decref(turn->notes);
	json_decref(turn->variables);
	json_decref(turn->mind);
	json_decref(turn->read);
	json_decref(turn->place);
	json_decref(turn->workflow);
	json_decref(turn->messages);
}

static int prepare_all(struct preparing *turn, struct wfs_error *error)
{
	json_t *const setup = json_object_get(turn->step, "setup");
	int r = prepare_working_memory(turn, error);

	if (!r)
		r = prepare_reflex(turn, error);
	if (!r && !json_object_get(turn->step, "reflex"))
		r = prepare_workflow(turn, error);
	if (!r && turn->workflow)
		r = prepare_transition(turn, error);
	/* If the caller gave the whole history, the workflow decides only what comes after it. */
	if (!r && !json_object_get(turn->step, "reflex") &&
		!json_object_get(turn->params, "messages"))
		r = prepare_messages(turn, error);
	if (r)
		return r;
	return json_object_set(turn->step, "notes", turn->notes) < 0 ||
			json_object_set(setup, "mind", turn->mind) < 0
		? prepare_no_memory(error)
		: 0;
}

/* One view reads the variables; later steps wait for the kernel, while no view is open. */
static int look(struct preparing *turn, struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_error reason = {0};
	int r = wfs_session_view(turn->session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = agents_variables(
			turn->session, &view, turn->mind, turn->origin, &turn->variables, error);
	if (r)
		return r;
	r = wfs_driving_own(turn->session, &view, WFS_BUILTIN_WORKFLOW, &turn->place, &reason);
	if (r && r != -ENOENT) {
		*error = reason;
		return r;
	}
	json_t *const state = json_object_get(turn->place, "current_state");
	if (!state ||
		(!prepare_reference_of(turn->content, PREPARE_WORKFLOW) &&
			!json_is_object(json_object_get(turn->content, "workflow"))))
		return 0;
	/* A reflex gets the state that was entered last: the workflow is read later, because that
	 * may cost. */
	return prepare_set_variable(turn, "current_state", json_incref(state), error);
}

int agents_prepare(const struct wfs_session *session, const json_t *content, const json_t *params,
	json_t *step, struct agents_origin *origin, struct wfs_error *error)
{
	WFS_CLEANUP(preparing_done)
	struct preparing turn = {
		.session = session,
		.content = content,
		.params = params,
		.step = step,
		.notes = json_array(),
		.mind = json_object(),
		.read = json_object(),
		.messages = json_array(),
		.origin = origin,
	};

	if (!turn.notes || !turn.mind || !turn.read || !turn.messages)
		return prepare_no_memory(error);
	int r = agents_origin_add_agent(origin, session, wfs_session_principal(session), error);
	if (!r)
		r = look(&turn, error);
	return r ? r : prepare_all(&turn, error);
}
