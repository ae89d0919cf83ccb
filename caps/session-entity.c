/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts, principals, turns and plans as directories, for a session. */
#include "caps/session-entity.h"
#include "caps/caps-impl.h"
#include "caps/seen.h"

#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/unjudged.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/action.h"
#include "kernel/domain/principal/principal-file.h"
#include "kernel/domain/turn/turn-file.h"
#include "kernel/domain/turn/turn-index.h"
#include "kernel/manifest/entity-name.h"
#include "kernel/read/view-document.h"

/* --- what the session sees --- */

/* Return: 0, -ENOENT (the directory is not seen), or -ENOMEM. */
static int sees_entity(
	const struct wfs_session *session, enum wfs_entity entity, struct wfs_bytes id)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	int r = session_look(session, &sight);

	if (!r)
		r = wfs_sight_entity(&sight, entity, id);
	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

int session_sees_file(
	const struct wfs_session *session, enum wfs_entity_file file, struct wfs_bytes id)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	int r = session_look(session, &sight);

	if (!r)
		r = wfs_sight_entity_file(&sight, file, id);
	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

int session_sees_inner(const struct wfs_session *session, enum wfs_entity_file directory,
	struct wfs_bytes id, struct wfs_bytes name)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	int r = session_look(session, &sight);

	if (!r)
		r = wfs_sight_inner(&sight, directory, id, name);
	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

int wfs_session_entity(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, struct wfs_bytes id, struct wfs_version *ret_version)
{
	struct wfs_reducer reducer;
	int r = sees_entity(session, entity, id);

	if (!r)
		r = wfs_view_builtin(view, wfs_entity_reducer(entity), &reducer);
	return r ? r : wfs_view_cell(view, reducer.reducer_id, id, ret_version);
}

int wfs_session_entity_at(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity entity, uint64_t number, struct wfs_bytes *ret_id,
	struct wfs_version *ret_version)
{
	struct wfs_bytes id;
	int r = wfs_view_key(view, wfs_entity_reducer(entity), number, &id);

	if (!r)
		r = wfs_session_entity(session, view, entity, id, ret_version);
	if (!r)
		*ret_id = id;
	return r;
}

int wfs_unjudged_entity_names(
	struct wfs_view *view, enum wfs_entity entity, uint64_t *ret_count, int64_t *ret_names_ns)
{
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, wfs_entity_reducer(entity), &reducer);

	if (r)
		return r;
	*ret_count = reducer.live_count;
	*ret_names_ns = reducer.names_ns;
	return 0;
}

int wfs_session_entity_file(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, struct wfs_bytes id, struct wfs_seen *ret_seen)
{
	int r = session_sees_file(session, file, id);

	return r ? r : wfs_entity_source(view, file, id, &ret_seen->version);
}

int wfs_session_entity_version(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, uint64_t vid, struct wfs_seen *ret_seen)
{
	struct wfs_version version;
	struct wfs_bytes reducer;
	struct wfs_bytes id;
	int r = wfs_view_version(view, vid, &version);

	if (!r && version.tombstone)
		r = -ENOENT;
	if (!r)
		r = wfs_entity_is_source(view, file, &version);
	if (r <= 0)
		return r ? r : -ENOENT;
	r = wfs_view_name(view, &version, &reducer, &id);
	if (r)
		return r;
	if (wfs_entity_file_is_directory(file))
		r = session_sees_item(session, view, file, &version);
	else
		r = session_sees_file(session, file, id);
	if (r == -ENOENT && file == WFS_ENTITY_FILE_PLAN) /* the file has two names */
		r = session_sees_file(session, WFS_ENTITY_FILE_PLAN_BESIDE, id);
	if (!r)
		ret_seen->version = version;
	return r == -ENOENT ? -EACCES : r; /* a reader with an open file has seen it once */
}

/* May the principal see hashes in `meta.json`? Judged as for answers to queries
 * (caps/session-query.c), by the newest rule, as for content and code. Return: 1, 0, or -errno. */
static int sees_hashes(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_version *version)
{
	struct wfs_bytes reducer;
	struct wfs_bytes id;

	if (wfs_session_sees_all(session))
		return 1;
	int r = wfs_view_name(view, version, &reducer, &id);
	return r ? r : session_reads_artifact(session, view, id);
}

int wfs_session_entity_read(const struct wfs_session *session, struct wfs_view *view,
	enum wfs_entity_file file, const struct wfs_seen *seen, struct wfs_session_part *part)
{
	const int whole =
		file == WFS_ENTITY_FILE_META ? sees_hashes(session, view, &seen->version) : 1;

	if (whole < 0)
		return wfs_trace(whole);
	return (whole ? wfs_entity_write : wfs_entity_write_bare)(
		view, file, &seen->version, part->range, part->buffer, &part->size_bytes);
}

int wfs_seen_grants(struct wfs_view *view, const struct wfs_seen *seen, struct wfs_buffer *buffer,
	int64_t *ret_time_ns)
{
	struct wfs_bytes reducer;
	struct wfs_bytes principal;
	int r = wfs_view_name(view, &seen->version, &reducer, &principal);

	return r ? r : wfs_principal_write_grants(view, principal, buffer, ret_time_ns);
}

int wfs_session_turn(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_bytes turn_id, json_t **ret_summary)
{
	WFS_AUTO_DOCUMENT struct wfs_document_turn run = {.own = {.json = NULL}};
	struct wfs_seen seen;
	int r = wfs_session_entity_file(session, view, WFS_ENTITY_FILE_STATUS, turn_id, &seen);

	if (!r)
		r = wfs_turn_version(view, &seen.version, &run);
	if (r)
		return r;
	*ret_summary = wfs_turn_summary(&run);
	return *ret_summary ? 0 : -ENOMEM;
}

int wfs_unjudged_turn_record(struct wfs_view *view, struct wfs_bytes turn_id, uint64_t *seq)
{
	WFS_AUTO_TURN_WALK struct wfs_turn_walk walk = {0};
	uint64_t event_size;
	int r = wfs_turn_walk_init(&walk, view, turn_id, *seq);

	return r ? r : wfs_turn_walk_next(&walk, seq, &event_size);
}

int wfs_unjudged_first_event(struct wfs_view *view, struct wfs_bytes turn_id, uint64_t *ret_seq)
{
	return wfs_turn_first_event(view, turn_id, ret_seq);
}

int wfs_unjudged_last_event(struct wfs_view *view, struct wfs_bytes turn_id, uint64_t *ret_seq)
{
	return wfs_turn_last_event(view, turn_id, ret_seq);
}

/* Finds the last event of a file that grows. @last: of the file's record; becomes UINT64_MAX if the
 * file has no event yet. Return: 0, -ENOENT (the record is not that of the first event), … */
static int find_last(
	struct wfs_view *view, struct wfs_bytes turn_id, struct wfs_events *events, uint64_t *last)
{
	struct wfs_view then = *view;
	uint64_t first;
	int r = wfs_turn_first_event(view, turn_id, &first);

	if (!r && first != events->seq)
		r = -ENOENT;
	if (r)
		return r;
	if (events->height < view->height)
		then.height = events->height;
	r = wfs_turn_last_event(&then, turn_id, last);
	if (r == -ENOENT) {
		*last = UINT64_MAX;
		return 0;
	}
	return r ? r : wfs_unjudged_record_time(view, *last, &events->time_ns);
}

int wfs_session_events(const struct wfs_session *session, struct wfs_view *view,
	struct wfs_range range, struct wfs_buffer *buffer, struct wfs_events *events)
{
	WFS_AUTO_BUFFER struct wfs_buffer turn_id = {0};
	uint64_t last = events->seq;
	int r = wfs_turn_event_run(view, events->seq, &turn_id, &events->time_ns);

	events->size_bytes = 0;
	if (r)
		return r;
	r = session_sees_file(session, WFS_ENTITY_FILE_EVENTS, wfs_buffer_bytes(&turn_id));
	if (r) /* a reader with an open file has seen it once */
		return r == -ENOENT ? -EACCES : r;
	if (events->height > 0)
		r = find_last(view, wfs_buffer_bytes(&turn_id), events, &last);
	if (r || last == UINT64_MAX)
		return r;
	return wfs_turn_events(
		view, wfs_buffer_bytes(&turn_id), last, range, buffer, &events->size_bytes);
}

/* --- reading --- */

static bool is_named(struct wfs_bytes reducer, enum wfs_entity_file file)
{
	const char *const name = wfs_builtin_reducer_name(wfs_entity_file_reducer(file));

	return wfs_bytes_equal(reducer, wfs_bytes_text(name));
}

int session_text_of(
	struct wfs_view *view, const struct wfs_version *version, struct session_text *ret_text)
{
	struct session_text text = {.file = WFS_ENTITY_FILE_CONTENT};
	struct wfs_bytes reducer;

	if (wfs_cell_reducer(version->cell_id) == WFS_REDUCER_ID_KERNEL)
		return 0;
	int r = wfs_view_name(view, version, &reducer, &text.artifact_id);
	if (r)
		return r;
	if (is_named(reducer, WFS_ENTITY_FILE_CODE))
		text.file = WFS_ENTITY_FILE_CODE;
	else if (is_named(reducer, WFS_ENTITY_FILE_ENTRIES))
		text.file = WFS_ENTITY_FILE_ENTRIES;
	else if (!is_named(reducer, WFS_ENTITY_FILE_CONTENT))
		return 0;
	if (text.file == WFS_ENTITY_FILE_ENTRIES &&
		!wfs_memory_entry_key(text.artifact_id, &text.artifact_id, &text.entry))
		return -EIO;
	*ret_text = text;
	return 1;
}

int session_sees_text(const struct wfs_session *session, const struct session_text *text)
{
	char name[WFS_MEMORY_NAME_SIZE];

	if (text->file != WFS_ENTITY_FILE_ENTRIES)
		return session_sees_file(session, text->file, text->artifact_id);
	wfs_memory_entry_name(text->entry, name);
	return session_sees_inner(session, text->file, text->artifact_id, wfs_bytes_text(name));
}

/* An administrator may copy the world, and read every text in the copy. */
int session_administers(const struct wfs_session *session)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.height = 0};
	int r = session_rights(session, &rights, &question);

	return r ? r : wfs_rights_administer(rights, question.now_ns);
}

/* May the principal read the artifact, by the rule in @version of its cell?
 * Return: 1, 0, or -errno. */
static int reads(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_version *version)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = session_administers(session);

	if (r)
		return r;
	r = wfs_view_read_artifact_version(view, version, &artifact, NULL);
	return r ? r : wfs_artifact_reads(&artifact, wfs_session_principal(session));
}

int wfs_session_reads(const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id)
{
	struct wfs_version version;
	int r = wfs_entity_source(view, WFS_ENTITY_FILE_META, id, &version);

	return r == -ENOENT ? 0 : r ? r : reads(session, view, &version);
}

/* Finds the last rule that an artifact had; the newest one, if it is live. */
static int last_rule(struct wfs_view *view, struct wfs_bytes id, struct wfs_version *ret_version)
{
	struct wfs_version version;
	int r = wfs_view_newest(view, WFS_BUILTIN_ARTIFACT, id, &version);

	if (!r && version.tombstone)
		r = wfs_view_version(view, version.prev_vid, &version);
	if (!r)
		*ret_version = version;
	return r;
}

int session_reads_artifact(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id)
{
	struct wfs_version rule;
	int r = last_rule(view, id, &rule);

	return r == -ENOENT ? 0 : r ? r : reads(session, view, &rule);
}

int session_reads_text(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_version *version, struct wfs_error *error)
{
	struct session_text text = {.entry = 0};
	int r = session_text_of(view, version, &text);

	if (r <= 0)
		return r;
	r = session_reads_artifact(session, view, text.artifact_id);
	if (r > 0)
		r = session_note_artifact(session, view, text.artifact_id);
	else if (r == 0)
		r = 1;
	if (r <= 0)
		return r;
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED, "'%s' may not read %s of '%.*s' for free",
		wfs_session_principal(session), wfs_entity_file_name(text.file),
		(int)text.artifact_id.size, (const char *)text.artifact_id.data);
}

int wfs_session_live_text(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_seen *ret_seen)
{
	struct session_text text = {.entry = 0};
	struct wfs_seen seen;
	struct wfs_version newest;
	int r = wfs_session_version(session, view, vid, &seen);

	if (!r)
		r = session_text_of(view, &seen.version, &text);
	if (r <= 0)
		return r ? r : -ENOENT;
	r = wfs_view_newest(view, WFS_BUILTIN_ARTIFACT, text.artifact_id, &newest);
	if (!r && newest.tombstone)
		r = -ENOENT;
	if (!r)
		*ret_seen = seen;
	return r;
}

int session_note_artifact(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_bytes id)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	WFS_AUTO_JSON json_t *of = NULL;
	struct wfs_version rule;

	if (!session->notes)
		return 0;
	int r = last_rule(view, id, &rule);
	if (!r)
		r = wfs_view_read_artifact_version(view, &rule, &artifact, NULL);
	if (r || wfs_artifact_is_open(&artifact))
		return r;
	of = json_array();
	return json_array_append_new(of, json_stringn(id.data, id.size)) < 0
		? -ENOMEM
		: session_note(session, of);
}

/* --- for dropping cached files --- */

int wfs_unjudged_builtin(
	struct wfs_view *view, enum wfs_builtin_reducer builtin, uint32_t *ret_reducer_id)
{
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, builtin, &reducer);

	if (!r)
		*ret_reducer_id = reducer.reducer_id;
	return r;
}

int wfs_unjudged_entity_number(
	struct wfs_view *view, enum wfs_entity entity, struct wfs_bytes id, uint64_t *ret_number)
{
	return wfs_view_number(view, wfs_entity_reducer(entity), id, ret_number);
}

int wfs_unjudged_grantee(struct wfs_view *view, struct wfs_bytes grant, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_reducer reducer;
	struct wfs_version version;
	int r = wfs_view_builtin(view, WFS_BUILTIN_GRANT, &reducer);

	if (!r)
		r = wfs_view_cell(view, reducer.reducer_id, grant, &version);
	if (!r)
		r = wfs_view_state(view, &version, &state);
	if (r)
		return r;
	const json_t *const to = json_object_get(state, "to");
	if (!json_is_string(to))
		return -ENOENT;
	wfs_buffer_append(buffer, json_string_value(to), json_string_length(to));
	return wfs_buffer_check(buffer);
}

int wfs_unjudged_text_before(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes key,
	uint64_t vid, uint64_t *ret_vid)
{
	struct wfs_version version;
	int r = vid == UINT64_MAX
		? wfs_view_newest(view, wfs_entity_file_reducer(file), key, &version)
		: wfs_view_version(view, vid, &version);

	if (r)
		return r;
	if (vid == UINT64_MAX && !version.tombstone)
		*ret_vid = version.vid;
	else if (version.prev_vid == 0)
		return -ENOENT;
	else
		*ret_vid = version.prev_vid;
	return 0;
}
