/* SPDX-License-Identifier: Apache-2.0 */
/* Memory stores and their entries, for a session. The texts of entries are read like content. */
#include "caps/session-impl.h"

int wfs_session_entry_count(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint64_t *ret_count)
{
	(void)session; /* which has looked up the directory */
	return wfs_memory_entry_count(view, artifact_id, ret_count);
}

static int sees_entry(
	const struct wfs_session *session, struct wfs_bytes artifact_id, uint32_t number)
{
	const struct session_text text = {
		.file = WFS_ENTITY_FILE_ENTRIES, .artifact_id = artifact_id, .entry = number};

	return session_sees_text(session, &text);
}

int wfs_session_entry(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint32_t number, struct wfs_version *ret_version)
{
	int r = sees_entry(session, artifact_id, number);

	return r ? r : wfs_memory_entry(view, artifact_id, number, ret_version);
}

int wfs_session_entry_next(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint64_t *number, uint64_t *left, struct wfs_entry *ret_entry)
{
	for (; *left > 0; (*number)++) {
		uint32_t found;
		int r = wfs_memory_entry_next(view, artifact_id, *number, &found, ret_entry);

		(*left)--;
		if (r)
			return r;
		*number = found;
		r = sees_entry(session, artifact_id, found);
		if (r != -ENOENT)
			return r;
	}
	return 1;
}

/* --- for dropping cached files --- */

int wfs_session_is_store(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id)
{
	struct wfs_version version;
	int r = wfs_entity_source(view, WFS_ENTITY_FILE_ENTRIES, id, &version);

	(void)session;
	return r == -ENOENT ? 0 : r ? r : 1;
}

int wfs_session_entry_ever(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes artifact_id, uint64_t number, uint32_t *ret_number,
	struct wfs_bytes *ret_key)
{
	(void)session;
	return wfs_memory_entry_ever(view, artifact_id, number, ret_number, ret_key);
}
