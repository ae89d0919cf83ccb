/* SPDX-License-Identifier: Apache-2.0 */
/* The table of control files: to add one, add its row here and its verb to fs/verb/verb.c. */
#include "fs/control/control-impl.h"

const struct wfs_control_file wfs_control_files[] = {
	{
		.name = "invoke",
		.verb = "invoke",
		.kind = WFS_CONTROL_JSON,
		.member = "action",
		.usage = "Write one action object, then read its result from the same "
			 "descriptor.\n"
			 "An object without action_type invokes an artifact. Example:\n"
			 "  echo '{\"action_type\":\"noop\"}' > invoke && cat last\n",
	},
	{
		.name = "step",
		.verb = "step",
		.kind = WFS_CONTROL_JSON,
		.word = "agent",
		.usage = "Write the id of an agent, or {agent, message?, messages?, tools?, "
			 "max_turns?, turns?,\n"
			 "timeout_ms?, wait?}: the agent takes a turn of at most max_turns "
			 "requests to its model,\n"
			 "or several turns one after the other. The write returns when they have "
			 "ended, and fails\n"
			 "if one failed; then read the result from the same descriptor. "
			 "Interrupting the writer\n"
			 "ends the turn. With \"wait\":false the result is {turn_id} at once. "
			 "Example:\n"
			 "  echo helper > step && cat last\n",
	},
	{
		.name = "chat",
		.verb = "chat",
		.kind = WFS_CONTROL_JSON,
		.word = "message",
		.usage = "Write a message, or {message, session_id?, plan_id?, batch_size?, "
			 "max_concurrency?, wait?}:\n"
			 "a model answers the message, with a plan that is run if tools are "
			 "needed. The write\n"
			 "returns when there is an answer; then read it from the same descriptor. "
			 "Interrupting the\n"
			 "writer stops the plan; {plan_id} continues it. Example:\n"
			 "  echo '{\"message\":\"What is in the world?\"}' > chat && cat last\n",
	},
	{
		.name = "cancel",
		.verb = "cancel",
		.kind = WFS_CONTROL_JSON,
		.word = "turn_id",
		.usage = "Write the id of a turn, or {turn_id}: the turn ends. Example:\n"
			 "  echo helper.120 > cancel || cat last\n",
	},
	{
		.name = "approve",
		.verb = "approve",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {turn_id, call_id, decision}: a waiting tool call is made, or "
			 "refused if the\n"
			 "decision is \"deny\". Example:\n"
			 "  echo "
			 "'{\"turn_id\":\"helper.120\",\"call_id\":\"call_1\",\"decision\":"
			 "\"allow\"}' "
			 "> approve\n",
	},
	{
		.name = "query",
		.verb = "query",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {query_type, params?}, then read the answer from the same "
			 "descriptor.\n"
			 "Interrupting the writer, by any signal that it handles, ends the "
			 "query.\n"
			 "'worldfs query' lists the types. Example:\n"
			 "  echo '{\"query_type\":\"balances\"}' > query && cat last\n",
	},
	{
		.name = "event",
		.verb = "send-event",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {schema, value, key?}, once or many times as JSON lines, then "
			 "read one answer for\n"
			 "each from the same descriptor: {\"seqs\":[...]}. The write returns when "
			 "its effect is on\n"
			 "disk and visible. Example:\n"
			 "  echo '{\"schema\":\"test/Add@1\",\"value\":{\"key\":\"a\",\"by\":1}}' "
			 "> event || cat last\n",
	},
	{
		.name = "put-blob",
		.kind = WFS_CONTROL_BYTES,
		.usage = "Write bytes; closing the file, or reading the answer, stores them. "
			 "Example:\n"
			 "  cp picture.png put-blob && cat last\n",
	},
	{
		.name = "snapshot",
		.verb = "snapshot",
		.kind = WFS_CONTROL_JSON,
		.empty_line = true,
		.usage = "Write {} or an empty line: the snapshot hash is computed and recorded. "
			 "Example:\n"
			 "  echo > snapshot && cat last\n",
	},
	{
		.name = "code",
		.verb = "code",
		.kind = WFS_CONTROL_JSON,
		.empty_line = true,
		.usage = "Write {} or an empty line, then read which code ended the process that "
			 "runs code.\n"
			 "Write {lift} to let refused code run again. Example:\n"
			 "  echo > code && cat last\n",
	},
	{
		.name = "gc",
		.verb = "gc",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {keep_heights} or {since}: drops older heights, and what only "
			 "they show.\n"
			 "The write returns when this is done. Example:\n"
			 "  echo '{\"keep_heights\":1000}' > gc && cat last\n",
	},
	{
		.name = "grant",
		.verb = "grant",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {to, cap, params?, name?, expires_at_ns?, budget?}, then read "
			 "{name} from\n"
			 "the same descriptor. Example:\n"
			 "  echo "
			 "'{\"to\":\"alice\",\"cap\":\"sys/"
			 "query@1\",\"params\":{\"scope\":[\"reducers/*\"]}}' "
			 "> grant && cat last\n",
	},
	{
		.name = "revoke",
		.verb = "revoke",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {name}: takes back the grant, and all grants that were passed on "
			 "from it. Example:\n"
			 "  echo '{\"name\":\"alice.query.1\"}' > revoke || cat last\n",
	},
	{
		.name = "principal",
		.verb = "principal",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {id, scrip?, quotas?}: makes a principal that holds no grants. "
			 "Example:\n"
			 "  echo '{\"id\":\"alice\",\"scrip\":100}' > principal || cat last\n",
	},
	{
		.name = "apply",
		.verb = "apply",
		.kind = WFS_CONTROL_JSON,
		.usage = "Write {manifest, base_manifest_hash?, reason?, dry_run?}; its modules "
			 "must be blobs already.\n"
			 "Then read {added, changed, removed, …} from the same descriptor.\n",
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
