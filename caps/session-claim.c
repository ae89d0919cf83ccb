/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a run, a plan or an intent belong to the principal? The principal that began it never
 * changes, so the answer still holds when the request is folded. One that does not exist is judged
 * as one of another principal, so that a refusal does not tell whether it exists.
 */
#include "caps/caps-impl.h"

#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/fold/key.h"

enum { OWNERS_MAX = 64 }; /* length of a chain of artifacts that own one another */

static bool is_own(const struct wfs_session *session, const char *principal)
{
	return strcmp(wfs_session_principal(session), principal) == 0;
}

/* @ret_document: NULL: not found */
static int find(struct wfs_view *view, enum wfs_builtin_reducer reducer, const char *key,
	json_t **ret_document, struct wfs_error *error)
{
	int r = strlen(key) <= WFS_KEY_SIZE_MAX
		? wfs_view_document(view, reducer, key, ret_document, error)
		: -ENOENT;

	if (r == -ENOENT)
		*error = (struct wfs_error){.code = WFS_OK};
	return r == -ENOENT ? 0 : wfs_trace(r);
}

/* --- runs --- */

/* @ret_run: its `own.json` is NULL if the run was not found, or after a failure */
static int find_run(struct wfs_view *view, const char *run_id, struct wfs_document_turn *ret_run,
	struct wfs_error *error)
{
	json_t *json = NULL;
	int r = find(view, WFS_BUILTIN_TURN, run_id, &json, error);
	const int read = wfs_document_read_turn(json, ret_run, r ? NULL : error);

	return r ? r : read;
}

int session_claim_run(const struct wfs_session *session, const char *run_id,
	struct wfs_question *question, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_turn run = {.own = {.json = NULL}};
	int r = wfs_view_open(session_world(session), WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = find_run(&view, run_id, &run, error);
	question->claim =
		run.own.json && is_own(session, run.asked_by) ? WFS_CLAIM_MADE : WFS_CLAIM_ADMIN;
	return r;
}

int session_claim_intent(const struct wfs_session *session, const char *intent_id,
	struct wfs_question *question, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *intent = NULL;
	int r = wfs_view_open(session_world(session), WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = find(&view, WFS_BUILTIN_INTENT, intent_id, &intent, error);
	question->claim = intent && is_own(session, wfs_json_text(intent, "principal"))
		? WFS_CLAIM_MADE
		: WFS_CLAIM_ADMIN;
	return r;
}

/* Is the principal the agent, or an artifact that belongs to it? Yes, too,
 * after too many owners. */
static int is_the_agents(struct wfs_view *view, const char *principal, const char *agent,
	bool *ret_is, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *id = json_string(principal);
	int r = id ? 0 : -ENOMEM;

	*ret_is = false;
	for (int i = 0; !r && id && i < OWNERS_MAX; i++) {
		WFS_AUTO_JSON json_t *artifact = NULL;

		if (strcmp(json_string_value(id), agent) == 0) {
			*ret_is = true;
			return 0;
		}
		r = find(view, WFS_BUILTIN_ARTIFACT, json_string_value(id), &artifact, error);
		json_t *const owner = json_incref(json_object_get(artifact, "owner"));
		const bool ends = !json_is_string(owner) || json_equal(owner, id);
		json_decref(id);
		id = owner;
		if (ends)
			return r;
	}
	*ret_is = !r;
	return r;
}

/* Is the principal that gave a grant the agent, or an artifact of the agent? Yes, too, if that
 * cannot be found out. */
static bool is_barred(void *context, const char *giver)
{
	const struct session_approval *const approval = context;
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_error ignored = {0};
	bool is = true;

	if (wfs_view_open(approval->world, WFS_HEIGHT_HEAD, &view, &ignored) ||
		is_the_agents(&view, giver, approval->run.agent, &is, &ignored))
		return true;
	return is;
}

int session_claim_approval(const struct wfs_session *session, const char *run_id,
	struct wfs_question *question, struct session_approval *ret_approval,
	struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_document_turn *const run = &ret_approval->run;
	bool is_agents = false;
	int r = wfs_view_open(session_world(session), WFS_HEIGHT_HEAD, &view, error);

	question->claim = WFS_CLAIM_OTHERS;
	if (!r)
		r = find_run(&view, run_id, run, error);
	if (r || !run->own.json)
		return r;
	ret_approval->world = session_world(session);
	question->artifact = run->agent;
	question->is_barred = is_barred;
	question->barred_context = ret_approval;
	r = is_the_agents(&view, wfs_session_principal(session), run->agent, &is_agents, error);
	if (is_agents)
		question->claim = WFS_CLAIM_NEVER;
	else if (is_own(session, run->asked_by))
		question->claim = WFS_CLAIM_ADMIN;
	return r;
}

bool session_is_own_run(const struct wfs_session *session, const struct wfs_document_turn *run)
{
	return is_own(session, run->agent) || is_own(session, run->asked_by);
}

void session_approval_done(struct session_approval *approval)
{
	wfs_document_done(&approval->run);
}

/* --- plans --- */

int session_claim_plan(const struct wfs_session *session, const char *plan_id,
	struct wfs_question *question, struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *plan = NULL;
	int r = wfs_view_open(session_world(session), WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = find(&view, WFS_BUILTIN_PLAN, plan_id, &plan, error);
	question->claim = is_own(session, wfs_json_text(plan, "principal")) ? WFS_CLAIM_MADE
									    : WFS_CLAIM_OTHERS;
	return r;
}

void session_claim_chat(
	const struct wfs_session *session, const char *chat_id, struct wfs_question *question)
{
	const char *const principal = wfs_session_principal(session);
	const size_t size = strlen(principal);
	const bool own = strncmp(chat_id, principal, size) == 0 && chat_id[size] == '+';

	question->claim = own ? WFS_CLAIM_MADE : WFS_CLAIM_OTHERS;
}
