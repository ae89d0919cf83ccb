/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about intents: lists them, page by page, and ends a call whose answer was lost. */
#include "caps/session-outside.h"
#include "caps/session-read.h"
#include "caps/session.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

int wfs_verb_intents(struct wfs_call *call)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	const struct wfs_session_intents wanted = {.effect = wfs_verb_text(call, "effect"),
		.principal = wfs_verb_text(call, "principal"),
		.state = wfs_verb_text(call, "state")};
	uint64_t left = WFS_VERB_SCAN_MAX;
	uint64_t cursor = 0;
	uint64_t limit = 0;
	int r = wfs_session_lists_intents(call->session, &call->error);

	if (!r)
		r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &limit);
	if (!r)
		r = wfs_verb_cursor(call, &cursor);
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;
	json_t *const intents = json_array();
	call->result = json_pack("{s:o}", "intents", intents);
	if (!call->result)
		return -ENOMEM;
	do {
		json_t *summary = NULL;

		r = wfs_session_intent_next(
			call->session, &view, &wanted, &cursor, &left, &summary);
		if (summary && json_array_append_new(intents, summary) < 0)
			r = -ENOMEM;
	} while (r > 0 && left > 0 && json_array_size(intents) < limit);
	return r > 0 ? wfs_verb_cursor_set(call, cursor) : r;
}

int wfs_verb_intent_resolve(struct wfs_call *call)
{
	return wfs_verb_order(call, wfs_session_resolve);
}
