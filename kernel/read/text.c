/* SPDX-License-Identifier: Apache-2.0 */
/* Hiding private texts, and finding them again. */
#include "kernel/read/text.h"

#include <sys/random.h>

#include "kernel/base/array.h"
#include "kernel/base/json.h"
#include "kernel/manifest/effect.h"

void wfs_texts_done(struct wfs_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++) {
		wfs_buffer_done(&texts->items[i].of);
		wfs_buffer_done(&texts->items[i].bytes);
	}
	free(texts->items);
	*texts = (struct wfs_texts){.count = 0};
}

int wfs_texts_put(struct wfs_txn *txn, const struct wfs_texts *texts, uint64_t seq, const char *to)
{
	uint64_t last;
	int r = texts->count > 0 ? wfs_text_last(txn, &last) : 0;

	for (size_t i = 0; !r && i < texts->count; i++) {
		const struct wfs_text_new *const item = &texts->items[i];
		const struct wfs_text text = {
			.number = ++last,
			.seq = seq,
			.hash = item->hash,
			.to = wfs_bytes_text(to),
			.of = wfs_buffer_bytes(&item->of),
			.bytes = wfs_buffer_bytes(&item->bytes),
		};

		r = wfs_text_put(txn, &text);
	}
	return wfs_trace(r);
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
static int walk(const json_t *value, wfs_text_each_fn *each, void *context)
{
	const char *name;
	json_t *member;
	size_t i;
	int r = 0;

	if (!json_is_object(value) && !json_is_array(value))
		return 0; /* most values end here: a request may have a million of them */
	if (wfs_text_is_hidden(value, NULL))
		return each(context, value);
	json_object_foreach((json_t *)(uintptr_t)value, name, member)
	{
		if (!r)
			r = walk(member, each, context);
	}
	json_array_foreach(value, i, member)
	{
		if (!r)
			r = walk(member, each, context);
	}
	return r;
}

bool wfs_text_has_hidden(const json_t *value)
{
	return walk(value, stop_at_first, NULL) != 0;
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
	json_object_foreach((json_t *)(uintptr_t)value, name, member)
	{
		if (!r)
			r = copy_of(member, reveal, context, &inner);
		if (!r && json_object_set_new_nocheck(copy, name, inner) < 0)
			r = -ENOMEM;
	}
	json_array_foreach(value, i, member)
	{
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

/* --- those of a record --- */

static bool is_step(const json_t *action)
{
	return strcmp(wfs_json_text(action, "action_type"), "step") == 0;
}

const char *wfs_text_to(const json_t *action, const char *principal)
{
	const char *const agent = json_string_value(json_object_get(action, "agent"));

	return is_step(action) && agent ? agent : principal;
}

static int walk_member(
	const json_t *object, const char *member, wfs_text_each_fn *each, void *context)
{
	const json_t *const value = json_object_get(object, member);

	return wfs_text_is_hidden(value, NULL) ? each(context, value) : 0;
}

/* Walks the result of a step of a plan. */
static int walk_outcome(const json_t *outcome, wfs_text_each_fn *each, void *context)
{
	int r = walk_member(outcome, "result", each, context);

	return r ? r : walk_member(json_object_get(outcome, "details"), "message", each, context);
}

/* Walks the members that a record hides. In others a stand-in may be a copy from another record. */
static int walk_action(const json_t *body, wfs_text_each_fn *each, void *context)
{
	const json_t *const action = json_object_get(body, "action");
	const json_t *const result = json_object_get(body, "result");
	int r = 0;

	if (wfs_action_effect(action) < WFS_EFFECT_COUNT || is_step(action))
		r = walk(action, each, context);
	if (!r)
		r = walk_member(result, "embeddings", each, context);
	if (!r)
		r = walk_member(result, "output", each, context);
	return r ? r : walk_outcome(json_object_get(result, "step"), each, context);
}

static int walk_receipt(const json_t *body, wfs_text_each_fn *each, void *context)
{
	const json_t *const payload = json_object_get(body, "payload");
	static const char *const members[] = {"content", "output", "raw_content"};
	const json_t *call;
	size_t i;
	int r = 0;

	for (size_t m = 0; !r && m < WFS_ARRAY_COUNT(members); m++)
		r = walk_member(payload, members[m], each, context);
	json_array_foreach(json_object_get(payload, "tool_calls"), i, call)
	{
		if (!r)
			r = walk_member(call, "arguments", each, context);
	}
	return r ? r : walk_outcome(json_object_get(payload, "outcome"), each, context);
}

int wfs_text_each(const struct wfs_record_parsed *parsed, wfs_text_each_fn *each, void *context)
{
	if (parsed->record.kind == WFS_RECORD_ACTION)
		return walk_action(parsed->body_json, each, context);
	if (parsed->record.kind == WFS_RECORD_RECEIPT)
		return walk_receipt(parsed->body_json, each, context);
	return 0;
}

/* --- those that a record would bring --- */

/* Can canonical JSON contain a stand-in? A string never looks like one: its quotes are escaped. */
static bool may_have_hidden(struct wfs_bytes json)
{
	static const char start[] = "{\"hash\":\"";
	static const char behind[] = "\",\"of\":[";
	const size_t before = sizeof(start) - 1 + WFS_HASH_TEXT_SIZE - 1;
	const char *at = json.data;
	const char *const end = at + json.size;

	while (at < end && (at = memmem(at, (size_t)(end - at), start, sizeof(start) - 1))) {
		if ((size_t)(end - at) >= before + sizeof(behind) - 1 &&
			memcmp(at + before, behind, sizeof(behind) - 1) == 0)
			return true;
		at++;
	}
	return false;
}

struct checking {
	struct wfs_txn *txn;
	const struct wfs_texts *lists[2];
	struct wfs_error *error;
};

static bool list_has(const struct wfs_texts *texts, const struct wfs_hash *hash)
{
	for (size_t i = 0; texts && i < texts->count; i++)
		if (wfs_hash_equal(&texts->items[i].hash, hash))
			return true;
	return false;
}

static int check_stand_in(void *context, const json_t *stand_in)
{
	const struct checking *const checking = context;
	struct wfs_hash hash;
	struct wfs_text text;

	(void)wfs_text_is_hidden(stand_in, &hash);
	if (list_has(checking->lists[0], &hash) || list_has(checking->lists[1], &hash))
		return 0;
	int r = wfs_text_find(checking->txn, &hash, &text);
	if (r == -ENOENT)
		return wfs_error_set(checking->error, WFS_E_INVALID_ARGUMENT,
			"an object {hash, of, size} stands for a private text, and the world has "
			"no private text with the hash %s",
			wfs_json_text(stand_in, "hash"));
	return r ? wfs_error_from_errno(checking->error, r, "look for a private text") : 0;
}

int wfs_text_check(struct wfs_txn *txn, const struct wfs_texts *ours, const struct wfs_texts *given,
	const struct wfs_record *record, struct wfs_error *error)
{
	struct checking checking = {txn, {ours, given}, error};
	WFS_AUTO_JSON json_t *body = NULL;

	if (!may_have_hidden(record->body))
		return 0;
	int r = wfs_json_parse(record->body.data, record->body.size, &body, error);
	if (r)
		return wfs_trace(r);
	const struct wfs_record_parsed parsed = {.record = *record, .body_json = body};
	return wfs_trace(wfs_text_each(&parsed, check_stand_in, &checking));
}
