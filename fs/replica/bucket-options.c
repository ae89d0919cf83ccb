/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what a client of a bucket is made from. */
#include "fs/replica/bucket-impl.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "fs/replica/bucket.h"
#include "kernel/base/trust.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* A call's time in nanoseconds must fit. */
#define TIMEOUT_MAX_MS (INT64_MAX / 1000000 / 2)

/* Is the text a bucket and a prefix: names of harmless letters, so that no byte is encoded in the
 * URL that is signed? */
static bool is_path(const char *text)
{
	const size_t bucket_size = strcspn(text, "/");

	if (bucket_size < 3 || bucket_size > 63 ||
		strspn(text, LETTERS DIGITS ".-") < bucket_size ||
		strspn(text, LETTERS CAPITALS DIGITS "._-/") < strlen(text))
		return false;
	for (const char *name = text;; name += strcspn(name, "/") + 1) {
		const size_t size = strcspn(name, "/");

		if (size == 0 || strspn(name, ".") >= size) /* also `.` and `..` */
			return false;
		if (name[size] == '\0')
			return true;
	}
}

/* Checks the host and its port. @ret_here: is it this machine? */
static int check_host(const char *text, bool plain, bool *ret_here, struct wfs_error *error)
{
	CURLU *const url = curl_url();
	char *host = NULL;
	const CURLUcode result = url ? curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER)
				     : CURLUE_OUT_OF_MEMORY;
	int r = 0;

	if (result == CURLUE_OUT_OF_MEMORY ||
		(result == CURLUE_OK && curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK))
		r = wfs_error_from_errno(error, -ENOMEM, "read the URL of a bucket");
	else if (result != CURLUE_OK)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected the host of a bucket, got '%.200s': %s", text,
			curl_url_strerror(result));
	else if (strncmp(text, "https:", strlen("https:")) != 0 && !plain &&
		!wfs_trust_is_loopback(host))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected https:// for the bucket '%.200s', because with http:// others "
			"on the network can read its objects",
			text);
	else
		*ret_here = wfs_trust_is_loopback(host);
	curl_free(host);
	curl_url_cleanup(url);
	return r;
}

/* @ret_bucket_size: bytes of the URL up to the prefix */
static int check_url(const struct wfs_bucket_options *options, size_t *ret_bucket_size,
	bool *ret_here, struct wfs_error *error)
{
	const char *const url = options->url;
	const char *const host = strncmp(url, "https://", strlen("https://")) == 0
		? url + strlen("https://")
		: strncmp(url, "http://", strlen("http://")) == 0 ? url + strlen("http://")
								  : NULL;
	const char *const slash = host ? strchr(host, '/') : NULL;

	if (!slash || slash == host || !is_path(slash + 1) || strpbrk(url, "?#@") ||
		strlen(url) > WFS_BUCKET_URL_MAX)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected https://HOST[:PORT]/BUCKET[/PREFIX] of at most %d bytes, where "
			"the bucket has 3 to 63 lower-case letters, digits, '.' and '-', and the "
			"prefix letters, digits, '.', '_', '-' and single '/', got '%.200s'",
			WFS_BUCKET_URL_MAX, url);
	const int r = check_host(url, options->plain, ret_here, error);
	if (!r)
		*ret_bucket_size = (size_t)(slash - url) + 1 + strcspn(slash + 1, "/");
	return r;
}

static bool is_key(const char *text)
{
	return text && *text && strlen(text) <= WFS_BUCKET_KEY_MAX &&
		strspn(text, LETTERS CAPITALS DIGITS "!#$%&()*+,-./:;<=>?@[]^_{|}~") ==
		strlen(text);
}

static int check_rest(const struct wfs_bucket_options *options, struct wfs_error *error)
{
	const char *const region = options->region;

	if (!region || !*region || strlen(region) > WFS_BUCKET_REGION_MAX ||
		strspn(region, LETTERS CAPITALS DIGITS "-_") < strlen(region))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected a region of at most %d letters, digits, '-' and '_', such as "
			"us-east-1, got '%.100s'",
			WFS_BUCKET_REGION_MAX, region ? region : "");
	if (!is_key(options->access_key) || strchr(options->access_key, '/') ||
		!is_key(options->secret))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected an access key (without '/') and a secret of 1 to %d visible "
			"characters",
			WFS_BUCKET_KEY_MAX);
	if (options->timeout_ms < 1 || options->timeout_ms > TIMEOUT_MAX_MS ||
		options->stall_ms < 0 || options->stall_ms > TIMEOUT_MAX_MS)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected a time of at least 1 ms for a call, got %" PRId64
			" ms, and %" PRId64 " ms without progress",
			options->timeout_ms, options->stall_ms);
	return 0;
}

int wfs_bucket_check(const struct wfs_bucket_options *options, size_t *ret_bucket_size,
	bool *ret_here, struct wfs_error *error)
{
	const int r = check_rest(options, error);

	return r ? r : check_url(options, ret_bucket_size, ret_here, error);
}
