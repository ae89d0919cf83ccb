/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of each effect's receipt.
 * Receipts of reads have the height they were read at in `meta`. */
#include "kernel/manifest/effect-impl.h"

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

#define META_MEMBERS                                      \
	{"journal_height", NAT}, {"manifest_hash", HASH}, \
	{                                                 \
		"snapshot_hash", HASH, MAYBE              \
	}

static const struct wfs_field meta_members[] = {META_MEMBERS, {NULL}};
static const struct wfs_form meta = {.kind = WFS_FORM_RECORD, .fields = meta_members};
static const struct wfs_field cell_members[] = {{"key_b64", TEXT}, {"last_active_height", NAT},
	{"last_active_ns", NAT}, {"size", NAT}, {"state_hash", HASH}, {NULL}};
static const struct wfs_form cell = {.kind = WFS_FORM_RECORD, .fields = cell_members};
static const struct wfs_form cells = {.kind = WFS_FORM_LIST, .of = &cell};
static const struct wfs_field queue_members[] = {
	{"bytes", NAT}, {"count", NAT}, {"max", NAT}, {NULL}};
static const struct wfs_form queue = {.kind = WFS_FORM_RECORD, .fields = queue_members};
static const struct wfs_field store_members[] = {{"blob_bytes", NAT}, {"free_bytes", NAT},
	{"map_size_bytes", NAT}, {"used_bytes", NAT}, {NULL}};
static const struct wfs_form store = {.kind = WFS_FORM_RECORD, .fields = store_members};
static const struct wfs_field introspect_manifest[] = {
	{"manifest", &manifest_ref}, META_MEMBERS, {"meta", &meta}, {NULL}};
static const struct wfs_field introspect_reducer_state[] = {
	{"state_b64", TEXT, MAYBE}, {"meta", &meta}, {NULL}};
static const struct wfs_field introspect_journal_head[] = {META_MEMBERS, {"meta", &meta}, {NULL}};
static const struct wfs_field introspect_list_cells[] = {
	{"cells", &cells}, {"next_cursor", TEXT, MAYBE}, {"meta", &meta}, {NULL}};
static const struct wfs_field introspect_journal[] = {
	{"records", &records}, {"next_from", NAT, MAYBE}, {"meta", &meta}, {NULL}};
static const struct wfs_field introspect_status[] = {{"effects_in_flight", NAT, MAYBE},
	{"first_height", NAT}, {"height", NAT}, {"keep", BOOL, MAYBE}, {"last_mount", BOOL, MAYBE},
	{"meta", &meta}, {"mount_count", NAT, MAYBE}, {"mounts", &mounts}, {"name", TEXT},
	{"pid", NAT, MAYBE}, {"queue", &queue, MAYBE}, {"store", &store, MAYBE},
	{"uptime_s", NAT, MAYBE}, {"version", TEXT}, {"world", TEXT}, {NULL}};
static const struct wfs_field query_kernel[] = {{"result", VALUE}, {"meta", &meta}, {NULL}};
static const struct wfs_field blob_get[] = {{"data_b64", TEXT}, {"meta", &meta}, {NULL}};
static const struct wfs_field blob_put[] = {{"hash", HASH}, {NULL}};
static const struct wfs_field event_emit[] = {{"seqs", &nats}, {NULL}};
static const struct wfs_field action[] = {{"action_type", TEXT}, {"data", VALUE}, {"error", VALUE},
	{"height", NAT}, {"message", TEXT}, {"meta", &meta}, {"ok", BOOL}, {NULL}};
static const struct wfs_field mint_score[] = {{"reason", TEXT}, {"score", NAT}, {NULL}};
/* For one run; for a list of runs; for a run that is not waited for. */
static const struct wfs_field agent_step[] = {{"agent", TEXT, MAYBE}, {"error", VALUE, MAYBE},
	{"final_message", VALUE, MAYBE}, {"final_tool_result", VALUE, MAYBE},
	{"history", &values, MAYBE}, {"last_assistant_message", VALUE, MAYBE},
	{"meta", &meta, MAYBE}, {"ok", BOOL, MAYBE}, {"run_id", TEXT, MAYBE},
	{"runs", &values, MAYBE}, {"termination_reason", TEXT, MAYBE},
	{"total_usage", VALUE, MAYBE}, {"turn_count", NAT, MAYBE}, {"turn_id", TEXT, MAYBE},
	{NULL}};
static const struct wfs_field agent_run[] = {{"run_id", TEXT}, {NULL}};
static const struct wfs_field llm_generate[] = {{"duration_ms", NAT}, {"usage", VALUE},
	{"attempts", NAT, MAYBE}, {"content", VALUE, MAYBE}, {"finish_reason", VALUE, MAYBE},
	{"model", TEXT, MAYBE}, {"native_calls_count", NAT, MAYBE}, {"plan", TEXT, MAYBE},
	{"text", TEXT, MAYBE}, {"tool_calls", &values, MAYBE}, {NULL}};
static const struct wfs_field tool_call[] = {{"duration_ms", NAT}, {"outcome", VALUE, MAYBE},
	{"output", TEXT, MAYBE}, {"output_size", NAT, MAYBE}, {NULL}};
static const struct wfs_field workflow_advance[] = {{"next_state", TEXT}, {"reason", TEXT},
	{"attempts", NAT, MAYBE}, {"duration_ms", NAT, MAYBE}, {"notes", &values, MAYBE},
	{"text", TEXT, MAYBE}, {"usage", VALUE, MAYBE}, {NULL}};
static const struct wfs_field plan[] = {{"chat_id", TEXT, MAYBE}, {"plan_id", TEXT, MAYBE}, {NULL}};
static const struct wfs_field plan_normalize[] = {{"goal", TEXT}, {"offset", NAT},
	{"plan_id", TEXT}, {"steps", &values}, {"total", NAT}, {NULL}};
static const struct wfs_field world_snapshot[] = {
	{"height", NAT}, {"seqs", &nats}, {"snapshot_hash", HASH}, {NULL}};
static const struct wfs_field world_gc[] = {{"cells", NAT}, {"done", NAT}, {"file_bytes", NAT},
	{"files", NAT}, {"files_held", BOOL}, {"first_height", NAT}, {"next_cursor", TEXT, MAYBE},
	{"total", NAT}, {"version_bytes", NAT}, {"versions", NAT}, {NULL}};
static const struct wfs_field crashed_members[] = {{"at_ns", NAT}, {"code", HASH}, {"crashes", NAT},
	{"name", TEXT}, {"refused", BOOL}, {NULL}};
static const struct wfs_form crashed = {.kind = WFS_FORM_RECORD, .fields = crashed_members};
static const struct wfs_form crashed_list = {.kind = WFS_FORM_LIST, .of = &crashed};
static const struct wfs_field world_code[] = {
	{"codes", &crashed_list}, {"lifted", HASH, MAYBE}, {NULL}};
static const struct wfs_field world_mount[] = {{NULL}};
static const struct wfs_field world_shutdown[] = {{NULL}};
static const struct wfs_field world_grant[] = {{"name", TEXT}, {NULL}};
static const struct wfs_field world_revoke[] = {{"removed", NAT}, {NULL}};
static const struct wfs_field world_principal[] = {{"id", TEXT}, {NULL}};
static const struct wfs_field definition_members[] = {{"list", TEXT}, {"name", TEXT}, {NULL}};
static const struct wfs_form definition = {.kind = WFS_FORM_RECORD, .fields = definition_members};
static const struct wfs_form definitions = {.kind = WFS_FORM_LIST, .of = &definition};
static const struct wfs_field world_apply[] = {{"added", &definitions},
	{"base_manifest_hash", HASH}, {"changed", &definitions}, {"dry_run", BOOL},
	{"manifest_hash", HASH}, {"removed", &definitions}, {NULL}};

static const struct wfs_form receipts[] = {
#define RECEIPT(constant, member, kind_, cap_type, scope, receipt, params, help) \
	{.kind = WFS_FORM_RECORD, .fields = (receipt)},
	WFS_EFFECTS(RECEIPT)
#undef RECEIPT
};

const struct wfs_form *effect_receipt(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return &receipts[effect];
}
