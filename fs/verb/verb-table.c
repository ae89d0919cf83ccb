/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs: what each takes, and what it gives. */
#include "fs/verb/verb-impl.h"
#include "kernel/value/bounds.h"

#define MAYBE WFS_OPTIONAL
#define TEXT &wfs_form_text
#define NAT &wfs_form_nat
#define INTEGER &wfs_form_integer
#define BOOL &wfs_form_bool
#define HASH &wfs_form_hash

/* The driver checks it: a chat that is refused is answered as one that has failed. */
#define CHECKED(type) WFS_FORM(.kind = WFS_FORM_VALUE, .ref = (type))

static const struct wfs_form object = {.kind = WFS_FORM_OBJECT};
static const struct wfs_form values = {.kind = WFS_FORM_LIST, .of = &wfs_form_value};
static const struct wfs_form page = {.kind = WFS_FORM_INTEGER, .min = 1, .max = WFS_VERB_PAGE_MAX};

#define PAGE_MEMBERS                                                                 \
	{"cursor", TEXT, MAYBE, "next_cursor of the page before"},                   \
	{                                                                            \
		"limit", &page, MAYBE, "entries of a page, at most; by default 1000" \
	}
#define NEXT_CURSOR                                                                              \
	{                                                                                        \
		"next_cursor", TEXT, MAYBE, "value of cursor for the next page, if there is one" \
	}
#define META                                                                      \
	{                                                                         \
		"meta", &wfs_effect_meta, 0, "height and hashes of what was read" \
	}

/* --- turns --- */

static const struct wfs_field turns_params[] = {
	{"agent", TEXT, MAYBE, "only turns of this agent"}, PAGE_MEMBERS, {NULL}};
static const struct wfs_field turn_fields[] = {{"agent", TEXT, 0, "id of the agent"},
	{"asked_by", TEXT, 0, "principal that asked the agent to take the turn"},
	{"ended_ns", NAT, MAYBE, "end of the turn, ns since 1970; absent if it has not ended"},
	{"max_turns", NAT, 0, "how many requests to the model the turn may make"},
	{"model", TEXT, 0, "name of the model"},
	{"started_ns", NAT, 0, "time at which the turn began, ns since 1970"},
	{"status", TEXT, 0,
		"first word of turns/TURN/status: running, waiting, or why the turn has "
		"ended; see worldfs-tree(5)"},
	{"tool_calls", NAT, 0, "number of tool calls"},
	{"total_tokens", NAT, 0, "tokens of all requests to the model"},
	{"turn", NAT, 0, "number of requests to the model that were begun"},
	{"turn_id", TEXT, 0, "id of the turn"}, {NULL}};
static const struct wfs_form turn = {.kind = WFS_FORM_RECORD, .fields = turn_fields};
static const struct wfs_form turn_list = {.kind = WFS_FORM_LIST, .of = &turn};
static const struct wfs_field turns_answer[] = {
	{"turns", &turn_list, 0, "the turns of a page"}, NEXT_CURSOR, META, {NULL}};

/* --- intents --- */

static const struct wfs_form intent_state = {
	.kind = WFS_FORM_TEXT, .words = "open asked approved waiting unknown"};
static const struct wfs_field intents_params[] = {
	{"effect", TEXT, MAYBE, "only intents of this effect, such as tool.outside"},
	{"principal", TEXT, MAYBE, "only intents of this principal"},
	{"state", &intent_state, MAYBE, "only intents in this state"}, PAGE_MEMBERS, {NULL}};
static const struct wfs_field intent_fields[] = {
	{"changed_ns", NAT, 0, "time of the intent's last change, ns since 1970"},
	{"chat_id", TEXT, MAYBE, "chat that waits for the answer"},
	{"effect", TEXT, 0, "effect that the intent asks for"},
	{"intent_id", HASH, 0, "id of the intent"},
	{"name", TEXT, MAYBE, "full name of the outside tool that is called"},
	{"origin", &object, MAYBE,
		"of a call of an outside tool: what asked for it, {principal}, or {intent_id} "
		"of a tool call of a turn or plan"},
	{"plan_id", TEXT, MAYBE, "plan that waits for the answer"},
	{"principal", TEXT, 0, "principal with whose rights the effect is performed"},
	{"run_id", TEXT, MAYBE, "turn that waits for the answer"},
	{"state", &intent_state, 0,
		"state of the intent: open (none of the following), asked (a tool call waits "
		"for an approval), approved (it got the approval), waiting (a call of "
		"wait_until waits), unknown (the answer of an outside tool was lost)"},
	{NULL}};
static const struct wfs_form intent = {.kind = WFS_FORM_RECORD, .fields = intent_fields};
static const struct wfs_form intent_list = {.kind = WFS_FORM_LIST, .of = &intent};
static const struct wfs_field intents_answer[] = {
	{"intents", &intent_list, 0, "the intents of a page"}, NEXT_CURSOR, META, {NULL}};

/* --- outside tools --- */

static const struct wfs_field tool_fields[] = {
	{"annotations", &object, 0, "hints of the server, such as readOnlyHint"},
	{"description", TEXT, 0, "what the tool does, as the server says"},
	{"hash", HASH, 0,
		"hash of description and schema, which the parameter pinned of a grant of "
		"sys/tool@1 can have"},
	{"name", TEXT, 0, "full name of the tool, server.tool"},
	{"schema", &object, 0, "JSON Schema of the tool's arguments"}, {NULL}};
static const struct wfs_form tool = {.kind = WFS_FORM_RECORD, .fields = tool_fields};
static const struct wfs_form tool_list = {.kind = WFS_FORM_LIST, .of = &tool};
static const struct wfs_field server_fields[] = {
	{"name", TEXT, 0, "name of the server in host.json"},
	{"reason", TEXT, MAYBE, "why the server has listed no tools"},
	{"state", TEXT, 0,
		"state of the server: down, starting, listing (its tools), ready, or waiting "
		"(to be started again after a failure)"},
	{NULL}};
static const struct wfs_form server = {.kind = WFS_FORM_RECORD, .fields = server_fields};
static const struct wfs_form server_list = {.kind = WFS_FORM_LIST, .of = &server};
static const struct wfs_field tools_answer[] = {META,
	{"servers", &server_list, 0, "the servers that tools in host.json names"},
	{"tools", &tool_list, 0, "the tools that the client may call, in the order of their names"},
	{NULL}};

/* --- timers --- */

static const struct wfs_field timers_params[] = {
	{"principal", TEXT, MAYBE, "only timers of this principal"}, PAGE_MEMBERS, {NULL}};
static const struct wfs_field timer_fields[] = {
	{"action_type", TEXT, 0,
		"type of the timer's action; the word private if the cell of the timer has a "
		"stand-in in place of the action"},
	{"by", TEXT, MAYBE, "artifact whose code made the timer, if any"},
	{"catch_up", TEXT, 0, "member catch_up of the action schedule: one, all or none"},
	{"fired", NAT, 0, "how often the timer has fired"}, {"id", TEXT, 0, "name of the timer"},
	{"next_ns", NAT, 0, "next due time, ns since 1970"},
	{"paused", BOOL, 0,
		"whether no timer of the world fires before trust is run and the world is "
		"opened again, as in a copy of a world"},
	{"principal", TEXT, 0, "principal that has the timer"}, {NULL}};
static const struct wfs_form timer = {.kind = WFS_FORM_RECORD, .fields = timer_fields};
static const struct wfs_form timer_list = {.kind = WFS_FORM_LIST, .of = &timer};
static const struct wfs_field timers_answer[] = {
	{"timers", &timer_list, 0, "the timers of a page"}, NEXT_CURSOR, META, {NULL}};

static const struct wfs_field step_again_params[] = {
	{"model", TEXT, MAYBE, "name of a model in host.json; by default the model of the turn"},
	{"turn_id", TEXT, 0, "id of the turn"}, {NULL}};
static const struct wfs_field asked_fields[] = {
	{"again", &object, 0, "the new answer: content, tool_calls, …, or error"},
	{"number", NAT, 0, "number of the request, as in turns/TURN/raw"},
	{"recorded", &object, MAYBE, "the answer that the turn got, in the same form"}, {NULL}};
static const struct wfs_form asked = {.kind = WFS_FORM_RECORD, .fields = asked_fields};
static const struct wfs_form asked_list = {.kind = WFS_FORM_LIST, .of = &asked};
static const struct wfs_field step_again_answer[] = {{"agent", TEXT, 0, "id of the agent"}, META,
	{"model", TEXT, 0, "name of the model that has given the new answers"},
	{"requests", &asked_list, 0, "the requests of the turn"},
	{"turn_id", TEXT, 0, "as it was sent"}, {NULL}};

/* --- plans --- */

#define SESSION                                                                           \
	{                                                                                 \
		"session_id", TEXT, MAYBE,                                                \
			"session of the chat; by default the session of the name default" \
	}
#define SETTINGS                                                                         \
	{"batch_size", CHECKED("integer"), WFS_NULLABLE,                                 \
		"how many steps a batch has at most, 1 to 200; by default 25"},          \
	{                                                                                \
		"max_concurrency", WFS_FORM_FROM_TO(1, WFS_PLAN_CONCURRENCY_MAX), MAYBE, \
			"how many steps run at once, at most; by default 8"              \
	}
#define WAIT                                                                                     \
	{                                                                                        \
		"wait", BOOL, MAYBE,                                                             \
			"whether to answer only at the end of the chat or plan; by default true" \
	}

static const struct wfs_field chat_params[] = {SETTINGS,
	{"message", CHECKED("text"), WFS_NULLABLE,
		"message for the model, not blank; without it the chat fails"},
	{"plan_id", TEXT, MAYBE, "plan to continue, instead of making a new one"}, SESSION, WAIT,
	{NULL}};
static const struct wfs_field plan_resume_params[] = {{"plan_id", TEXT, 0, "plan to continue"},
	{"retry_failed", BOOL, MAYBE, "also run failed and skipped steps again"}, WAIT, {NULL}};
static const struct wfs_field plan_import_params[] = {SETTINGS,
	{"blob", TEXT, 0, "hash of a blob that has the bytes of a file plan.json"},
	{"rerun", BOOL, MAYBE,
		"run those steps again that are done but have no result in the file; without it, "
		"such a plan is refused"},
	{"resume", BOOL, MAYBE, "continue the plan; by default it is only stored"}, SESSION,
	{NULL}};
static const struct wfs_field plan_id_params[] = {{"plan_id", TEXT, 0, "plan to stop"}, {NULL}};
static const struct wfs_field checkpoint_fields[] = {{"bytes", NAT, 0, "size of the file"},
	{"ok", BOOL, 0, "true"},
	{"path", TEXT, 0, "path of the file in a mount; without a mount, plan:ID"},
	{"plan_id", TEXT, 0, "id of the plan"}, {"status", TEXT, 0, "status of the plan"}, {NULL}};
static const struct wfs_form checkpoint = {.kind = WFS_FORM_RECORD, .fields = checkpoint_fields};
static const struct wfs_field timing_fields[] = {
	{"context_build", NAT, 0, "putting the question together"},
	{"llm_final", NAT, 0, "the answer of the model after the steps"},
	{"llm_plan", NAT, 0, "the first answer of the model"},
	{"memory_add", NAT, 0, "recording the message"},
	{"planner_tools", NAT, 0, "the steps of the plan"},
	{"total", NAT, 0, "all stages together"}, {NULL}};
static const struct wfs_form timing = {.kind = WFS_FORM_RECORD, .fields = timing_fields};
static const struct wfs_field chat_answer[] = {
	{"chat_id", TEXT, MAYBE, "with wait false: id of the chat that has begun"},
	{"checkpoint", &checkpoint, WFS_NULLABLE,
		"the file plan.json of the plan, if there is a plan"},
	{"details", &wfs_form_value, MAYBE,
		"more about the answer, such as results_omitted, or null"},
	{"error", TEXT, WFS_NULLABLE,
		"null; a chat or plan that fails gives an error instead of this result, whose "
		"details (see ERRORS) have the members listed here, with the code of the failure "
		"in error"},
	{"final", TEXT, MAYBE, "the answer of the model"}, META, {"ok", BOOL, MAYBE, "true"},
	{"plan", &object, WFS_NULLABLE, "the plan with its steps, if there is one"},
	{"plan_id", TEXT, MAYBE, "with wait false: id of the plan, if there is one"},
	{"session_id", TEXT, MAYBE, "name of the session"},
	{"timing_ms", &timing, MAYBE, "milliseconds that each stage took"},
	{"tool_batches", NAT, MAYBE, "number of batches with tool calls"},
	{"tool_calls_count", NAT, MAYBE, "number of tool calls"},
	{"tool_results", &values, MAYBE, "results of the steps"}, {NULL}};
static const struct wfs_field batch_fields[] = {
	{"ended", NAT, 0, "steps of the batch that have ended"},
	{"size", NAT, 0, "steps of the batch"}, {NULL}};
static const struct wfs_form batch = {.kind = WFS_FORM_RECORD, .fields = batch_fields};

#define PLAN_MEMBERS(absent)                                                                   \
	{"batch", &batch, absent, "the current batch"},                                        \
		{"batches", NAT, absent, "number of batches that were begun"},                 \
		{"created_ns", NAT, absent, "time at which the plan was made, ns since 1970"}, \
		{"done", NAT, absent, "number of steps that are done"},                        \
		{"failed", NAT, absent, "number of steps that have failed"},                   \
		{"goal", TEXT, absent, "goal of the plan"},                                    \
		{"phase", TEXT, absent,                                                        \
			"phase of the plan, such as running; see Plans in worldfs-tree(5)"},   \
		{"plan_id", TEXT, absent, "id of the plan"},                                   \
		{"principal", TEXT, absent, "principal with whose rights the plan runs"},      \
		{"running", NAT, absent, "number of steps that run"},                          \
		{"session_id", TEXT, absent, "session of the chat that made the plan"},        \
		{"skipped", NAT, absent, "number of steps that were skipped"},                 \
		{"tool_batches", NAT, absent, "number of batches with tool calls"},            \
		{"tool_calls", NAT, absent, "number of tool calls"},                           \
		{"total", NAT, absent, "number of steps"},                                     \
		{"updated_ns", NAT, absent, "time of the last change, ns since 1970"},         \
	{                                                                                      \
		"waits", BOOL, absent, "whether an intent of the plan is not answered yet"     \
	}
static const struct wfs_field plan_fields[] = {
	{"chat_id", TEXT, 0,
		"id of the newest chat about the plan: the one that made it, or the last that "
		"continued it"},
	PLAN_MEMBERS(0), {"status", TEXT, 0, "status of the plan"}, {NULL}};
static const struct wfs_form plan = {.kind = WFS_FORM_RECORD, .fields = plan_fields};
static const struct wfs_form plan_list = {.kind = WFS_FORM_LIST, .of = &plan};
static const struct wfs_field plans_params[] = {
	PAGE_MEMBERS, {"session_id", TEXT, MAYBE, "only plans of this session"}, {NULL}};
static const struct wfs_field plans_answer[] = {
	NEXT_CURSOR, META, {"plans", &plan_list, 0, "the plans of a page"}, {NULL}};
static const struct wfs_field plan_status_params[] = {
	{"plan_id", TEXT, MAYBE, "id of the plan; either this or session_id"},
	{"session_id", TEXT, MAYBE,
		"a session of the client: the answer is about its last message, and the plan "
		"of this message"},
	{NULL}};
static const struct wfs_field plan_status_answer[] = {
	{"chat_id", TEXT, 0,
		"id of the newest chat about the plan; with session_id, of the session's last "
		"message"},
	META,
	{"plan", &plan, WFS_NULLABLE,
		"with session_id, in place of the members of a plan below: the plan of the "
		"message, if there is one"},
	PLAN_MEMBERS(MAYBE),
	{"status", TEXT, 0, "status of the plan; with session_id, of the message"}, {NULL}};

/* --- files of the tree --- */

#define PLACE                                                                             \
	{"path", TEXT, 0, "path from the root of the tree, which is /"},                  \
	{                                                                                 \
		"at", TEXT, MAYBE,                                                        \
			"height to read at: head, exact:N or at_least:N; by default head" \
	}
#define ATTRIBUTES                                                                             \
	{"mode", NAT, 0, "permission bits, such as 292 for 0444"},                             \
		{"mtime_ns", INTEGER, 0, "time of the last change, ns since 1970"},            \
		{"size", NAT, 0, "size in bytes"},                                             \
	{                                                                                      \
		"type", WFS_FORM(.kind = WFS_FORM_TEXT, .words = "directory file symlink"), 0, \
			"kind of the entry"                                                    \
	}

static const struct wfs_field fs_list_params[] = {PLACE, PAGE_MEMBERS, {NULL}};
static const struct wfs_field entry_fields[] = {
	ATTRIBUTES, {"name", TEXT, 0, "name in the directory"}, {NULL}};
static const struct wfs_form entry = {.kind = WFS_FORM_RECORD, .fields = entry_fields};
static const struct wfs_form entries = {.kind = WFS_FORM_LIST, .of = &entry};
static const struct wfs_field fs_list_answer[] = {
	{"entries", &entries, 0, "the entries of a page"}, META, NEXT_CURSOR, {NULL}};
static const struct wfs_field fs_stat_params[] = {PLACE, {NULL}};
static const struct wfs_field fs_stat_answer[] = {ATTRIBUTES, META,
	{"path", TEXT, 0, "as it was sent"},
	{"xattrs", &object, 0, "values of the extended attributes, by their names"}, {NULL}};
static const struct wfs_field fs_read_params[] = {PLACE,
	{"offset", NAT, MAYBE, "first byte to read; by default 0"},
	{"limit", WFS_FORM_FROM_TO(1, WFS_VERB_READ_MAX), MAYBE,
		"bytes, at most; by default 1048576"},
	{NULL}};
static const struct wfs_field fs_read_answer[] = {{"data_b64", TEXT, 0, "base64 of the bytes"},
	{"eof", BOOL, 0, "the file ends with these bytes"}, META,
	{"size", NAT, 0, "bytes of the whole file"}, {NULL}};

/* --- others --- */

static const struct wfs_field query_params[] = {
	{"query_type", TEXT, 0, "name of the query; see the command query in worldfs(1)"},
	{"params", &object, MAYBE, "parameters of the query"}, {NULL}};
static const struct wfs_field blob_stat_params[] = {
	{"hash_hex", TEXT, 0, "SHA-256 of the bytes, 64 hexadecimal digits"}, {NULL}};
static const struct wfs_field blob_stat_answer[] = {{"hash", HASH, 0, "hash of the bytes"},
	{"height", NAT, 0, "height at which blob/ of the tree began to list the blob"}, META,
	{"size", NAT, 0, "size in bytes"},
	{"time_ns", NAT, 0, "time at which blob/ began to list the blob, ns since 1970"}, {NULL}};
static const struct wfs_field invoke_params[] = {
	{"action", &object, 0, "the action: {action_type, and its members}; see ACTIONS"}, {NULL}};
static const struct wfs_field umount_params[] = {
	{"dir", TEXT, 0, "absolute path of the directory that was mounted on"}, {NULL}};
static const struct wfs_field no_params[] = {{NULL}};
static const struct wfs_form texts = {.kind = WFS_FORM_LIST, .of = &wfs_form_text};
static const struct wfs_field revoke_answer[] = {
	{"removed", NAT, 0,
		"number of grants taken back: this one, and all that were passed on from it"},
	{"unconfirmed", &texts, MAYBE,
		"names of nodes of a replicated world that have not confirmed that they show "
		"nothing by this grant any more"},
	{NULL}};
static const struct wfs_field handover_params[] = {
	{"node", TEXT, MAYBE,
		"name of the node that becomes the owner; by default the one with most records"},
	{NULL}};
static const struct wfs_field replica_fields[] = {
	{"address", TEXT, WFS_NULLABLE,
		"HOST:PORT at which other nodes reach this one; null, like the next four, if "
		"the node does not live"},
	{"bytes", NAT, WFS_NULLABLE, "bytes of the node's data.mdb"},
	{"height", NAT, WFS_NULLABLE, "height of the node's world when it renewed its lease"},
	{"lag_records", NAT, WFS_NULLABLE, "number of records that height is behind the log"},
	{"last_contact_ms", NAT, WFS_NULLABLE,
		"milliseconds since the node was seen to renew its lease"},
	{"name", TEXT, 0, "name of the node"},
	{"problem", &object, WFS_NULLABLE,
		"{cell, code, message, record} of what keeps the node from following; cell and "
		"record only if the code is diverged"},
	{"role", TEXT, 0, "owner, follower, or none if the node has no lease"}, {NULL}};
static const struct wfs_form replica = {.kind = WFS_FORM_RECORD, .fields = replica_fields};
static const struct wfs_form replica_list = {.kind = WFS_FORM_LIST, .of = &replica};
static const struct wfs_field replicas_answer[] = {
	{"epoch", NAT, 0, "number that rises whenever a process begins to own the world"},
	{"node", TEXT, 0, "name of the node that answers"},
	{"nodes", &replica_list, 0, "all nodes, sorted by name"},
	{"owner", TEXT, 0, "name of the node that owns the world, or owned it last"},
	{"problem", &object, WFS_NULLABLE, "problem of the node that answers"},
	{"role", TEXT, 0, "role of the node that answers"}, {NULL}};
static const struct wfs_field metrics_answer[] = {
	{"text", TEXT, 0, "figures in the text format of Prometheus"}, {NULL}};

/* What a verb takes and gives, if not what its effect does. */
#define TAKES(fields_) WFS_FORM(.kind = WFS_FORM_RECORD, .fields = fields_)
#define GIVES TAKES
#define AS_EFFECT .help = NULL

/*
 * Slow: takes long enough to hold up other verbs, wants a thread that may wait. Order:
 * WFS_ORDER_… of fs/verb/order.h; an `invoke` that is a query is a read. HERE_VERB: about this
 * process, also if another node owns the world.
 */
#define ROW(handler_, name_, effect_, slow_, order_, here_, ...)                           \
	{                                                                                  \
		(name_), wfs_verb_##handler_, (int)(effect_), (slow_), WFS_ORDER_##order_, \
			(here_), __VA_ARGS__                                               \
	}
#define VERB(handler_, name_, effect_, slow_, order_, ...) \
	ROW(handler_, name_, effect_, slow_, order_, false, __VA_ARGS__)
#define HERE_VERB(handler_, name_, effect_, slow_, order_, ...) \
	ROW(handler_, name_, effect_, slow_, order_, true, __VA_ARGS__)

const struct verb verb_table[] = {
	VERB(manifest_read, "manifest-read", WFS_EFFECT_INTROSPECT_MANIFEST, false, READ,
		AS_EFFECT),
	VERB(query_state, "query-state", WFS_EFFECT_INTROSPECT_REDUCER_STATE, false, READ,
		AS_EFFECT),
	VERB(list_cells, "list-cells", WFS_EFFECT_INTROSPECT_LIST_CELLS, false, READ, AS_EFFECT),
	VERB(journal_head, "journal-head", WFS_EFFECT_INTROSPECT_JOURNAL_HEAD, false, READ,
		AS_EFFECT),
	VERB(journal_read, "journal-read", WFS_EFFECT_INTROSPECT_JOURNAL, false, READ, AS_EFFECT),
	VERB(turns, "turns", WFS_EFFECT_PER_READ, false, READ, "list turns", TAKES(turns_params),
		GIVES(turns_answer)),
	VERB(intents, "intents", WFS_EFFECT_PER_READ, false, READ,
		"list intents that have no answer, or whose answer was lost", TAKES(intents_params),
		GIVES(intents_answer)),
	VERB(intent_resolve, "intent-resolve", WFS_EFFECT_INTENT_RESOLVE, false, CHANGE, AS_EFFECT),
	VERB(tool, "tool", WFS_EFFECT_TOOL_OUTSIDE, false, CHANGE, AS_EFFECT),
	VERB(tools, "tools", WFS_EFFECT_PER_READ, false, READ,
		"start servers of outside tools, and list their tools", TAKES(no_params),
		GIVES(tools_answer)),
	VERB(timers, "timers", WFS_EFFECT_PER_READ, false, READ, "list timers",
		TAKES(timers_params), GIVES(timers_answer)),
	VERB(query, "query", WFS_EFFECT_ACTION_QUERY_KERNEL, true, READ,
		"ask about artifacts, principals, scrip and quotas", TAKES(query_params), &object),
	VERB(blob_get, "blob-get", WFS_EFFECT_BLOB_GET, true, READ, AS_EFFECT),
	VERB(blob_stat, "blob-stat", WFS_EFFECT_BLOB_GET, false, READ, "tell the size of a blob",
		TAKES(blob_stat_params), GIVES(blob_stat_answer)),
	VERB(put_blob, "put-blob", WFS_EFFECT_BLOB_PUT, true, CHANGE, AS_EFFECT),
	VERB(invoke, "invoke", WFS_EFFECT_PER_READ, false, CHANGE, "perform an action",
		TAKES(invoke_params)),
	VERB(send_event, "send-event", WFS_EFFECT_EVENT_EMIT, false, CHANGE, AS_EFFECT),
	VERB(step, "step", WFS_EFFECT_AGENT_STEP, false, TURN, AS_EFFECT),
	VERB(step_again, "step-again", WFS_EFFECT_PER_READ, false, TURN,
		"send the requests of a turn to a model again", TAKES(step_again_params),
		GIVES(step_again_answer)),
	VERB(chat, "chat", WFS_EFFECT_PLAN_RUN, false, TURN,
		"send a message to a model, which answers or makes a plan", TAKES(chat_params),
		GIVES(chat_answer)),
	VERB(plans, "plans", WFS_EFFECT_PER_READ, false, READ, "list plans", TAKES(plans_params),
		GIVES(plans_answer)),
	VERB(plan_status, "plan-status", WFS_EFFECT_PER_READ, false, READ,
		"tell how far a plan has come", TAKES(plan_status_params),
		GIVES(plan_status_answer)),
	VERB(plan_resume, "plan-resume", WFS_EFFECT_PLAN_RUN, false, TURN,
		"continue a plan, and wait for its end", TAKES(plan_resume_params),
		GIVES(chat_answer)),
	VERB(plan_cancel, "plan-cancel", WFS_EFFECT_PLAN_CANCEL, false, AT_ONCE, "stop a plan",
		TAKES(plan_id_params)),
	VERB(plan_import, "plan-import", WFS_EFFECT_PLAN_RUN, false, TURN,
		"store the plan of a file plan.json", TAKES(plan_import_params),
		GIVES(chat_answer)),
	VERB(cancel, "cancel", WFS_EFFECT_AGENT_CANCEL, false, AT_ONCE, AS_EFFECT),
	VERB(wake, "wake", WFS_EFFECT_AGENT_WAKE, false, AT_ONCE, AS_EFFECT),
	VERB(approve, "approve", WFS_EFFECT_AGENT_APPROVE, false, AT_ONCE, AS_EFFECT),
	VERB(grant, "grant", WFS_EFFECT_WORLD_GRANT, false, RIGHTS, AS_EFFECT),
	VERB(revoke, "revoke", WFS_EFFECT_WORLD_REVOKE, false, RIGHTS,
		.answer = GIVES(revoke_answer)),
	VERB(principal, "principal", WFS_EFFECT_WORLD_PRINCIPAL, false, RIGHTS, AS_EFFECT),
	VERB(apply, "apply", WFS_EFFECT_WORLD_APPLY, true, WORLD, AS_EFFECT),
	VERB(snapshot, "snapshot", WFS_EFFECT_WORLD_SNAPSHOT, true, WORLD, AS_EFFECT),
	HERE_VERB(gc, "gc", WFS_EFFECT_WORLD_GC, true, WORLD, AS_EFFECT),
	HERE_VERB(code, "code", WFS_EFFECT_WORLD_CODE, true, WORLD, AS_EFFECT),
	HERE_VERB(mount, "mount", WFS_EFFECT_WORLD_MOUNT, true, WORLD,
		"serve a mount that the client has made"),
	HERE_VERB(umount, "umount", WFS_EFFECT_WORLD_MOUNT, true, WORLD, "end a mount",
		TAKES(umount_params)),
	VERB(status, "status", WFS_EFFECT_INTROSPECT_STATUS, false, READ, AS_EFFECT),
	VERB(metrics, "metrics", WFS_EFFECT_INTROSPECT_STATUS, false, READ,
		"read figures of the owner process and the store", TAKES(no_params),
		GIVES(metrics_answer)),
	VERB(replicas, "replicas", WFS_EFFECT_INTROSPECT_STATUS, false, READ,
		"list the nodes of a replicated world", TAKES(no_params), GIVES(replicas_answer)),
	VERB(handover, "handover", WFS_EFFECT_WORLD_SHUTDOWN, true, AT_ONCE,
		"make another node the owner of a replicated world", TAKES(handover_params)),
	HERE_VERB(shutdown, "shutdown", WFS_EFFECT_WORLD_SHUTDOWN, false, AT_ONCE, AS_EFFECT),
	VERB(fs_list, "fs-list", WFS_EFFECT_PER_READ, false, READ, "list a directory of the tree",
		TAKES(fs_list_params), GIVES(fs_list_answer)),
	VERB(fs_stat, "fs-stat", WFS_EFFECT_PER_READ, false, READ,
		"tell type, size and attributes of a path in the tree", TAKES(fs_stat_params),
		GIVES(fs_stat_answer)),
	VERB(fs_read, "fs-read", WFS_EFFECT_PER_READ, false, READ, "read a file of the tree",
		TAKES(fs_read_params), GIVES(fs_read_answer)),
};

const size_t verb_count = WFS_ARRAY_COUNT(verb_table);

const char *verb_help(const struct verb *verb)
{
	return verb->help ? verb->help : wfs_effect_help((enum wfs_effect)verb->effect);
}

const struct wfs_form *verb_params(const struct verb *verb)
{
	return verb->params ? verb->params : wfs_effect_params((enum wfs_effect)verb->effect);
}

const struct wfs_form *verb_answer(const struct verb *verb)
{
	/* All actions have one receipt. */
	const int effect =
		verb->effect < WFS_EFFECT_COUNT ? verb->effect : (int)WFS_EFFECT_ACTION_NOOP;

	return verb->answer ? verb->answer : wfs_effect_receipt((enum wfs_effect)effect);
}
