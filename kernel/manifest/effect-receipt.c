/* SPDX-License-Identifier: Apache-2.0 */
/* The form of each effect's receipt. Those of verbs have help for worldfs-control(5).
 * Receipts of reads have the height they were read at in `meta`. */
#include "kernel/manifest/effect.h"

#define MAYBE WFS_OPTIONAL
#define TEXT &wfs_form_text
#define NAT &wfs_form_nat
#define BOOL &wfs_form_bool
#define HASH &wfs_form_hash
#define VALUE &wfs_form_value

static const struct wfs_form manifest_ref = {.kind = WFS_FORM_OBJECT, .ref = "sys/Manifest@1"};
static const struct wfs_form record_ref = {.kind = WFS_FORM_OBJECT, .ref = "sys/Record@1"};
static const struct wfs_form mount_ref = {.kind = WFS_FORM_OBJECT, .ref = "sys/Mount@1"};

static const struct wfs_form nats = {.kind = WFS_FORM_LIST, .of = NAT};
static const struct wfs_form records = {.kind = WFS_FORM_LIST, .of = &record_ref};
static const struct wfs_form values = {.kind = WFS_FORM_LIST, .of = VALUE};
static const struct wfs_form mounts = {.kind = WFS_FORM_LIST, .of = &mount_ref};

#define META_MEMBERS                                                        \
	{"journal_height", NAT, 0, "number of records"},                    \
		{"manifest_hash", HASH, 0, "hash of the manifest"},         \
	{                                                                   \
		"snapshot_hash", HASH, MAYBE, "hash of the newest snapshot" \
	}

static const struct wfs_field meta_members[] = {META_MEMBERS, {NULL}};
const struct wfs_form wfs_effect_meta = {.kind = WFS_FORM_RECORD, .fields = meta_members};
#define META                                                                      \
	{                                                                         \
		"meta", &wfs_effect_meta, 0, "height and hashes of what was read" \
	}
#define NEXT_CURSOR                                                                              \
	{                                                                                        \
		"next_cursor", TEXT, MAYBE, "value of cursor for the next page, if there is one" \
	}
static const struct wfs_field cell_members[] = {{"key_b64", TEXT, 0, "base64 of the key's bytes"},
	{"last_active_height", NAT, 0, "height at which the cell changed last"},
	{"last_active_ns", NAT, 0, "time of that change, ns since 1970"},
	{"size", NAT, 0, "bytes of the state"}, {"state_hash", HASH, 0, "hash of the state"},
	{NULL}};
static const struct wfs_form cell = {.kind = WFS_FORM_RECORD, .fields = cell_members};
static const struct wfs_form cells = {.kind = WFS_FORM_LIST, .of = &cell};
static const struct wfs_field queue_members[] = {{"bytes", NAT, 0, "bytes of these requests"},
	{"count", NAT, 0, "requests that are not answered yet"},
	{"max", NAT, 0, "how many requests can wait"}, {NULL}};
static const struct wfs_form queue = {.kind = WFS_FORM_RECORD, .fields = queue_members};
static const struct wfs_field store_members[] = {{"blob_bytes", NAT, 0, "bytes of blob files"},
	{"free_bytes", NAT, 0, "free bytes in data.mdb, which are used again"},
	{"map_size_bytes", NAT, 0, "bytes that data.mdb can grow to"},
	{"used_bytes", NAT, 0, "bytes in use in data.mdb"}, {NULL}};
static const struct wfs_form store = {.kind = WFS_FORM_RECORD, .fields = store_members};
static const struct wfs_field introspect_manifest[] = {
	{"manifest", &manifest_ref, 0, "the document"}, META_MEMBERS, META, {NULL}};
static const struct wfs_field introspect_reducer_state[] = {
	{"state_b64", TEXT, MAYBE, "base64 of the state; absent if the cell does not exist"}, META,
	{NULL}};
static const struct wfs_field introspect_journal_head[] = {META_MEMBERS, META, {NULL}};
static const struct wfs_field introspect_list_cells[] = {
	{"cells", &cells, 0, "the cells of a page"}, NEXT_CURSOR, META, {NULL}};
static const struct wfs_field introspect_journal[] = {
	{"records", &records, 0, "records, as worldfs-journal(5) describes them"},
	{"next_from", NAT, MAYBE, "value of from for the next page, if there is one"}, META,
	{NULL}};
static const struct wfs_field introspect_status[] = {
	{"effects_in_flight", NAT, MAYBE, "number of answers that turns and plans wait for"},
	{"first_height", NAT, 0, "first height that is kept"},
	{"fold_version", NAT, 0, "fold version of the world"},
	{"height", NAT, 0, "number of records"},
	{"keep", BOOL, MAYBE, "whether the owner process stays when the last mount has ended"},
	{"last_mount", BOOL, MAYBE, "whether there is exactly one mount"}, META,
	{"mount_count", NAT, MAYBE, "number of mounts"},
	{"mounts", &mounts, 0, "for each mount: ctl, directory, principal"},
	{"name", TEXT, 0, "name of the world"},
	{"pid", NAT, MAYBE, "process id of the owner process"},
	{"queue", &queue, MAYBE, "the requests that are not answered yet"},
	{"store", &store, MAYBE, "sizes of the store"},
	{"store_format", NAT, 0, "store format of the world"},
	{"uptime_s", NAT, MAYBE, "age of the owner process, in seconds"},
	{"version", TEXT, 0, "version of the program"},
	{"world", TEXT, 0, "path of the world directory"}, {NULL}};
static const struct wfs_field query_kernel[] = {
	{"result", VALUE}, {"meta", &wfs_effect_meta}, {NULL}};
static const struct wfs_field blob_get[] = {
	{"data_b64", TEXT, 0, "base64 of the bytes"}, META, {NULL}};
static const struct wfs_field blob_put[] = {{"hash", HASH, 0, "hash of the bytes"}, {NULL}};
static const struct wfs_field event_emit[] = {
	{"seen", &wfs_form_bool, WFS_OPTIONAL,
		"true: an event with the same value of the member that dedup names was sent "
		"before, so this one was not recorded"},
	{"seqs", &nats, 0, "seq of the record; empty if the event was not recorded"}, {NULL}};
static const struct wfs_field action[] = {{"action_type", TEXT, 0, "as it was sent"},
	{"data", VALUE, 0, "result of the action"}, {"error", VALUE, 0, "null"},
	{"height", NAT, 0, "height after the action"}, {"message", TEXT, 0, "the result in words"},
	META, {"ok", BOOL, 0, "true"}, {NULL}};
/* For reducers. */
static const struct wfs_field timer_schedule[] = {{"id", TEXT}, {"next_ns", NAT}, {NULL}};
static const struct wfs_field mint_score[] = {{"reason", TEXT}, {"score", NAT}, {NULL}};
/* For one run; for a list of runs; for a run that is not waited for. */
static const struct wfs_field agent_step[] = {{"agent", TEXT, MAYBE, "as it was sent"},
	{"error", VALUE, MAYBE, "why the turn failed: {code, message}"},
	{"final_message", VALUE, MAYBE, "the last message of the turn"},
	{"final_tool_result", VALUE, MAYBE, "what the tool submit_result was called with"},
	{"history", &values, MAYBE, "all messages of the turn"},
	{"last_assistant_message", VALUE, MAYBE,
		"the last message of the model, if the last message of the turn is the result "
		"of a tool"},
	{"meta", &wfs_effect_meta, MAYBE, "height and hashes after the turn"},
	{"ok", BOOL, MAYBE, "whether the turn did not fail and was not cancelled"},
	{"run_id", TEXT, MAYBE, "id of the turn"},
	{"runs", &values, MAYBE,
		"only if turns is 2 or more, in place of the members about one turn: the "
		"answer for each turn"},
	{"termination_reason", TEXT, MAYBE, "why the turn ended"},
	{"total_usage", VALUE, MAYBE, "tokens of all requests to the model"},
	{"turn_count", NAT, MAYBE, "number of requests to the model"},
	{"turn_id", TEXT, MAYBE, "the only member if wait is false: id of the turn that has begun"},
	{NULL}};
static const struct wfs_field agent_run[] = {{"run_id", TEXT, 0, "id of the turn"}, {NULL}};
static const struct wfs_field llm_generate[] = {{"duration_ms", NAT}, {"usage", VALUE},
	{"attempts", NAT, MAYBE}, {"content", VALUE, MAYBE}, {"finish_reason", VALUE, MAYBE},
	{"model", TEXT, MAYBE}, {"native_calls_count", NAT, MAYBE}, {"plan", TEXT, MAYBE},
	{"text", TEXT, MAYBE}, {"tool_calls", &values, MAYBE}, {NULL}};
static const struct wfs_field tool_call[] = {{"duration_ms", NAT}, {"outcome", VALUE, MAYBE},
	{"output", TEXT, MAYBE}, {"output_size", NAT, MAYBE}, {NULL}};
static const struct wfs_form outside_blobs = {.kind = WFS_FORM_LIST, .of = HASH};
static const struct wfs_field tool_outside[] = {
	{"blobs", &outside_blobs, MAYBE,
		"hashes of blobs with the binary parts of content, which names them by their "
		"index in this array"},
	{"content", VALUE, MAYBE,
		"the parts of the answer, as the server sent them, with {blob: index} in "
		"place of bytes"},
	{"content_blob", HASH, MAYBE,
		"hash of a blob with the parts, if these are longer than 65536 bytes"},
	{"duration_ms", NAT, 0, "milliseconds of the call"},
	{"intent_id", HASH, MAYBE, "id of the intent of the call"},
	{"output", VALUE, 0, "the text of the answer, at most 65536 bytes of it"},
	{"output_blob", HASH, MAYBE,
		"hash of a blob with the whole text, if this is longer than output"},
	{"output_size", NAT, 0, "bytes of the whole text"},
	{"structured", VALUE, MAYBE, "the structured content of the answer"},
	{"structured_blob", HASH, MAYBE,
		"hash of a blob with the structured content, if this is longer than 65536 "
		"bytes"},
	{NULL}};
static const struct wfs_field intent_resolve[] = {
	{"intent_id", HASH, 0, "as it was sent"}, {"outcome", TEXT, 0, "as it was sent"}, {NULL}};
static const struct wfs_field workflow_advance[] = {{"next_state", TEXT}, {"reason", TEXT},
	{"attempts", NAT, MAYBE}, {"duration_ms", NAT, MAYBE}, {"notes", &values, MAYBE},
	{"text", TEXT, MAYBE}, {"usage", VALUE, MAYBE}, {NULL}};
static const struct wfs_field plan[] = {{"chat_id", TEXT, MAYBE, "id of the chat"},
	{"plan_id", TEXT, MAYBE, "id of the plan"}, {NULL}};
static const struct wfs_field plan_normalize[] = {{"goal", TEXT}, {"offset", NAT},
	{"plan_id", TEXT}, {"steps", &values}, {"total", NAT}, {NULL}};
static const struct wfs_field world_snapshot[] = {{"height", NAT, 0, "height of the snapshot"},
	{"seqs", &nats, 0, "seq of the record"},
	{"snapshot_hash", HASH, 0, "hash of the whole state"}, {NULL}};
static const struct wfs_field world_gc[] = {{"cells", NAT, 0, "cells that were dropped"},
	{"done", NAT, 0, "about how many of the versions in total were looked at"},
	{"file_bytes", NAT, 0, "bytes of the files that were removed"},
	{"files", NAT, 0, "files that were removed"},
	{"files_held", BOOL, 0,
		"whether files were left for the next gc, because a copy or a read may use "
		"them"},
	{"first_height", NAT, 0, "first height that is kept now"},
	{"next_cursor", TEXT, MAYBE,
		"value of cursor for the next call; absent when nothing is left to do"},
	{"raw", NAT, MAYBE, "number of dropped blobs, each a request to a model or its answer"},
	{"raw_bytes", NAT, MAYBE, "bytes of the blobs that raw counts"},
	{"record_bytes", NAT, 0, "bytes of the records that were dropped"},
	{"records", NAT, 0, "records that were dropped"},
	{"total", NAT, 0, "about how many versions there are to look at"},
	{"version_bytes", NAT, 0, "bytes of the versions that were dropped"},
	{"versions", NAT, 0, "versions that were dropped"}, {NULL}};
static const struct wfs_field crashed_members[] = {
	{"at_ns", NAT, 0, "time of the last crash, ns since 1970"},
	{"code", HASH, 0, "hash of the code"},
	{"crashes", NAT, 0, "how often this code has crashed"},
	{"name", TEXT, 0, "name of the code when it crashed"},
	{"refused", BOOL, 0, "whether the code is refused, because it has crashed three times"},
	{NULL}};
static const struct wfs_form crashed = {.kind = WFS_FORM_RECORD, .fields = crashed_members};
static const struct wfs_form crashed_list = {.kind = WFS_FORM_LIST, .of = &crashed};
static const struct wfs_field world_code[] = {{"codes", &crashed_list, 0, "code that crashed"},
	{"lifted", HASH, MAYBE, "hash of the code that may run again from now on"}, {NULL}};
static const struct wfs_field world_mount[] = {{NULL}};
static const struct wfs_field world_shutdown[] = {{NULL}};
static const struct wfs_field world_grant[] = {{"name", TEXT, 0, "name of the grant"}, {NULL}};
static const struct wfs_field world_revoke[] = {
	{"removed", NAT, 0,
		"number of grants taken back: this one, and all that were passed on from it"},
	{NULL}};
static const struct wfs_field world_principal[] = {{"id", TEXT, 0, "as it was sent"}, {NULL}};
static const struct wfs_field definition_members[] = {
	{"list", TEXT, 0, "list of the manifest that the definition is in"},
	{"name", TEXT, 0, "name of the definition in this list"}, {NULL}};
static const struct wfs_form definition = {.kind = WFS_FORM_RECORD, .fields = definition_members};
static const struct wfs_form definitions = {.kind = WFS_FORM_LIST, .of = &definition};
static const struct wfs_field world_apply[] = {{"added", &definitions, 0, "new definitions"},
	{"base_manifest_hash", HASH, 0, "hash of the manifest before"},
	{"changed", &definitions, 0, "definitions that are different"},
	{"dry_run", BOOL, 0, "whether nothing was changed, because dry_run was true"},
	{"manifest_hash", HASH, 0, "hash of the new manifest"},
	{"removed", &definitions, 0, "definitions that the new manifest lacks"}, {NULL}};

static const struct wfs_form receipts[] = {
#define RECEIPT(constant, member, kind_, cap_type, scope, receipt, params, help) \
	{.kind = WFS_FORM_RECORD, .fields = (receipt)},
	WFS_EFFECTS(RECEIPT)
#undef RECEIPT
};

const struct wfs_form *wfs_effect_receipt(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return &receipts[effect];
}
