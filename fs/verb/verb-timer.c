/* SPDX-License-Identifier: Apache-2.0 */
/* The verb that lists timers, page by page. */
#include "caps/authority.h"
#include "caps/session-list.h"
#include "caps/session-read.h"
#include "caps/session-timer.h"
#include "caps/session.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"
#include "kernel/base/world-file.h"

/* Without a driver nothing fires; whether that is so for long is then not known. */
static bool are_paused(const struct wfs_call *call)
{
	const char *const directory = wfs_authority_directory(wfs_session_authority(call->session));
	struct wfs_error ignored = {0};

	struct wfs_driver *driver = call->driver;

	if (!driver && call->host)
		driver = call->host->driver;
	if (driver && driver->paused)
		return driver->paused(driver);
	return wfs_timers_paused(directory) || wfs_trust_check_now(directory, &ignored);
}

int wfs_verb_timers(struct wfs_call *call)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	const char *const principal = wfs_verb_text(call, "principal");
	uint64_t left = WFS_VERB_SCAN_MAX;
	uint64_t cursor = 0;
	uint64_t limit = 0;
	int r = wfs_verb_limit(call, WFS_VERB_PAGE_MAX, &limit);

	if (!r)
		r = wfs_verb_cursor(call, &cursor);
	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (!r)
		r = wfs_session_lists(call->session, WFS_ENTITY_FILE_TIMERS, &call->error);
	if (r)
		return r;
	const bool paused = are_paused(call);
	json_t *const timers = json_array();
	call->result = json_pack("{s:o}", "timers", timers);
	if (!call->result)
		return -ENOMEM;
	while (json_array_size(timers) < limit) {
		json_t *summary = NULL;

		r = wfs_session_timer_next(
			call->session, &view, principal, &cursor, &left, &summary);
		if (r <= 0)
			break;
		if (summary &&
			(json_object_set_new(summary, "paused", json_boolean(paused)) < 0 ||
				json_array_append(timers, summary) < 0))
			r = -ENOMEM;
		json_decref(summary);
		if (r < 0 || !summary)
			break;
	}
	return r > 0 ? wfs_verb_cursor_set(call, cursor) : r;
}
