/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of effects: everything that anybody can ask of a world.
 *
 * Every call of a session names one of these and is judged by it. What is not in the table cannot
 * be asked for. Of each the table has the members of its params, and effect-receipt.c the shape of
 * its receipt; the definitions in manifests, the typed params, the members of verbs, and the checks
 * of params and receipts all come from there.
 * Source: design §2, "The one door"; spec 1, "Introspection"; spec 3, "Capabilities and policy".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/manifest/shape.h"

/*
 * P(effect, type, member, OPTIONAL or REQUIRED)
 * Types: TEXT, CONSISTENCY (text), NAT, BOOL, VALUE and OBJECT (JSON as it came).
 */
#define WFS_PARAMS_NONE(P, effect)
#define WFS_PARAMS_MANIFEST(P, effect) P(effect, CONSISTENCY, consistency, OPTIONAL)
#define WFS_PARAMS_REDUCER_STATE(P, effect) \
	P(effect, TEXT, reducer, REQUIRED)  \
	P(effect, TEXT, key_b64, OPTIONAL)  \
	P(effect, CONSISTENCY, consistency, OPTIONAL)
#define WFS_PARAMS_LIST_CELLS(P, effect)              \
	P(effect, TEXT, reducer, REQUIRED)            \
	P(effect, CONSISTENCY, consistency, OPTIONAL) \
	P(effect, TEXT, cursor, OPTIONAL)             \
	P(effect, NAT, limit, OPTIONAL)
#define WFS_PARAMS_JOURNAL(P, effect)  \
	P(effect, NAT, from, REQUIRED) \
	P(effect, NAT, limit, OPTIONAL)
#define WFS_PARAMS_BLOB_GET(P, effect) P(effect, TEXT, hash_hex, REQUIRED)
#define WFS_PARAMS_BLOB_PUT(P, effect) P(effect, TEXT, data_b64, REQUIRED)
#define WFS_PARAMS_EVENT(P, effect)       \
	P(effect, TEXT, schema, REQUIRED) \
	P(effect, VALUE, value, REQUIRED) \
	P(effect, VALUE, key, OPTIONAL)
#define WFS_PARAMS_NOOP(P, effect) P(effect, VALUE, reasoning, OPTIONAL)
#define WFS_PARAMS_GC(P, effect)               \
	P(effect, NAT, keep_heights, OPTIONAL) \
	P(effect, NAT, since, OPTIONAL)        \
	P(effect, BOOL, journal, OPTIONAL)     \
	P(effect, TEXT, cursor, OPTIONAL)      \
	P(effect, NAT, limit, OPTIONAL)
#define WFS_PARAMS_MOUNT(P, effect)            \
	P(effect, TEXT, dir, REQUIRED)         \
	P(effect, TEXT, as, OPTIONAL)          \
	P(effect, BOOL, allow_other, OPTIONAL) \
	P(effect, BOOL, nest_ctl, OPTIONAL)
#define WFS_PARAMS_GRANT(P, effect)             \
	P(effect, TEXT, cap, REQUIRED)          \
	P(effect, TEXT, to, REQUIRED)           \
	P(effect, OBJECT, params, OPTIONAL)     \
	P(effect, TEXT, name, OPTIONAL)         \
	P(effect, NAT, expires_at_ns, OPTIONAL) \
	P(effect, OBJECT, budget, OPTIONAL)
#define WFS_PARAMS_REVOKE(P, effect) P(effect, TEXT, name, REQUIRED)
#define WFS_PARAMS_PRINCIPAL(P, effect) P(effect, TEXT, id, REQUIRED)
#define WFS_PARAMS_APPLY(P, effect)                   \
	P(effect, OBJECT, manifest, REQUIRED)         \
	P(effect, TEXT, base_manifest_hash, OPTIONAL) \
	P(effect, TEXT, reason, OPTIONAL)             \
	P(effect, BOOL, dry_run, OPTIONAL)

/*
 * X(constant, member of struct wfs_params, effect kind, type of the capability that covers it,
 *   who may ask for it, params)
 * Who: `both` plans and reducers, or only plans (`plan-only`, in the seed's words). What reducers may
 * ask for is answered within the kernel.
 */
#define WFS_EFFECTS(X)                                                                             \
	X(INTROSPECT_MANIFEST, introspect_manifest, "introspect.manifest", "query", "both",        \
		WFS_PARAMS_MANIFEST)                                                               \
	X(INTROSPECT_REDUCER_STATE, introspect_reducer_state, "introspect.reducer_state", "query", \
		"both", WFS_PARAMS_REDUCER_STATE)                                                  \
	X(INTROSPECT_JOURNAL_HEAD, introspect_journal_head, "introspect.journal_head", "query",    \
		"both", WFS_PARAMS_NONE)                                                           \
	X(INTROSPECT_LIST_CELLS, introspect_list_cells, "introspect.list_cells", "query", "both",  \
		WFS_PARAMS_LIST_CELLS)                                                             \
	X(INTROSPECT_JOURNAL, introspect_journal, "introspect.journal", "query", "plan-only",      \
		WFS_PARAMS_JOURNAL)                                                                \
	X(INTROSPECT_STATUS, introspect_status, "introspect.status", "query", "plan-only",         \
		WFS_PARAMS_NONE)                                                                   \
	X(BLOB_GET, blob_get, "blob.get", "blob", "plan-only", WFS_PARAMS_BLOB_GET)                \
	X(BLOB_PUT, blob_put, "blob.put", "blob", "plan-only", WFS_PARAMS_BLOB_PUT)                \
	X(EVENT_EMIT, event_emit, "event.emit", "act", "plan-only", WFS_PARAMS_EVENT)              \
	X(ACTION_NOOP, action_noop, "action.noop", "act", "plan-only", WFS_PARAMS_NOOP)            \
	X(WORLD_SNAPSHOT, world_snapshot, "world.snapshot", "admin", "plan-only", WFS_PARAMS_NONE) \
	X(WORLD_GC, world_gc, "world.gc", "admin", "plan-only", WFS_PARAMS_GC)                     \
	X(WORLD_MOUNT, world_mount, "world.mount", "admin", "plan-only", WFS_PARAMS_MOUNT)         \
	X(WORLD_SHUTDOWN, world_shutdown, "world.shutdown", "admin", "plan-only", WFS_PARAMS_NONE) \
	X(WORLD_GRANT, world_grant, "world.grant", "admin", "plan-only", WFS_PARAMS_GRANT)         \
	X(WORLD_REVOKE, world_revoke, "world.revoke", "admin", "plan-only", WFS_PARAMS_REVOKE)     \
	X(WORLD_PRINCIPAL, world_principal, "world.principal", "admin", "plan-only",               \
		WFS_PARAMS_PRINCIPAL)                                                              \
	X(WORLD_APPLY, world_apply, "world.apply", "admin", "plan-only", WFS_PARAMS_APPLY)

enum wfs_effect {
#define WFS_EFFECT_ENUM(constant, member, kind, cap_type, scope, params) WFS_EFFECT_##constant,
	WFS_EFFECTS(WFS_EFFECT_ENUM)
#undef WFS_EFFECT_ENUM
		WFS_EFFECT_COUNT
};

/* How the decoder hands a member out: borrowed from the params; absent: NULL, -1, false. */
#define WFS_PARAM_C_TEXT const char *
#define WFS_PARAM_C_CONSISTENCY const char *
#define WFS_PARAM_C_NAT int64_t
#define WFS_PARAM_C_BOOL bool
#define WFS_PARAM_C_VALUE const json_t *
#define WFS_PARAM_C_OBJECT const json_t *

/* Decoded params: plain value. The member of the effect that was decoded is set. */
struct wfs_params {
	enum wfs_effect effect;
	union {
#define WFS_PARAM_MEMBER(effect, type, name, need) WFS_PARAM_C_##type name;
#define WFS_PARAMS_STRUCT(constant, member, kind, cap_type, scope, params) \
	struct {                                                           \
		params(WFS_PARAM_MEMBER, member)                           \
	} member;
		WFS_EFFECTS(WFS_PARAMS_STRUCT)
#undef WFS_PARAMS_STRUCT
#undef WFS_PARAM_MEMBER
	};
};

/** wfs_effect_kind() - e.g. "introspect.manifest". */
const char *wfs_effect_kind(enum wfs_effect effect);

/** wfs_effect_acts() - does it do something, so that its refusal is recorded? Others only read. */
bool wfs_effect_acts(enum wfs_effect effect);

/** wfs_effect_cap_type() - e.g. "query". */
const char *wfs_effect_cap_type(enum wfs_effect effect);

/** wfs_effect_find() - the effect of a kind, or WFS_EFFECT_COUNT when there is none. */
enum wfs_effect wfs_effect_find(const char *kind);

/** wfs_effect_of_reducers() - may reducers ask for it (origin_scope `both`)? */
bool wfs_effect_of_reducers(enum wfs_effect effect);

/** wfs_effect_members() - members of its params, e.g. "reducer key_b64? consistency?". */
const char *wfs_effect_members(enum wfs_effect effect);

/** wfs_effect_definition() - its `defeffect`. Return: new reference, NULL without memory. */
json_t *wfs_effect_definition(enum wfs_effect effect);

/** wfs_effect_params_schema() - JSON Schema (2020-12) of its params. Return: as above. */
json_t *wfs_effect_params_schema(enum wfs_effect effect);

/**
 * wfs_effect_decode() - check params and hand them out
 * @params: what @ret_params borrows from
 * Return: 0, -EINVAL (missing_argument; invalid_argument: unknown, or of the wrong type); the
 *         message names the member.
 */
int wfs_effect_decode(enum wfs_effect effect, const json_t *params, struct wfs_params *ret_params,
	struct wfs_error *error);

/**
 * wfs_effect_check_receipt() - has the answer the shape of the definition?
 * Return: 0, -EIO (internal_error: an error of ours), -ENOMEM.
 */
int wfs_effect_check_receipt(
	enum wfs_effect effect, const json_t *receipt, struct wfs_error *error);
