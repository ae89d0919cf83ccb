/* SPDX-License-Identifier: Apache-2.0 */
/* Folds answers to chats: replies of models, and plans that were cut into steps, in parts. */
#include "kernel/base/json.h"
#include "kernel/domain/plan/plan-impl.h"

/* --- replies --- */

static int fail(struct chat *chat, const struct wfs_body_receipt *receipt, const char *code,
	struct wfs_error *error)
{
	json_t *const payload = receipt->payload;
	const bool cancelled = strcmp(receipt->status, "cancelled") == 0;
	WFS_AUTO_JSON json_t *details = wfs_json_copy(payload);
	static const char *const internal[] = {"duration_ms", "failed", "partial", "usage"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(internal); i++)
		(void)json_object_del(details, internal[i]);
	chat->message.status = cancelled ? "cancelled" : "failed";
	chat->message.error = chat->owned =
		json_pack("{s:s, s:O}", "code", code, "details", details);
	return chat->owned ? 0 : fold_no_memory(error);
}

/* Takes a reply that is not a plan as the answer of the chat. */
static int take_text(struct chat *chat, json_t *text, struct wfs_error *error)
{
	char key[WFS_CHAT_ID_MAX + 1];

	snprintf(key, sizeof(key), "%s", chat->id);
	*strrchr(key, '.') = '\0';
	chat->message.reply = chat->reply;
	chat->message.status = "answered";
	return wfs_trace(plan_reply(chat->fold, key, text, NULL, chat->reply, error));
}

/* Keeps a reply that is a plan, and has the driver cut it into steps. */
static int take_source(struct chat *chat, json_t *text, struct wfs_error *error)
{
	const struct wfs_document_plan_source source = {.text = text};
	int r = fold_put_plan_source(chat->fold, chat->id, &source, error);

	chat->message.status = "normalizing";
	return wfs_trace(
		r ? r : plan_chat_ask(chat, WFS_EFFECT_PLAN_NORMALIZE, json_object(), error));
}

static int fold_reply(
	struct chat *chat, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const json_t *const payload = receipt->payload;
	json_t *const plan = json_object_get(payload, "plan");
	json_t *const text = json_object_get(payload, "text");
	char principal[WFS_CHAT_ID_MAX + 1];
	int r = plan_spend(chat->fold, plan_chat_principal(chat->id, principal), receipt, error);

	if (r)
		return wfs_trace(r);
	if (strcmp(receipt->status, "ok") != 0)
		return wfs_trace(fail(chat, receipt,
			*wfs_json_text(payload, "failed") ? wfs_json_text(payload, "failed")
							  : WFS_CHAT_LLM_FAILED,
			error));
	if (json_is_string(plan))
		return wfs_trace(take_source(chat, plan, error));
	if (json_is_string(text))
		return wfs_trace(take_text(chat, text, error));
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'payload': expected a string 'plan', or a string 'text'");
}

/* --- the steps --- */

static json_t *new_state(const struct chat *chat, const json_t *payload)
{
	const char *const session = strrchr(chat->id, '+') + 1;
	const int session_size = (int)(strrchr(session, '.') - session);
	const json_int_t now_ns = chat->fold->input.at_ns;
	const bool in_order = json_is_true(json_object_get(payload, "in_order"));
	char principal[WFS_CHAT_ID_MAX + 1];

	return json_pack("{s:{s:i, s:[], s:b}, s:I, s:i, s:s, s:I, s:i, s:i, s:O*, s:i, s:O*, s:O, "
			 "s:O*, s:o, "
			 "s:s, s:[], s:s, s:O, s:s, s:i, s:i, s:s#, s:i, s:s, s:s, s:i, s:i, s:i, "
			 "s:O, s:I}",
		"batch", "next", 0, "steps", "tools", 0, "batch_size",
		(json_int_t)chat->message.batch_size, "batches", 0, "chat_id", chat->id,
		"created_ns", now_ns, "defined", 0, "done", 0, "draft",
		json_object_get(payload, "draft"), "failed", 0, "final",
		json_object_get(payload, "final"), "goal", json_object_get(payload, "goal"),
		"in_order", json_object_get(payload, "in_order"), "max_concurrency",
		in_order ? json_incref(json_object_get(payload, "max_concurrency"))
			 : json_integer(chat->message.max_concurrency),
		"model", chat->message.model, "open", "phase", "defining", "plan_id",
		json_object_get(payload, "plan_id"), "principal",
		plan_chat_principal(chat->id, principal), "results_bytes", 0, "results_count", 0,
		"session_id", session, session_size, "skipped", 0, "source_id", chat->id, "status",
		"running", "steps_bytes", 0, "tool_batches", 0, "tool_calls", 0, "total",
		json_object_get(payload, "total"), "updated_ns", now_ns);
}

static int not_as(const char *member, const char *expected, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected %s", member, expected);
}

/* Checks the members that every part has. */
static int check_head(const json_t *payload, struct wfs_error *error)
{
	const json_t *const plan_id = json_object_get(payload, "plan_id");
	const json_t *const at_once = json_object_get(payload, "max_concurrency");

	if (!json_is_string(json_object_get(payload, "goal")))
		return not_as("goal", "a string", error);
	if (!*wfs_json_text(payload, "plan_id") || json_string_length(plan_id) > WFS_PLAN_ID_SIZE)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'plan_id': expected a string of 1 to %d bytes", WFS_PLAN_ID_SIZE);
	if (!plan_is_number(json_object_get(payload, "total"), 0, WFS_PLAN_STEPS_MAX))
		return not_as("total", "a number of steps", error);
	if (at_once && !plan_is_number(at_once, 1, WFS_PLAN_CONCURRENCY_MAX))
		return not_as("max_concurrency", "a number of steps at once", error);
	return 0;
}

static int new_plan(
	struct chat *chat, const json_t *payload, struct plan *ret_plan, struct wfs_error *error)
{
	const json_t *const created = json_object_get(payload, "created_ns");
	int r = check_head(payload, error);

	if (!r)
		r = plan_new(chat->fold, new_state(chat, payload), ret_plan, error);
	if (r)
		return wfs_trace(r);
	if (created) /* the plan was imported */
		ret_plan->state.created_ns = json_integer_value(created);
	chat->message.plan_id = wfs_json_text(payload, "plan_id");
	return 0;
}

/* Loads the plan that a part is added to; the first part makes the plan. */
static int plan_of_part(
	struct chat *chat, const json_t *payload, struct plan *ret_plan, struct wfs_error *error)
{
	const char *const plan_id = chat->message.plan_id;

	if (!plan_id)
		return wfs_trace(new_plan(chat, payload, ret_plan, error));
	int r = check_head(payload, error);
	if (!r && strcmp(wfs_json_text(payload, "plan_id"), plan_id) != 0)
		r = not_as("plan_id", "that of the part before", error);
	if (!r)
		r = plan_load(chat->fold, plan_id, ret_plan, error);
	if (!r && json_integer_value(json_object_get(payload, "total")) != ret_plan->state.total)
		r = not_as("total", "that of the part before", error);
	return wfs_trace(r);
}

static int check_steps(const struct plan *plan, const json_t *payload, struct wfs_error *error)
{
	const json_t *const steps = json_object_get(payload, "steps");
	const int64_t defined = plan->state.defined;
	const int64_t total = plan->state.total;

	if (!json_is_array(steps) || json_array_size(steps) > WFS_PLAN_PART_MAX ||
		!plan_is_number(json_object_get(payload, "offset"), defined, defined))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'steps': expected an array of at most %d, from step %lld on",
			WFS_PLAN_PART_MAX, (long long)defined);
	if (defined + (int64_t)json_array_size(steps) > total)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'steps': %zu from step %lld on are too many, the plan has %lld steps",
			json_array_size(steps), (long long)defined, (long long)total);
	return 0;
}

/* Begins a complete plan. An imported one begins when somebody resumes it. */
static int start(
	struct plan *plan, struct chat *chat, const json_t *payload, struct wfs_error *error)
{
	const json_t *const counts = json_object_get(payload, "counts");
	const char *const status = wfs_json_text(payload, "status");
	static const char *const names[] = {"done", "failed", "skipped"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++)
		*plan_counter(plan, names[i]) =
			json_integer_value(json_object_get(counts, names[i]));
	chat->message.open = NULL;
	chat->message.status = "planned";
	plan->state.phase = *status ? "ended" : "running";
	if (*status)
		plan->state.status = status;
	else if (json_is_false(chat->message.resume))
		plan->state.status = "cancelled";
	else
		return wfs_trace(plan_go_on(plan, error));
	return 0;
}

static int fold_part(
	struct chat *chat, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const json_t *const payload = receipt->payload;
	PLAN_AUTO struct plan plan = {.fold = chat->fold};
	const json_t *step;
	size_t i;
	int r = plan_of_part(chat, payload, &plan, error);

	if (!r)
		r = check_steps(&plan, payload, error);
	json_array_foreach(json_object_get(payload, "steps"), i, step) {
		if (!r)
			r = plan_step_define(&plan, step, error);
	}
	if (r)
		return wfs_trace(r);
	if (plan.state.defined == plan.state.total) {
		r = intent_close(chat->fold, receipt->intent_id, error);
		if (!r)
			r = start(&plan, chat, payload, error);
	}
	return wfs_trace(r ? r : plan_store(&plan, error));
}

/* Keeps what the model wrote with a plan that never runs, even if some of its steps were given. */
static int keep_failed(
	struct chat *chat, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const json_t *const payload = receipt->payload;
	const char *const plan_id = chat->message.plan_id;
	PLAN_AUTO struct plan plan = {.fold = chat->fold};

	if (!plan_id && !*wfs_json_text(payload, "plan_id"))
		return 0;
	int r = plan_id ? plan_load(chat->fold, plan_id, &plan, error)
			: new_plan(chat, payload, &plan, error);
	if (r)
		return wfs_trace(r);
	plan.state.phase = "ended";
	plan.state.status = "failed_normalize";
	plan.state.error = chat->message.error;
	return wfs_trace(plan_store(&plan, error));
}

static int fold_normalized(
	struct chat *chat, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	if (strcmp(receipt->status, "ok") == 0)
		return wfs_trace(fold_part(chat, receipt, error));
	chat->message.open = NULL;
	int r = intent_close(chat->fold, receipt->intent_id, error);
	if (!r)
		r = fail(chat, receipt, WFS_CHAT_NORMALIZE_FAILED, error);
	return wfs_trace(r ? r : keep_failed(chat, receipt, error));
}

int plan_fold_chat_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const bool is_reply = strcmp(intent->effect, wfs_effect_kind(WFS_EFFECT_LLM_GENERATE)) == 0;
	CHAT_AUTO struct chat chat = {.fold = fold, .id = intent->chat_id};
	int r = plan_chat_load(&chat, error);

	if (!r && is_reply) {
		chat.message.open = NULL;
		r = intent_close(fold, receipt->intent_id, error);
	}
	if (!r)
		r = is_reply ? fold_reply(&chat, receipt, error)
			     : fold_normalized(&chat, receipt, error);
	return wfs_trace(r ? r : fold_write_chat_message(fold, &chat.message, error));
}
