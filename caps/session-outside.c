/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/session-outside.h"
#include "caps/caps-impl.h"

#include "caps/seen.h"
#include "caps/session-read.h"
#include "caps/session-text.h"
#include "caps/session-turn.h"
#include "kernel/base/json.h"
#include "kernel/domain/outside/outside.h"
#include "kernel/fold/intent.h"
#include "kernel/read/view-document.h"
#include "kernel/value/tool.h"

#define ADAPTER "agents.outside" /* adapter_id of receipts */
#define REASON_LEFT_OUT "the reason is left out, because it may quote a private text"

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "call an outside tool")

/* --- judging --- */

static struct wfs_tool_asked asked_of(const struct wfs_session_tool *tool, const json_t *arguments)
{
	return (struct wfs_tool_asked){.name = tool->name,
		.hints = wfs_tool_hints(tool->annotations),
		.hash = tool->hash,
		.arguments = arguments};
}

int wfs_session_sees_tool(const struct wfs_session *session, const struct wfs_session_tool *tool)
{
	const struct wfs_tool_asked asked = asked_of(tool, NULL);
	struct wfs_question question = {.effect = WFS_EFFECT_TOOL_OUTSIDE, .tool = &asked};
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	int r = session_rights(session, &rights, &question);

	if (r)
		return r;
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	return verdict.code == WFS_OK || verdict.code == WFS_E_QUOTA_EXCEEDED || verdict.asks;
}

static bool is_covered(const struct wfs_verdict *verdict)
{
	return verdict->code == WFS_OK || verdict->code == WFS_E_POLICY_DENIED ||
		verdict->code == WFS_E_QUOTA_EXCEEDED || verdict->lack > WFS_TOOL_LACK_NAME;
}

int wfs_session_covers_tool(const struct wfs_session *session, const char *name)
{
	const struct wfs_session_tool tool = {.name = name};
	const struct wfs_tool_asked asked = asked_of(&tool, NULL);
	struct wfs_question question = {.effect = WFS_EFFECT_TOOL_OUTSIDE, .tool = &asked};
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	const int r = session_rights(session, &rights, &question);

	if (r)
		return r;
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	return is_covered(&verdict);
}

/* A tool that no server lists is judged by its name, and then refused as one that no grant covers,
 * so a principal cannot distinguish the two. What a policy denies by name is denied whether or not
 * it is listed. */
static struct wfs_verdict judge_call(const struct wfs_rights *rights,
	const struct wfs_question *question, const struct wfs_session_tool *tool)
{
	const struct wfs_verdict verdict = wfs_rights_judge(rights, question);
	const bool denied = verdict.code == WFS_E_POLICY_DENIED && !verdict.asks;

	return tool->hash || denied || !is_covered(&verdict)
		? verdict
		: (struct wfs_verdict){.code = WFS_E_NOT_FOUND,
			  .lack = WFS_TOOL_LACK_NAME,
			  .rule_index = SIZE_MAX};
}

/* --- the intent --- */

void wfs_session_outside_done(struct wfs_session_outside *outside)
{
	json_decref(WFS_STEAL(outside->action));
	wfs_texts_done(&outside->texts);
}

/* Makes the action. Arguments that look like a stand-in are hidden, so that everything in a record
 * that looks like one is one. */
static int make_action(struct wfs_session_outside *outside, const struct wfs_session_call *call,
	struct wfs_error *error)
{
	const bool idempotent =
		wfs_tool_hints(outside->tool.annotations) & WFS_TOOL_HINT_IDEMPOTENT;
	WFS_AUTO_JSON json_t *nobody = json_array();

	if (outside->action) /* the request is sent again */
		return 0;
	outside->action = json_pack("{s:O, s:s*, s:s, s:b, s:s}", "arguments", outside->arguments,
		"called_by", call ? call->intent_id : NULL, "hash", outside->tool.hash,
		"idempotent", (int)idempotent, "name", outside->tool.name);
	if (!outside->action || !nobody)
		return no_memory(error);
	if (!outside->of && !wfs_text_has_hidden(outside->arguments))
		return 0;
	return wfs_text_hide_member(&outside->texts, outside->of ? outside->of : nobody,
		outside->action, "arguments", error);
}

int wfs_session_outside_begin(const struct wfs_session *session,
	struct wfs_session_outside *outside, struct wfs_session_call *call,
	struct wfs_request *request)
{
	const struct wfs_tool_asked asked = asked_of(&outside->tool, outside->arguments);
	struct wfs_question question = {.effect = WFS_EFFECT_TOOL_OUTSIDE,
		.approved = call && call->approved,
		.tool = &asked};
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	int r = session_rights(session, &rights, &question);

	if (r)
		return wfs_error_from_errno(&request->error, r, "judge a call");
	const struct wfs_verdict verdict = judge_call(rights, &question, &outside->tool);
	if (verdict.code != WFS_OK) {
		(void)wfs_rights_explain(rights, &question, &verdict, &request->error);
		if (call && verdict.asks && !call->cannot_wait)
			return session_ask(session, call, &verdict, request);
		return session_refuse(session, &question, &verdict, request);
	}
	r = make_action(outside, call, &request->error);
	if (r)
		return r;
	session_charge(request, &question, &verdict);
	request->action.texts = &outside->texts;
	return session_act(session, "tool", outside->action, request);
}

int wfs_session_outside_arguments(const struct wfs_session *session,
	const struct wfs_document_intent *intent, json_t **ret_arguments, struct wfs_error *error)
{
	const json_t *const stored = json_object_get(intent->outside, "arguments");
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *arguments = NULL;
	int r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = wfs_session_reveal(session, &view, stored, &arguments, error);
	if (!r && wfs_text_is_hidden(stored, NULL) && json_equal(stored, arguments))
		r = wfs_error_set(error, WFS_E_NOT_FOUND,
			"the arguments of the call are private, and cannot be read any more");
	if (!r)
		*ret_arguments = WFS_STEAL(arguments);
	return r;
}

/* --- its receipt --- */

void wfs_session_receipt_done(struct wfs_session_receipt *receipt)
{
	json_decref(WFS_STEAL(receipt->payload));
	json_decref(WFS_STEAL(receipt->document));
	wfs_texts_done(&receipt->texts);
}

static int hide_answer(
	struct wfs_session_receipt *receipt, const json_t *of, struct wfs_error *error)
{
	static const char *const parts[] = {
		"blobs", "content", "content_blob", "output_blob", "structured", "structured_blob"};
	json_t *const payload = receipt->payload;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(parts); i++)
		(void)json_object_del(payload, parts[i]);
	if (json_object_get(payload, "message") &&
		json_object_set_new(payload, "message", json_string(REASON_LEFT_OUT)) < 0)
		return no_memory(error);
	return wfs_text_hide_member(&receipt->texts, of, payload, "output", error);
}

/* Hides what a server sends that looks like a stand-in: otherwise a later step of a plan would get
 * the private text that it names, and could pass that on to the server. */
static int hide_likeness(struct wfs_session_receipt *receipt, struct wfs_error *error)
{
	static const char *const members[] = {"content", "structured"};
	WFS_AUTO_JSON json_t *nobody = json_array();
	int r = nobody ? 0 : no_memory(error);

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(members); i++)
		if (wfs_text_has_hidden(json_object_get(receipt->payload, members[i])))
			r = wfs_text_hide_member(
				&receipt->texts, nobody, receipt->payload, members[i], error);
	return r;
}

static int make_receipt(const struct wfs_document_intent *intent,
	struct wfs_session_receipt *receipt, struct wfs_error *error)
{
	const json_t *const arguments = json_object_get(intent->outside, "arguments");
	const int r = wfs_text_is_hidden(arguments, NULL)
		? hide_answer(receipt, json_object_get(arguments, "of"), error)
		: hide_likeness(receipt, error);

	if (r)
		return r;
	receipt->document = json_pack("{s:s, s:s, s:O, s:s}", "adapter_id", ADAPTER, "intent_id",
		receipt->intent_id, "payload", receipt->payload, "status", receipt->status);
	return receipt->document ? 0 : no_memory(error);
}

int wfs_session_outside_end(const struct wfs_session *session,
	const struct wfs_document_intent *intent, struct wfs_session_receipt *receipt,
	struct wfs_request *request)
{
	const int r = receipt->document ? 0 : make_receipt(intent, receipt, &request->error);

	if (r)
		return r;
	request->receipt.texts = &receipt->texts;
	return wfs_session_receipt(session, receipt->document, "", request);
}

enum wfs_outside_fate wfs_session_outside_fate(const struct wfs_document_intent *intent)
{
	if (strcmp(intent->state, WFS_INTENT_UNKNOWN) == 0)
		return WFS_OUTSIDE_ENDED;
	return json_is_true(json_object_get(intent->outside, "idempotent")) ? WFS_OUTSIDE_AGAIN
									    : WFS_OUTSIDE_LOST;
}

int wfs_session_outside_lost(const struct wfs_session *session,
	const struct wfs_document_intent *intent, struct wfs_session_receipt *receipt,
	struct wfs_request *request)
{
	if (receipt->document) /* the request is sent again */
		return wfs_session_outside_end(session, intent, receipt, request);
	receipt->status = WFS_INTENT_UNKNOWN;
	receipt->payload = json_pack("{s:s, s:o}", "code", WFS_INTENT_UNKNOWN, "message",
		json_sprintf("the call of '%s' may have taken place: its answer was lost when the "
			     "owner of the world ended, and the call is not made again (intent "
			     "%s)",
			wfs_json_text(intent->outside, "name"), receipt->intent_id));
	if (!receipt->payload)
		return no_memory(&request->error);
	return wfs_session_outside_end(session, intent, receipt, request);
}

int wfs_session_resolve(
	const struct wfs_session *session, json_t *resolve, struct wfs_request *request)
{
	struct wfs_question question = {.effect = WFS_EFFECT_INTENT_RESOLVE};
	int r = session_claim_intent(
		session, wfs_json_text(resolve, "intent_id"), &question, &request->error);

	return r ? r : session_admit_act(session, &question, "resolve", resolve, request);
}

/* --- lists --- */

int wfs_session_lists_intents(const struct wfs_session *session, struct wfs_error *error)
{
	return wfs_session_may(session, WFS_EFFECT_TOOL_OUTSIDE)
		? 0
		: wfs_session_judge(session, WFS_EFFECT_INTROSPECT_LIST_CELLS, error);
}

static bool fits(const char *wanted, const char *text)
{
	return !wanted || strcmp(wanted, text) == 0;
}

static json_t *summary_of(const struct wfs_entry *entry, const struct wfs_document_intent *intent)
{
	const char *const name = json_string_value(json_object_get(intent->outside, "name"));
	WFS_AUTO_JSON json_t *summary = json_pack("{s:I, s:s*, s:s, s:s%, s:s*, s:O*, s:s*, s:s, "
						  "s:s*, s:s}",
		"changed_ns", (json_int_t)entry->time_ns, "chat_id", intent->chat_id, "effect",
		intent->effect, "intent_id", entry->key.data, entry->key.size, "name", name,
		"origin", intent->origin, "plan_id", intent->plan_id, "principal",
		intent->principal, "run_id", intent->run_id, "state", intent->state);

	return WFS_STEAL(summary);
}

/* May the session know the intent? Return: 1, 0, or -errno. */
static int may_know(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	struct wfs_bytes key, const struct wfs_document_intent *intent)
{
	struct wfs_seen seen;

	if (strcmp(intent->principal, wfs_session_principal(session)) == 0)
		return 1;
	int r = wfs_session_cell(session, view, reducer_id, key, &seen);
	return r == -ENOENT || r == -EACCES ? 0 : r ? r : 1;
}

int wfs_session_intent_next(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_session_intents *wanted, uint64_t *cursor, uint64_t *left,
	json_t **ret_summary)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	WFS_AUTO_DOCUMENT struct wfs_document_intent intent = {.own = {.json = NULL}};
	struct wfs_reducer reducer;
	struct wfs_version version;
	struct wfs_entry entry;
	int r = wfs_view_builtin(view, WFS_BUILTIN_INTENT, &reducer);

	*ret_summary = NULL;
	if (!r)
		r = wfs_entry_walk_init(&walk, view, reducer.reducer_id, *cursor);
	if (r)
		return wfs_trace(r);
	if (*left == 0)
		return 1;
	r = wfs_entry_walk_next(&walk, &entry);
	if (r <= 0)
		return wfs_trace(r);
	(*left)--;
	*cursor = entry.cell_id;
	r = wfs_view_version(view, entry.vid, &version);
	if (!r)
		r = wfs_view_read_intent_version(view, &version, &intent, NULL);
	if (!r && fits(wanted->effect, intent.effect) &&
		fits(wanted->principal, intent.principal) && fits(wanted->state, intent.state))
		r = may_know(session, view, reducer.reducer_id, entry.key, &intent);
	if (r <= 0)
		return r ? wfs_trace(r) : 1;
	*ret_summary = summary_of(&entry, &intent);
	return *ret_summary ? 1 : -ENOMEM;
}
