/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in definitions, which every new world's manifest has besides the user's own.
 *
 * A manifest may leave out effects, capabilities and the default policy (they are not enabled in
 * that world then), but not the reducers. It cannot redefine any of them.
 * Source: docs/design.md §4.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/buffer.h"

#define WFS_BUILTIN_POLICY "sys/default@1"

/*
 * The reducers that are written in C. Their cells are described in
 * kernel/domain/principal/grants.h, kernel/domain/action/action.h, kernel/domain/memory/memory.h,
 * kernel/domain/action/service.h, kernel/domain/timer/timer.h, kernel/domain/turn/turn.h,
 * kernel/domain/plan/plan.h and kernel/domain/outside/outside.h, those of SEEN in
 * kernel/fold/seen.h. Those up to ESCROW change by actions only, except for a count in PRINCIPAL;
 * those from WAIT on belong to turns, plans and calls of outside tools.
 * X(constant, name, hidden: no path and no call shows the cells of this reducer)
 */
#define WFS_BUILTIN_REDUCERS(X)                    \
	X(PRINCIPAL, "sys.principal", false)       \
	X(GRANT, "sys.grant", false)               \
	X(LEDGER, "sys.ledger", false)             \
	X(RESOURCE, "sys.resource", false)         \
	X(ARTIFACT, "sys.artifact", false)         \
	X(DELETED, "sys.deleted", false)           \
	X(CONTENT, "sys.content", true)            \
	X(CODE, "sys.code", true)                  \
	X(MINT, "sys.mint", false)                 \
	X(INVOCATION, "sys.invocation", false)     \
	X(MEMORY, "sys.memory", true)              \
	X(MEMORY_STORE, "sys.memory_store", false) \
	X(MEMORY_HIT, "sys.memory_hit", false)     \
	X(ESCROW, "sys.escrow", false)             \
	X(TIMER, "sys.timer", false)               \
	X(SEEN, "sys.seen", false)                 \
	X(WAIT, "sys.wait", false)                 \
	X(TURN, "sys.turn", false)                 \
	X(TURN_SETUP, "sys.turn_setup", false)     \
	X(MESSAGE, "sys.message", false)           \
	X(TOOL_CALL, "sys.tool_call", false)       \
	X(INTENT, "sys.intent", false)             \
	X(CHAT, "sys.chat", false)                 \
	X(CHAT_MESSAGE, "sys.chat_message", false) \
	X(PLAN, "sys.plan", false)                 \
	X(PLAN_SOURCE, "sys.plan_source", false)   \
	X(PLAN_STEP, "sys.plan_step", false)       \
	X(PLAN_EDGE, "sys.plan_edge", false)       \
	X(PLAN_BLOCK, "sys.plan_block", false)     \
	X(PLAN_RESULT, "sys.plan_result", false)   \
	X(WORKFLOW, "sys.workflow", false)         \
	X(AGENT, "sys.agent", false)               \
	X(RAW, "sys.raw", false)

/* Domains that are added have reducers after these: see wfs_builtin_add(). */
enum wfs_builtin_reducer {
#define WFS_BUILTIN_REDUCER_ENUM(constant, name, hidden) WFS_BUILTIN_##constant,
	WFS_BUILTIN_REDUCERS(WFS_BUILTIN_REDUCER_ENUM)
#undef WFS_BUILTIN_REDUCER_ENUM
		WFS_BUILTIN_REDUCER_COUNT,
	WFS_BUILTIN_REDUCERS_MAX = WFS_BUILTIN_REDUCER_COUNT + 16
};

/* A built-in reducer. Plain value with static lifetime. */
struct wfs_builtin_row {
	const char *name; /* "sys.grant" */
	bool hidden;      /* no path and no call shows the cells of this reducer */
};

enum { WFS_BUILTIN_POLICY_COUNT = 1 };

/** wfs_builtin_add() - add a built-in reducer to the table of this process, before a world is
 *  opened or made; all worlds that the process then opens must have the reducer, and those that it
 *  makes get it. Ends the process if the table is full (WFS_BUILTIN_REDUCERS_MAX).
 *  @reducer: reducer->name is borrowed for ever */
void wfs_builtin_add(const struct wfs_builtin_row *reducer);

/** wfs_builtin_reducer_count() - Return: how many built-in reducers there are, with those that were
 *  added. */
int wfs_builtin_reducer_count(void);

/** wfs_builtin_reducer_name() - Return: the name of a built-in reducer, e.g. "sys.grant";
 *  static. */
const char *wfs_builtin_reducer_name(enum wfs_builtin_reducer reducer);

/** wfs_builtin_reducer_find() - find a built-in reducer by its name. Return: the reducer, or
 *  wfs_builtin_reducer_count() for another name. */
enum wfs_builtin_reducer wfs_builtin_reducer_find(const char *name);

/** wfs_builtin_reducer_late() - may a manifest lack this reducer, because earlier versions of the
 *  program did not have it? A world with such a manifest gets the reducer with the next manifest
 *  that is applied. */
bool wfs_builtin_reducer_late(enum wfs_builtin_reducer reducer);

/** wfs_builtin_reducer_hidden() - is @name the name of a built-in reducer that the table marks as
 *  hidden: no file, query or call shows its cells as cells? @size: bytes of @name */
bool wfs_builtin_reducer_hidden(const char *name, size_t size);

/** wfs_builtin_was() - is @definition, canonical JSON, a built-in definition of an earlier version
 *  of the program whose worlds this version opens? The manifest of such a world keeps @definition,
 *  but its effect, capability, policy or reducer does what this version's definition says. */
bool wfs_builtin_was(struct wfs_bytes definition);

/* Each makes a list of built-in definitions.
 * Return: new reference, or NULL without memory. The schemas
 * are those of values that definitions of effects refer to, and of the payload of a failed receipt;
 * events do not have these schemas. */
json_t *wfs_builtin_schemas(void);
json_t *wfs_builtin_effects(void);
json_t *wfs_builtin_caps(void);
json_t *wfs_builtin_policies(void);
json_t *wfs_builtin_reducers(void);
