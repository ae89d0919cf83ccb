/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of each effect's receipt.
 * Receipts of reads have the height they were read at in `meta`. */
#include "kernel/manifest/effect-impl.h"

#define NEED(name_, shape_)                        \
	{                                          \
		.name = (name_), .shape = (shape_) \
	}
#define MAYBE(name_, shape_)                                         \
	{                                                            \
		.name = (name_), .shape = (shape_), .optional = true \
	}

#define TEXT &wfs_shape_text
#define NAT &wfs_shape_nat
#define BOOL &wfs_shape_bool
#define HASH &wfs_shape_hash

static const struct wfs_shape manifest_ref = {.kind = WFS_SHAPE_OBJECT, .ref = "sys/Manifest@1"};
static const struct wfs_shape record_ref = {.kind = WFS_SHAPE_OBJECT, .ref = "sys/Record@1"};
static const struct wfs_shape mount_ref = {.kind = WFS_SHAPE_OBJECT, .ref = "sys/Mount@1"};
static const struct wfs_shape value_ref = {.kind = WFS_SHAPE_VALUE, .ref = "sys/Value@1"};

static const struct wfs_shape nats = {.kind = WFS_SHAPE_LIST, .item = NAT};
static const struct wfs_shape records = {.kind = WFS_SHAPE_LIST, .item = &record_ref};
static const struct wfs_shape values = {.kind = WFS_SHAPE_LIST, .item = &value_ref};
static const struct wfs_shape mounts = {.kind = WFS_SHAPE_LIST, .item = &mount_ref};

#define META_MEMBERS \
	NEED("journal_height", NAT), NEED("manifest_hash", HASH), MAYBE("snapshot_hash", HASH)

static const struct wfs_shape_member meta_members[] = {
	META_MEMBERS,
	{NULL},
};
static const struct wfs_shape meta = {.kind = WFS_SHAPE_RECORD, .members = meta_members};

static const struct wfs_shape_member cell_members[] = {
	NEED("key_b64", TEXT),
	NEED("last_active_height", NAT),
	NEED("last_active_ns", NAT),
	NEED("size", NAT),
	NEED("state_hash", HASH),
	{NULL},
};
static const struct wfs_shape cell = {.kind = WFS_SHAPE_RECORD, .members = cell_members};
static const struct wfs_shape cells = {.kind = WFS_SHAPE_LIST, .item = &cell};

static const struct wfs_shape_member queue_members[] = {
	NEED("bytes", NAT),
	NEED("count", NAT),
	NEED("max", NAT),
	{NULL},
};
static const struct wfs_shape queue = {.kind = WFS_SHAPE_RECORD, .members = queue_members};

static const struct wfs_shape_member store_members[] = {
	NEED("blob_bytes", NAT),
	NEED("free_bytes", NAT),
	NEED("map_size_bytes", NAT),
	NEED("used_bytes", NAT),
	{NULL},
};
static const struct wfs_shape store = {.kind = WFS_SHAPE_RECORD, .members = store_members};

static const struct wfs_shape_member introspect_manifest[] = {
	NEED("manifest", &manifest_ref),
	META_MEMBERS,
	NEED("meta", &meta),
	{NULL},
};

static const struct wfs_shape_member introspect_reducer_state[] = {
	MAYBE("state_b64", TEXT),
	NEED("meta", &meta),
	{NULL},
};

static const struct wfs_shape_member introspect_journal_head[] = {
	META_MEMBERS,
	NEED("meta", &meta),
	{NULL},
};

static const struct wfs_shape_member introspect_list_cells[] = {
	NEED("cells", &cells),
	MAYBE("next_cursor", TEXT),
	NEED("meta", &meta),
	{NULL},
};

static const struct wfs_shape_member introspect_journal[] = {
	NEED("records", &records),
	MAYBE("next_from", NAT),
	NEED("meta", &meta),
	{NULL},
};

static const struct wfs_shape_member introspect_status[] = {
	MAYBE("effects_in_flight", NAT),
	NEED("first_height", NAT),
	NEED("height", NAT),
	MAYBE("keep", BOOL),
	MAYBE("last_mount", BOOL),
	NEED("meta", &meta),
	MAYBE("mount_count", NAT),
	NEED("mounts", &mounts),
	NEED("name", TEXT),
	MAYBE("pid", NAT),
	MAYBE("queue", &queue),
	MAYBE("store", &store),
	MAYBE("uptime_s", NAT),
	NEED("version", TEXT),
	NEED("world", TEXT),
	{NULL},
};

static const struct wfs_shape_member query_kernel[] = {
	NEED("result", &value_ref),
	NEED("meta", &meta),
	{NULL},
};

static const struct wfs_shape_member blob_get[] = {
	NEED("data_b64", TEXT),
	NEED("meta", &meta),
	{NULL},
};

static const struct wfs_shape_member blob_put[] = {
	NEED("hash", HASH),
	{NULL},
};

static const struct wfs_shape_member event_emit[] = {
	NEED("seqs", &nats),
	{NULL},
};

static const struct wfs_shape_member action[] = {
	NEED("action_type", TEXT),
	NEED("data", &value_ref),
	NEED("error", &value_ref),
	NEED("height", NAT),
	NEED("message", TEXT),
	NEED("meta", &meta),
	NEED("ok", BOOL),
	{NULL},
};

static const struct wfs_shape_member mint_score[] = {
	NEED("reason", TEXT),
	NEED("score", NAT),
	{NULL},
};

/* For one run; for a list of runs; for a run that is not waited for. */
static const struct wfs_shape_member agent_step[] = {
	MAYBE("agent", TEXT),
	MAYBE("error", &value_ref),
	MAYBE("final_message", &value_ref),
	MAYBE("final_tool_result", &value_ref),
	MAYBE("history", &values),
	MAYBE("last_assistant_message", &value_ref),
	MAYBE("meta", &meta),
	MAYBE("ok", BOOL),
	MAYBE("run_id", TEXT),
	MAYBE("runs", &values),
	MAYBE("termination_reason", TEXT),
	MAYBE("total_usage", &value_ref),
	MAYBE("turn_count", NAT),
	MAYBE("turn_id", TEXT),
	{NULL},
};

static const struct wfs_shape_member agent_run[] = {
	NEED("run_id", TEXT),
	{NULL},
};

static const struct wfs_shape_member llm_generate[] = {
	NEED("duration_ms", NAT),
	NEED("usage", &value_ref),
	MAYBE("attempts", NAT),
	MAYBE("content", &value_ref),
	MAYBE("finish_reason", &value_ref),
	MAYBE("model", TEXT),
	MAYBE("native_calls_count", NAT),
	MAYBE("plan", TEXT),
	MAYBE("text", TEXT),
	MAYBE("tool_calls", &values),
	{NULL},
};

static const struct wfs_shape_member tool_call[] = {
	NEED("duration_ms", NAT),
	MAYBE("outcome", &value_ref),
	MAYBE("output", TEXT),
	MAYBE("output_size", NAT),
	{NULL},
};

static const struct wfs_shape_member workflow_advance[] = {
	NEED("next_state", TEXT),
	NEED("reason", TEXT),
	MAYBE("attempts", NAT),
	MAYBE("duration_ms", NAT),
	MAYBE("notes", &values),
	MAYBE("text", TEXT),
	MAYBE("usage", &value_ref),
	{NULL},
};

static const struct wfs_shape_member plan[] = {
	MAYBE("chat_id", TEXT),
	MAYBE("plan_id", TEXT),
	{NULL},
};

static const struct wfs_shape_member plan_normalize[] = {
	NEED("goal", TEXT),
	NEED("offset", NAT),
	NEED("plan_id", TEXT),
	NEED("steps", &values),
	NEED("total", NAT),
	{NULL},
};

static const struct wfs_shape_member world_snapshot[] = {
	NEED("height", NAT),
	NEED("seqs", &nats),
	NEED("snapshot_hash", HASH),
	{NULL},
};

static const struct wfs_shape_member world_gc[] = {
	NEED("cells", NAT),
	NEED("done", NAT),
	NEED("file_bytes", NAT),
	NEED("files", NAT),
	NEED("files_held", BOOL),
	NEED("first_height", NAT),
	MAYBE("next_cursor", TEXT),
	NEED("total", NAT),
	NEED("version_bytes", NAT),
	NEED("versions", NAT),
	{NULL},
};

static const struct wfs_shape_member crashed_members[] = {
	NEED("at_ns", NAT),
	NEED("code", HASH),
	NEED("crashes", NAT),
	NEED("name", TEXT),
	NEED("refused", BOOL),
	{NULL},
};
static const struct wfs_shape crashed = {.kind = WFS_SHAPE_RECORD, .members = crashed_members};
static const struct wfs_shape crashed_list = {.kind = WFS_SHAPE_LIST, .item = &crashed};

static const struct wfs_shape_member world_code[] = {
	NEED("codes", &crashed_list),
	MAYBE("lifted", HASH),
	{NULL},
};

static const struct wfs_shape_member world_mount[] = {{NULL}};
static const struct wfs_shape_member world_shutdown[] = {{NULL}};

static const struct wfs_shape_member world_grant[] = {
	NEED("name", TEXT),
	{NULL},
};

static const struct wfs_shape_member world_revoke[] = {
	NEED("removed", NAT),
	{NULL},
};

static const struct wfs_shape_member world_principal[] = {
	NEED("id", TEXT),
	{NULL},
};

static const struct wfs_shape_member definition_members[] = {
	NEED("list", TEXT),
	NEED("name", TEXT),
	{NULL},
};
static const struct wfs_shape definition = {
	.kind = WFS_SHAPE_RECORD, .members = definition_members};
static const struct wfs_shape definitions = {.kind = WFS_SHAPE_LIST, .item = &definition};

static const struct wfs_shape_member world_apply[] = {
	NEED("added", &definitions),
	NEED("base_manifest_hash", HASH),
	NEED("changed", &definitions),
	NEED("dry_run", BOOL),
	NEED("manifest_hash", HASH),
	NEED("removed", &definitions),
	{NULL},
};

static const struct wfs_shape receipts[] = {
#define RECEIPT(constant, member, kind_, cap_type, scope, receipt, params, help) \
	{.kind = WFS_SHAPE_RECORD, .members = (receipt)},
	WFS_EFFECTS(RECEIPT)
#undef RECEIPT
};

const struct wfs_shape *effect_receipt(enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return &receipts[effect];
}
