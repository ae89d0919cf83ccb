/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sketch of a domain: notes, which the service `genesis_notes` writes and drops, and which
 * everybody reads in the directory `notes` of the tree. It shows that a new domain takes a folder
 * and one line in kernel/world/domains.c.
 *
 *   sys.note, key note id: {text}
 */
#include "kernel/base/json.h"
#include "kernel/domain/action/service.h"
#include "kernel/read/entity.h"

#define REDUCER "sys.note"

static enum wfs_builtin_reducer reducer(void)
{
	return wfs_builtin_reducer_find(REDUCER);
}

/* --- the service --- */

static int write_note(struct service_call *call, struct wfs_error *error)
{
	const char *const id = service_text(call, "id");

	if (!wfs_grant_name_valid(id))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%.80s' is not an id", id);
	WFS_AUTO_JSON json_t *note = json_pack("{s:s}", "text", service_text(call, "text"));
	call->result = json_true();
	return wfs_trace(fold_put(call->act->fold, reducer(), id, note, error));
}

static int drop_note(struct service_call *call, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *note = NULL;
	size_t cell;
	int r = fold_load(
		call->act->fold, reducer(), service_text(call, "id"), &cell, &note, error);

	if (!r && !note)
		r = wfs_error_set(error, WFS_E_NOT_FOUND, "this note does not exist");
	call->result = json_true();
	return wfs_trace(r ? r : fold_delete(call->act->fold, cell, error));
}

static const struct wfs_field write_params[] = {
	{"id", &wfs_form_text, 0, "of the note"},
	{"text", &wfs_form_text, 0, "of the note"},
	{NULL},
};
static const struct wfs_field drop_params[] = {
	{"id", &wfs_form_text, 0, "of the note"},
	{NULL},
};
static const struct service_method methods[] = {
	{"write", 0, write_note, write_params, "write a note"},
	{"drop", 0, drop_note, drop_params, "drop a note"},
	{NULL},
};
static const struct service services[] = {
	{"genesis_notes", "service", "notes for everybody", NULL, methods, SERVICE_RUN_NAMED},
	{NULL},
};

/* --- the directory --- */

static int write_size(struct wfs_view *then, const json_t *state, struct wfs_buffer *buffer)
{
	(void)then;
	wfs_buffer_printf(buffer, "%zu\n", json_string_length(json_object_get(state, "text")));
	return wfs_buffer_check(buffer);
}

static const struct wfs_entity_contents size_contents = {.write = write_size};

static const struct wfs_entity_file_row files[] = {
	{"note.json", REDUCER, WFS_ENTITY_STATE},
	{"text", REDUCER, WFS_ENTITY_MEMBER},
	{"size", REDUCER, WFS_ENTITY_MADE, &size_contents},
	{NULL},
};

const struct wfs_domain wfs_note_domain = {
	.name = "note",
	.services = services,
	.reducers = (const struct wfs_builtin_row[]){{REDUCER}, {NULL}},
	.directories = (const struct wfs_entity_row[]){{"notes", REDUCER, files}, {NULL}},
};
