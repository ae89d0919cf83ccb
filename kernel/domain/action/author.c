/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What code may do and see: what its author may. The author is the principal who last wrote the
 * code or made it executable; if code did that, the author of that code. The principals that run
 * or own it lend it no rights.
 *
 * The rights are those before the record, from the grants and the manifest in the store, at the
 * time of the record, so that folding it again gives the same rights. Code also always sees its
 * own artifact.
 */
#include "kernel/domain/action/invoke.h"

#include "kernel/base/array.h"
#include "kernel/base/json.h"
#include "kernel/domain/principal/principal-file.h"
#include "kernel/fold/runtime.h"
#include "kernel/manifest/entity-table.h"

const char *author_of(const struct wfs_document_artifact *artifact)
{
	return artifact->code_author ? artifact->code_author : "";
}

const char *author_now(const struct act *act)
{
	return act->within ? act->within->author : act->payer;
}

/* --- the grants of one principal --- */

/* Adds a grant, and each grant in the chain that it was passed on by. @grants: {name: document} */
static int take_chain(struct wfs_view *view, json_t *grants, json_t *grant)
{
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, WFS_BUILTIN_GRANT, &reducer);
	json_t *next = json_incref(grant);

	while (!r && next) {
		WFS_AUTO_JSON json_t *document = next;
		const char *const name = json_string_value(json_object_get(document, "name"));
		const char *const from = json_string_value(json_object_get(document, "from"));
		struct wfs_version version;

		next = NULL;
		if (!name || json_object_get(grants, name))
			break;
		r = json_object_set(grants, name, document) < 0 ? -ENOMEM : 0;
		if (r || !from)
			break;
		r = wfs_view_cell(view, reducer.reducer_id, wfs_bytes_text(from), &version);
		if (!r)
			r = wfs_view_state(view, &version, &next);
	}
	return r == -ENOENT ? 0 : wfs_trace(r); /* from a missing grant */
}

static int find_grants(struct wfs_view *view, const char *principal, json_t *grants)
{
	WFS_AUTO_JSON json_t *own = NULL;
	int64_t time_ns;
	json_t *grant;
	size_t i;
	int r = wfs_principal_grants(view, wfs_bytes_text(principal), &own, &time_ns);

	json_array_foreach(own, i, grant) {
		r = take_chain(view, grants, grant);
		if (r)
			break;
	}
	return wfs_trace(r);
}

/* Gets the rights of the author, computed once for each record. */
static int rights_of(
	const struct invocation *self, struct wfs_rights **ret_rights, struct wfs_error *error)
{
	struct nest *const nest = self->act->nest;
	struct wfs_rights **room;

	for (size_t i = 0; i < nest->rights_count; i++) {
		*ret_rights = nest->rights[i];
		if (strcmp(wfs_rights_principal(*ret_rights), self->author) == 0)
			return 0;
	}
	room = wfs_array_reserve(nest->rights, nest->rights_count, &nest->rights_capacity,
		sizeof(struct wfs_rights *));
	if (!room)
		return fold_no_memory(error);
	nest->rights = room;
	struct wfs_rights *made = NULL;
	WFS_AUTO_JSON json_t *grants = json_object();
	struct wfs_view view = fold_view(self->act->fold);
	int r = grants ? find_grants(&view, self->author, grants) : -ENOMEM;
	if (!r)
		r = wfs_rights_new(self->author, wfs_runtime_manifest(self->act->fold->runtime),
			grants, &made);
	if (r)
		return wfs_error_from_errno(error, r, "judge code");
	nest->rights[nest->rights_count++] = made;
	*ret_rights = made;
	return 0;
}

void authors_done(struct nest *nest)
{
	for (size_t i = 0; i < nest->rights_count; i++)
		wfs_rights_unref(nest->rights[i]);
	free(nest->rights);
}

/* --- judging --- */

/* A principal that asks for itself was judged, and maybe approved, when its action came. */
static struct wfs_question question_of(const struct invocation *self, enum wfs_effect effect)
{
	return (struct wfs_question){.effect = effect,
		.origin = self->is_host ? WFS_ORIGIN_HOST : WFS_ORIGIN_CODE,
		.approved = self->is_host,
		.now_ns = self->act->fold->input.at_ns};
}

int author_may(const struct invocation *self, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error)
{
	struct wfs_question question = question_of(self, effect);
	struct wfs_rights *rights = NULL;
	int r = rights_of(self, &rights, error);

	if (r)
		return wfs_trace(r);
	question.artifact = artifact;
	const struct wfs_verdict verdict = wfs_rights_judge(rights, &question);
	r = wfs_rights_explain(rights, &question, &verdict, error);
	/* An effect that the world has not enabled is not an error of the system: code may go on
	 * without it. */
	if (verdict.code == WFS_E_NOT_ENABLED) {
		error->code = WFS_E_NOT_AUTHORIZED;
		r = -EACCES;
	}
	return r;
}

/* --- seeing --- */

/* Code sees its artifact and its account, whatever rights its author has. */
static bool sees(void *context, const struct wfs_query_row *row)
{
	const struct author_sight *const sight = context;
	const struct wfs_question asks = question_of(sight->self, WFS_EFFECT_ACTION_QUERY_KERNEL);
	const bool is_own =
		row->part != WFS_QUERY_PART_JOURNAL && strcmp(row->name, sight->self->id) == 0;

	return is_own || wfs_query_shows(sight->rights, &asks, row);
}

static int reads(void *context, const struct wfs_document_artifact *artifact)
{
	const struct author_sight *const sight = context;
	const struct invocation *const self = sight->self;

	if (self->is_host)
		return wfs_rights_administer(sight->rights, self->act->fold->input.at_ns) ||
			wfs_artifact_reads(artifact, self->author);
	return wfs_artifact_reads(artifact, self->id);
}

int author_sight_init(
	struct author_sight *sight, const struct invocation *self, struct wfs_error *error)
{
	*sight = (struct author_sight){
		.sight = {.sees = sees, .reads = reads, .context = sight}, .self = self};
	return wfs_trace(rights_of(self, &sight->rights, error));
}

int author_sees(const struct invocation *self, enum wfs_query_part part, const char *name,
	struct wfs_error *error)
{
	const struct wfs_query_row row = {.part = part, .name = name};
	struct author_sight sight;
	int r = author_sight_init(&sight, self, error);

	return r ? wfs_trace(r) : sees(&sight, &row);
}

int author_knows(const struct invocation *self, enum wfs_entity entity, const char *id,
	struct wfs_error *error)
{
	const char *const directory = wfs_entity_directory(entity);
	const struct wfs_bytes names[] = {wfs_bytes_text(directory), wfs_bytes_text(id)};
	struct wfs_question question = question_of(self, WFS_EFFECT_INTROSPECT_REDUCER_STATE);
	struct wfs_rights *rights;
	int r = rights_of(self, &rights, error);

	if (r)
		return wfs_trace(r);
	question.reducer = wfs_builtin_reducer_name(wfs_entity_reducer(entity));
	return strcmp(id, self->id) == 0 || strcmp(id, self->author) == 0 ||
		(wfs_rights_judge(rights, &question).code == WFS_OK &&
			wfs_rights_coverage(rights, (struct wfs_path){names, 2}, question.now_ns) >
				WFS_COVERAGE_NONE);
}

int author_reads(const struct invocation *self, const char *id, struct wfs_error *error)
{
	const struct wfs_bytes names[] = {wfs_bytes_text(wfs_entity_directory(WFS_ENTITY_ARTIFACT)),
		wfs_bytes_text(id), wfs_bytes_text(wfs_entity_file_name(WFS_ENTITY_FILE_CONTENT))};
	struct wfs_question question = question_of(self, WFS_EFFECT_INTROSPECT_REDUCER_STATE);
	struct wfs_rights *rights;
	int r = rights_of(self, &rights, error);

	if (r)
		return wfs_trace(r);
	question.reducer = wfs_builtin_reducer_name(WFS_BUILTIN_CONTENT);
	const struct wfs_path path = {names, WFS_ARRAY_COUNT(names)};
	return strcmp(id, self->id) == 0 ||
		(wfs_rights_judge(rights, &question).code == WFS_OK &&
			wfs_rights_coverage(rights, path, question.now_ns) == WFS_COVERAGE_WHOLE);
}
