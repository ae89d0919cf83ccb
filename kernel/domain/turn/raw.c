/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/domain/turn/raw.h"

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/turn/turn-impl.h"
#include "kernel/read/entity.h"
#include "kernel/read/text.h"
#include "kernel/read/view-document.h"

static const char *const sides[] = {"request", "response"};
static const char suffix[] = ".json";

/* --- receipts --- */

static bool is_hash(const json_t *value)
{
	struct wfs_hash hash;

	return wfs_text_is_hidden(value, NULL) ||
		(json_is_string(value) &&
			!wfs_hash_parse(
				json_string_value(value), json_string_length(value), &hash, NULL));
}

int wfs_raw_check_receipt(const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const json_t *earlier;
	size_t i;
	bool good = (!receipt->request_hash || is_hash(receipt->request_hash)) &&
		(!receipt->response_hash || is_hash(receipt->response_hash)) &&
		(!receipt->earlier_hashes || json_is_array(receipt->earlier_hashes));

	json_array_foreach(receipt->earlier_hashes, i, earlier)
		good &= json_is_null(earlier) || is_hash(earlier);
	return good ? 0
		    : wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			      "request_hash, response_hash, earlier_hashes: expected hashes");
}

static int put(struct turn *turn, size_t side, json_t *hash, struct wfs_error *error)
{
	const struct wfs_document_raw raw = {.hash = hash};
	char key[WFS_RAW_KEY_SIZE];

	snprintf(key, sizeof(key), "%s.%lld.%s", turn->run_id, (long long)turn->state.raw,
		sides[side]);
	return wfs_trace(fold_put_raw(turn->fold, key, &raw, error));
}

int turn_keep_raw(
	struct turn *turn, const struct wfs_body_receipt *receipt, struct wfs_error *error)
{
	const char *const reducer = wfs_builtin_reducer_name(WFS_BUILTIN_RAW);
	const size_t earlier = json_array_size(receipt->earlier_hashes);
	int r = wfs_raw_check_receipt(receipt, error);

	if (r || !receipt->request_hash ||
		!wfs_manifest_reducer_find(turn->fold->manifest, reducer))
		return wfs_trace(r);
	for (size_t i = 0; !r && i <= earlier; i++) {
		json_t *const response = i < earlier ? json_array_get(receipt->earlier_hashes, i)
						     : receipt->response_hash;

		turn->state.raw = turn->state.raw < 0 ? 1 : turn->state.raw + 1;
		r = put(turn, 0, receipt->request_hash, error);
		if (!r && response && !json_is_null(response))
			r = put(turn, 1, response, error);
	}
	return wfs_trace(r);
}

/* --- the bytes --- */

/* Reads the hash from the private text that has it. */
static int read_hidden(struct wfs_txn *txn, const struct wfs_hash *of_text,
	struct wfs_text *ret_text, struct wfs_hash *ret_hash)
{
	WFS_AUTO_JSON json_t *value = NULL;
	int r = wfs_text_find(txn, of_text, ret_text);

	if (!r)
		r = wfs_text_value(ret_text->bytes, &value);
	if (r)
		return r;
	return json_is_string(value) &&
			!wfs_hash_parse(
				json_string_value(value), json_string_length(value), ret_hash, NULL)
		? 0
		: -ENOENT;
}

/* @ret_text: its `number` becomes 0 if the hash is not private. Return: 0, -ENOENT (the private
 * text is not kept), … */
static int read_hash(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_text *ret_text, struct wfs_hash *ret_hash)
{
	WFS_AUTO_DOCUMENT struct wfs_document_raw raw;
	struct wfs_hash hidden;
	int r = wfs_view_read_raw_version(view, version, &raw, NULL);

	ret_text->number = 0;
	if (r)
		return wfs_trace(r);
	if (wfs_text_is_hidden(raw.hash, &hidden))
		return read_hidden(view->txn, &hidden, ret_text, ret_hash);
	return json_is_string(raw.hash) &&
			!wfs_hash_parse(json_string_value(raw.hash), json_string_length(raw.hash),
				ret_hash, NULL)
		? 0
		: -EIO;
}

int wfs_raw_find(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_blob *ret_blob, struct wfs_text *ret_text)
{
	struct wfs_text text;
	struct wfs_hash hash;
	struct wfs_blob blob;
	int r = read_hash(view, version, &text, &hash);

	if (!r)
		r = wfs_blob_get(view->txn, &hash, &blob);
	if (r)
		return r;
	if (ret_blob)
		*ret_blob = blob;
	if (ret_text)
		*ret_text = text;
	return 0;
}

/* --- names: file 2n is the request n, file 2n + 1 its response --- */

bool wfs_raw_run(struct wfs_bytes key, struct wfs_bytes *ret_run)
{
	const char *const text = key.data;
	size_t size = key.size;

	for (int dots = 0; size > 0; size--) {
		dots += text[size - 1] == '.';
		if (dots == 2) {
			*ret_run = WFS_BYTES(text, size - 1);
			return true;
		}
	}
	return false;
}

static int find_cell(struct wfs_view *view, struct wfs_bytes id, uint64_t number,
	struct wfs_version *ret_version)
{
	char key[WFS_RAW_KEY_SIZE];
	struct wfs_reducer reducer;
	const int size = snprintf(key, sizeof(key), "%.*s.%llu.%s", (int)id.size,
		(const char *)id.data, (unsigned long long)(number / 2), sides[number % 2]);
	int r = wfs_view_builtin(view, WFS_BUILTIN_RAW, &reducer);

	if (size >= (int)sizeof(key))
		return -ENOENT;
	return r ? r : wfs_view_cell(view, reducer.reducer_id, wfs_bytes_text(key), ret_version);
}

/* Does the file exist: is there such a cell, whose blob is kept? */
static int find_kept(struct wfs_view *view, struct wfs_bytes id, uint64_t number,
	struct wfs_version *ret_version)
{
	int r = find_cell(view, id, number, ret_version);

	return r ? r : wfs_raw_find(view, ret_version, NULL, NULL);
}

static void append_name(uint64_t number, struct wfs_buffer *name)
{
	wfs_buffer_printf(
		name, "%llu.%s%s", (unsigned long long)(number / 2), sides[number % 2], suffix);
}

/* Reads the number of a file from its name. Return: 0, -ENOENT, -ENOMEM. */
static int read_name(const char *name, uint64_t *ret_number)
{
	WFS_AUTO_BUFFER struct wfs_buffer wanted = {0};
	uint64_t request;
	const size_t size = wfs_decimal_read(name, strlen(name), &request);

	if (size == 0 || request == 0 || request > INT64_MAX / 2 || name[size] != '.')
		return -ENOENT;
	*ret_number = request * 2 + (strcmp(name + size + 1, "response.json") == 0);
	append_name(*ret_number, &wanted);
	if (wfs_buffer_check(&wanted))
		return -ENOMEM;
	return strcmp(wfs_buffer_text(&wanted), name) == 0 ? 0 : -ENOENT;
}

int wfs_raw_hash(
	struct wfs_view *view, struct wfs_bytes id, const char *name, struct wfs_hash *ret_hash)
{
	struct wfs_version version;
	struct wfs_text text;
	uint64_t number;
	int r = read_name(name, &number);

	if (!r)
		r = find_cell(view, id, number, &version);
	if (r)
		return r;
	r = read_hash(view, &version, &text, ret_hash);
	return r == -ENOENT ? 1 : r;
}

int turn_raw_find(struct wfs_view *view, struct wfs_bytes id, const char *name,
	uint64_t *ret_number, struct wfs_version *ret_version)
{
	int r = read_name(name, ret_number);

	return r ? r : find_kept(view, id, *ret_number, ret_version);
}

/* Finds the first file from *@number on that is kept. Every request has a cell, so the first one
 * without a cell is after the last. */
int turn_raw_next(struct wfs_view *view, struct wfs_bytes id, uint64_t *number,
	struct wfs_buffer *name, struct wfs_version *ret_version)
{
	uint64_t at = *number < 2 ? 2 : *number;
	int r = 0;

	for (;; at++) {
		r = find_cell(view, id, at, ret_version);
		if (r == -ENOENT && at % 2 == 0)
			return r;
		if (!r)
			r = wfs_raw_find(view, ret_version, NULL, NULL);
		if (r != -ENOENT)
			break;
	}
	if (r)
		return r;
	*number = at;
	append_name(at, name);
	return wfs_buffer_check(name);
}

int turn_raw_count(struct wfs_view *view, struct wfs_bytes id, uint64_t *ret_count)
{
	WFS_AUTO_DOCUMENT struct wfs_document_turn run = {.own = {.json = NULL}};
	struct wfs_version version;
	int r = wfs_entity_live_cell(view, WFS_BUILTIN_TURN, id, &version);

	if (!r)
		r = wfs_view_read_turn_version(view, &version, &run, NULL);
	*ret_count = !r && run.raw > 0 ? (uint64_t)run.raw * 2 : 0;
	return r;
}

int turn_raw_name(struct wfs_view *view, struct wfs_bytes key, const struct wfs_version *version,
	struct wfs_bytes *ret_id, struct wfs_buffer *name)
{
	(void)version;
	if (!wfs_raw_run(key, ret_id))
		return -ENOENT;
	if (!view)
		return 0;
	wfs_buffer_append(
		name, (const char *)key.data + ret_id->size + 1, key.size - ret_id->size - 1);
	wfs_buffer_append_text(name, suffix);
	return wfs_buffer_check(name);
}

int turn_raw_write(struct wfs_view *then, const struct wfs_version *version, struct wfs_range range,
	struct wfs_buffer *buffer, uint64_t *ret_size_bytes)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_blob blob;
	int r = wfs_raw_find(then, version, &blob, NULL);

	if (!r && range.size > 0 && range.offset < blob.size_bytes)
		r = wfs_view_blob_content(then, &blob, range, &content, NULL);
	if (r)
		return r;
	if (content.bytes.size > 0)
		wfs_buffer_append(buffer, content.bytes.data, content.bytes.size);
	*ret_size_bytes = blob.size_bytes;
	return buffer ? wfs_buffer_check(buffer) : 0;
}
