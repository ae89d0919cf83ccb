/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kinds of records, and their bodies: one table of members for each kind, from which come a struct
 * and the form (kernel/base/form.h) that reads and writes it.
 * Source: worldfs-journal(5), which says what the members mean.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "kernel/base/form.h"
#include "kernel/base/hash.h"

/* M(body, type, member, 0 or how it may be absent: see struct wfs_field in kernel/base/form.h);
 * sorted by member, as canonical JSON is. `grant`: name of the grant whose budget pays for the
 * record. */
#define WFS_BODY_ACTION(M, body)               \
	M(body, VALUE, action, 0)              \
	M(body, NAT, due_ns, WFS_OPTIONAL)     \
	M(body, TEXT, grant, WFS_OPTIONAL)     \
	M(body, TEXT, intent_id, WFS_OPTIONAL) \
	M(body, VALUE, result, 0)              \
	M(body, TEXT, timer, WFS_OPTIONAL)
#define WFS_BODY_BASELINE(M, body)                 \
	M(body, HASH, blobs_hash, WFS_OPTIONAL)    \
	M(body, NAT, from_height, WFS_NULLABLE)    \
	M(body, TEXT, from_world_id, WFS_NULLABLE) \
	M(body, VALUE, genesis, WFS_OPTIONAL)      \
	M(body, HASH, manifest_hash, WFS_OPTIONAL) \
	M(body, HASH, next_prev, WFS_OPTIONAL)     \
	M(body, HASH, snapshot_hash, 0)            \
	M(body, HASH, versions_hash, WFS_OPTIONAL)
#define WFS_BODY_BLOB(M, body)             \
	M(body, TEXT, grant, WFS_OPTIONAL) \
	M(body, HASH, hash, 0)             \
	M(body, NAT, size, 0)
#define WFS_BODY_DECISION(M, body)             \
	M(body, TEXT, code, 0)                 \
	M(body, NAT, count, WFS_OPTIONAL)      \
	M(body, TEXT, decision, 0)             \
	M(body, NAT, due_ns, WFS_OPTIONAL)     \
	M(body, TEXT, effect, 0)               \
	M(body, TEXT, grant, WFS_OPTIONAL)     \
	M(body, TEXT, intent_id, WFS_OPTIONAL) \
	M(body, TEXT, policy, WFS_OPTIONAL)    \
	M(body, NAT, rule_index, WFS_OPTIONAL) \
	M(body, TEXT, timer, WFS_OPTIONAL)
#define WFS_BODY_EPOCH(M, body)    \
	M(body, NAT, fold_from, 0) \
	M(body, NAT, fold_to, 0)   \
	M(body, HASH, snapshot_hash, 0)
#define WFS_BODY_EVENT(M, body)            \
	M(body, TEXT, dedup, WFS_OPTIONAL) \
	M(body, NAT, due_ns, WFS_OPTIONAL) \
	M(body, TEXT, grant, WFS_OPTIONAL) \
	M(body, TEXT, schema, 0)           \
	M(body, TEXT, timer, WFS_OPTIONAL) \
	M(body, VALUE, value, 0)
#define WFS_BODY_GENESIS(M, body)                \
	M(body, TEXT, entropy, 0)                \
	M(body, NAT, fold_version, WFS_OPTIONAL) \
	M(body, HASH, manifest_hash, 0)          \
	M(body, TEXT, name, 0)                   \
	M(body, NAT, store_format, WFS_OPTIONAL) \
	M(body, TEXT, world_id, 0)
#define WFS_BODY_INTENT(M, body)    \
	M(body, TEXT, cap, 0)       \
	M(body, TEXT, effect, 0)    \
	M(body, TEXT, intent_id, 0) \
	M(body, VALUE, origin, 0)   \
	M(body, VALUE, params, 0)
#define WFS_BODY_MANIFEST(M, body)           \
	M(body, HASH, base_manifest_hash, 0) \
	M(body, TEXT, grant, WFS_OPTIONAL)   \
	M(body, HASH, manifest_hash, 0)      \
	M(body, TEXT, reason, WFS_NULLABLE)
/* A hash of a receipt is a text, or the stand-in (kernel/value/stand-in.h) for one. */
#define WFS_BODY_RECEIPT(M, body)                    \
	M(body, TEXT, adapter_id, 0)                 \
	M(body, VALUE, cost, WFS_OPTIONAL)           \
	M(body, VALUE, earlier_hashes, WFS_OPTIONAL) \
	M(body, TEXT, grant, WFS_OPTIONAL)           \
	M(body, TEXT, intent_id, 0)                  \
	M(body, VALUE, payload, 0)                   \
	M(body, VALUE, request_hash, WFS_OPTIONAL)   \
	M(body, VALUE, response_hash, WFS_OPTIONAL)  \
	M(body, TEXT, status, 0)
#define WFS_BODY_SNAPSHOT(M, body)         \
	M(body, TEXT, grant, WFS_OPTIONAL) \
	M(body, NAT, height, 0)            \
	M(body, HASH, snapshot_hash, 0)

/* X(constant, name on the line) */
#define WFS_RECORD_KINDS(X)   \
	X(GENESIS, genesis)   \
	X(BASELINE, baseline) \
	X(EPOCH, epoch)       \
	X(MANIFEST, manifest) \
	X(EVENT, event)       \
	X(ACTION, action)     \
	X(BLOB, blob)         \
	X(INTENT, intent)     \
	X(RECEIPT, receipt)   \
	X(DECISION, decision) \
	X(SNAPSHOT, snapshot)

enum wfs_record_kind {
#define WFS_RECORD_ENUM(constant, name) WFS_RECORD_##constant,
	WFS_RECORD_KINDS(WFS_RECORD_ENUM)
#undef WFS_RECORD_ENUM
		WFS_RECORD_KIND_COUNT
};

/* Bodies. Plain values; texts and JSON values are borrowed. An absent text or value is NULL, an
 * absent number -1. */
#define WFS_BODY_STRUCT(constant, name)               \
	struct wfs_body_##name {                      \
		WFS_BODY_##constant(WFS_MEMBER, name) \
	};
WFS_RECORD_KINDS(WFS_BODY_STRUCT)

/* The body of a record, whose kind says which member is set. */
union wfs_body {
#define WFS_BODY_UNION(constant, name) struct wfs_body_##name name;
	WFS_RECORD_KINDS(WFS_BODY_UNION)
#undef WFS_BODY_UNION
};

/** wfs_body_read() - read the body of a record of @kind into its struct
 *  @json: the body; may be any value. @ret_body: written also on failure; borrows from @json
 *  Return: 0, -EINVAL (invalid_argument or missing_argument: a member is wrong, unknown or missing;
 *  the message names it), -ENOMEM. */
int wfs_body_read(enum wfs_record_kind kind, const json_t *json, union wfs_body *ret_body,
	struct wfs_error *error);

/** wfs_body_write() - append the canonical text of a body to @buffer, without a newline; if memory
 *  runs out, or a required member is NULL, mark @buffer as failed (wfs_buffer_check() in
 *  kernel/base/buffer.h)
 *  @body: the struct wfs_body_… of @kind, or a union wfs_body with it. Callers that know the kind
 *  use wfs_body_write_<name>(). */
void wfs_body_write(struct wfs_buffer *buffer, enum wfs_record_kind kind, const void *body);

#define WFS_BODY_FUNCTION(constant, name)                                      \
	static inline void wfs_body_write_##name(                              \
		struct wfs_buffer *buffer, const struct wfs_body_##name *body) \
	{                                                                      \
		wfs_body_write(buffer, WFS_RECORD_##constant, body);           \
	}
WFS_RECORD_KINDS(WFS_BODY_FUNCTION)
