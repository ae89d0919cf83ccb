/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders: finds them and the steps they name, and replaces them by values. */
#include "agents/plan/placeholder.h"

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/value/bounds.h"

/* --- finding --- */

enum piece_kind {
	PIECE_END,
	PIECE_TEXT,
	PIECE_ESCAPE,      /* `$${` */
	PIECE_PLACEHOLDER, /* without `${` and `}` */
};

/* A part of a string. Plain value; borrows it. */
struct piece {
	enum piece_kind kind;
	struct wfs_bytes text;
};

static struct wfs_bytes behind(struct wfs_bytes text, size_t size)
{
	return WFS_BYTES((const char *)text.data + size, text.size - size);
}

static bool begins(struct wfs_bytes text, const char *with)
{
	return text.size >= strlen(with) && memcmp(text.data, with, strlen(with)) == 0;
}

/* Counts the bytes up to the first `$`, `{` or `}`, or all. */
static size_t plain_size(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	while (size < text.size && bytes[size] != '$' && bytes[size] != '{' && bytes[size] != '}')
		size++;
	return size;
}

/* Removes the next piece from @rest. Adjacent text may be several pieces. */
static struct piece next_piece(struct wfs_bytes *rest)
{
	const struct wfs_bytes text = *rest;
	struct piece piece = {PIECE_TEXT, {text.data, plain_size(text)}};
	size_t taken = piece.text.size;

	if (text.size == 0)
		return (struct piece){PIECE_END};
	if (begins(text, "$${")) {
		piece = (struct piece){PIECE_ESCAPE, {(const char *)text.data + 1, 2}};
		taken = 3;
	} else if (begins(text, "${")) {
		const struct wfs_bytes name = behind(text, 2);
		const size_t size = plain_size(name);
		const bool closed = begins(behind(name, size), "}");

		piece.kind = closed ? PIECE_PLACEHOLDER : PIECE_TEXT;
		piece.text = closed ? WFS_BYTES(name.data, size) : WFS_BYTES(text.data, 2 + size);
		taken = 2 + size + (closed ? 1 : 0);
	} else if (taken == 0) {
		piece.text.size = taken = 1;
	}
	*rest = behind(text, taken);
	return piece;
}

/* Finds the next shorter text that may be an id: the whole name, then up to each dot from the last
 * on.
 * @size: of the previous one; SIZE_MAX at first. Return: SIZE_MAX: no more */
static size_t shorter_id(struct wfs_bytes name, size_t size)
{
	const char *dot;

	if (size == SIZE_MAX && name.size <= WFS_PLAN_STEP_ID_MAX)
		return name.size;
	if (size > WFS_PLAN_STEP_ID_MAX + 1) /* a dot may follow an id of the greatest size */
		size = WFS_PLAN_STEP_ID_MAX + 1;
	dot = memrchr(name.data, '.', size < name.size ? size : name.size);
	return dot ? (size_t)(dot - (const char *)name.data) : SIZE_MAX;
}

/* --- naming steps --- */

static int add_ref(struct wfs_bytes name, const json_t *indices, json_t *refs)
{
	json_t *index = NULL;
	size_t size = SIZE_MAX;

	do {
		size = shorter_id(name, size);
		if (size == SIZE_MAX)
			return 0;
		index = json_object_getn(indices, name.data, size);
	} while (!index);
	return json_object_setn(refs, name.data, size, index) < 0 ? -ENOMEM : 0;
}

int wfs_placeholder_refs(const json_t *value, const json_t *indices, json_t *refs)
{
	struct wfs_bytes text = wfs_text_of(value); /* empty unless it is a string */
	struct piece piece;
	const char *name;
	size_t i;
	json_t *item;
	int r = 0;

	while (!r && (piece = next_piece(&text)).kind != PIECE_END)
		if (piece.kind == PIECE_PLACEHOLDER)
			r = add_ref(piece.text, indices, refs);
	json_array_foreach(value, i, item)
		if (!r)
			r = wfs_placeholder_refs(item, indices, refs);
	json_object_foreach((json_t *)value, name, item)
		if (!r)
			r = wfs_placeholder_refs(item, indices, refs);
	return r;
}

/* --- values --- */

struct filling {
	wfs_placeholder_resolve *resolve;
	void *context;
	json_t *known;             /* results of steps, by their ids; owned */
	struct wfs_buffer scratch; /* for measuring a value */
	size_t size;               /* bytes of all inserted values */
	struct wfs_error *error;
};

#define no_memory(filling) wfs_error_from_errno((filling)->error, -ENOMEM, "fill placeholders")

static int not_resolved(struct filling *filling, struct wfs_bytes name, const char *why)
{
	return wfs_error_set(filling->error, WFS_E_INVALID_ARGUMENT,
		"the placeholder '${%.*s}' does not resolve: %s",
		(int)(name.size < 240 ? name.size : 240), (const char *)name.data, why);
}

static int too_large(struct filling *filling)
{
	return wfs_error_set(filling->error, WFS_E_TOO_LARGE,
		"with values in the place of its placeholders it has more than %d bytes",
		WFS_PLACEHOLDER_SIZE_MAX);
}

/* @ret_value: borrowed. Return: 0, -ENOENT, -errno */
static int step_value(
	struct filling *filling, struct wfs_bytes name, size_t size, const json_t **ret_value)
{
	char id[WFS_PLAN_STEP_ID_MAX + 1];
	json_t *value = json_object_getn(filling->known, name.data, size);

	if (!value) {
		memcpy(id, name.data, size);
		id[size] = '\0';
		if (strlen(id) < size)
			return -ENOENT;
		int r = filling->resolve(filling->context, id, &value, filling->error);
		if (r)
			return r;
		if (json_object_set_new(filling->known, id, value) < 0)
			return no_memory(filling);
	}
	*ret_value = value;
	return 0;
}

static const json_t *member(const json_t *value, struct wfs_bytes name)
{
	uint64_t index;

	if (json_is_object(value))
		return json_object_getn(value, name.data, name.size);
	if (json_is_array(value) && name.size > 0 &&
		wfs_decimal_read(name.data, name.size, &index) == name.size)
		return json_array_get(value, index);
	return NULL;
}

/* @path: begins with a dot unless it is empty. Return: NULL: no value at the path */
static const json_t *walk(const json_t *value, struct wfs_bytes path)
{
	while (value && path.size > 0) {
		path = behind(path, 1);
		const char *const dot = memchr(path.data, '.', path.size);
		const size_t size = dot ? (size_t)(dot - (const char *)path.data) : path.size;

		value = member(value, WFS_BYTES(path.data, size));
		path = behind(path, size);
	}
	return value;
}

static int find_value(struct filling *filling, struct wfs_bytes name, const json_t **ret_value)
{
	const json_t *value = NULL;
	size_t size = SIZE_MAX;
	int r;

	do {
		size = shorter_id(name, size);
		if (size == SIZE_MAX)
			return not_resolved(filling, name, "it names no step");
		r = step_value(filling, name, size, &value);
	} while (r == -ENOENT);
	if (r)
		return r;
	*ret_value = walk(value, behind(name, size));
	return *ret_value ? 0
			  : not_resolved(filling, name, "what the step gave has no such member");
}

/* --- filling --- */

static int fill(
	struct filling *filling, const json_t *value, unsigned int depth, json_t **ret_value);

static int count(struct filling *filling, size_t size)
{
	filling->size += size;
	return filling->size > WFS_PLACEHOLDER_SIZE_MAX ? too_large(filling) : 0;
}

/* Replaces a whole string by a value, which is shared, and counted each time. */
static int put_value(
	struct filling *filling, struct wfs_bytes name, unsigned int depth, json_t **ret_value)
{
	const json_t *value;
	int r = find_value(filling, name, &value);

	if (r)
		return r;
	wfs_buffer_reset(&filling->scratch);
	wfs_json_write(value, &filling->scratch);
	r = wfs_buffer_check(&filling->scratch) ? no_memory(filling)
						: count(filling, filling->scratch.size);
	if (!r && !wfs_placeholder_depth_fits(value, WFS_PLACEHOLDER_DEPTH_MAX - depth))
		r = wfs_error_set(filling->error, WFS_E_DEPTH_EXCEEDED,
			"with the value of '${%.*s}' it has more than %d levels",
			(int)(name.size < 240 ? name.size : 240), (const char *)name.data,
			WFS_PLACEHOLDER_DEPTH_MAX);
	if (!r)
		*ret_value = json_incref((json_t *)value);
	return r;
}

static int put_text(struct filling *filling, struct wfs_bytes name, struct wfs_buffer *text)
{
	const json_t *value;
	const size_t before = text->size;
	int r = find_value(filling, name, &value);

	if (r)
		return r;
	wfs_placeholder_append(value, text);
	return count(filling, text->size - before);
}

static int fill_text(struct filling *filling, struct wfs_bytes rest, json_t **ret_value)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct piece piece;
	int r = 0;

	while (!r && (piece = next_piece(&rest)).kind != PIECE_END) {
		if (piece.kind == PIECE_PLACEHOLDER)
			r = put_text(filling, piece.text, &text);
		else
			wfs_buffer_append(&text, piece.text.data, piece.text.size);
	}
	if (r)
		return r;
	*ret_value =
		wfs_buffer_check(&text) ? NULL : json_stringn(wfs_buffer_text(&text), text.size);
	return *ret_value ? 0 : no_memory(filling);
}

static int fill_string(
	struct filling *filling, const json_t *value, unsigned int depth, json_t **ret_value)
{
	const struct wfs_bytes text = wfs_text_of(value);
	struct wfs_bytes rest = text;
	const struct piece piece = next_piece(&rest);

	if (piece.kind == PIECE_PLACEHOLDER && rest.size == 0)
		return put_value(filling, piece.text, depth, ret_value);
	if (text.size > 0 && memchr(text.data, '$', text.size))
		return fill_text(filling, text, ret_value);
	*ret_value = json_incref((json_t *)value);
	return 0;
}

static int fill_array(
	struct filling *filling, const json_t *value, unsigned int depth, json_t **ret_value)
{
	WFS_AUTO_JSON json_t *array = json_array();
	size_t i;
	const json_t *item;
	int r = array ? 0 : no_memory(filling);

	json_array_foreach(value, i, item) {
		json_t *filled = NULL;

		if (!r)
			r = fill(filling, item, depth + 1, &filled);
		if (!r && json_array_append_new(array, filled) < 0)
			r = no_memory(filling);
	}
	if (!r)
		*ret_value = WFS_STEAL(array);
	return r;
}

static int fill_object(
	struct filling *filling, const json_t *value, unsigned int depth, json_t **ret_value)
{
	json_t *const members = (json_t *)value; /* jansson's iterators take no const */
	WFS_AUTO_JSON json_t *object = json_object();
	int r = object ? 0 : no_memory(filling);

	for (void *at = json_object_iter(members); at && !r;
		at = json_object_iter_next(members, at)) {
		json_t *filled = NULL;

		r = fill(filling, json_object_iter_value(at), depth + 1, &filled);
		if (!r &&
			json_object_setn_new(object, json_object_iter_key(at),
				json_object_iter_key_len(at), filled) < 0)
			r = no_memory(filling);
	}
	if (!r)
		*ret_value = WFS_STEAL(object);
	return r;
}

/* @depth: levels around @value */
static int fill(
	struct filling *filling, const json_t *value, unsigned int depth, json_t **ret_value)
{
	const bool nested = json_is_array(value) || json_is_object(value);

	if (nested && depth == WFS_PLACEHOLDER_DEPTH_MAX)
		return wfs_error_set(filling->error, WFS_E_DEPTH_EXCEEDED,
			"expected at most %d levels", WFS_PLACEHOLDER_DEPTH_MAX);
	if (json_is_array(value))
		return fill_array(filling, value, depth, ret_value);
	if (json_is_object(value))
		return fill_object(filling, value, depth, ret_value);
	if (json_is_string(value))
		return fill_string(filling, value, depth, ret_value);
	*ret_value = json_incref((json_t *)value);
	return 0;
}

/* The inserted values are bounded already, so this writes a bounded text. */
static int check_size(struct filling *filling, const json_t *value)
{
	wfs_buffer_reset(&filling->scratch);
	wfs_json_write(value, &filling->scratch);
	if (wfs_buffer_check(&filling->scratch))
		return no_memory(filling);
	return filling->scratch.size > WFS_PLACEHOLDER_SIZE_MAX ? too_large(filling) : 0;
}

int wfs_placeholder_fill(const json_t *value, wfs_placeholder_resolve *resolve, void *context,
	json_t **ret_value, struct wfs_error *error)
{
	struct filling filling = {
		.resolve = resolve, .context = context, .known = json_object(), .error = error};
	WFS_AUTO_JSON json_t *filled = NULL;
	int r = filling.known ? fill(&filling, value, 0, &filled) : no_memory(&filling);

	if (!r)
		r = check_size(&filling, filled);
	if (!r)
		*ret_value = WFS_STEAL(filled);
	wfs_buffer_done(&filling.scratch);
	json_decref(filling.known);
	return wfs_trace(r);
}

/* --- values --- */

void wfs_placeholder_append(const json_t *value, struct wfs_buffer *buffer)
{
	if (json_is_string(value))
		wfs_buffer_append(buffer, json_string_value(value), json_string_length(value));
	else
		wfs_json_write(value, buffer);
}

bool wfs_placeholder_depth_fits(const json_t *value, unsigned int max)
{
	const char *name;
	size_t i;
	json_t *item;

	if (!json_is_array(value) && !json_is_object(value))
		return true;
	if (max == 0)
		return false;
	json_array_foreach(value, i, item)
		if (!wfs_placeholder_depth_fits(item, max - 1))
			return false;
	json_object_foreach((json_t *)value, name, item)
		if (!wfs_placeholder_depth_fits(item, max - 1))
			return false;
	return true;
}
