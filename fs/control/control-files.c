/* SPDX-License-Identifier: Apache-2.0 */
/* The table of control files: to add one, add its row here and its verb to fs/verb/verb.c. */
#include "fs/control/control-impl.h"

const struct wfs_control_file wfs_control_files[] = {
	{
		.name = "invoke",
		.verb = "invoke",
		.kind = WFS_CONTROL_JSON,
		.member = "action",
		.usage = "Write one action object, then read its result from the same descriptor.\n"
			 "Without action_type it is invoke_artifact. Example:\n"
			 "  echo '{\"action_type\":\"noop\"}' > invoke && cat last\n",
	},
	{
		.name = "step",
		.verb = "step",
		.kind = WFS_CONTROL_JSON,
		.word = "agent",
		.usage =
			"Write the id of an agent, or {agent, message?, messages?, tools?, "
			"max_turns?, turns?,\n"
			"timeout_ms?, wait?}: it takes a turn of at most max_turns requests to its "
			"model, or\n"
			"several one after the other. The write returns when they have ended, and "
			"fails when one\n"
			"failed; then read the result from the same descriptor. Interrupting the "
			"writer ends\n"
			"the turn. With \"wait\":false it is {turn_id} at once. Example:\n"
			"  echo helper > step && cat last\n",
	},
	{
		.name = "chat",
		.verb = "chat",
		.kind = WFS_CONTROL_JSON,
		.word = "message",
		.usage = "Write a message, or {message, session_id?, plan_id?, batch_size?, "
			 "max_concurrency?, wait?}:\n"
			 "a model answers it, with a plan when tools are needed, which is run. The "
			 "write returns\n"
			 "when there is an answer; then read it from the same descriptor. "
			 "Interrupting the writer\n"
			 "stops the plan; {plan_id} resumes it. Example:\n"
			 "  echo '{\"message\":\"What is in the world?\"}' > chat && cat last\n",
	},
	{
		.name = "cancel",
		.verb = "cancel",
		.kind = WFS_CONTROL_JSON,
		.word = "turn_id",
		.usage = "Write the id of a turn, or {turn_id}: it ends. Example:\n"
			 "  echo helper.120 > cancel || cat last\n",
	},
	{
		.name = "approve",
		.verb = "approve",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {turn_id, call_id, decision}: a tool call that waits is made, or "
			 "with the\n"
			 "decision \"deny\" is not. Example:\n"
			 "  echo '{\"turn_id\":\"helper.120\",\"call_id\":\"call_1\","
			 "\"decision\":\"allow\"}' > approve\n",
	},
	{
		.name = "query",
		.verb = "query",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {query_type, params?}, then read the answer from the same "
			 "descriptor.\n"
			 "Interrupting the writer, by any signal that it handles, ends the query.\n"
			 "'worldfs query' lists the types. Example:\n"
			 "  echo '{\"query_type\":\"balances\"}' > query && cat last\n",
	},
	{
		.name = "event",
		.verb = "send-event",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {schema, value, key?}, one or many as JSON lines, then read one "
			 "answer\n"
			 "a value from the same descriptor: {\"seqs\":[...]}. The write returns "
			 "when\n"
			 "its effect is durable and visible. Example:\n"
			 "  echo '{\"schema\":\"test/Add@1\",\"value\":{\"key\":\"a\",\"by\":1}}' "
			 "> event "
			 "|| cat last\n",
	},
	{
		.name = "put-blob",
		.kind = WFS_CONTROL_BYTES,
		.usage = "Write bytes; closing (or reading the answer) stores them. Example:\n"
			 "  cp picture.png put-blob && cat last\n",
	},
	{
		.name = "snapshot",
		.verb = "snapshot",
		.kind = WFS_CONTROL_JSON,
		.empty_line = true,
		.usage = "Write {} or an empty line: computes and records the snapshot hash. "
			 "Example:\n"
			 "  echo > snapshot && cat last\n",
	},
	{
		.name = "code",
		.verb = "code",
		.kind = WFS_CONTROL_JSON,
		.empty_line = true,
		.usage = "Write {} or an empty line, then read which code ended the process that "
			 "runs "
			 "code;\n"
			 "write {lift} to let refused code run again. Example:\n"
			 "  echo > code && cat last\n",
	},
	{
		.name = "gc",
		.verb = "gc",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {keep_heights} or {since}: drops the heights before, and what no "
			 "later one\n"
			 "shows. The write returns when it is done. Example:\n"
			 "  echo '{\"keep_heights\":1000}' > gc && cat last\n",
	},
	{
		.name = "grant",
		.verb = "grant",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {to, cap, params?, name?, expires_at_ns?, budget?}, then read "
			 "{name} from\n"
			 "the same descriptor. Example:\n"
			 "  echo '{\"to\":\"alice\",\"cap\":\"sys/query@1\",\"params\":"
			 "{\"scope\":[\"reducers/*\"]}}' > grant && cat last\n",
	},
	{
		.name = "revoke",
		.verb = "revoke",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {name}: the grant is taken back, and all that was passed on from "
			 "it. Example:\n"
			 "  echo '{\"name\":\"alice.query.1\"}' > revoke || cat last\n",
	},
	{
		.name = "principal",
		.verb = "principal",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {id, scrip?, quotas?}: makes a principal, who may do nothing yet. "
			 "Example:\n"
			 "  echo '{\"id\":\"alice\",\"scrip\":100}' > principal || cat last\n",
	},
	{
		.name = "apply",
		.verb = "apply",
		.kind = WFS_CONTROL_JSON,
		.usage =
			"Write {manifest, base_manifest_hash?, reason?, dry_run?}; modules are put "
			"before,\n"
			"as blobs. Then read {added, changed, removed, …} from the same "
			"descriptor.\n",
	},
	{.name = "last", .kind = WFS_CONTROL_LAST},
	{.name = "status", .verb = "status", .kind = WFS_CONTROL_DOCUMENT},
	{.name = "metrics", .verb = "metrics", .kind = WFS_CONTROL_TEXT},
};

const size_t wfs_control_file_count = WFS_ARRAY_COUNT(wfs_control_files);

const struct wfs_control_file wfs_control_artifacts = {
	.name = "artifacts",
	.verb = "invoke",
	.kind = WFS_CONTROL_CONTENT,
};
