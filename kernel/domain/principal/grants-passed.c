/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was passed on from each grant, kept in memory: a revocation must not take longer in a world of many grants.
 *
 * The table is right for the journal that ends with one line, whose hash it has. It follows what the fold applies. When the
 * journal has grown otherwise, or the transaction was given up later, the hashes differ, and the next revocation reads all
 * grants again. A record that cannot be applied drops the table.
 */
#include "kernel/base/json.h"
#include "kernel/domain/principal/grants-impl.h"
#include "kernel/domain/principal/grants.h"
#include "kernel/manifest/builtin.h"
#include "kernel/store/row-name.h"

struct grants_passed {
	struct wfs_hash prev; /* of the journal's last line */
	json_t *children;     /* {from: {name: true}} */
	json_t *parents;      /* {name: from} */
};

void grants_passed_free(struct grants_passed *passed)
{
	if (!passed)
		return;
	json_decref(passed->children);
	json_decref(passed->parents);
	free(passed);
}

static void forget(struct wfs_fold *fold)
{
	grants_passed_free(WFS_STEAL(fold->passed));
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

static void take_off(struct grants_passed *passed, struct wfs_bytes name)
{
	const char *const from =
		json_string_value(json_object_getn(passed->parents, name.data, name.size));
	json_t *const names = from ? json_object_get(passed->children, from) : NULL;

	if (!from)
		return;
	(void)json_object_deln(names, name.data, name.size);
	if (json_object_size(names) == 0)
		(void)json_object_del(passed->children, from);
	(void)json_object_deln(passed->parents, name.data, name.size);
}

/* @document: of a live grant */
static int note(struct grants_passed *passed, struct wfs_bytes document, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *grant = NULL;
	int r = wfs_json_parse(document.data, document.size, &grant, error);

	if (r < 0)
		return wfs_trace(r);
	const char *const from = json_string_value(json_object_get(grant, "from"));
	const char *const name = json_string_value(json_object_get(grant, "name"));
	r = from && name ? add(passed, name, from) : 0;
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
	return wfs_trace(r ? r : note(fold->passed, wfs_buffer_bytes(&fold->scratch), error));
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

int grants_passed_on(struct wfs_fold *fold, const json_t **ret_children, struct wfs_error *error)
{
	int r = 0;

	grants_passed_begin(fold, fold->head);
	if (!fold->passed) {
		fold->passed = calloc(1, sizeof(*fold->passed));
		if (!fold->passed)
			return fold_no_memory(error);
		fold->passed->prev = fold->head->prev;
		fold->passed->children = json_object();
		fold->passed->parents = json_object();
		r = fold->passed->children && fold->passed->parents ? read_all(fold, error)
								    : fold_no_memory(error);
	}
	if (r) {
		forget(fold);
		return wfs_trace(r);
	}
	*ret_children = fold->passed->children;
	return 0;
}

void grants_passed_begin(struct wfs_fold *fold, const struct wfs_head *head)
{
	if (fold->passed && !wfs_hash_equal(&fold->passed->prev, &head->prev))
		forget(fold);
}

void grants_passed_change(
	struct wfs_fold *fold, struct wfs_bytes name, const struct wfs_state *state)
{
	take_off(fold->passed, name);
	if (state->live && note(fold->passed, state->bytes, NULL) < 0)
		forget(fold);
}

void grants_passed_end(struct wfs_fold *fold, const struct wfs_head *head)
{
	if (fold->passed)
		fold->passed->prev = head->prev;
}
