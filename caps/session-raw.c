/* SPDX-License-Identifier: Apache-2.0 */
#include "caps/session-raw.h"
#include "caps/caps-impl.h"
#include "caps/seen.h"

#include "caps/session-entity.h"
#include "caps/session-turn.h"

static int read_item(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_session_item *item, struct wfs_buffer *buffer)
{
	struct wfs_session_part part = {.range = WFS_RANGE_ALL, .buffer = buffer};
	struct wfs_seen seen;
	int r = wfs_session_entity_version(
		session, view, WFS_ENTITY_FILE_RAW, item->version.vid, &seen);

	return r ? r : wfs_session_entity_read(session, view, WFS_ENTITY_FILE_RAW, &seen, &part);
}

int wfs_session_raw_next(const struct wfs_session *session, struct wfs_view *view,
	const char *turn_id, uint64_t *number, struct wfs_buffer *buffer)
{
	struct wfs_session_item item = {.directory = WFS_ENTITY_FILE_RAW,
		.id = wfs_bytes_text(turn_id),
		.number = *number * 2};
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	uint64_t left = UINT64_MAX;
	int r;

	/* The number of a file is even if it is a request. */
	while (!(r = wfs_session_item_next(session, view, &left, &item, &name)) && item.number % 2)
		item.number++;
	if (!r)
		*number = item.number / 2;
	return r ? r : read_item(session, view, &item, buffer);
}

int wfs_session_raw_answer(const struct wfs_session *session, struct wfs_view *view,
	const char *turn_id, uint64_t number, struct wfs_buffer *buffer)
{
	struct wfs_session_item item = {
		.directory = WFS_ENTITY_FILE_RAW, .id = wfs_bytes_text(turn_id)};
	char name[sizeof("18446744073709551615.response.json")];

	snprintf(name, sizeof(name), "%llu.response.json", (unsigned long long)number);
	int r = wfs_session_item(session, view, name, &item);
	return r ? r : read_item(session, view, &item, buffer);
}

static int may(
	const struct wfs_session *session, struct wfs_question *question, struct wfs_error *error)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	int r = session_rights(session, &rights, question);

	if (r)
		return wfs_error_from_errno(error, r, "judge a request");
	const struct wfs_verdict verdict = wfs_rights_judge(rights, question);
	r = session_refused(session, rights, question, &verdict, error);
	if (!r && verdict.charged)
		r = wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"the grant '%s' has a budget, and asking again is not recorded, so it "
			"cannot be charged",
			verdict.grant);
	return r;
}

int wfs_session_may_ask_again(
	const struct wfs_session *session, const char *agent, struct wfs_error *error)
{
	struct wfs_question step = {.effect = WFS_EFFECT_AGENT_STEP, .artifact = agent};
	struct wfs_question generate = {.effect = WFS_EFFECT_LLM_GENERATE};
	int r = may(session, &step, error);

	if (!r)
		r = may(session, &generate, error);
	return r ? r : wfs_session_has_tokens(session, error);
}
