/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding and decoding batches. */
#include "kernel/value/batch.h"

#include <inttypes.h>
#include <stdlib.h>

#include "kernel/base/array.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"

static const char *const kind_names[] = {
#define KIND_NAME(constant_, name_) [WFS_ATTACHED_##constant_] = (name_),
	WFS_ATTACHED_KINDS(KIND_NAME)
#undef KIND_NAME
};

void wfs_batch_done(struct wfs_batch *batch)
{
	free(batch->attached);
	free(batch->requests);
	free(batch->ends);
	wfs_buffer_done(&batch->own_lines);
	wfs_buffer_done(&batch->own_bytes);
	*batch = (struct wfs_batch){.attached = NULL};
}

/* --- making one --- */

static int too_large(struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_TOO_LARGE,
		"the records of one commit, with what they need, have more than %d bytes, or more "
		"than %d attached texts",
		WFS_BATCH_SIZE_MAX, WFS_BATCH_ATTACHED_MAX);
}

static int add(struct wfs_batch *batch, struct wfs_buffer *buffer, struct wfs_bytes bytes,
	struct wfs_error *error)
{
	const size_t used = batch->own_lines.size + batch->own_bytes.size;

	if (bytes.size > WFS_BATCH_SIZE_MAX - used)
		return too_large(error);
	wfs_buffer_append(buffer, bytes.data, bytes.size);
	int r = wfs_buffer_check(buffer);
	return r ? wfs_error_from_errno(error, r, "make a batch") : 0;
}

int wfs_batch_add_line(struct wfs_batch *batch, struct wfs_bytes line, struct wfs_error *error)
{
	return wfs_trace(add(batch, &batch->own_lines, line, error));
}

int wfs_batch_attach(struct wfs_batch *batch, enum wfs_attached_kind kind, struct wfs_bytes bytes,
	struct wfs_error *error)
{
	const size_t offset = batch->own_bytes.size;

	if (batch->attached_count == WFS_BATCH_ATTACHED_MAX)
		return too_large(error);
	struct wfs_attached *const attached = wfs_array_reserve(batch->attached,
		batch->attached_count, &batch->attached_capacity, sizeof(*attached));
	if (!attached)
		return wfs_error_from_errno(error, -ENOMEM, "make a batch");
	batch->attached = attached;
	int r = add(batch, &batch->own_bytes, bytes, error);
	if (r)
		return wfs_trace(r);
	attached[batch->attached_count++] = (struct wfs_attached){
		.kind = kind,
		.hash = wfs_hash_of(bytes.data, bytes.size),
		.offset = offset,
		.size = bytes.size,
	};
	return 0;
}

bool wfs_batch_id_valid(const char *id)
{
	const size_t size =
		strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._");

	return size > 0 && size <= WFS_BATCH_ID_MAX && id[size] == '\0';
}

int wfs_batch_add_request(
	struct wfs_batch *batch, const char *id, uint64_t seq, struct wfs_error *error)
{
	struct wfs_batch_request *const requests = wfs_array_reserve(
		batch->requests, batch->request_count, &batch->request_capacity, sizeof(*requests));

	wfs_require(wfs_batch_id_valid(id));
	if (!requests)
		return wfs_error_from_errno(error, -ENOMEM, "make a batch");
	batch->requests = requests;
	struct wfs_batch_request *const request = &requests[batch->request_count++];
	request->seq = seq;
	snprintf(request->id, sizeof(request->id), "%s", id);
	return 0;
}

/* --- encoding --- */

static int compare(const void *a, const void *b)
{
	const struct wfs_attached *const x = a;
	const struct wfs_attached *const y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return memcmp(x->hash.bytes, y->hash.bytes, WFS_HASH_SIZE);
}

static void sort(struct wfs_batch *batch)
{
	struct wfs_attached *const all = batch->attached;
	size_t count = 0;

	if (batch->attached_count == 0)
		return;
	qsort(all, batch->attached_count, sizeof(*all), compare);
	for (size_t i = 1; i < batch->attached_count; i++)
		if (compare(&all[count], &all[i]) != 0)
			all[++count] = all[i];
	batch->attached_count = count + 1;
}

static void write_requests(struct wfs_buffer *buffer, const struct wfs_batch *batch)
{
	wfs_buffer_append_byte(buffer, '[');
	for (size_t i = 0; i < batch->request_count; i++)
		wfs_buffer_printf(buffer, "%s{\"id\":\"%s\",\"seq\":%" PRIu64 "}", i > 0 ? "," : "",
			batch->requests[i].id, batch->requests[i].seq);
	wfs_buffer_append_byte(buffer, ']');
}

static void write_header(
	struct wfs_buffer *buffer, const struct wfs_batch *batch, struct wfs_bytes lines)
{
	const struct wfs_hash hash = wfs_hash_of(lines.data, lines.size);

	wfs_buffer_append_text(buffer, "{\"attached\":[");
	for (size_t i = 0; i < batch->attached_count; i++)
		wfs_buffer_printf(buffer, "%s{\"hash\":\"%s\",\"kind\":\"%s\",\"size\":%zu}",
			i > 0 ? "," : "", WFS_HASH_TEXT(&batch->attached[i].hash),
			kind_names[batch->attached[i].kind], batch->attached[i].size);
	wfs_buffer_printf(buffer, "],\"from\":%" PRIu64 ",\"lines_hash\":\"%s\"", batch->from,
		WFS_HASH_TEXT(&hash));
	wfs_buffer_printf(buffer, ",\"lines_size\":%zu,\"prev\":\"%s\",\"requests\":", lines.size,
		WFS_HASH_TEXT(&batch->prev));
	const size_t begin = buffer->size;
	write_requests(buffer, batch);
	const struct wfs_hash requests_hash =
		wfs_hash_of(buffer->data + begin, buffer->size - begin);
	wfs_buffer_printf(buffer, ",\"requests_hash\":\"%s\",\"to\":%" PRIu64 ",\"version\":%d}\n",
		WFS_HASH_TEXT(&requests_hash), batch->to, WFS_BATCH_VERSION);
}

int wfs_batch_encode(struct wfs_batch *batch, struct wfs_buffer *buffer, struct wfs_error *error)
{
	const size_t before = buffer->size;

	sort(batch);
	write_header(buffer, batch, wfs_buffer_bytes(&batch->own_lines));
	wfs_buffer_append(buffer, batch->own_lines.data, batch->own_lines.size);
	for (size_t i = 0; i < batch->attached_count; i++)
		wfs_buffer_append(buffer, batch->own_bytes.data + batch->attached[i].offset,
			batch->attached[i].size);
	int r = wfs_buffer_check(buffer);
	if (r)
		return wfs_error_from_errno(error, r, "make a batch");
	return buffer->size - before > WFS_BATCH_SIZE_MAX ? too_large(error) : 0;
}

/* --- decoding --- */

static int damaged(struct wfs_error *error, const char *what)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "not a batch of records: %s", what);
}

static bool read_kind(const json_t *item, enum wfs_attached_kind *ret_kind)
{
	const char *const name = wfs_json_text(item, "kind");

	for (int i = 0; i < WFS_ATTACHED_KIND_COUNT; i++)
		if (strcmp(kind_names[i], name) == 0) {
			*ret_kind = (enum wfs_attached_kind)i;
			return true;
		}
	return false;
}

/* Reads one item of the list. Return: 0, or -EINVAL. */
static int read_attached(const json_t *item, struct wfs_attached *attached, struct wfs_error *error)
{
	int64_t size = -1;

	if (!read_kind(item, &attached->kind))
		return damaged(error, "something of an unknown kind is attached");
	if (wfs_hash_member(item, "hash", &attached->hash) ||
		wfs_json_get_integer(item, "size", 0, WFS_BATCH_SIZE_MAX, &size, NULL) || size < 0)
		return damaged(error, "something without hash or size is attached");
	attached->size = (size_t)size;
	return 0;
}

static int read_list(const json_t *list, struct wfs_batch *batch, struct wfs_error *error)
{
	const size_t count = json_array_size(list);

	if (count > WFS_BATCH_ATTACHED_MAX)
		return too_large(error);
	batch->attached = calloc(count + 1, sizeof(*batch->attached));
	if (!batch->attached)
		return wfs_error_from_errno(error, -ENOMEM, "read a batch");
	for (size_t i = 0; i < count; i++) {
		struct wfs_attached *const attached = &batch->attached[i];
		int r = read_attached(json_array_get(list, i), attached, error);

		if (r)
			return wfs_trace(r);
		if (i > 0 && compare(attached - 1, attached) >= 0)
			return damaged(error, "the list of what is attached is not sorted");
		batch->attached_count++;
	}
	return 0;
}

/* Reads the list of requests. */
static int read_requests(const json_t *list, struct wfs_batch *batch, struct wfs_error *error)
{
	uint64_t least = batch->from;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const char *const id = wfs_json_text(item, "id");
		int64_t seq = -1;

		if (!wfs_batch_id_valid(id) ||
			wfs_json_get_integer(item, "seq", 0, INT64_MAX, &seq, NULL) ||
			seq < (int64_t)least || seq >= (int64_t)batch->to)
			return damaged(error, "a request does not have an id and a record of it");
		const int r = wfs_batch_add_request(batch, id, (uint64_t)seq, error);
		if (r)
			return wfs_trace(r);
		least = (uint64_t)seq + 1;
	}
	return 0;
}

static int read_header(const json_t *json, struct wfs_batch *batch, struct wfs_error *error)
{
	int64_t version = 0;
	int64_t from = -1;
	int64_t to = -1;
	int64_t size = -1;

	if (wfs_json_get_integer(json, "version", 1, INT64_MAX, &version, NULL) || version == 0)
		return damaged(error, "its first line has no version");
	if (version != WFS_BATCH_VERSION)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"a batch of version %" PRId64 ": expected %d", version, WFS_BATCH_VERSION);
	if (wfs_json_get_integer(json, "from", 0, INT64_MAX, &from, NULL) ||
		wfs_json_get_integer(json, "to", 0, INT64_MAX, &to, NULL) || from < 0 || to <= from)
		return damaged(error, "it does not say which records it has");
	if (wfs_json_get_integer(json, "lines_size", 0, WFS_BATCH_SIZE_MAX, &size, NULL) ||
		size < 0 || wfs_hash_member(json, "prev", &batch->prev))
		return damaged(error, "its first line lacks lines_size or prev");
	batch->from = (uint64_t)from;
	batch->to = (uint64_t)to;
	batch->lines.size = (size_t)size;
	int r = read_list(json_object_get(json, "attached"), batch, error);
	return wfs_trace(r ? r : read_requests(json_object_get(json, "requests"), batch, error));
}

/* Finds the ends of the lines. Return: 0, or -errno. */
static int split_lines(struct wfs_batch *batch, struct wfs_error *error)
{
	const uint64_t count = batch->to - batch->from;
	const char *const lines = batch->lines.data;
	size_t end = 0;

	if (count > batch->lines.size)
		return damaged(error, "it has fewer lines than records");
	batch->ends = calloc(count + 1, sizeof(*batch->ends));
	if (!batch->ends)
		return wfs_error_from_errno(error, -ENOMEM, "read a batch");
	for (uint64_t i = 0; i < count; i++) {
		const char *const newline = memchr(lines + end, '\n', batch->lines.size - end);

		if (!newline)
			return damaged(error, "it has fewer lines than records");
		end = (size_t)(newline - lines) + 1;
		batch->ends[i] = end;
	}
	return end == batch->lines.size ? 0 : damaged(error, "it has more lines than records");
}

/* Finds the attached bytes, and compares them with their hashes. */
static int place_attached(struct wfs_batch *batch, struct wfs_error *error)
{
	size_t offset = 0;

	for (size_t i = 0; i < batch->attached_count; i++) {
		struct wfs_attached *const attached = &batch->attached[i];

		if (attached->size > batch->bytes.size - offset)
			return damaged(error, "it ends within what is attached");
		attached->offset = offset;
		if (!wfs_hash_fits(&attached->hash,
			    WFS_BYTES((const char *)batch->bytes.data + offset, attached->size)))
			return damaged(error, "attached bytes do not have their hash");
		offset += attached->size;
	}
	return offset == batch->bytes.size
		? 0
		: damaged(error, "there are bytes after what is attached");
}

/* Finds the parts after the first line, which has @header_size bytes. */
static int place(struct wfs_batch *batch, struct wfs_bytes encoded, size_t header_size,
	struct wfs_error *error)
{
	const char *const data = encoded.data;

	if (batch->lines.size > encoded.size - header_size)
		return damaged(error, "it ends within the lines of its records");
	batch->lines.data = data + header_size;
	batch->bytes = WFS_BYTES(data + header_size + batch->lines.size,
		encoded.size - header_size - batch->lines.size);
	int r = split_lines(batch, error);
	return wfs_trace(r ? r : place_attached(batch, error));
}

/* Compares the first line with the one that encoding gives, so that there is only one for each
 * batch; this compares the hashes of the lines and of the requests, too. */
static int check_header(
	const struct wfs_batch *batch, struct wfs_bytes header, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer ours = {0};

	write_header(&ours, batch, batch->lines);
	if (wfs_buffer_check(&ours))
		return wfs_error_from_errno(error, -ENOMEM, "read a batch");
	return wfs_bytes_equal(wfs_buffer_bytes(&ours), header)
		? 0
		: damaged(error, "its first line does not fit its lines, or is not canonical");
}

int wfs_batch_decode(struct wfs_bytes encoded, struct wfs_batch *ret_batch, struct wfs_error *error)
{
	WFS_AUTO_BATCH struct wfs_batch batch = {0};
	WFS_AUTO_JSON json_t *json = NULL;

	if (encoded.size > WFS_BATCH_SIZE_MAX)
		return too_large(error);
	const size_t most =
		encoded.size < WFS_BATCH_HEADER_MAX ? encoded.size : WFS_BATCH_HEADER_MAX;
	const char *const newline = most ? memchr(encoded.data, '\n', most) : NULL;
	if (!newline)
		return damaged(error, "it has no first line");
	const size_t size = (size_t)(newline - (const char *)encoded.data) + 1;
	int r = wfs_json_parse_bounded(encoded.data, size - 1, &json, error);
	if (!r)
		r = read_header(json, &batch, error);
	if (!r)
		r = place(&batch, encoded, size, error);
	if (!r)
		r = check_header(&batch, WFS_BYTES(encoded.data, size), error);
	if (r)
		return wfs_trace(r);
	*ret_batch = batch;
	batch = (struct wfs_batch){0};
	return 0;
}

struct wfs_bytes wfs_batch_line(const struct wfs_batch *batch, uint64_t seq)
{
	const uint64_t index = seq - batch->from;
	const size_t begin = index > 0 ? batch->ends[index - 1] : 0;

	wfs_require(seq >= batch->from && seq < batch->to);
	return WFS_BYTES((const char *)batch->lines.data + begin, batch->ends[index] - begin);
}

bool wfs_batch_find(const struct wfs_batch *batch, enum wfs_attached_kind kind,
	const struct wfs_hash *hash, struct wfs_bytes *ret_bytes)
{
	const struct wfs_attached wanted = {.kind = kind, .hash = *hash};
	const struct wfs_attached *const found = batch->attached_count
		? bsearch(&wanted, batch->attached, batch->attached_count, sizeof(wanted), compare)
		: NULL;

	if (found)
		*ret_bytes =
			WFS_BYTES((const char *)batch->bytes.data + found->offset, found->size);
	return found != NULL;
}
