/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to models about plans: for the plan itself, for the text of a step, and for the answer
 * when all steps have ended; and the parts of the answers that are recorded.
 *
 * A question is made from cells, and from the list of outside tools, so that asking again gives an
 * equal question if that list has not changed. The new message is never cut; of earlier messages
 * and of results, the newest are shown, up to a bound.
 */
#include "agents/intent/intent-impl.h"

#include "agents/engine/chat.h"
#include "agents/plan/reply.h"
#include "agents/prepare/private.h"
#include "agents/prepare/router.h"
#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/session-tools.h"
#include "caps/session.h"
#include "kernel/base/clock.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/manifest/document.h"

enum {
	MESSAGES_MAX = 20,      /* messages of the chat that are shown */
	CONTEXT_MAX = 18000,    /* bytes of these messages */
	ARTIFACTS_MAX = 64,     /* executable artifacts that are listed */
	TOOLS_MAX = 256 << 10,  /* bytes of the list, after which no outside tool is added */
	RESULT_MAX = 4 << 10,   /* bytes of one result in the question for the answer */
	RESULTS_MAX = 48 << 10, /* bytes of all results there */
	MAX_TOKENS =
		4096, /* of an answer, unless extra_body of the model in host.json says otherwise */
};

static const char planner_text[] =
	"You help somebody in a world of artifacts and tools. Answer in plain text when you can. "
	"When tools are needed, answer with one JSON object and nothing else:\n"
	"{\"goal\":\"what is to be reached\",\"steps\":[{\"id\":\"s1\",\"title\":\"what it "
	"does\",\"type\":\"tool\",\"tool\":{\"name\":\"NAME\",\"args\":{}},\"depends_on\":[]},"
	"{\"id\":\"s2\",\"type\":\"llm\",\"prompt\":\"what a model is asked, about ${s1}\","
	"\"depends_on\":[\"s1\"]}]}\n"
	"A step runs when all that it depends on are done; others run at the same time. Its type "
	"is tool, llm (a model answers the prompt) or note (a heading). In args and prompts ${ID} "
	"stands for the result of the step ID, ${ID.member.0} for a part of it; the step must "
	"depend on ID. A step may have \"max_attempts\". For a few calls one after the other, "
	"{\"tool_calls\":[{\"name\":\"NAME\",\"args\":{}}],\"final\":\"\"} does as well. You will "
	"be asked for the answer when the steps have ended.\nTools, with the JSON schema of their "
	"args:\n";

static const char step_text[] =
	"You do one step of a plan. Answer with its result and nothing else.";

static const char answer_text[] = "The plan that was made for the message has ended. Answer the "
				  "message, from the results of its "
				  "steps; say so when some have failed. Plain text.";

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "ask a model for a plan")

static int add_message(
	json_t *messages, const char *role, const char *text, struct wfs_error *error)
{
	return json_array_append_new(
		       messages, json_pack("{s:s, s:s}", "content", text, "role", role)) < 0
		? no_memory(error)
		: 0;
}

static int add_buffer(
	json_t *messages, const char *role, struct wfs_buffer *text, struct wfs_error *error)
{
	return wfs_buffer_check(text) ? no_memory(error)
				      : add_message(messages, role, wfs_buffer_text(text), error);
}

static json_t *setup_of(const char *model)
{
	return json_pack("{s:s, s:[], s:{s:i, s:f, s:s}, s:[]}", "model", model, "offered",
		"settings", "max_tokens", MAX_TOKENS, "temperature", 0.2, "tool_choice", "auto",
		"tools");
}

/* --- the plan --- */

static void write_tool(const json_t *tool, const json_t *parameters, struct wfs_buffer *text)
{
	wfs_buffer_printf(
		text, "- %s: %s ", wfs_json_text(tool, "name"), wfs_json_text(tool, "description"));
	if (parameters)
		wfs_json_write(parameters, text);
	wfs_buffer_append_byte(text, '\n');
}

static int write_tools(
	struct work *work, struct wfs_view *view, struct wfs_buffer *text, struct wfs_error *error)
{
	const struct agents_catalog catalog = {work->session, view, work->engine->helpers};
	WFS_AUTO_JSON json_t *names = agents_router_names(catalog.helpers);
	size_t i;
	const json_t *name;
	int r = names ? 0 : no_memory(error);

	json_array_foreach(names, i, name) {
		WFS_AUTO_JSON json_t *tool = NULL;

		if (!r)
			r = agents_router_tool(&catalog, json_string_value(name), "", &tool, error);
		if (!r)
			write_tool(tool, json_object_get(tool, "parameters"), text);
	}
	return r;
}

/* Executable artifacts are tools by their ids. */
static int write_artifacts(
	struct work *work, struct wfs_view *view, struct wfs_buffer *text, struct wfs_error *error)
{
	const struct agents_catalog catalog = {work->session, view, work->engine->helpers};
	WFS_AUTO_JSON json_t *params =
		json_pack("{s:b, s:i}", "executable", 1, "limit", ARTIFACTS_MAX);
	WFS_AUTO_JSON json_t *found = NULL;
	size_t i;
	const json_t *row;
	struct wfs_error ignored;

	if (!params)
		return no_memory(error);
	const struct wfs_session_query query = {.type = "artifacts", .params = params};
	if (wfs_session_query(work->session, view, &query, &found, &ignored))
		return 0; /* a principal that may not query gets no list */
	json_array_foreach(json_object_get(found, "results"), i, row) {
		WFS_AUTO_JSON json_t *tool = NULL;

		if (agents_tool_make(&catalog, wfs_json_text(row, "id"), "", &tool, &ignored) == 0)
			write_tool(tool, json_object_get(tool, "parameters"), text);
	}
	return 0;
}

/* Outside tools are tools by their full names. */
static int write_outside(struct work *work, struct wfs_buffer *text, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *list = NULL;
	size_t i;
	const json_t *tool;
	const int r = wfs_session_tools(work->session, &list);

	if (r)
		return no_memory(error);
	json_array_foreach(json_object_get(list, "tools"), i, tool)
		if (text->size < TOOLS_MAX)
			write_tool(tool, json_object_get(tool, "schema"), text);
	return 0;
}

/* A damaged cell may have another value than a text. */
static const char *text_of(const struct wfs_document_chat_message *message)
{
	return json_is_string(message->content) ? json_string_value(message->content) : "";
}

/* Messages before number @end of the chat, the newest that fit, in order. */
static int add_context(struct wfs_view *view, const char *chat_id, int64_t end, json_t *messages,
	struct wfs_error *error)
{
	const size_t before = json_array_size(messages);
	size_t size = 0;

	for (int64_t n = end - 1; n >= 0 && end - n <= MESSAGES_MAX; n--) {
		WFS_AUTO_DOCUMENT struct wfs_document_chat_message message = {.role = NULL};
		char id[WFS_CHAT_ID_MAX + 1];

		snprintf(id, sizeof(id), "%.*s.%lld", (int)(strrchr(chat_id, '.') - chat_id),
			chat_id, (long long)n);
		int r = wfs_driving_message(view, id, &message, error);
		if (r)
			return r;
		const char *const text = text_of(&message);
		size += strlen(text);
		if (size > CONTEXT_MAX)
			break;
		WFS_AUTO_JSON json_t *shown =
			json_pack("{s:s, s:s}", "content", text, "role", message.role);
		if (!shown || json_array_insert(messages, before, shown) < 0)
			return no_memory(error);
	}
	return 0;
}

static int write_chat(struct work *work, struct wfs_view *view, struct work_question *question,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_chat_message message = {.role = NULL};
	int r = wfs_driving_message(view, work->owner_id, &message, error);

	wfs_buffer_append_text(&text, planner_text);
	if (!r)
		r = write_tools(work, view, &text, error);
	if (!r)
		r = write_artifacts(work, view, &text, error);
	if (!r)
		r = write_outside(work, &text, error);
	if (!r)
		r = add_buffer(question->messages, "system", &text, error);
	if (!r)
		r = add_context(view, work->owner_id,
			strtoll(strrchr(work->owner_id, '.') + 1, NULL, 10), question->messages,
			error);
	if (!r)
		r = add_message(question->messages, "user", text_of(&message), error);
	if (r)
		return r;
	question->setup = setup_of(message.model ? message.model : "");
	return question->setup ? 0 : no_memory(error);
}

/* --- a step --- */

static int write_step(struct work *work, struct wfs_view *view, struct work_question *question,
	struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan;
	WFS_AUTO_DOCUMENT struct wfs_document_plan_step step = {.own = {.json = NULL}};
	WFS_AUTO_JSON json_t *prompt = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_CLEANUP(agents_origin_done) struct agents_origin origin = {.of = NULL};
	int r = wfs_driving_plan(view, work->owner_id, &plan, error);

	if (!r)
		r = wfs_driving_step(view, work->owner_id, work->index, &step, error);
	if (r)
		return r;
	r = step_fill(work, view, step.prompt, &origin, &prompt, error);
	work->asking.request_private = agents_origin_is_private(&origin);
	/* The message names members of a result. */
	if (r && r != -ENOMEM && work->asking.request_private)
		return wfs_error_set(
			error, error->code, "the prompt cannot be filled; " AGENTS_REASON_LEFT_OUT);
	if (r)
		return r;
	if (json_is_string(prompt))
		wfs_buffer_append_text(&text, json_string_value(prompt));
	else
		wfs_json_write(prompt, &text);
	r = add_message(question->messages, "system", step_text, error);
	if (!r)
		r = add_buffer(question->messages, "user", &text, error);
	if (r)
		return r;
	question->setup = setup_of(plan.model);
	return question->setup ? 0 : no_memory(error);
}

/* --- the answer --- */

static int write_result(struct work *work, struct wfs_view *view, int64_t index,
	struct wfs_buffer *text, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer result = {0};
	WFS_AUTO_JSON json_t *stored = NULL;
	WFS_AUTO_JSON json_t *document = NULL;
	int r = wfs_driving_step_result(view, work->owner_id, index, &stored, error);

	if (r)
		return r == -ENOENT ? 0 : r;
	work->asking.request_private |= wfs_text_has_hidden(stored);
	r = agents_reveal(work->session, view, stored, &document, error);
	if (r)
		return r;
	wfs_json_write(document, &result);
	if (wfs_buffer_check(&result))
		return no_memory(error);
	const size_t size =
		result.size > RESULT_MAX ? wfs_utf8_cut(result.data, RESULT_MAX) : result.size;
	wfs_buffer_append(text, result.data, size);
	if (size < result.size)
		wfs_buffer_printf(text, " [cut: %zu of %zu bytes]", size, result.size);
	wfs_buffer_append_byte(text, '\n');
	return 0;
}

static int write_results(struct work *work, struct wfs_view *view, int64_t total,
	struct wfs_buffer *text, struct wfs_error *error)
{
	const size_t before = text->size;
	int r = 0;

	for (int64_t i = 0; !r && i < total; i++) {
		r = write_result(work, view, i, text, error);
		if (text->size - before > RESULTS_MAX && i + 1 < total) {
			wfs_buffer_printf(text,
				"[cut: results of steps behind the %lld. of %lld]\n",
				(long long)i + 1, (long long)total);
			break;
		}
	}
	return r;
}

static void write_status(const struct wfs_document_plan *plan, struct wfs_buffer *text)
{
	const char *const draft = json_string_value(plan->draft);
	WFS_AUTO_JSON json_t *status = json_pack("{s:I, s:I, s:O, s:s, s:I, s:I}", "done",
		(json_int_t)plan->done, "failed", (json_int_t)plan->failed, "goal", plan->goal,
		"plan_id", plan->plan_id, "skipped", (json_int_t)plan->skipped, "total",
		(json_int_t)plan->total);

	wfs_buffer_append_text(text, "\n\nPLAN_STATUS: ");
	if (status)
		wfs_json_write(status, text);
	if (draft && *draft)
		wfs_buffer_printf(
			text, "\nDRAFT OF THE ANSWER, made before there were results: %s", draft);
	wfs_buffer_append_text(text, "\nTOOL_RESULTS:\n");
}

static int write_answer(struct work *work, struct wfs_view *view, struct work_question *question,
	struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan;
	WFS_AUTO_DOCUMENT struct wfs_document_chat_message message = {.role = NULL};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = wfs_driving_plan(view, work->owner_id, &plan, error);

	if (!r)
		r = wfs_driving_message(view, plan.chat_id, &message, error);
	if (!r)
		r = add_message(question->messages, "system", answer_text, error);
	if (!r)
		r = add_context(view, plan.chat_id,
			strtoll(strrchr(plan.chat_id, '.') + 1, NULL, 10), question->messages,
			error);
	if (r)
		return r;
	wfs_buffer_append_text(&text, text_of(&message));
	write_status(&plan, &text);
	r = write_results(work, view, plan.total, &text, error);
	if (!r)
		r = add_buffer(question->messages, "user", &text, error);
	if (r)
		return r;
	question->setup = setup_of(plan.model);
	return question->setup ? 0 : no_memory(error);
}

/* --- all of them --- */

static int ask(struct work *work, struct work_question *question, struct wfs_error *error,
	int (*write)(struct work *, struct wfs_view *, struct work_question *, struct wfs_error *))
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = wfs_session_view(work->session, WFS_HEIGHT_HEAD, &view, error);

	question->messages = json_array();
	return r ? r : write(work, &view, question, error);
}

void chat_begin(struct work *work)
{
	/* A plan may name tools of every server, so all of them list theirs first. */
	if (!wfs_session_may(work->session, WFS_EFFECT_TOOL_OUTSIDE) ||
		!ask_outside_list(work, NULL))
		generate_begin(work);
}

int ask_chat(struct work *work, struct work_question *question, struct wfs_error *error)
{
	const int64_t began_ns = wfs_clock_monotonic_ns();
	int r = ask(work, question, error, write_chat);

	work->asking.script_turn = 1;
	if (r) {
		work->failed = WFS_CHAT_CONTEXT_FAILED;
	} else if (work->asking.built_ns == 0) {
		work->asking.built_ns = wfs_clock_monotonic_ns();
		work->asking.built_ms = (work->asking.built_ns - began_ns) / 1000000;
		chat_built(work);
	}
	return r;
}

int ask_step(struct work *work, struct work_question *question, struct wfs_error *error)
{
	work->asking.script_turn = 1;
	return ask(work, question, error, write_step);
}

/* The first line of a script is for the plan, the second for the answer. */
int ask_answer(struct work *work, struct work_question *question, struct wfs_error *error)
{
	work->asking.script_turn = 2;
	return ask(work, question, error, write_answer);
}

/* --- what is kept --- */

/* Refuses an answer that was cut off. */
static int check_whole(const json_t *completion, struct wfs_error *error)
{
	const char *const finish = wfs_json_text(completion, "finish_reason");

	return strcmp(finish, "length") == 0 || strcmp(finish, "content_filter") == 0
		? wfs_error_set(error, WFS_E_EFFECT_FAILED,
			  "the model's answer is not whole (finish_reason %s); max_tokens in "
			  "extra_body of the model in host.json may be raised",
			  finish)
		: 0;
}

/* @kept: taken; NULL: memory for it was lacking. @expected: what the model was asked for */
static int keep(const json_t *completion, const char *member, json_t *kept, const char *expected,
	json_t **ret_payload, struct wfs_error *error)
{
	const char *const text = json_string_value(kept);

	if (text && strspn(text, " \t\r\n") == json_string_length(kept)) {
		json_decref(kept);
		return wfs_error_set(error, WFS_E_EFFECT_FAILED,
			"the model's answer is empty: expected %s", expected);
	}
	*ret_payload = json_pack("{s:O?, s:O, s:o, s:O?}", "attempts",
		json_object_get(completion, "attempts"), "duration_ms",
		json_object_get(completion, "duration_ms"), member, kept, "usage",
		json_object_get(completion, "usage"));
	return *ret_payload ? 0 : no_memory(error);
}

int take_chat(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error)
{
	json_t *kept = NULL;
	bool is_plan = false;
	int r = check_whole(completion, error);

	(void)work;
	if (!r)
		r = wfs_plan_reply(wfs_json_text(completion, "content"), &is_plan, &kept, error);
	return r ? r
		 : keep(completion, is_plan ? "plan" : "text", kept, "a text or a plan",
			   ret_payload, error);
}

int take_step(struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error)
{
	const char *const text = wfs_json_text(completion, "content");
	const int r = check_whole(completion, error);

	(void)work;
	return r ? r : keep(completion, "text", json_string(text), "a text", ret_payload, error);
}

int take_answer(
	struct work *work, json_t *completion, json_t **ret_payload, struct wfs_error *error)
{
	json_t *kept = NULL;
	int r = check_whole(completion, error);

	(void)work;
	if (!r)
		r = wfs_plan_answer(wfs_json_text(completion, "content"), &kept, error);
	return r ? r : keep(completion, "text", kept, "a text", ret_payload, error);
}
