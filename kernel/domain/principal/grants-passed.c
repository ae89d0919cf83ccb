/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table in memory of the grants that were passed on from each grant, so that a revocation takes
 * no longer in a world with many grants.
 *
 * The table is valid for the journal whose last line has the hash `prev`. It follows the records
 * that the fold applies. If the journal has grown otherwise, or a transaction was aborted later,
 * the hashes differ, and the next revocation reads all grants again. A record that cannot be
 * written drops the table.
 */
#include "kernel/base/json.h"
#include "kernel/domain/principal/principal-impl.h"
#include "kernel/manifest/builtin.h"
#include "kernel/store/row-name.h"

void grants_passed_done(struct grants_passed *passed)
{
	json_decref(WFS_STEAL(passed->children));
	json_decref(WFS_STEAL(passed->parents));
}

static int add(struct grants_passed *passed, const char *name, const char *from)
{
	json_t *names = json_object_get(passed->children, from);

	if (!names) {
		names = json_object();
		if (json_object_set_new(passed->children, from, names) < 0)
			return -ENOMEM;
	}
	return json_object_set_new(names, name, json_true()) < 0 ||
			json_object_set_new(passed->parents, name, json_string(from)) < 0
		? -ENOMEM
		: 0;
}

/* Notes a live grant in the table, if it was passed on. @document: bytes of its cell */
static int note(struct grants_passed *passed, struct wfs_bytes document, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_grant grant = {.own = {.json = NULL}};
	json_t *json;
	int r = wfs_json_parse(document.data, document.size, &json, error);

	if (!r)
		r = wfs_document_read_grant(json, &grant, error);
	if (r)
		return wfs_trace(r);
	r = grant.from ? add(passed, grant.name, grant.from) : 0;
	return r < 0 ? wfs_error_from_errno(error, r, "read a grant") : 0;
}

static int note_cell(struct wfs_fold *fold, const struct wfs_cell *cell, struct wfs_error *error)
{
	struct wfs_version version;
	int r = wfs_version_get(fold->head->txn, cell->head_vid, &version);

	if (r)
		return wfs_error_from_errno(
			error, wfs_row_needed(fold->head->txn, r), "read a grant");
	wfs_buffer_reset(&fold->scratch);
	r = wfs_version_read(fold->head->store, &version, &fold->scratch, error);
	return wfs_trace(
		r ? r
		  : note(&principal_kept(fold)->passed, wfs_buffer_bytes(&fold->scratch), error));
}

static int read_all(struct wfs_fold *fold, struct wfs_error *error)
{
	const size_t index = fold_builtin(fold, WFS_BUILTIN_GRANT);
	WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
	struct wfs_cell cell;
	int r = wfs_cell_walk_init(
		&walk, fold->head->txn, fold->head->reducers[index].reducer_id, 0);

	while (!r) {
		r = wfs_cell_walk_next(&walk, &cell);
		if (r < 0)
			break;
		if (r == 0)
			return 0;
		r = cell.live ? note_cell(fold, &cell, error) : 0;
		if (r)
			return wfs_trace(r);
	}
	return wfs_error_from_errno(error, r, "read the grants");
}

/* Drops the table if it is of another journal. A record that could not be written may have left
 * some of its changes in the table. */
static void forget_other(struct grants_passed *passed, const struct wfs_head *head)
{
	if (passed->children && (passed->applying || !wfs_hash_equal(&passed->prev, &head->prev)))
		grants_passed_done(passed);
	passed->applying = false;
}

int grants_passed_on(struct wfs_fold *fold, const json_t **ret_children, struct wfs_error *error)
{
	struct grants_passed *const passed = &principal_kept(fold)->passed;
	int r = 0;

	forget_other(passed, fold->head);
	if (!passed->children) {
		passed->prev = fold->head->prev;
		passed->children = json_object();
		passed->parents = json_object();
		r = passed->children && passed->parents ? read_all(fold, error)
							: fold_no_memory(error);
	}
	if (r) {
		grants_passed_done(passed);
		return wfs_trace(r);
	}
	*ret_children = passed->children;
	return 0;
}

void grants_passed_applying(struct wfs_fold *fold, const struct wfs_head *head)
{
	struct grants_passed *const passed = &principal_kept(fold)->passed;

	forget_other(passed, head);
	passed->applying = true;
}

void grants_passed_changed(
	struct wfs_fold *fold, struct wfs_bytes name, const struct wfs_state *state)
{
	struct grants_passed *const passed = &principal_kept(fold)->passed;

	if (!passed->children)
		return;
	const char *const from =
		json_string_value(json_object_getn(passed->parents, name.data, name.size));
	if (from) {
		json_t *const names = json_object_get(passed->children, from);

		(void)json_object_deln(names, name.data, name.size);
		if (json_object_size(names) == 0)
			(void)json_object_del(passed->children, from);
		(void)json_object_deln(passed->parents, name.data, name.size);
	}
	if (state->live && note(passed, state->bytes, NULL) < 0)
		grants_passed_done(passed);
}

void grants_passed_applied(struct wfs_fold *fold, const struct wfs_head *head)
{
	struct grants_passed *const passed = &principal_kept(fold)->passed;

	passed->prev = head->prev;
	passed->applying = false;
}
