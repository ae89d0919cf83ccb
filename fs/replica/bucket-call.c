/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the requests of a client of a bucket: once, and again if the service asks for that. */
#include "fs/replica/bucket-impl.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "kernel/base/clock.h"

#define NS_PER_MS WFS_BUCKET_NS_PER_MS

enum {
	BUFFER_SIZE = 256 << 10, /* bytes that curl moves at once */
	STOP_MS = 50,            /* between two questions to `stop` in a pause */
	TRY_PART = 10,           /* a try begins with at least this part of the call's time */
};

int wfs_bucket_no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "use a bucket");
}

/* --- what curl calls --- */

/* Called about once a second, and whenever bytes move. Return: 1 to end the transfer. */
static int on_progress(
	void *context, curl_off_t down_size, curl_off_t down, curl_off_t up_size, curl_off_t up)
{
	struct wfs_bucket_call *const call = context;
	const struct wfs_bucket *const bucket = call->bucket;
	const int64_t now_ns = wfs_clock_monotonic_ns();

	(void)down_size;
	(void)up_size;
	if (call->failure) /* curl calls once more at the end */
		return 1;
	if (call->moved_bytes != down + up) {
		call->moved_bytes = down + up;
		call->moved_ns = now_ns;
	}
	if (bucket->stop && bucket->stop(bucket->context))
		call->failure = wfs_error_set(
			call->error, WFS_E_CANCELLED, "%s: it was stopped", call->what);
	else if (now_ns - call->moved_ns >= bucket->stall_ms * NS_PER_MS)
		call->failure = wfs_error_set(call->error, WFS_E_TIMEOUT,
			"%s: no byte has moved for %" PRId64 " ms", call->what, bucket->stall_ms);
	return call->failure != 0;
}

/* Reads at most @size bytes of what is put. Return: their number, or -errno. */
static ssize_t read_source(const struct wfs_bucket_call *call, char *bytes, size_t size)
{
	const struct wfs_bucket_source *const source = call->source;
	ssize_t count = (ssize_t)size;

	if (source->data)
		memcpy(bytes, (const char *)source->data + call->sent, size);
	else
		count = pread(source->fd, bytes, size, (off_t)call->sent);
	return count < 0 ? -errno : count;
}

int wfs_bucket_check_source(struct wfs_bucket_call *call)
{
	const struct wfs_hash hash = wfs_hasher_end(call->bucket->hasher);

	return wfs_hash_equal(&hash, call->hash)
		? 0
		: wfs_error_set(call->error, WFS_E_HASH_MISMATCH,
			  "%s: the bytes to put do not have this hash", call->what);
}

static size_t on_send(char *bytes, size_t size, size_t count, void *context)
{
	struct wfs_bucket_call *const call = context;
	const uint64_t left = call->source->size - call->sent;
	const size_t wanted = size * count < left ? size * count : (size_t)left;

	if (wanted == 0)
		return 0;
	const ssize_t have = read_source(call, bytes, wanted);
	if (have < 0)
		call->failure = wfs_error_from_errno(
			call->error, (int)have, "%s: read the bytes to put", call->what);
	else if (have == 0)
		call->failure = wfs_error_set(call->error, WFS_E_HASH_MISMATCH,
			"%s: expected a file of %" PRIu64 " bytes to put, got one of %" PRIu64,
			call->what, call->source->size, call->sent);
	if (call->failure)
		return CURL_READFUNC_ABORT;
	wfs_hasher_add(call->bucket->hasher, bytes, (size_t)have);
	call->sent += (uint64_t)have;
	if (call->sent == call->source->size)
		call->failure = wfs_bucket_check_source(call);
	return call->failure ? CURL_READFUNC_ABORT : (size_t)have;
}

/* curl sends the bytes again if a connection that was used before breaks. */
static int on_seek(void *context, curl_off_t offset, int origin)
{
	struct wfs_bucket_call *const call = context;

	if (offset != 0 || origin != SEEK_SET)
		return CURL_SEEKFUNC_FAIL;
	call->sent = 0;
	(void)wfs_hasher_end(call->bucket->hasher);
	return CURL_SEEKFUNC_OK;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		const ssize_t count = write(fd, bytes, size);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		bytes += count;
		size -= (size_t)count;
	}
	return 0;
}

/* A part of an object has come. */
static void take_object(struct wfs_bucket_call *call, const char *bytes, size_t size)
{
	curl_off_t announced = -1;

	(void)curl_easy_getinfo(call->bucket->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
	if (size > call->size_max - call->got ||
		(announced > 0 && (uint64_t)announced > call->size_max)) {
		call->failure = wfs_error_set(call->error, WFS_E_TOO_LARGE,
			"%s: expected at most %" PRIu64 " bytes, got more", call->what,
			call->size_max);
		return;
	}
	const int r = write_all(call->fd, bytes, size);
	if (r)
		call->failure =
			wfs_error_from_errno(call->error, r, "%s: write the object", call->what);
	wfs_hasher_add(call->bucket->hasher, bytes, size);
	call->got += size;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
	struct wfs_bucket_call *const call = context;
	struct wfs_buffer *const answer = &call->bucket->answer;
	long status = 0;

	size *= count;
	(void)curl_easy_getinfo(call->bucket->easy, CURLINFO_RESPONSE_CODE, &status);
	if (call->method == WFS_BUCKET_GET && status == 200) {
		take_object(call, bytes, size);
	} else if (answer->size + size > WFS_BUCKET_ANSWER_MAX) {
		call->failure = wfs_error_set(call->error, WFS_E_INTERNAL_ERROR,
			"%s: status %ld: expected an answer of S3, got more than %d bytes",
			call->what, status, WFS_BUCKET_ANSWER_MAX);
	} else {
		wfs_buffer_append(answer, bytes, size);
		if (answer->failed)
			call->failure = wfs_bucket_no_memory(call->error);
	}
	return call->failure ? 0 : size;
}

/* --- what all requests have --- */

static int set_signing(CURL *easy, const struct wfs_bucket_options *options)
{
	char signing[sizeof("aws:amz::s3") + WFS_BUCKET_REGION_MAX];
	int r = 0;

	snprintf(signing, sizeof(signing), "aws:amz:%s:s3", options->region);
	r |= (int)curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, signing);
	r |= (int)curl_easy_setopt(easy, CURLOPT_USERNAME, options->access_key);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PASSWORD, options->secret);
	return r;
}

int wfs_bucket_set_options(
	struct wfs_bucket *bucket, const struct wfs_bucket_options *options, bool here)
{
	CURL *const easy = bucket->easy;
	int r = set_signing(easy, options);

	r |= (int)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	r |= (int)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	r |= (int)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)WFS_BUCKET_CONNECT_MS);
	r |= (int)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)BUFFER_SIZE);
	r |= (int)curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER_SIZE);
	r |= (int)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, bucket->reason);
	r |= (int)curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	r |= (int)curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_send);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
	r |= (int)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	if (options->ca)
		r |= (int)curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca);
	if (here) /* whatever the environment says */
		r |= (int)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	return r ? -ENOMEM : 0;
}

/* --- one try --- */

static int64_t left_ms(const struct wfs_bucket_call *call)
{
	return (call->end_ns - wfs_clock_monotonic_ns()) / NS_PER_MS;
}

/* Drops what the try before has left. Return: 0, or -errno of the file. */
static int begin_try(struct wfs_bucket_call *call)
{
	struct wfs_bucket *const bucket = call->bucket;

	wfs_buffer_reset(&bucket->answer);
	(void)wfs_hasher_end(bucket->hasher);
	*bucket->reason = '\0';
	call->failure = 0;
	call->sent = 0;
	call->moved_bytes = 0;
	call->moved_ns = wfs_clock_monotonic_ns();
	if (call->method != WFS_BUCKET_GET || call->got == 0)
		return 0;
	call->got = 0;
	return ftruncate(call->fd, call->begin) || lseek(call->fd, call->begin, SEEK_SET) < 0
		? -errno
		: 0;
}

/* @headers: stays valid until the request is done. Return: 0, -ENOMEM. */
static int set_request(struct wfs_bucket_call *call, struct curl_slist *headers)
{
	CURL *const easy = call->bucket->easy;
	const int64_t left = left_ms(call);
	int r = (int)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L); /* unsets the others, too */

	if (call->method == WFS_BUCKET_PUT) {
		r |= (int)curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		r |= (int)curl_easy_setopt(
			easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->source->size);
	} else if (call->method == WFS_BUCKET_HEAD) {
		r |= (int)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	}
	r |= (int)curl_easy_setopt(easy, CURLOPT_URL, call->url);
	r |= (int)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
		left > INT_MAX     ? (long)INT_MAX
			: left > 1 ? (long)left
				   : 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_XFERINFODATA, call);
	r |= (int)curl_easy_setopt(easy, CURLOPT_READDATA, call);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SEEKDATA, call);
	r |= (int)curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	return r ? -ENOMEM : 0;
}

static struct curl_slist *make_headers(const struct wfs_bucket_call *call)
{
	char digits[WFS_HASH_HEX_SIZE + 1];
	char header[sizeof("x-amz-content-sha256: ") + WFS_HASH_HEX_SIZE];

	wfs_hash_hex(call->signed_hash, digits);
	snprintf(header, sizeof(header), "x-amz-content-sha256: %s", digits);
	return curl_slist_append(NULL, header);
}

/* @result: of curl, not CURLE_OK, and no callback has ended the transfer */
static int failed(struct wfs_bucket_call *call, CURLcode result)
{
	const char *const reason =
		*call->bucket->reason ? call->bucket->reason : curl_easy_strerror(result);
	long sent_bytes = 0;

	if (result == CURLE_OUT_OF_MEMORY)
		return wfs_bucket_no_memory(call->error);
	if (result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE)
		return wfs_error_set(
			call->error, WFS_E_NOT_AUTHORIZED, "%s: %.150s", call->what, reason);
	if (result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY ||
		result == CURLE_BAD_CONTENT_ENCODING)
		return wfs_error_set(call->error, WFS_E_INTERNAL_ERROR,
			"%s: expected an answer of S3, got another one: %.100s", call->what,
			reason);
	(void)curl_easy_getinfo(call->bucket->easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
	return wfs_error_set(call->error, sent_bytes == 0 ? WFS_E_UNAVAILABLE : WFS_E_TIMEOUT,
		"%s: %.150s", call->what, reason);
}

static int64_t clock_of_service(CURL *easy)
{
	struct curl_header *date = NULL;

	return curl_easy_header(easy, "Date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK
		? (int64_t)curl_getdate(date->value, NULL)
		: -1;
}

/* Sends the request once. @ret_again: may another try succeed? */
static int try_once(struct wfs_bucket_call *call, bool *ret_again)
{
	struct wfs_bucket *const bucket = call->bucket;
	struct curl_slist *headers = NULL;
	long status = 0;
	CURLcode result = CURLE_OK;
	int r = begin_try(call);

	*ret_again = false;
	if (r)
		return wfs_error_from_errno(call->error, r, "%s: cut the file", call->what);
	headers = make_headers(call);
	r = headers ? set_request(call, headers) : -ENOMEM;
	if (!r)
		result = curl_easy_perform(bucket->easy);
	(void)curl_easy_setopt(bucket->easy, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	if (r)
		return wfs_bucket_no_memory(call->error);
	if (call->failure)
		return call->failure;
	if (result != CURLE_OK)
		return failed(call, result);
	(void)curl_easy_getinfo(bucket->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		return 0;
	const struct wfs_bucket_answer answer = {
		.status = status,
		.body = wfs_buffer_bytes(&bucket->answer),
		.head = call->method == WFS_BUCKET_HEAD,
		.clock_s = clock_of_service(bucket->easy),
	};
	return wfs_bucket_refused(&answer, call->what, ret_again, call->error);
}

/* --- all tries --- */

/* A number of [half of @ms, @ms], so that clients do not come back together. */
static int64_t jitter(int64_t ms)
{
	uint32_t bits = 0;

	if (getrandom(&bits, sizeof(bits), GRND_NONBLOCK) != sizeof(bits))
		return ms;
	return ms / 2 + (int64_t)bits * (ms - ms / 2) / UINT32_MAX;
}

/* Return: 0, -ETIME (too little of the call's time would be left), or -EINTR with the error
 * filled. */
static int pause_for(struct wfs_bucket_call *call, int64_t ms)
{
	const struct wfs_bucket *const bucket = call->bucket;
	const int64_t until_ns = wfs_clock_monotonic_ns() + ms * NS_PER_MS;
	const int64_t try_ns = bucket->timeout_ms * NS_PER_MS / TRY_PART;

	if (until_ns + try_ns >= call->end_ns)
		return -ETIME;
	while (wfs_clock_monotonic_ns() < until_ns) {
		if (bucket->stop && bucket->stop(bucket->context))
			return wfs_error_set(
				call->error, WFS_E_CANCELLED, "%s: it was stopped", call->what);
		(void)nanosleep(
			&(struct timespec){.tv_nsec = (ms < STOP_MS ? ms : STOP_MS) * NS_PER_MS},
			NULL);
	}
	return 0;
}

int wfs_bucket_run(struct wfs_bucket_call *call)
{
	int64_t pause_ms = WFS_BUCKET_PAUSE_MS;
	bool again = false;

	for (;;) {
		const int r = try_once(call, &again);
		const int paused = r && again ? pause_for(call, jitter(pause_ms)) : -ETIME;

		if (paused)
			return paused == -ETIME ? r : paused;
		pause_ms = pause_ms * 2 < WFS_BUCKET_PAUSE_MAX_MS ? pause_ms * 2
								  : WFS_BUCKET_PAUSE_MAX_MS;
	}
}
