/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of effect kinds: everything that anybody can ask of a world.
 *
 * Every call of a session names one of these and is judged by it. What is not in the table cannot
 * be asked for.
 * Source: design §2, "The one door"; spec 3, "Capabilities and policy".
 */
#pragma once

/* X(constant, effect kind, type of the capability that covers it) */
#define WFS_EFFECTS(X)                                                   \
	X(INTROSPECT_MANIFEST, "introspect.manifest", "query")           \
	X(INTROSPECT_REDUCER_STATE, "introspect.reducer_state", "query") \
	X(INTROSPECT_JOURNAL_HEAD, "introspect.journal_head", "query")   \
	X(INTROSPECT_LIST_CELLS, "introspect.list_cells", "query")       \
	X(INTROSPECT_JOURNAL, "introspect.journal", "query")             \
	X(INTROSPECT_STATUS, "introspect.status", "query")               \
	X(BLOB_GET, "blob.get", "blob")                                  \
	X(BLOB_PUT, "blob.put", "blob")                                  \
	X(EVENT_EMIT, "event.emit", "act")                               \
	X(ACTION_NOOP, "action.noop", "act")                             \
	X(WORLD_SNAPSHOT, "world.snapshot", "admin")                     \
	X(WORLD_GC, "world.gc", "admin")                                 \
	X(WORLD_MOUNT, "world.mount", "admin")                           \
	X(WORLD_SHUTDOWN, "world.shutdown", "admin")                     \
	X(WORLD_GRANT, "world.grant", "admin")                           \
	X(WORLD_REVOKE, "world.revoke", "admin")                         \
	X(WORLD_PRINCIPAL, "world.principal", "admin")                   \
	X(WORLD_APPLY, "world.apply", "admin")

enum wfs_effect {
#define WFS_EFFECT_ENUM(constant, kind, cap_type) WFS_EFFECT_##constant,
	WFS_EFFECTS(WFS_EFFECT_ENUM)
#undef WFS_EFFECT_ENUM
		WFS_EFFECT_COUNT
};

/** wfs_effect_kind() - e.g. "introspect.manifest". */
const char *wfs_effect_kind(enum wfs_effect effect);

/** wfs_effect_cap_type() - e.g. "query". */
const char *wfs_effect_cap_type(enum wfs_effect effect);
