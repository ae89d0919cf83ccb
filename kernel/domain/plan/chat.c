/* SPDX-License-Identifier: Apache-2.0 */
/* Folds what principals say in chats until there is a plan, and what they say to a plan: continue,
 * stop. */
#include "kernel/base/json.h"
#include "kernel/domain/plan/plan-impl.h"
#include "kernel/manifest/grant.h"

/* --- forms --- */

bool wfs_chat_session_valid(const char *session_id)
{
	return strlen(session_id) <= WFS_CHAT_SESSION_MAX && wfs_grant_name_valid(session_id);
}

static int check_session(const char *name, const json_t *value, struct wfs_error *error)
{
	if (wfs_chat_session_valid(json_string_value(value)))
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s': expected at most %d letters, digits and . _ # @ : -, a letter or "
		"digit first, got '%.120s'",
		name, WFS_CHAT_SESSION_MAX, json_string_value(value));
}

static int check_message(const char *name, const json_t *value, struct wfs_error *error)
{
	if (json_string_length(value) <= WFS_CHAT_MESSAGE_MAX)
		return 0;
	return wfs_error_set(error, WFS_E_TOO_LARGE, "'%s' has %zu bytes, at most %d are taken",
		name, json_string_length(value), WFS_CHAT_MESSAGE_MAX);
}

static const struct wfs_form session = {.kind = WFS_FORM_TEXT, .then = check_session};
static const struct wfs_form batch = {
	.kind = WFS_FORM_INTEGER, .min = 1, .max = WFS_PLAN_BATCH_MAX};
static const struct wfs_form at_once = {
	.kind = WFS_FORM_INTEGER, .min = 1, .max = WFS_PLAN_CONCURRENCY_MAX};

static const struct wfs_field chat_fields[] = {
	{"message", WFS_FORM(.kind = WFS_FORM_TEXT, .then = check_message)},
	{"plan_id", &wfs_form_text}, {"called_by", &wfs_form_text}, {"session_id", &session},
	{"model", &wfs_form_text}, {"batch_size", &batch}, {"max_concurrency", &at_once}, {NULL}};
const struct wfs_form plan_chat_form = {
	.members = "action_type batch_size called_by? max_concurrency message model plan_id? "
		   "session_id",
	.fields = chat_fields,
};

static const struct wfs_field import_fields[] = {{"blob", &wfs_form_hash},
	{"rerun", &wfs_form_bool}, {"resume", &wfs_form_bool}, {"session_id", &session},
	{"model", &wfs_form_text}, {"batch_size", &batch}, {"max_concurrency", &at_once}, {NULL}};
const struct wfs_form plan_import_form = {
	.members = "action_type batch_size blob max_concurrency model rerun? resume? session_id",
	.fields = import_fields,
};

static const struct wfs_field resume_fields[] = {
	{"retry_failed", &wfs_form_bool}, {"plan_id", &wfs_form_text}, {NULL}};
const struct wfs_form plan_resume_form = {
	.members = "action_type plan_id retry_failed?", .fields = resume_fields};

static int check_stop(const char *name, const json_t *action, struct wfs_error *error)
{
	const bool plan = json_object_get(action, "plan_id") != NULL;
	const char *id;

	(void)name;
	if (plan == (json_object_get(action, "chat_id") != NULL))
		return wfs_error_set(error, WFS_E_MISSING_ARGUMENT,
			"expected 'plan_id', or 'chat_id' of a chat");
	return wfs_json_get_string(action, plan ? "plan_id" : "chat_id", &id, error);
}
const struct wfs_form plan_stop_form = {
	.members = "action_type chat_id? plan_id?", .then = check_stop};

/* --- messages --- */

static void chat_key(
	const struct wfs_fold *fold, const json_t *action, char ret_key[static WFS_CHAT_ID_MAX + 1])
{
	snprintf(ret_key, WFS_CHAT_ID_MAX + 1, "%s+%s", fold->input.principal,
		wfs_json_text(action, "session_id"));
}

void chat_done(struct chat *chat)
{
	wfs_document_done(&chat->message);
	json_decref(chat->owned);
}

int plan_say(struct wfs_fold *fold, const char *chat,
	const struct wfs_document_chat_message *message, char ret_id[static WFS_CHAT_ID_MAX + 1],
	struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_chat state;
	int r = fold_read_chat(fold, chat, &state, error);

	if (r)
		return wfs_trace(r);
	if (!state.own.json) {
		state.created_ns = fold->input.at_ns;
		state.principal = fold->input.principal;
		state.session_id = strrchr(chat, '+') + 1;
	}
	snprintf(ret_id, WFS_CHAT_ID_MAX + 1, "%s.%lld", chat, (long long)state.messages++);
	r = fold_write_chat(fold, &state, error);
	return wfs_trace(r ? r : fold_put_chat_message(fold, ret_id, message, error));
}

int plan_reply(struct wfs_fold *fold, const char *chat, json_t *text, const char *plan_id,
	char ret_id[static WFS_CHAT_ID_MAX + 1], struct wfs_error *error)
{
	const struct wfs_document_chat_message reply = {.batch_size = -1,
		.content = text,
		.max_concurrency = -1,
		.plan_id = plan_id,
		.role = "assistant"};

	return wfs_trace(plan_say(fold, chat, &reply, ret_id, error));
}

int plan_chat_load(struct chat *chat, struct wfs_error *error)
{
	int r = fold_read_chat_message(chat->fold, chat->id, &chat->message, error);

	if (!r && !chat->message.own.json)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Chat '%.240s' not found", chat->id);
	return wfs_trace(r);
}

/* The message of a question. Borrows from @action and @content. */
static struct wfs_document_chat_message asking(
	const json_t *action, json_t *content, const char *status)
{
	return (struct wfs_document_chat_message){
		.batch_size = json_integer_value(json_object_get(action, "batch_size")),
		.content = content,
		.max_concurrency = json_integer_value(json_object_get(action, "max_concurrency")),
		.model = wfs_json_text(action, "model"),
		.role = "user",
		.status = status,
	};
}

/* The principal of the chat, and not that of the request: the driver, or a principal that resumes
 * the plan, may be another one. */
const char *plan_chat_principal(const char *chat_id, char ret_principal[static WFS_CHAT_ID_MAX + 1])
{
	snprintf(ret_principal, WFS_CHAT_ID_MAX + 1, "%.*s", (int)(strrchr(chat_id, '+') - chat_id),
		chat_id);
	return ret_principal;
}

int plan_chat_ask(
	struct chat *chat, enum wfs_effect effect, json_t *params, struct wfs_error *error)
{
	char principal[WFS_CHAT_ID_MAX + 1];

	if (params && json_object_set_new(params, "chat_id", json_string(chat->id)) < 0)
		json_decref(WFS_STEAL(params));
	const struct intent intent = {
		.effect = effect,
		.reducer = WFS_BUILTIN_CHAT_MESSAGE,
		.key = chat->id,
		.params = params,
		.document = {.chat_id = chat->id,
			.principal = plan_chat_principal(chat->id, principal),
			.turn = -1,
			.call = -1,
			.step = -1,
			.not_before_ns = -1},
	};
	chat->message.open = chat->open;
	return wfs_trace(intent_open(chat->fold, &intent, chat->open, error));
}

/* --- going on with a plan --- */

/* Asks the driver again for steps of the plan that it has not given. */
static int define_again(struct plan *plan, struct wfs_error *error)
{
	CHAT_AUTO struct chat chat = {.fold = plan->fold, .id = plan->state.source_id};
	int r = plan_chat_load(&chat, error);

	if (r || chat.message.open)
		return wfs_trace(r);
	r = plan_chat_ask(&chat, WFS_EFFECT_PLAN_NORMALIZE, json_object(), error);
	chat.message.status = "normalizing";
	return wfs_trace(r ? r : fold_write_chat_message(plan->fold, &chat.message, error));
}

/* Does the plan wait until somebody resumes it? */
static bool is_waiting(const struct plan *plan)
{
	return plan_is(plan->state.status, "cancelled") ||
		(plan_is(plan->state.phase, "answering") && plan_open_count(plan) == 0);
}

static int go_on_again(struct plan *plan, struct wfs_error *error)
{
	const bool is_defined = plan->state.defined == plan->state.total;

	if (!plan_is(plan->state.status, "cancelled"))
		return wfs_trace(plan_ask_answer(plan, error));
	plan->state.status = "running";
	plan->state.phase = is_defined ? "running" : "defining";
	return wfs_trace(is_defined ? plan_go_on(plan, error) : define_again(plan, error));
}

static int load_resumable(
	struct wfs_fold *fold, const json_t *action, struct plan *ret_plan, struct wfs_error *error)
{
	const char *const plan_id = wfs_json_text(action, "plan_id");
	int r = intent_check_room(fold, error);

	if (!r)
		r = plan_load(fold, plan_id, ret_plan, error);
	if (!r && plan_is(ret_plan->state.status, "failed_normalize"))
		r = wfs_error_set(error, WFS_E_CONFLICT,
			"plan '%s' has no steps: what the model wrote is no plan", plan_id);
	return wfs_trace(r);
}

static json_t *answer_of(const char *chat_id, const char *plan_id)
{
	return json_pack("{s:s, s:s*}", "chat_id", chat_id, "plan_id", plan_id);
}

/* Runs the failed steps of an ended or cancelled plan again. */
static int retry_failed(struct plan *plan, struct wfs_error *error)
{
	const bool ended = plan_is(plan->state.phase, "ended");

	if (!ended && !is_waiting(plan))
		return wfs_error_set(error, WFS_E_CONFLICT,
			"plan '%s' is running: its failed steps run again when it has ended, or "
			"was "
			"cancelled",
			plan->plan_id);
	if (plan->state.failed == 0)
		return wfs_error_set(
			error, WFS_E_CONFLICT, "no step of plan '%s' has failed", plan->plan_id);
	plan_retry(plan);
	if (plan->state.defined < plan->state.total)
		return wfs_trace(go_on_again(plan, error));
	plan->state.status = "running";
	plan->state.phase = "running";
	return wfs_trace(plan_go_on(plan, error));
}

int plan_fold_resume(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	PLAN_AUTO struct plan plan = {.fold = fold};
	int r = load_resumable(fold, action, &plan, error);

	const bool retry = json_is_true(json_object_get(action, "retry_failed"));

	if (!r && (retry || is_waiting(&plan))) {
		r = retry ? retry_failed(&plan, error) : go_on_again(&plan, error);
		if (!r)
			r = plan_store(&plan, error);
	}
	if (r)
		return wfs_trace(r);
	*ret_answer = answer_of(plan.state.chat_id, plan.plan_id);
	return *ret_answer ? 0 : fold_no_memory(error);
}

/* Folds another message about a plan of the principal's session. */
static int fold_more(struct wfs_fold *fold, const char *chat, const json_t *action,
	char ret_id[static WFS_CHAT_ID_MAX + 1], struct wfs_error *error)
{
	PLAN_AUTO struct plan plan = {.fold = fold};
	struct wfs_document_chat_message message =
		asking(action, json_object_get(action, "message"), "resumed");
	int r = load_resumable(fold, action, &plan, error);

	if (!r &&
		(!plan_is(plan.state.principal, fold->input.principal) ||
			!plan_is(plan.state.session_id, wfs_json_text(action, "session_id"))))
		r = wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"plan '%s' is of another session than '%s'", plan.plan_id,
			wfs_json_text(action, "session_id"));
	message.plan_id = plan.plan_id;
	if (!r)
		r = plan_say(fold, chat, &message, ret_id, error);
	if (r || plan_is(plan.state.phase, "ended"))
		return wfs_trace(r);
	plan.state.chat_id = ret_id;
	r = is_waiting(&plan) ? go_on_again(&plan, error) : 0;
	return wfs_trace(r ? r : plan_store(&plan, error));
}

/* --- asking for a plan --- */

/* Asks for a plan. @message: as plan_say() takes it. @effect: gives the plan, or its text; a model
 * is asked for the text */
static int begin(struct wfs_fold *fold, const char *key,
	const struct wfs_document_chat_message *message, enum wfs_effect effect,
	char ret_id[static WFS_CHAT_ID_MAX + 1], struct wfs_error *error)
{
	struct chat chat = {.fold = fold, .id = ret_id, .message = *message};
	int r = intent_check_room(fold, error);

	if (!r)
		r = plan_say(fold, key, message, ret_id, error);
	if (r)
		return wfs_trace(r);
	r = plan_chat_ask(&chat, effect,
		effect == WFS_EFFECT_LLM_GENERATE ? json_pack("{s:s}", "model", message->model)
						  : json_object(),
		error);
	return wfs_trace(r ? r : fold_put_chat_message(fold, ret_id, &chat.message, error));
}

static int say(struct wfs_fold *fold, const json_t *action, char ret_id[static WFS_CHAT_ID_MAX + 1],
	struct wfs_error *error)
{
	const struct wfs_document_chat_message message =
		asking(action, json_object_get(action, "message"), "planning");
	char chat[WFS_CHAT_ID_MAX + 1];

	chat_key(fold, action, chat);
	if (json_object_get(action, "plan_id"))
		return wfs_trace(fold_more(fold, chat, action, ret_id, error));
	return wfs_trace(begin(fold, chat, &message, WFS_EFFECT_LLM_GENERATE, ret_id, error));
}

int plan_fold_chat(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const called_by = json_string_value(json_object_get(action, "called_by"));
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	char chat_id[WFS_CHAT_ID_MAX + 1];
	const struct fold_mark mark = fold_mark(fold);
	int r = say(fold, action, chat_id, error);

	if (!r && called_by)
		r = intent_begin(fold, called_by, chat_id, &intent, error);
	if (r)
		fold_take_back(fold, &mark);
	else
		fold_keep(fold, &mark);
	if (r)
		return wfs_trace(r);
	*ret_answer = answer_of(chat_id, json_string_value(json_object_get(action, "plan_id")));
	return *ret_answer ? 0 : fold_no_memory(error);
}

int plan_fold_import(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *content = json_string("(an imported plan)");
	struct wfs_document_chat_message message = asking(action, content, "normalizing");
	char chat_id[WFS_CHAT_ID_MAX + 1];
	char chat[WFS_CHAT_ID_MAX + 1];

	chat_key(fold, action, chat);
	message.blob = wfs_json_text(action, "blob");
	message.resume = json_boolean(json_is_true(json_object_get(action, "resume")));
	message.rerun = json_is_true(json_object_get(action, "rerun"));
	int r = begin(fold, chat, &message, WFS_EFFECT_PLAN_NORMALIZE, chat_id, error);
	if (r)
		return wfs_trace(r);
	*ret_answer = answer_of(chat_id, NULL);
	return *ret_answer ? 0 : fold_no_memory(error);
}

/* --- stopping --- */

/* Stops a chat that waits for its plan. */
static int stop_chat(struct wfs_fold *fold, const char *chat_id, struct wfs_error *error)
{
	CHAT_AUTO struct chat chat = {.fold = fold, .id = chat_id};
	int r = plan_chat_load(&chat, error);

	if (!r && !chat.message.open)
		r = wfs_error_set(
			error, WFS_E_CONFLICT, "chat '%.240s' waits for nothing", chat_id);
	if (!r)
		r = intent_cancel(fold, chat.message.open, error);
	chat.message.open = NULL;
	chat.message.status = "cancelled";
	return wfs_trace(r ? r : fold_write_chat_message(fold, &chat.message, error));
}

static int stop_plan(struct wfs_fold *fold, const char *plan_id, struct wfs_error *error)
{
	PLAN_AUTO struct plan plan = {.fold = fold};
	int r = plan_load(fold, plan_id, &plan, error);

	if (!r && !plan_is(plan.state.status, "running"))
		r = wfs_error_set(error, WFS_E_CONFLICT, "plan '%s' does not run, it is %s",
			plan_id, plan.state.status);
	if (!r && plan_is(plan.state.phase, "defining"))
		r = stop_chat(fold, plan.state.source_id, error);
	if (!r)
		r = plan_stop(&plan, error);
	if (r)
		return wfs_trace(r);
	plan.state.status = "cancelled";
	return wfs_trace(plan_store(&plan, error));
}

/* Stops a chat, or the plan that it has by now: the client may not know of the plan yet. */
static int stop_either(struct wfs_fold *fold, const char *chat_id, struct wfs_error *error)
{
	CHAT_AUTO struct chat chat = {.fold = fold, .id = chat_id};
	int r = plan_chat_load(&chat, error);

	if (r)
		return wfs_trace(r);
	return wfs_trace(chat.message.plan_id ? stop_plan(fold, chat.message.plan_id, error)
					      : stop_chat(fold, chat_id, error));
}

int plan_fold_cancel(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error)
{
	const char *const plan_id = json_string_value(json_object_get(action, "plan_id"));
	const char *const chat_id = wfs_json_text(action, "chat_id");
	int r = plan_id ? stop_plan(fold, plan_id, error) : stop_either(fold, chat_id, error);

	if (r)
		return wfs_trace(r);
	*ret_answer = plan_id ? json_pack("{s:s}", "plan_id", plan_id)
			      : json_pack("{s:s}", "chat_id", chat_id);
	return *ret_answer ? 0 : fold_no_memory(error);
}
