/* SPDX-License-Identifier: Apache-2.0 */
/* The files of entities: sources and contents. */
#include "kernel/read/entity.h"

#include "kernel/base/json.h"

static const struct wfs_entity_contents *contents_of(enum wfs_entity_file file)
{
	static const struct wfs_entity_contents none = {.without_cell = false};
	const struct wfs_entity_contents *const contents = wfs_entity_file_contents(file);

	return contents ? contents : &none;
}

/* --- where they come from --- */

int wfs_entity_live_cell(struct wfs_view *view, enum wfs_builtin_reducer builtin,
	struct wfs_bytes id, struct wfs_version *ret_version)
{
	struct wfs_reducer reducer;
	int r = wfs_view_builtin(view, builtin, &reducer);

	return r ? r : wfs_view_cell(view, reducer.reducer_id, id, ret_version);
}

int wfs_entity_source(struct wfs_view *view, enum wfs_entity_file file, struct wfs_bytes id,
	struct wfs_version *ret_version)
{
	const enum wfs_builtin_reducer own = wfs_entity_reducer(wfs_entity_file_entity(file));
	const enum wfs_builtin_reducer reducer = wfs_entity_file_reducer(file);
	const struct wfs_entity_contents *const contents = contents_of(file);
	struct wfs_version version;
	int r = wfs_entity_live_cell(view, own, id, &version);

	if (r)
		return r;
	if (contents->source)
		return contents->source(view, id, &version, ret_version);
	switch (wfs_entity_file_form(file)) {
	case WFS_ENTITY_GRANTS:
	case WFS_ENTITY_EVENTS:
	case WFS_ENTITY_ITEMS:
		break;
	default:
		r = reducer == own ? 0 : wfs_entity_live_cell(view, reducer, id, &version);
	}
	if (!r || (r == -ENOENT && contents->without_cell))
		*ret_version = version;
	return r == -ENOENT && contents->without_cell ? 0 : r;
}

int wfs_entity_is_source(
	struct wfs_view *view, enum wfs_entity_file file, const struct wfs_version *version)
{
	int r = wfs_view_is_of(view, version, wfs_entity_file_reducer(file));

	if (r == 0 && contents_of(file)->without_cell)
		r = wfs_view_is_of(view, version, wfs_entity_reducer(wfs_entity_file_entity(file)));
	return r;
}

/* --- contents --- */

static void write_text(const json_t *value, struct wfs_buffer *buffer)
{
	if (json_is_string(value))
		wfs_buffer_append(buffer, json_string_value(value), json_string_length(value));
	else if (value)
		wfs_json_write(value, buffer);
	wfs_buffer_append_byte(buffer, '\n');
}

int wfs_entity_write_document(json_t *document, struct wfs_buffer *buffer)
{
	WFS_AUTO_JSON json_t *owned = document;

	if (!owned)
		return -ENOMEM;
	wfs_json_write_document(owned, buffer);
	return wfs_buffer_check(buffer);
}

/* Writes a whole file. @then: the view at the height of the cell's version */
static int write_whole(struct wfs_view *then, enum wfs_entity_file file, bool bare,
	const json_t *state, struct wfs_buffer *buffer)
{
	const struct wfs_entity_contents *const contents = contents_of(file);

	switch (wfs_entity_file_form(file)) {
	case WFS_ENTITY_STATE:
		return wfs_entity_write_document(json_incref((json_t *)state), buffer);
	case WFS_ENTITY_MEMBER:
		write_text(json_object_get(state, wfs_entity_file_name(file)), buffer);
		return wfs_buffer_check(buffer);
	case WFS_ENTITY_MADE:
		return bare && contents->write_bare ? contents->write_bare(then, state, buffer)
						    : contents->write(then, state, buffer);
	default:
		return -EINVAL;
	}
}

/* Reads the document of the cell that a file is made from. */
static int source_state(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, json_t **ret_state)
{
	/* The version is of the entity's own cell: a cell of the reducer does not exist yet. */
	if (wfs_view_is_of(view, version, wfs_entity_file_reducer(file)) != 0)
		return wfs_trace(wfs_view_state(view, version, ret_state));
	*ret_state = json_object();
	return *ret_state ? 0 : -ENOMEM;
}

/* The part of a file that is wanted. */
struct part {
	struct wfs_range range;
	struct wfs_buffer *buffer; /* the part is appended to it */
	uint64_t *size_bytes;      /* set to that of the whole file */
};

/* Appends the bytes of @whole within the range. Return: 0, -ENOMEM. */
static int append_part(struct wfs_bytes whole, const struct part *part)
{
	const struct wfs_range range = part->range;
	const size_t skip = range.offset < whole.size ? (size_t)range.offset : whole.size;
	const size_t left = whole.size - skip;

	*part->size_bytes = whole.size;
	if (range.size == 0)
		return 0;
	if (left > 0)
		wfs_buffer_append(part->buffer, (const char *)whole.data + skip,
			left < range.size ? left : range.size);
	return wfs_buffer_check(part->buffer);
}

/* The other cells of a turn or plan are read at the height of its version. If that height was
 * dropped, these cells are unchanged up to the first height that is kept. */
static int write_file(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, bool bare, const struct part *part)
{
	const struct wfs_entity_contents *const contents = contents_of(file);
	WFS_AUTO_BUFFER struct wfs_buffer whole = {0};
	WFS_AUTO_JSON json_t *state = NULL;
	struct wfs_view then;
	int r = wfs_view_then(view, version->height, &then);

	if (!r && contents->write_part)
		return wfs_trace(contents->write_part(
			&then, version, part->range, part->buffer, part->size_bytes));
	if (!r)
		r = source_state(view, file, version, &state);
	if (!r)
		r = write_whole(&then, file, bare, state, &whole);
	return r ? wfs_trace(r) : append_part(wfs_buffer_bytes(&whole), part);
}

int wfs_entity_write(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes)
{
	const struct part part = {range, buffer, ret_size_bytes};

	return write_file(view, file, version, false, &part);
}

int wfs_entity_write_bare(struct wfs_view *view, enum wfs_entity_file file,
	const struct wfs_version *version, struct wfs_range range, struct wfs_buffer *buffer,
	uint64_t *ret_size_bytes)
{
	const struct part part = {range, buffer, ret_size_bytes};

	return write_file(view, file, version, true, &part);
}
