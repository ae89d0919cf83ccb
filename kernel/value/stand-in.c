/* SPDX-License-Identifier: Apache-2.0 */
/* Hiding private texts, and finding them again. */
#include "kernel/value/stand-in.h"

#include <sys/random.h>

#include "kernel/base/array.h"
#include "kernel/base/json.h"

void wfs_texts_done(struct wfs_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		wfs_buffer_done(&texts->items[i].of);
		wfs_buffer_done(&texts->items[i].bytes);
	}
	free(texts->items);
	*texts = (struct wfs_texts){.count = 0};
}

/* --- stand-ins --- */

bool wfs_text_is_hidden(const json_t *value, struct wfs_hash *ret_hash)
{
	struct wfs_hash found;

	if (json_object_size(value) != 3)
		return false;
	const json_t *const hash = json_object_get(value, "hash");
	const json_t *const of = json_object_get(value, "of");
	const json_t *const size = json_object_get(value, "size");
	/* A quota counts `size`, which may come from a foreign journal, so it has a bound. Requests
	 * and answers are far smaller. */
	if (!json_is_string(hash) || !json_is_array(of) || !json_is_integer(size) ||
		json_integer_value(size) < 0 || json_integer_value(size) > UINT32_MAX ||
		json_string_length(hash) != WFS_HASH_TEXT_SIZE - 1 ||
		wfs_hash_parse(json_string_value(hash), json_string_length(hash), &found, NULL))
		return false;
	for (size_t i = 0; i < json_array_size(of); i++)
		if (!json_is_string(json_array_get(of, i)))
			return false;
	if (ret_hash)
		*ret_hash = found;
	return true;
}

static int stop_at_first(void *context, const json_t *stand_in)
{
	(void)context;
	(void)stand_in;
	return 1;
}

/* The nesting of JSON is bounded (WFS_JSON_DEPTH_MAX). */
int wfs_text_walk(const json_t *value, wfs_text_each_fn *each, void *context)
{
	const char *name;
	json_t *member;
	size_t i;
	int r = 0;

	if (!json_is_object(value) && !json_is_array(value))
		return 0; /* most values end here: a request may have a million of them */
	if (wfs_text_is_hidden(value, NULL))
		return each(context, value);
	json_object_foreach((json_t *)(uintptr_t)value, name, member) {
		if (!r)
			r = wfs_text_walk(member, each, context);
	}
	json_array_foreach(value, i, member) {
		if (!r)
			r = wfs_text_walk(member, each, context);
	}
	return r;
}

bool wfs_text_has_hidden(const json_t *value)
{
	return wfs_text_walk(value, stop_at_first, NULL) != 0;
}

/* --- hiding --- */

/* Appends the salt and the JSON of @value to @buffer. */
static int write_bytes(const json_t *value, struct wfs_buffer *buffer)
{
	uint8_t salt[WFS_TEXT_SALT_SIZE];

	if (getrandom(salt, sizeof(salt), 0) != (ssize_t)sizeof(salt))
		return -EIO;
	wfs_buffer_append(buffer, salt, sizeof(salt));
	wfs_json_write(value, buffer);
	return wfs_buffer_check(buffer);
}

static struct wfs_text_new *add(struct wfs_texts *texts)
{
	struct wfs_text_new *const items = wfs_array_reserve(
		texts->items, texts->count, &texts->capacity, sizeof(*texts->items));

	if (!items)
		return NULL;
	texts->items = items;
	items[texts->count] = (struct wfs_text_new){.hash = {{0}}};
	return &items[texts->count++];
}

int wfs_text_hide(
	struct wfs_texts *texts, const json_t *of, const json_t *value, json_t **ret_stand_in)
{
	struct wfs_text_new *const item = add(texts);

	if (!item)
		return -ENOMEM;
	int r = write_bytes(value, &item->bytes);
	wfs_json_write(of, &item->of);
	if (!r)
		r = wfs_buffer_check(&item->of);
	if (r)
		return wfs_trace(r);
	item->hash = wfs_hash_of(item->bytes.data, item->bytes.size);
	WFS_AUTO_JSON json_t *stand_in = json_pack("{s:O, s:I}", "of", of, "size",
		(json_int_t)(item->bytes.size - WFS_TEXT_SALT_SIZE));
	if (!stand_in || wfs_json_set_hash(stand_in, "hash", &item->hash))
		return -ENOMEM;
	*ret_stand_in = WFS_STEAL(stand_in);
	return 0;
}

int wfs_text_hide_member(struct wfs_texts *texts, const json_t *of, json_t *object,
	const char *member, struct wfs_error *error)
{
	const json_t *const value = json_object_get(object, member);
	json_t *stand_in;

	if (!value || json_is_null(value))
		return 0;
	int r = wfs_text_hide(texts, of, value, &stand_in);
	if (!r && json_object_set_new(object, member, stand_in) < 0)
		r = -ENOMEM;
	return r ? wfs_error_from_errno(error, r, "hide a private text") : 0;
}

/* --- finding them again --- */

int wfs_text_value(struct wfs_bytes bytes, json_t **ret_value)
{
	int r = bytes.size > WFS_TEXT_SALT_SIZE
		? wfs_json_parse((const char *)bytes.data + WFS_TEXT_SALT_SIZE,
			  bytes.size - WFS_TEXT_SALT_SIZE, ret_value, NULL)
		: -EIO;

	return r && r != -ENOMEM ? -EIO : r;
}

static int copy_of(const json_t *value, wfs_text_reveal_fn *reveal, void *context, json_t **ret)
{
	WFS_AUTO_JSON json_t *copy = NULL;
	const char *name;
	json_t *member;
	json_t *inner;
	size_t i;
	int r = 0;

	if (wfs_text_is_hidden(value, NULL)) {
		r = reveal(context, value, ret);
		if (r == 0)
			*ret = json_incref((json_t *)(uintptr_t)value);
		return r < 0 ? r : 0;
	}
	if (json_is_object(value))
		copy = json_object();
	else if (json_is_array(value))
		copy = json_array();
	else
		copy = json_incref((json_t *)(uintptr_t)value);
	json_object_foreach((json_t *)(uintptr_t)value, name, member) {
		if (!r)
			r = copy_of(member, reveal, context, &inner);
		if (!r && json_object_set_new_nocheck(copy, name, inner) < 0)
			r = -ENOMEM;
	}
	json_array_foreach(value, i, member) {
		if (!r)
			r = copy_of(member, reveal, context, &inner);
		if (!r && json_array_append_new(copy, inner) < 0)
			r = -ENOMEM;
	}
	if (!r && !copy)
		r = -ENOMEM;
	if (!r)
		*ret = WFS_STEAL(copy);
	return r;
}

int wfs_text_reveal(
	const json_t *document, wfs_text_reveal_fn *reveal, void *context, json_t **ret_copy)
{
	if (wfs_text_has_hidden(document))
		return copy_of(document, reveal, context, ret_copy);
	*ret_copy = json_incref((json_t *)(uintptr_t)document);
	return 0;
}
