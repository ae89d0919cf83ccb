/* SPDX-License-Identifier: Apache-2.0 */
/* Intents of tool.call of plans: the tool of a step is called with the rights of the plan's
 * principal. */
#include "agents/intent/intent-impl.h"

#include "agents/plan/placeholder.h"
#include "agents/prepare/private.h"
#include "agents/prepare/router.h"
#include "caps/session-read.h"
#include "caps/session-text.h"
#include "kernel/base/json.h"
#include "kernel/manifest/document.h"
#include "kernel/value/tool.h"

enum { STEP_TIMEOUT_MS = 60000 }; /* of a tool that reads */

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "call a tool of a plan")

/* --- outcomes --- */

/* The message may repeat private results that the arguments were filled with. The result has the
 * call as the plan has it. Return: 0, or -ENOMEM. */
static int hide_reason(struct work *work, json_t *outcome)
{
	json_t *const details = json_object_get(outcome, "details");
	struct wfs_error ignored;

	if (!outcome || !agents_origin_is_private(&work->calling.origin))
		return outcome ? 0 : -ENOMEM;
	WFS_AUTO_JSON json_t *of = agents_origin_list(&work->calling.origin);
	(void)json_object_del(details, "call");
	return of ? wfs_text_hide_member(&work->texts, of, details, "message", &ignored) : -ENOMEM;
}

json_t *step_outcome(struct work *work, const struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *outcome = agents_router_failed(work->calling.asked,
		error->code == WFS_E_TIMEOUT ? WFS_TOOL_TIMEOUT : WFS_TOOL_EXCEPTION,
		wfs_error_info(error->code)->name, error->message);
	json_t *const meta = work_failure_meta(work);

	if (meta && json_object_set(json_object_get(outcome, "details"), "meta", meta) < 0)
		return NULL;
	return hide_reason(work, outcome) ? NULL : WFS_STEAL(outcome);
}

/* @outcome: taken. @final: another attempt would have the same outcome */
static void answer(struct work *work, json_t *outcome, bool final)
{
	const bool ok = json_is_true(json_object_get(outcome, "ok"));

	work_answer(work, ok ? "ok" : "error",
		json_pack("{s:I, s:b, s:o}", "duration_ms", (json_int_t)work_elapsed_ms(work),
			"final", final, "outcome", outcome));
}

/* Hides a result that was read from private artifacts. A result with a text like a stand-in is
 * hidden, too: in an open result, a hidden text could take the place of that text. */
static int hide_read(struct work *work, json_t *outcome, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *of = NULL;
	int r = outcome ? wfs_session_noted(work->session, &of) : -ENOMEM;

	if (r < 0)
		return no_memory(error);
	if (r == 0 && !wfs_text_has_hidden(json_object_get(outcome, "result")))
		return 0;
	if (!of)
		of = json_array();
	return of ? wfs_text_hide_member(&work->texts, of, outcome, "result", error)
		  : no_memory(error);
}

/* An output that is a JSON object or array becomes that value. */
void step_take_output(struct work *work)
{
	const struct wfs_bytes output = wfs_buffer_bytes(&work->calling.output);
	WFS_AUTO_JSON json_t *value = NULL;
	struct wfs_error ignored;

	if (output.size > WFS_PLAN_RESULT_MAX) {
		answer(work,
			agents_router_failed(work->calling.asked, WFS_TOOL_EXCEPTION, "too_large",
				"the result has more bytes than are kept"),
			true);
		return;
	}
	if (wfs_json_parse_bounded(output.data, output.size, &value, &ignored) ||
		(!json_is_object(value) && !json_is_array(value))) {
		json_decref(value);
		value = json_stringn(wfs_buffer_text(&work->calling.output), output.size);
	}
	json_t *const outcome = agents_router_done(work->calling.asked, value);
	struct wfs_error error = {0};
	if (hide_read(work, outcome, &error)) {
		json_decref(outcome);
		work_fail(work, &error);
		return;
	}
	answer(work, outcome, false);
}

/* --- what is called --- */

/* Where the results come from that placeholders name. Plain value. */
struct results {
	const struct wfs_session *session; /* with whose rights private ones are read */
	struct wfs_view *view;
	const char *plan_id;
	struct agents_origin *origin; /* gets the owners of private texts */
	json_t *refs;                 /* indices by id; owned; NULL: no step has a result */
};

static void results_done(struct results *results)
{
	json_decref(results->refs);
}

static int find_result(
	void *context, const char *step_id, json_t **ret_result, struct wfs_error *error)
{
	const struct results *const results = context;
	const json_t *const index = json_object_get(results->refs, step_id);
	WFS_AUTO_JSON json_t *document = NULL;
	WFS_AUTO_JSON json_t *revealed = NULL;
	int r = index ? wfs_driving_step_result(results->view, results->plan_id,
				json_integer_value(index), &document, error)
		      : -ENOENT;

	if (r == -ENOENT && index)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the step '%.128s' has no result (yet)", step_id);
	if (!r && agents_origin_add_hidden(results->origin, document))
		r = no_memory(error);
	if (!r)
		r = agents_reveal(results->session, results->view, document, &revealed, error);
	if (!r)
		*ret_result = json_incref(json_object_get(revealed, "result"));
	return r;
}

int step_fill(const struct work *work, struct wfs_view *view, const json_t *value,
	struct agents_origin *origin, json_t **ret_value, struct wfs_error *error)
{
	WFS_CLEANUP(results_done)
	struct results results = {.session = work->session,
		.view = view,
		.plan_id = work->owner_id,
		.origin = origin};
	int r = wfs_driving_step_refs(view, work->owner_id, work->index, &results.refs, error);

	return r ? r : wfs_placeholder_fill(value, find_result, &results, ret_value, error);
}

/* @ret_outcome: of a call that cannot be made; caller owns it */
static int find_call(
	struct work *work, json_t **ret_tool, json_t **ret_outcome, struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_plan_step step = {.own = {.json = NULL}};
	WFS_AUTO_JSON json_t *filled = NULL;
	int r = wfs_session_view(work->session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_driving_step(&view, work->owner_id, work->index, &step, error);
	if (r)
		return r;
	work->calling.asked = agents_router_canonical(step.tool);
	if (!work->calling.asked)
		return no_memory(error);
	r = step_fill(work, &view, json_object_get(step.tool, "args"), &work->calling.origin,
		&filled, error);
	if (r == -EINVAL || r == -EFBIG) {
		*ret_outcome = agents_router_failed(
			work->calling.asked, WFS_TOOL_INVALID_CALL, "unresolved", error->message);
		return *ret_outcome ? -EINVAL : no_memory(error);
	}
	if (!r && json_object_set(work->calling.asked, "args", filled) < 0)
		r = no_memory(error);
	const struct agents_catalog catalog = {work->session, &view, work->engine->helpers};
	return r ? r
		 : agents_router_find(&catalog, work->calling.asked, ret_tool, ret_outcome, error);
}

/* Has the server list its tools whose tool the step may call. */
static bool list_tools(struct work *work)
{
	const char *const method = wfs_json_text(work->calling.asked, "method");
	char name[WFS_TOOL_NAME_MAX + 1];
	const int size = snprintf(name, sizeof(name), "%s%s%s",
		wfs_json_text(work->calling.asked, "name"), *method ? "." : "", method);

	return (size_t)size < sizeof(name) && ask_outside_list(work, name);
}

void step_begin(struct work *work)
{
	WFS_AUTO_JSON json_t *tool = NULL;
	json_t *outcome = NULL;
	struct wfs_error error = {0};
	json_t *args;
	int r;

	json_decref(WFS_STEAL(work->calling.asked));
	r = find_call(work, &tool, &outcome, &error);
	if (r == -ENOENT && list_tools(work)) {
		json_decref(outcome);
		return;
	}
	args = json_object_get(work->calling.asked, "args");
	if (outcome && hide_reason(work, outcome)) {
		json_decref(WFS_STEAL(outcome));
		r = no_memory(&error);
	}
	if (outcome) {
		answer(work, outcome, true);
		return;
	}
	if (!r && agents_tool_is(tool, WFS_TOOL_KIND_READ)) {
		r = call_read(work, tool, args, STEP_TIMEOUT_MS, &error);
		if (!r)
			return;
	}
	if (!r && agents_tool_is(tool, WFS_TOOL_KIND_OUTSIDE)) {
		ask_outside(work, tool, args, NULL, INT64_MAX);
		return;
	}
	if (!r)
		r = agents_tool_action(work->engine->helpers, tool, args, &work->action, &error);
	work->called = (struct wfs_session_call){.intent_id = work->intent_id, .cannot_wait = true};
	if (r)
		work_fail(work, &error);
	else
		work_submit(work);
}
