/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/bucket.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/replica/bucket-impl.h"
#include "kernel/base/clock.h"

static const char *const method_names[] = {
	[WFS_BUCKET_PUT] = "put", [WFS_BUCKET_GET] = "get", [WFS_BUCKET_HEAD] = "look for"};

int wfs_bucket_new(const struct wfs_bucket_options *options, struct wfs_bucket **ret_bucket,
	struct wfs_error *error)
{
	WFS_AUTO_BUCKET struct wfs_bucket *bucket = calloc(1, sizeof(*bucket));
	bool here = false;

	if (!bucket)
		return wfs_bucket_no_memory(error);
	const int r = wfs_bucket_check(options, &bucket->bucket_size, &here, error);
	if (r)
		return r;
	bucket->base = strdup(options->url);
	bucket->timeout_ms = options->timeout_ms;
	bucket->stall_ms = options->stall_ms > 0 ? options->stall_ms : WFS_BUCKET_STALL_MS;
	bucket->stop = options->stop;
	bucket->context = options->context;
	bucket->easy = curl_easy_init();
	if (!bucket->base || !bucket->easy || wfs_hasher_new(&bucket->hasher) ||
		wfs_bucket_set_options(bucket, options, here))
		return wfs_bucket_no_memory(error);
	*ret_bucket = WFS_STEAL(bucket);
	return 0;
}

void wfs_bucket_free(struct wfs_bucket *bucket)
{
	if (!bucket)
		return;
	curl_easy_cleanup(bucket->easy);
	wfs_hasher_free(bucket->hasher);
	wfs_buffer_done(&bucket->answer);
	free(bucket->base);
	free(bucket);
}

/* @ret_url: of the object */
static int begin_call(struct wfs_bucket_call *call, enum wfs_bucket_kind kind,
	struct wfs_buffer *ret_url, struct wfs_error *error)
{
	static const char *const kinds[] = {
		[WFS_BUCKET_BLOB] = "blob", [WFS_BUCKET_SEGMENT] = "segment"};
	char digits[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(call->hash, digits);
	wfs_buffer_printf(ret_url, "%s/%s/%s", call->bucket->base, kinds[kind], digits);
	if (wfs_buffer_check(ret_url))
		return wfs_bucket_no_memory(error);
	snprintf(call->what, sizeof(call->what), "%s '%s/%s/%.*s…'", method_names[call->method],
		call->bucket->base, kinds[kind], WFS_BUCKET_HASH_SHOWN, digits);
	call->url = wfs_buffer_text(ret_url);
	call->end_ns = wfs_clock_monotonic_ns() + call->bucket->timeout_ms * WFS_BUCKET_NS_PER_MS;
	call->error = error;
	return 0;
}

int wfs_bucket_put(struct wfs_bucket *bucket, enum wfs_bucket_kind kind,
	const struct wfs_hash *hash, const struct wfs_bucket_source *source,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};
	struct wfs_bucket_call call = {.bucket = bucket,
		.method = WFS_BUCKET_PUT,
		.hash = hash,
		.signed_hash = hash,
		.source = source};
	int r = begin_call(&call, kind, &url, error);

	if (!r && source->size > WFS_BUCKET_OBJECT_MAX)
		r = wfs_error_set(error, WFS_E_TOO_LARGE,
			"%s: expected at most %" PRIu64 " bytes, got %" PRIu64, call.what,
			WFS_BUCKET_OBJECT_MAX, source->size);
	(void)wfs_hasher_end(bucket->hasher);
	if (!r && source->size == 0) /* curl asks for no bytes */
		r = wfs_bucket_check_source(&call);
	if (!r)
		r = wfs_bucket_run(&call);
	bucket->known |= !r;
	if (!r && call.sent < source->size)
		r = wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"%s: the service answers with success after %" PRIu64 " of %" PRIu64
			" bytes",
			call.what, call.sent, source->size);
	return r;
}

/* Return: 0, or -EIO (hash_mismatch). */
static int check_object(const struct wfs_bucket_call *call)
{
	const struct wfs_hash hash = wfs_hasher_end(call->bucket->hasher);
	char digits[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(&hash, digits);
	return wfs_hash_equal(&hash, call->hash)
		? 0
		: wfs_error_set(call->error, WFS_E_HASH_MISMATCH,
			  "%s: expected bytes with this hash, got %" PRIu64
			  " bytes with the hash %.*s…",
			  call->what, call->got, WFS_BUCKET_HASH_SHOWN, digits);
}

int wfs_bucket_get(struct wfs_bucket *bucket, enum wfs_bucket_kind kind,
	const struct wfs_hash *hash, int fd, uint64_t size_max, struct wfs_error *error)
{
	const struct wfs_hash nothing = wfs_hash_of("", 0);
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};
	struct wfs_bucket_call call = {.bucket = bucket,
		.method = WFS_BUCKET_GET,
		.hash = hash,
		.signed_hash = &nothing,
		.fd = fd,
		.begin = lseek(fd, 0, SEEK_CUR),
		.size_max = size_max};
	int r = call.begin < 0 ? wfs_error_from_errno(error, -errno,
					 "get an object into a file: find its position")
			       : begin_call(&call, kind, &url, error);

	if (r)
		return r;
	r = wfs_bucket_run(&call);
	if (!r)
		r = check_object(&call);
	bucket->known |= !r;
	if (r && call.got > 0 && (ftruncate(fd, call.begin) || lseek(fd, call.begin, SEEK_SET) < 0))
		r = wfs_error_from_errno(error, -errno, "%s: cut the file", call.what);
	return r;
}

/* A missing object and a missing bucket have the same answer to HEAD. @call: that for the object
 * Return: -ENOENT with the error kept, or why the bucket cannot be used. */
static int look_for_bucket(struct wfs_bucket_call *call)
{
	struct wfs_bucket *const bucket = call->bucket;
	struct wfs_error other = {.code = WFS_OK};
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};

	if (bucket->known)
		return -ENOENT;
	wfs_buffer_append(&url, bucket->base, bucket->bucket_size);
	if (wfs_buffer_check(&url))
		return wfs_bucket_no_memory(call->error);
	struct wfs_bucket_call of_bucket = *call;
	of_bucket.url = wfs_buffer_text(&url);
	of_bucket.error = &other;
	snprintf(of_bucket.what, sizeof(of_bucket.what), "look for '%s'", of_bucket.url);
	const int r = wfs_bucket_run(&of_bucket);
	bucket->known = !r;
	if (!r || r == -EACCES) /* this key may not look at the bucket */
		return -ENOENT;
	if (r == -ENOENT)
		return wfs_error_set(call->error, WFS_E_INVALID_ARGUMENT,
			"%s: the bucket '%s' does not exist", call->what, of_bucket.url);
	if (call->error)
		*call->error = other;
	return r;
}

int wfs_bucket_has(struct wfs_bucket *bucket, enum wfs_bucket_kind kind,
	const struct wfs_hash *hash, uint64_t *ret_size, struct wfs_error *error)
{
	const struct wfs_hash nothing = wfs_hash_of("", 0);
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};
	struct wfs_bucket_call call = {
		.bucket = bucket, .method = WFS_BUCKET_HEAD, .hash = hash, .signed_hash = &nothing};
	curl_off_t size = -1;
	int r = begin_call(&call, kind, &url, error);

	if (r)
		return r;
	r = wfs_bucket_run(&call);
	if (r == -ENOENT)
		return look_for_bucket(&call);
	if (r)
		return r;
	(void)curl_easy_getinfo(bucket->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
	if (size < 0)
		return wfs_error_set(error, WFS_E_INTERNAL_ERROR,
			"%s: the answer does not have the object's size", call.what);
	bucket->known = true;
	*ret_size = (uint64_t)size;
	return 0;
}
