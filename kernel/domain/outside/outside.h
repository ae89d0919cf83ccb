/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of tools of outside servers: an intent before each call, a receipt after it.
 *
 * The action `tool` opens an intent of tool.outside, so the intent is durable before the driver
 * calls the server. Its receipt closes it. If the call was asked for by a tool call of a turn or of
 * a plan's step, which is an intent of tool.call, the receipt answers that one, too, without a
 * record of its own. A call whose answer was lost, and that may not be made twice, gets a receipt
 * with the status `unknown`: its cell stays until an action `resolve` says how the call ended.
 * Folding never calls a server.
 *
 *   sys.intent, key intent id: {…, origin, outside}
 *       origin: what asked: {principal}, or {intent_id} of the tool call of a turn or step
 *       outside: {arguments, hash, idempotent, name}; hash: of the tool's description and schema;
 *       idempotent: the tool may be called again with the intent's id
 *
 *   {action_type "tool", arguments, called_by?, hash, idempotent, name} -> {intent_id}
 *       arguments: an object, or the stand-in of one (kernel/value/stand-in.h); called_by: id of
 *       the intent of tool.call that the call is for
 *   {action_type "resolve", intent_id, outcome, result?} -> {intent_id, outcome}
 *       outcome: "done" or "not-done"
 *
 * Source: docs/design.md §11; worldfs-journal(5).
 * Thread: the thread that folds; functions for forms: any.
 */
#pragma once

#include "kernel/fold/fold-domain.h"

extern const struct wfs_domain wfs_outside_domain;

enum {
	WFS_OUTSIDE_INTENTS_MAX = 32768, /* open intents of a world, above which no call begins */
	WFS_OUTSIDE_INPUT_MAX = 1 << 20, /* bytes of the arguments of a call */
	/* bytes of a text in a receipt, which is WFS_TURN_OUTPUT_MAX (kernel/value/output.h) and a
	 * line that says that it was cut; and of the content and the structured content */
	WFS_OUTSIDE_INLINE_MAX = (64 << 10) + 512,
};
