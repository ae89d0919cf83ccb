/* SPDX-License-Identifier: Apache-2.0 */
/* The private texts of records, in the store. */
#include "kernel/read/text.h"

#include "kernel/base/json.h"
#include "kernel/manifest/effect.h"

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

/* --- those of a record --- */

static bool is_type(const json_t *action, const char *type)
{
	return strcmp(wfs_json_text(action, "action_type"), type) == 0;
}

const char *wfs_text_to(const json_t *action, const char *principal)
{
	const char *const agent = json_string_value(json_object_get(action, "agent"));

	return is_type(action, "step") && agent ? agent : principal;
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
static int walk_action(const struct wfs_body_action *body, wfs_text_each_fn *each, void *context)
{
	int r = 0;

	if (wfs_action_effect(body->action) < WFS_EFFECT_COUNT || is_type(body->action, "step") ||
		is_type(body->action, "tool"))
		r = wfs_text_walk(body->action, each, context);
	if (!r)
		r = walk_member(body->result, "embeddings", each, context);
	if (!r)
		r = walk_member(body->result, "output", each, context);
	return r ? r : walk_outcome(json_object_get(body->result, "step"), each, context);
}

/* Walks the hashes of what was sent to a model and came back. */
static int walk_hashes(const struct wfs_body_receipt *body, wfs_text_each_fn *each, void *context)
{
	int r = wfs_text_walk(body->request_hash, each, context);

	if (!r)
		r = wfs_text_walk(body->response_hash, each, context);
	return r ? r : wfs_text_walk(body->earlier_hashes, each, context);
}

static int walk_receipt(const json_t *payload, wfs_text_each_fn *each, void *context)
{
	static const char *const members[] = {"content", "output", "raw_content", "structured"};
	const json_t *call;
	size_t i;
	int r = 0;

	for (size_t m = 0; !r && m < WFS_ARRAY_COUNT(members); m++)
		r = walk_member(payload, members[m], each, context);
	json_array_foreach(json_object_get(payload, "tool_calls"), i, call) {
		if (!r)
			r = walk_member(call, "arguments", each, context);
	}
	return r ? r : walk_outcome(json_object_get(payload, "outcome"), each, context);
}

int wfs_text_each(const struct wfs_record_parsed *parsed, wfs_text_each_fn *each, void *context)
{
	if (parsed->record.kind == WFS_RECORD_ACTION)
		return walk_action(&parsed->body.action, each, context);
	if (parsed->record.kind == WFS_RECORD_RECEIPT) {
		int r = walk_receipt(parsed->body.receipt.payload, each, context);

		return r ? r : walk_hashes(&parsed->body.receipt, each, context);
	}
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
	WFS_AUTO_JSON json_t *json = NULL;
	struct wfs_record_parsed parsed = {.record = *record};

	if (!may_have_hidden(record->body))
		return 0;
	int r = wfs_json_parse(record->body.data, record->body.size, &json, error);
	if (!r)
		r = wfs_body_read(record->kind, json, &parsed.body, error);
	return wfs_trace(r ? r : wfs_text_each(&parsed, check_stand_in, &checking));
}
