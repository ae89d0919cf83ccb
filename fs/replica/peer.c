/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/replica/peer.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>

#include "fs/replica/identity.h"
#include "fs/replica/port.h"
#include "kernel/base/hash-text.h"

#define NO_MEMORY(error) wfs_error_from_errno(error, -ENOMEM, "ask another node")

enum { IDLE_S = WFS_PORT_IDLE_MS / 1000 * 2 / 3 }; /* a connection is used again */

struct wfs_peer {
	CURL *easy;
	char *address;
	struct curl_slist *headers;
	int64_t request_ms;
	int64_t transfer_ms;
	int64_t progress_ms;
	wfs_peer_watch_fn *watch; /* NULL: none */
	void *watch_context;
	char reason[CURL_ERROR_SIZE];
};

/* --- life --- */

static bool is_address(const char *address)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	CURLU *const url = curl_url();
	char *port = NULL;

	wfs_buffer_printf(&text, "https://%s", address);
	const bool valid = url && !wfs_buffer_check(&text) && !strpbrk(address, "/?#@\\") &&
		curl_url_set(url, CURLUPART_URL, wfs_buffer_text(&text), 0) == CURLUE_OK &&
		curl_url_get(url, CURLUPART_PORT, &port, 0) == CURLUE_OK;
	curl_free(port);
	curl_url_cleanup(url);
	return valid;
}

static bool is_token(const char *token)
{
	return strlen(token) == WFS_IDENTITY_TOKEN_SIZE - 1 &&
		strspn(token, "0123456789abcdef") == WFS_IDENTITY_TOKEN_SIZE - 1;
}

/* curl takes a list of pins, and a path of a file: one pin, of one form, is expected. */
static bool is_pin(const char *pin)
{
	return strlen(pin) == WFS_IDENTITY_PIN_SIZE - 1 && strncmp(pin, "sha256//", 8) == 0 &&
		!strchr(pin, ';');
}

/* The token goes to the node of the pin alone: headers are sent after the pin was compared. */
static int add_headers(struct wfs_peer *peer, const char *token)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};

	wfs_buffer_printf(&line, "Authorization: Bearer %s", token);
	peer->headers = curl_slist_append(NULL, wfs_buffer_text(&line));
	const bool failed = wfs_buffer_check(&line) || !peer->headers ||
		!curl_slist_append(peer->headers, "Content-Type: application/json");
	if (line.data)
		explicit_bzero(line.data, line.capacity_bytes);
	return failed ? -ENOMEM : 0;
}

static int set_options(struct wfs_peer *peer, const struct wfs_peer_options *options)
{
	CURL *const easy = peer->easy;
	int r = 0;

	r |= (int)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PROXY, "");
	r |= (int)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
	r |= (int)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)IDLE_S);
	r |= (int)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_ms);
	r |= (int)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, peer->reason);
	r |= (int)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, peer->headers);
	/* No authority is asked, so curl looks at the pin alone. It does that only if there is a
	 * certificate, without which TLS 1.2 has ways to begin, but TLS 1.3 has not. */
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, options->pin);
	return r ? -ENOMEM : 0;
}

int wfs_peer_new(
	const struct wfs_peer_options *options, struct wfs_peer **ret_peer, struct wfs_error *error)
{
	WFS_AUTO_PEER struct wfs_peer *peer = calloc(1, sizeof(*peer));

	if (!peer)
		return NO_MEMORY(error);
	if (!is_address(options->address))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected HOST:PORT of another node, got '%.200s'", options->address);
	if (!is_pin(options->pin) || !is_token(options->token))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the node at %s has no pin of the form sha256//BASE64, or no token of 64 "
			"hexadecimal digits",
			options->address);
	peer->request_ms = options->request_ms;
	peer->transfer_ms = options->transfer_ms;
	peer->progress_ms = options->progress_ms;
	peer->address = strdup(options->address);
	peer->easy = curl_easy_init();
	if (!peer->address || !peer->easy || add_headers(peer, options->token) ||
		set_options(peer, options))
		return NO_MEMORY(error);
	*ret_peer = WFS_STEAL(peer);
	return 0;
}

void wfs_peer_free(struct wfs_peer *peer)
{
	if (!peer)
		return;
	curl_easy_cleanup(peer->easy);
	if (peer->headers)
		explicit_bzero(peer->headers->data, strlen(peer->headers->data));
	curl_slist_free_all(peer->headers);
	free(peer->address);
	free(peer);
}

/* --- one exchange --- */

static int set_url(struct wfs_peer *peer, const char *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer url = {0};

	wfs_buffer_printf(&url, "https://%s/v1/%s", peer->address, path);
	*peer->reason = '\0';
	return wfs_buffer_check(&url) ||
			curl_easy_setopt(peer->easy, CURLOPT_URL, wfs_buffer_text(&url)) != CURLE_OK
		? -ENOMEM
		: 0;
}

static int set_times(struct wfs_peer *peer, int64_t total_ms, int64_t progress_ms)
{
	CURL *const easy = peer->easy;

	return curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)total_ms) ||
			curl_easy_setopt(
				easy, CURLOPT_LOW_SPEED_LIMIT, progress_ms > 0 ? 1L : 0L) ||
			curl_easy_setopt(
				easy, CURLOPT_LOW_SPEED_TIME, (long)((progress_ms + 999) / 1000))
		? -ENOMEM
		: 0;
}

/* @result: of curl, not CURLE_OK. @unsure: the code of an exchange that was begun and has failed */
static int failed(
	struct wfs_peer *peer, CURLcode result, enum wfs_error_code unsure, struct wfs_error *error)
{
	long sent_bytes = 0;

	if (result == CURLE_SSL_PINNEDPUBKEYNOTMATCH || result == CURLE_PEER_FAILED_VERIFICATION)
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"the node at %s does not have the key that etcd says", peer->address);
	(void)curl_easy_getinfo(peer->easy, CURLINFO_REQUEST_SIZE, &sent_bytes);
	if (result == CURLE_OUT_OF_MEMORY && sent_bytes == 0)
		return NO_MEMORY(error);
	return wfs_error_set(error, sent_bytes == 0 ? WFS_E_UNAVAILABLE : unsure,
		"the node at %s: %.300s", peer->address,
		*peer->reason ? peer->reason : curl_easy_strerror(result));
}

static long status_of(struct wfs_peer *peer)
{
	long status = 0;

	(void)curl_easy_getinfo(peer->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/* The statuses by which a port refuses what its handlers have not heard of. */
static int refused(struct wfs_peer *peer, long status, struct wfs_error *error)
{
	static const struct {
		long status;
		enum wfs_error_code code;
		const char *text;
	} refusals[] = {
		{400, WFS_E_INVALID_ARGUMENT, "does not understand the request"},
		{401, WFS_E_NOT_AUTHORIZED, "refuses the token"},
		{404, WFS_E_NOT_FOUND, "does not have it"},
		{405, WFS_E_INVALID_ARGUMENT, "does not know the method"},
		{411, WFS_E_INVALID_ARGUMENT, "expects the size of the request"},
		{413, WFS_E_TOO_LARGE, "takes no request of this size"},
		{414, WFS_E_TOO_LARGE, "takes no path of this size"},
		{431, WFS_E_TOO_LARGE, "takes no headers of this size"},
		{503, WFS_E_UNAVAILABLE, "has too many requests, or ends"},
		{505, WFS_E_INVALID_ARGUMENT, "does not know this version of HTTP"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(refusals); i++)
		if (refusals[i].status == status)
			return wfs_error_set(error, refusals[i].code, "the node at %s %s",
				peer->address, refusals[i].text);
	return 0;
}

/* --- requests --- */

/* A body that is sent. Plain value; borrows. */
struct sending {
	struct wfs_bytes body;
	size_t sent;
};

static size_t give(char *bytes, size_t size, size_t count, void *context)
{
	struct sending *const sending = context;
	const size_t left = sending->body.size - sending->sent;

	size *= count;
	if (size > left)
		size = left;
	memcpy(bytes, (const char *)sending->body.data + sending->sent, size);
	sending->sent += size;
	return size;
}

/* curl asks for this before it sends a body a second time. */
static int never_again(void *context, curl_off_t at, int origin)
{
	(void)context;
	(void)at;
	(void)origin;
	return CURL_SEEKFUNC_FAIL;
}

static size_t take(char *bytes, size_t size, size_t count, void *context)
{
	struct wfs_buffer *const answer = context;

	size *= count;
	if (answer->size + size > WFS_PEER_ANSWER_MAX)
		return 0;
	wfs_buffer_append(answer, bytes, size);
	return answer->failed ? 0 : size;
}

static int set_request(struct wfs_peer *peer, struct sending *sending, struct wfs_buffer *answer)
{
	CURL *const easy = peer->easy;

	return set_url(peer, "request") || set_times(peer, peer->request_ms, 0) ||
			curl_easy_setopt(easy, CURLOPT_POST, 1L) ||
			curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
				(curl_off_t)sending->body.size) ||
			curl_easy_setopt(easy, CURLOPT_READFUNCTION, give) ||
			curl_easy_setopt(easy, CURLOPT_READDATA, sending) ||
			curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, never_again) ||
			curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take) ||
			curl_easy_setopt(easy, CURLOPT_WRITEDATA, answer)
		? -ENOMEM
		: 0;
}

int wfs_peer_request(struct wfs_peer *peer, struct wfs_bytes body, int *ret_status,
	struct wfs_buffer *answer, struct wfs_error *error)
{
	struct sending sending = {.body = body};

	wfs_buffer_reset(answer);
	if (body.size == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected a request to another node, got no byte");
	if (body.size > WFS_PORT_BODY_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"a request of %zu bytes: another node takes at most %d", body.size,
			WFS_PORT_BODY_MAX);
	if (set_request(peer, &sending, answer))
		return NO_MEMORY(error);
	const CURLcode result = curl_easy_perform(peer->easy);
	if (result == CURLE_WRITE_ERROR)
		return wfs_error_set(error, WFS_E_TIMEOUT,
			"the node at %s answers with more than %d bytes, or than there is memory "
			"for",
			peer->address, WFS_PEER_ANSWER_MAX);
	if (result != CURLE_OK)
		return failed(peer, result, WFS_E_TIMEOUT, error);
	const long status = status_of(peer);
	const int r = refused(peer, status, error);
	if (!r)
		*ret_status = (int)status;
	return r;
}

/* --- blobs and backups --- */

/* A blob or a backup that is written to a descriptor. Plain value; borrows. */
struct receiving {
	struct wfs_peer *peer;
	int fd;
	struct wfs_hasher *hasher; /* NULL: no hash is asked for */
	uint64_t left_bytes;       /* that it may still have */
	int failure;               /* a negative errno */
};

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		const ssize_t count = write(fd, bytes, size);

		if (count < 0 && errno != EINTR)
			return -errno;
		if (count > 0) {
			bytes += count;
			size -= (size_t)count;
		}
	}
	return 0;
}

static size_t keep(char *bytes, size_t size, size_t count, void *context)
{
	struct receiving *const receiving = context;

	size *= count;
	if (status_of(receiving->peer) != 200)
		return size; /* the text of a refusal */
	if (size > receiving->left_bytes) {
		receiving->failure = -EFBIG;
		return 0;
	}
	receiving->left_bytes -= size;
	if (receiving->hasher)
		wfs_hasher_add(receiving->hasher, bytes, size);
	receiving->failure = write_all(receiving->fd, bytes, size);
	return receiving->failure ? 0 : size;
}

static int set_get(struct wfs_peer *peer, const char *path, struct receiving *receiving)
{
	CURL *const easy = peer->easy;

	return set_url(peer, path) || set_times(peer, peer->transfer_ms, peer->progress_ms) ||
			curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L) ||
			curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep) ||
			curl_easy_setopt(easy, CURLOPT_WRITEDATA, receiving)
		? -ENOMEM
		: 0;
}

/* Gets what is at @path below /v1/. A GET that is done twice does no harm. */
static int get(const char *path, struct receiving *receiving, struct wfs_error *error)
{
	struct wfs_peer *const peer = receiving->peer;

	receiving->failure = 0;
	if (set_get(peer, path, receiving))
		return NO_MEMORY(error);
	const CURLcode result = curl_easy_perform(peer->easy);
	if (result == CURLE_ABORTED_BY_CALLBACK)
		return wfs_error_set(error, WFS_E_CANCELLED,
			"interrupted: '%s' of the node at %s was not received", path,
			peer->address);
	if (receiving->failure == -EFBIG)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"the node at %s sends more bytes for '%s' than were expected",
			peer->address, path);
	if (receiving->failure)
		return wfs_error_from_errno(error, receiving->failure,
			"write '%s' of the node at %s", path, peer->address);
	if (result != CURLE_OK)
		return failed(peer, result, WFS_E_UNAVAILABLE, error);
	const long status = status_of(peer);
	const int r = refused(peer, status, error);
	if (r || status == 200)
		return r;
	return wfs_error_set(error, WFS_E_UNAVAILABLE,
		"the node at %s answers '%s' with the status %ld, expected 200", peer->address,
		path, status);
}

int wfs_peer_blob(struct wfs_peer *peer, const struct wfs_hash *hash, uint64_t size_max, int fd,
	struct wfs_error *error)
{
	WFS_AUTO_HASHER struct wfs_hasher *hasher = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};

	wfs_buffer_printf(&path, "blob/%s", WFS_HASH_HEX(hash));
	if (wfs_buffer_check(&path) || wfs_hasher_new(&hasher))
		return NO_MEMORY(error);
	struct receiving receiving = {
		.peer = peer, .fd = fd, .hasher = hasher, .left_bytes = size_max};
	const int r = get(wfs_buffer_text(&path), &receiving, error);
	if (r)
		return r;
	const struct wfs_hash came = wfs_hasher_end(hasher);
	return wfs_hash_equal(&came, hash)
		? 0
		: wfs_error_set(error, WFS_E_HASH_MISMATCH,
			  "the node at %s sends other bytes for the blob %s", peer->address,
			  WFS_HASH_HEX(hash));
}

int wfs_peer_backup(struct wfs_peer *peer, uint64_t size_max, int fd, struct wfs_error *error)
{
	struct receiving receiving = {.peer = peer, .fd = fd, .left_bytes = size_max};

	return get("backup", &receiving, error);
}

/* --- watching --- */

/* curl calls this about once a second, and when bytes come. Return: 0 to go on. */
static int look(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up)
{
	const struct wfs_peer *const peer = context;

	(void)total;
	(void)up_total;
	(void)up;
	return !peer->watch(peer->watch_context, (uint64_t)now);
}

void wfs_peer_watch(struct wfs_peer *peer, wfs_peer_watch_fn *each, void *context)
{
	peer->watch = each;
	peer->watch_context = context;
	/* None of these three can fail. */
	(void)curl_easy_setopt(peer->easy, CURLOPT_XFERINFOFUNCTION, look);
	(void)curl_easy_setopt(peer->easy, CURLOPT_XFERINFODATA, peer);
	(void)curl_easy_setopt(peer->easy, CURLOPT_NOPROGRESS, each ? 0L : 1L);
}
