/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/engine/response.h"

#include "caps/driving.h"
#include "kernel/base/json.h"
#include "kernel/value/bounds.h"

enum {
	RESULTS_BYTES_MAX = 4 << 20, /* bytes of results; further ones are left out */
	STEPS_BYTES_MAX = 8 << 20,   /* bytes of a plan's steps; a larger plan comes without them */
};

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "answer a chat")

void response_done(struct response *response)
{
	wfs_document_done(&response->message);
	wfs_document_done(&response->reply);
	json_decref(response->details);
	wfs_document_done(&response->state);
	json_decref(response->results);
	json_decref(response->plan);
	json_decref(response->checkpoint);
	*response = (struct response){.code = NULL};
}

/* The result of step @index if a tool gave it. @bytes: size of all results; grows */
static int add_result(struct wfs_view *view, const char *plan_id, int64_t index, size_t *bytes,
	json_t *results, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan_step step;
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_driving_step(view, plan_id, index, &step, error);

	if (r || !json_is_object(step.result_ref) || strcmp(step.type, "tool") != 0)
		return r;
	*bytes += (size_t)json_integer_value(json_object_get(step.result_ref, "bytes"));
	if (*bytes > RESULTS_BYTES_MAX)
		return 0;
	r = wfs_driving_step_result(view, plan_id, index, &result, error);
	if (!r && json_array_append(results, result) < 0)
		r = no_memory(error);
	return r;
}

/* Adds the members that all details have. */
static int tell_omitted(struct response *response, struct wfs_error *error)
{
	json_t *const details = response->details
		? wfs_json_copy(response->details)
		: json_pack("{s:s}", "message",
			  "the results of all steps are too large for the answer; they are in the "
			  "plan's directory");

	json_decref(response->details);
	response->details = details;
	return json_object_set_new(details, "results_omitted", json_true()) < 0 ? no_memory(error)
										: 0;
}

static int add_results(struct wfs_view *view, struct response *response, struct wfs_error *error)
{
	const struct wfs_document_plan *const plan = &response->state;
	size_t bytes = 0;
	int r = 0;

	response->results = json_array();
	if (!response->results)
		return no_memory(error);
	for (int64_t i = 0; !r && i < plan->total && bytes <= RESULTS_BYTES_MAX; i++)
		r = add_result(view, plan->plan_id, i, &bytes, response->results, error);
	return !r && bytes > RESULTS_BYTES_MAX ? tell_omitted(response, error) : r;
}

/* Adds the plan as its file has it; a large plan comes without its steps. */
static int add_plan(struct wfs_view *view, struct response *response, struct wfs_error *error)
{
	const struct wfs_document_plan *const plan = &response->state;
	const bool large = plan->steps_bytes > STEPS_BYTES_MAX;
	WFS_AUTO_JSON json_t *document = NULL;
	uint64_t size = 0;
	int r = wfs_driving_plan_file(view, plan, large ? NULL : &document, &size, error);

	if (r)
		return r;
	if (large)
		response->plan = json_pack("{s:O, s:s, s:s, s:I}", "goal", plan->goal, "plan_id",
			plan->plan_id, "status", plan->status, "steps_omitted",
			(json_int_t)plan->total);
	else
		response->plan = json_incref(json_object_get(document, "plan"));
	response->checkpoint = json_pack("{s:I, s:b, s:s++, s:s, s:s}", "bytes", (json_int_t)size,
		"ok", 1, "path", "plan:", plan->plan_id, "", "plan_id", plan->plan_id, "status",
		plan->status);
	return response->plan && response->checkpoint ? 0 : no_memory(error);
}

int response_take_plan(
	struct wfs_view *view, bool parked, struct response *response, struct wfs_error *error)
{
	const struct wfs_document_plan *const plan = &response->state;

	response->final = json_string_value(plan->final);
	if (!parked) {
		response->code = strcmp(plan->status, "cancelled") == 0
			? WFS_CHAT_CANCELLED
			: json_string_value(json_object_get(plan->error, "code"));
		response->details = json_incref(json_object_get(plan->error, "details"));
	}
	int r = add_results(view, response, error);
	return r ? r : add_plan(view, response, error);
}

bool response_has_ended(const struct wfs_document_plan *plan)
{
	return strcmp(plan->status, "running") != 0 ||
		(strcmp(plan->phase, "answering") == 0 && json_array_size(plan->open) == 0);
}

int response_take_reply(struct wfs_view *view, struct response *response, struct wfs_error *error)
{
	const char *const id = response->message.reply;
	int r = wfs_driving_message(view, id ? id : "", &response->reply, error);

	response->final = r ? "" : json_string_value(response->reply.content);
	return r;
}

int response_take_failure(struct wfs_view *view, struct response *response, struct wfs_error *error)
{
	const json_t *const failure = response->message.error;
	const char *const code = json_string_value(json_object_get(failure, "code"));
	int r = 0;

	if (response->message.plan_id)
		r = wfs_driving_plan(view, response->message.plan_id, &response->state, error);
	if (!r && response->state.own.json)
		r = add_plan(view, response, error);
	response->code = code ? code : WFS_CHAT_CANCELLED;
	response->details = json_incref(json_object_get(failure, "details"));
	return r;
}
