/* SPDX-License-Identifier: Apache-2.0 */
/* What a session sees: paths, reducers, cells, blobs, records. */
#include <inttypes.h>

#include "caps/caps-impl.h"
#include "caps/seen.h"

#include "caps/session-query.h"
#include "caps/session-read.h"
#include "caps/session-upkeep.h"
#include "caps/unjudged.h"
#include "kernel/base/permutation.h"

/* Names of paths in the tree. */
#define NAME_JOURNAL WFS_BYTES("journal", 7)
#define NAME_MANIFEST WFS_BYTES("manifest", 8)

/* --- judging --- */

static bool has_scope(enum wfs_effect effect)
{
	return strcmp(wfs_effect_cap_type(effect), "query") == 0;
}

int wfs_session_sees(const struct wfs_session *session, enum wfs_effect effect,
	struct wfs_path path, enum wfs_coverage least, struct wfs_error *error)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.effect = effect, .of_any = true};
	int r = session_rights(session, &rights, &question);

	if (r)
		return r;
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	r = session_refused(session, rights, &question, &verdict, error);
	if (r)
		return r;
	if (has_scope(effect) && wfs_rights_coverage(rights, path, question.now_ns) < least)
		return -ENOENT;
	return 0;
}

bool wfs_session_sees_all(const struct wfs_session *session)
{
	WFS_AUTO_RIGHTS struct wfs_rights *rights = NULL;
	struct wfs_question question = {.height = 0};

	return session_rights(session, &rights, &question) == 0 && wfs_rights_see_all(rights);
}

int wfs_session_permutation(const struct wfs_session *session, const char *purpose, uint64_t first,
	unsigned int bits, struct wfs_permutation *ret_permutation)
{
	return wfs_world_permutation(session_world(session), wfs_session_principal(session),
		purpose, first, bits, ret_permutation);
}

int wfs_session_cursors(const struct wfs_session *session, struct wfs_permutation *ret_permutation)
{
	const int limited = !wfs_session_sees_all(session);
	int r = wfs_world_cursors(
		session_world(session), wfs_session_principal(session), ret_permutation);

	return r ? r : limited;
}

int session_look(const struct wfs_session *session, struct wfs_sight *ret_sight)
{
	struct wfs_question question = {.height = 0};
	struct wfs_rights *rights;
	int r = session_rights(session, &rights, &question);

	if (!r)
		wfs_sight_init(ret_sight, rights, question.origin, question.now_ns);
	return r;
}

int wfs_session_sees_whole(
	const struct wfs_session *session, struct wfs_path path, struct wfs_bytes reducer)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	struct wfs_question question = {.height = 0};
	int r = session_look(session, &sight);

	if (r)
		return r;
	return wfs_rights_coverage(sight.rights, path, sight.now_ns) == WFS_COVERAGE_WHOLE &&
		wfs_sight_listing(&sight, reducer, &question).code == WFS_OK;
}

/* Return: 0, -ENOENT (the reducer is not seen), or -ENOMEM. */
static int check_reducer(const struct wfs_session *session, struct wfs_bytes name)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	int r = session_look(session, &sight);

	return r ? r : wfs_sight_reducer(&sight, name) ? 0 : -ENOENT;
}

/* Return: 0, -ENOENT (the cell is not seen), or -ENOMEM. */
static int check_cell(
	const struct wfs_session *session, struct wfs_bytes reducer, struct wfs_bytes key)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	int r = session_look(session, &sight);

	if (!r)
		r = wfs_sight_cell(&sight, reducer, key);
	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

/* --- views --- */

int wfs_session_view(const struct wfs_session *session, uint64_t height, struct wfs_view *ret_view,
	struct wfs_error *error)
{
	int r = wfs_view_open(session_world(session), height, ret_view, error);

	if (!r && ret_view->head)
		wfs_authority_seen(session->authority, ret_view->height);
	return r;
}

void wfs_session_view_close(struct wfs_view *view)
{
	wfs_view_close(view);
}

int wfs_session_meta(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_meta *ret_meta)
{
	int r = wfs_view_meta(view, ret_meta);

	/* The hash changes with things that the session does not see. */
	if (!r && !wfs_session_sees_all(session))
		ret_meta->has_snapshot = false;
	return r;
}

int wfs_session_manifest(
	const struct wfs_session *session, struct wfs_view *view, struct wfs_seen *ret_seen)
{
	const struct wfs_bytes name = NAME_MANIFEST;
	int r = wfs_session_sees(session, WFS_EFFECT_INTROSPECT_MANIFEST,
		(struct wfs_path){&name, 1}, WFS_COVERAGE_WHOLE, NULL);

	return r ? r : wfs_view_manifest(view, &ret_seen->version);
}

/* --- reducers and cells --- */

int wfs_session_reducer(const struct wfs_session *session, struct wfs_view *view, const char *name,
	size_t name_size, struct wfs_reducer *ret_reducer)
{
	int r = check_reducer(session, WFS_BYTES(name, name_size));

	return r ? r : wfs_view_reducer(view, name, name_size, ret_reducer);
}

int wfs_session_reducer_by_id(const struct wfs_session *session, struct wfs_view *view,
	uint32_t reducer_id, struct wfs_reducer *ret_reducer)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r = wfs_view_reducer_next(view, reducer_id - 1, &name, &reducer);

	if (r || reducer.reducer_id != reducer_id)
		return r ? r : -ENOENT;
	r = check_reducer(session, name);
	if (!r)
		*ret_reducer = reducer;
	return r;
}

int wfs_session_reducer_next(const struct wfs_session *session, struct wfs_view *view,
	uint32_t after, struct wfs_bytes *ret_name, struct wfs_reducer *ret_reducer)
{
	struct wfs_reducer reducer = {.reducer_id = after};
	struct wfs_bytes name;
	int r;

	do {
		r = wfs_view_reducer_next(view, reducer.reducer_id, &name, &reducer);
		if (r)
			return r;
		r = check_reducer(session, name);
	} while (r == -ENOENT);
	if (r)
		return r;
	*ret_name = name;
	*ret_reducer = reducer;
	return 0;
}

/* Of the kernel's own values only the manifest is in the tree;
 * a function of its own looks it up. */
int session_reducer_name(struct wfs_view *view, uint32_t reducer_id, struct wfs_bytes *ret_name)
{
	struct wfs_reducer reducer;
	int r = reducer_id == WFS_REDUCER_ID_KERNEL
		? -ENOENT
		: wfs_view_reducer_next(view, reducer_id - 1, ret_name, &reducer);

	return !r && reducer.reducer_id != reducer_id ? -ENOENT : r;
}

int wfs_session_cell(const struct wfs_session *session, struct wfs_view *view, uint32_t reducer_id,
	struct wfs_bytes key, struct wfs_seen *ret_seen)
{
	struct wfs_bytes reducer;
	int r = session_reducer_name(view, reducer_id, &reducer);

	if (!r)
		r = check_cell(session, reducer, key);
	return r ? r : wfs_view_cell(view, reducer_id, key, &ret_seen->version);
}

/* A reader with the number of a version has seen the version once, or guesses (file handles):
 * fs/tree/tree-number.c turns this refusal into -ENOENT, so that a guess does not tell whether the
 * version exists. */
static int check_version(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_version *version)
{
	const struct wfs_bytes manifest = NAME_MANIFEST;
	struct session_text text = {.entry = 0};
	struct wfs_bytes reducer;
	struct wfs_bytes key;
	int r;

	if (wfs_cell_reducer(version->cell_id) == WFS_REDUCER_ID_KERNEL) {
		r = wfs_session_sees(session, WFS_EFFECT_INTROSPECT_MANIFEST,
			(struct wfs_path){&manifest, 1}, WFS_COVERAGE_WHOLE, NULL);
	} else {
		r = wfs_view_name(view, version, &reducer, &key);
		const int is_text = r ? r : session_text_of(view, version, &text);
		if (is_text > 0)
			r = session_sees_text(session, &text);
		else
			r = is_text ? is_text : check_cell(session, reducer, key);
	}
	return r == -ENOENT ? -EACCES : r;
}

int wfs_session_version(const struct wfs_session *session, struct wfs_view *view, uint64_t vid,
	struct wfs_seen *ret_seen)
{
	struct wfs_version version;
	int r = wfs_view_version(view, vid, &version);

	if (!r && !wfs_session_sees_all(session))
		r = check_version(session, view, &version);
	if (!r)
		ret_seen->version = version;
	return r;
}

int wfs_seen_name(struct wfs_view *view, const struct wfs_seen *seen, struct wfs_bytes *ret_reducer,
	struct wfs_bytes *ret_key)
{
	return wfs_view_name(view, &seen->version, ret_reducer, ret_key);
}

int wfs_session_content(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_seen *seen, struct wfs_range range, struct wfs_content *ret_content,
	struct wfs_error *error)
{
	int r = session_reads_text(session, view, &seen->version, error);

	return r ? r : wfs_view_content(view, &seen->version, range, ret_content, error);
}

int wfs_session_may_hash(
	const struct wfs_session *session, struct wfs_view *view, const struct wfs_seen *seen)
{
	return session_reads_text(session, view, &seen->version, NULL);
}

/* --- the journal --- */

static int sees_record(const struct wfs_session *session, uint64_t seq)
{
	char name[sizeof("18446744073709551615.json")];
	const int size = snprintf(name, sizeof(name), "%" PRIu64 ".json", seq);
	const struct wfs_bytes names[] = {NAME_JOURNAL, WFS_BYTES(name, (size_t)size)};

	return wfs_session_sees(session, WFS_EFFECT_INTROSPECT_JOURNAL, (struct wfs_path){names, 2},
		WFS_COVERAGE_WHOLE, NULL);
}

int wfs_session_record(const struct wfs_session *session, struct wfs_view *view, uint64_t seq,
	struct wfs_bytes *ret_line)
{
	struct wfs_journal_cut cut;
	int r = sees_record(session, seq);

	if (!r)
		r = wfs_journal_cut_get(view->txn, &cut);
	/* The baseline with which a journal begins that was cut says what record 0 said. */
	if (!r && cut.count > 0 && seq == cut.first_seq)
		r = sees_record(session, 0);
	return r ? r : wfs_view_record(view, seq, ret_line);
}

int wfs_unjudged_record_time(struct wfs_view *view, uint64_t seq, int64_t *ret_at_ns)
{
	return wfs_view_record_time(view, seq, ret_at_ns);
}

int wfs_unjudged_log(struct wfs_view *view, uint64_t number, struct wfs_view_log *ret_log)
{
	return wfs_view_log(view, number, ret_log);
}

int wfs_session_journal_read(const struct wfs_session *session, struct wfs_view *view,
	const struct wfs_view_log *log, uint64_t offset, size_t size, struct wfs_buffer *buffer)
{
	const struct wfs_bytes names[] = {NAME_JOURNAL, WFS_BYTES("log.jsonl", 9)};
	int r = wfs_session_sees(session, WFS_EFFECT_INTROSPECT_JOURNAL,
		(struct wfs_path){names, 2}, WFS_COVERAGE_WHOLE, NULL);

	return r == -ENOENT ? -EACCES : r ? r : wfs_view_log_read(view, log, offset, size, buffer);
}

/* Figures tell what other principals do. Return: 1, 0, or -ENOMEM. */
static int sees_figures(const struct wfs_session *session)
{
	return wfs_session_sees_all(session) ? 1 : session_administers(session);
}

int wfs_session_figures(const struct wfs_session *session, struct wfs_session_figures *ret_figures,
	struct wfs_error *error)
{
	WFS_AUTO_VIEW struct wfs_view view = {0};
	struct wfs_reducer intents;
	int r = wfs_session_judge(session, WFS_EFFECT_INTROSPECT_STATUS, error);

	if (!r)
		r = wfs_session_view(session, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = wfs_view_builtin(&view, WFS_BUILTIN_INTENT, &intents);
	const int whole = r ? r : sees_figures(session);
	if (whole < 0)
		return whole;
	struct wfs_session_figures figures = {.whole = whole,
		.effects_in_flight = intents.live_count,
		.refused_total = wfs_authority_refused_total(session->authority)};
	wfs_world_figures(session_world(session), &figures.world);
	if (whole)
		wfs_world_count_blobs(session_world(session), &figures.world);
	else
		figures = (struct wfs_session_figures){.world.height = figures.world.height,
			.world.first_height = figures.world.first_height,
			.world.store_format = figures.world.store_format,
			.world.fold_version = figures.world.fold_version};
	*ret_figures = figures;
	return 0;
}

/* --- introspection --- */

struct session_introspector {
	struct wfs_introspector introspector; /* first, because open_for_session casts back */
	const struct wfs_session *session;
};

static int open_for_session(const struct wfs_introspector *introspector, uint64_t height,
	struct wfs_view *ret_view, struct wfs_error *error)
{
	const struct session_introspector *self = (const struct session_introspector *)introspector;

	return wfs_session_view(self->session, height, ret_view, error);
}

/* Judges a listing. A reducer that is not seen is answered as if it did not exist. */
static int judge_listing(const struct wfs_session *session, const struct wfs_sight *sight,
	const json_t *params, struct wfs_error *error)
{
	const char *const name = json_string_value(json_object_get(params, "reducer"));
	struct wfs_question question = {.height = 0};

	if (!name || !wfs_sight_reducer(sight, wfs_bytes_text(name)))
		return 0;
	const struct wfs_verdict verdict =
		wfs_sight_listing(sight, wfs_bytes_text(name), &question);
	return session_refused(session, sight->rights, &question, &verdict, error);
}

int wfs_session_introspect(const struct wfs_session *session, enum wfs_effect effect,
	const json_t *params, json_t **ret_payload, struct wfs_error *error)
{
	WFS_AUTO_SIGHT struct wfs_sight sight = {.rights = NULL};
	struct wfs_permutation cursors;
	int r = wfs_session_judge(session, effect, error);

	*ret_payload = NULL;
	if (!r && session_look(session, &sight))
		r = wfs_error_from_errno(error, -ENOMEM, "judge a request");
	if (!r && effect == WFS_EFFECT_INTROSPECT_LIST_CELLS)
		r = judge_listing(session, &sight, params, error);
	if (r)
		return r;
	const struct wfs_introspect_filter *const filter = wfs_sight_filter(&sight);
	r = wfs_world_cursors(session_world(session), wfs_session_principal(session), &cursors);
	if (r)
		return wfs_error_from_errno(error, r, "judge a request");
	const struct session_introspector self = {
		{open_for_session, filter, filter ? &cursors : NULL}, session};
	return wfs_introspect(&self.introspector, effect, params, ret_payload, error);
}
