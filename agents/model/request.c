/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a curl handle for a request. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agents/model/client-impl.h"

enum {
	READ_BUFFER_SIZE = 4096,    /* bytes; one for each running call */
	UPLOAD_BUFFER_SIZE = 16384, /* bytes; curl's minimum, used for longer bodies in pieces */
};

static void url_free(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void text_free(char **text)
{
	curl_free(*text);
}

#define AUTO_URL WFS_CLEANUP(url_free)
#define AUTO_CURL_TEXT WFS_CLEANUP(text_free)

static void easy_free(CURL **easy)
{
	curl_easy_cleanup(*easy);
}

static void headers_free(struct curl_slist **headers)
{
	wfs_model_headers_free(*headers);
}

#define AUTO_EASY WFS_CLEANUP(easy_free)
#define AUTO_HEADERS WFS_CLEANUP(headers_free)

/* --- the URL --- */

static int refuse_url(const char *reason, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"base_url: expected http://… or https://… without a user's name, got: %s", reason);
}

/* Return: 0, -EINVAL, -ENOMEM. */
static int parse_url(const char *base_url, CURLU *url, struct wfs_error *error)
{
	AUTO_CURL_TEXT char *scheme = NULL;
	CURLUcode result = curl_url_set(url, CURLUPART_URL, base_url, CURLU_DISALLOW_USER);

	if (result == CURLUE_OK)
		result = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
	if (result == CURLUE_OUT_OF_MEMORY)
		return -ENOMEM;
	if (result != CURLUE_OK)
		return refuse_url(curl_url_strerror(result), error);
	if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		return refuse_url(scheme, error);
	return 0;
}

/* Appends the path of the service, before a query. */
static int extend_path(CURLU *url, enum wfs_model_service service)
{
	static const char *const paths[] = {
		[WFS_MODEL_CHAT] = "/chat/completions",
		[WFS_MODEL_EMBEDDINGS] = "/embeddings",
	};
	AUTO_CURL_TEXT char *path = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer extended = {0};
	size_t size;

	if (curl_url_get(url, CURLUPART_PATH, &path, 0) != CURLUE_OK)
		return -ENOMEM;
	size = strlen(path);
	wfs_buffer_append(&extended, path, size > 0 && path[size - 1] == '/' ? size - 1 : size);
	wfs_buffer_append_text(&extended, paths[service]);
	if (wfs_buffer_check(&extended) < 0 ||
		curl_url_set(url, CURLUPART_PATH, wfs_buffer_text(&extended), 0) != CURLUE_OK)
		return -ENOMEM;
	return 0;
}

bool wfs_model_is_loopback(const char *host)
{
	const char *const suffix = ".localhost"; /* RFC 6761, 6.3 */
	const size_t size = strlen(host);

	/* Four numbers are an address, but 127.example.org is a name. */
	return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
		(strncmp(host, "127.", strlen("127.")) == 0 &&
			strspn(host, "0123456789.") == size) ||
		(size > strlen(suffix) && strcasecmp(host + size - strlen(suffix), suffix) == 0);
}

static int set_url(CURL *easy, const struct wfs_model_request *request, struct wfs_error *error)
{
	AUTO_URL CURLU *url = curl_url();
	AUTO_CURL_TEXT char *host = NULL;
	AUTO_CURL_TEXT char *text = NULL;
	int r = url ? parse_url(request->endpoint->base_url, url, error) : -ENOMEM;

	if (r == 0)
		r = extend_path(url, request->service);
	if (r < 0)
		return r;
	if (curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
		curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK ||
		curl_easy_setopt(easy, CURLOPT_URL, text) != CURLE_OK)
		return -ENOMEM;
	/* An empty text means no proxy, whatever the environment says. */
	if (wfs_model_is_loopback(host) && curl_easy_setopt(easy, CURLOPT_PROXY, "") != CURLE_OK)
		return -ENOMEM;
	return 0;
}

/* --- headers --- */

void wfs_model_headers_free(struct curl_slist *headers)
{
	for (struct curl_slist *at = headers; at; at = at->next)
		explicit_bzero(at->data, strlen(at->data));
	curl_slist_free_all(headers);
}

static int add_header(struct curl_slist **headers, const char *name, const char *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	struct curl_slist *added = NULL;
	/* Reserved at once, because growing would leave a copy of the key in freed memory. */
	int r = wfs_buffer_reserve(&line, strlen(name) + strlen(value));

	if (r < 0)
		return r;
	wfs_buffer_append_text(&line, name);
	wfs_buffer_append_text(&line, value);
	added = curl_slist_append(*headers, wfs_buffer_text(&line));
	explicit_bzero(line.data, line.size);
	if (!added)
		return -ENOMEM;
	*headers = added;
	return 0;
}

static int check_value(const char *what, const char *value, struct wfs_error *error)
{
	for (const char *at = value; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: expected a text for a header, got control byte 0x%02x at %zu",
				what, (unsigned int)(unsigned char)*at, (size_t)(at - value));
	return 0;
}

static int set_headers(CURL *easy, const struct wfs_model_request *request,
	struct curl_slist **headers, struct wfs_error *error)
{
	const char *const key = request->endpoint->api_key ? request->endpoint->api_key : "";
	const bool stream = request->endpoint->stream && request->service == WFS_MODEL_CHAT;
	int r = check_value("api_key", key, error);

	if (r == 0)
		r = check_value("idempotency key", request->idempotency_key, error);
	if (r == 0)
		r = add_header(headers, "Content-Type: ", "application/json");
	if (r == 0)
		r = add_header(
			headers, "Accept: ", stream ? "text/event-stream" : "application/json");
	if (r == 0)
		r = add_header(headers, "Expect:", ""); /* not to wait for 100 Continue */
	if (r == 0)
		r = add_header(headers, "Idempotency-Key: ", request->idempotency_key);
	if (r == 0 && key[0] != '\0')
		r = add_header(headers, "Authorization: Bearer ", key);
	if (r == 0 && curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers) != CURLE_OK)
		r = -ENOMEM;
	return r;
}

/* --- options --- */

static int set_options(CURL *easy, const struct wfs_model_request *request)
{
	const struct wfs_model_endpoint *const endpoint = request->endpoint;
	const char *const body = request->body.size > 0 ? request->body.data : "";
	int r = 0;

	r |= (int)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/* Cancelling a call must not wait for the thread that resolves a name. */
	r |= (int)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	r |= (int)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	r |= (int)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	r |= (int)curl_easy_setopt(easy, CURLOPT_USERAGENT, "worldfs");
	r |= (int)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)READ_BUFFER_SIZE);
	r |= (int)curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER_SIZE);
	r |= (int)curl_easy_setopt(
		easy, CURLOPT_CONNECTTIMEOUT_MS, (long)endpoint->connect_timeout_ms);
	r |= (int)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body); /* borrowed, not copied */
	r |= (int)curl_easy_setopt(
		easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
	return r ? -ENOMEM : 0;
}

/*
 * curl caches certificates for the next connection only if all come from one file. With Debian's
 * default, a file and a directory, each connection reads all of them again (30 ms, 0.9 MB). The
 * file has all that the directory has.
 */
static int set_authorities(CURL *easy)
{
	char *file = NULL;

	if (curl_easy_getinfo(easy, CURLINFO_CAINFO, &file) != CURLE_OK || !file ||
		access(file, R_OK) != 0)
		return 0; /* use only the directory then */
	return curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK ? 0 : -ENOMEM;
}

int wfs_model_easy_new(const struct wfs_model_request *request, CURL **ret_easy,
	struct curl_slist **ret_headers, struct wfs_error *error)
{
	AUTO_HEADERS struct curl_slist *headers = NULL;
	AUTO_EASY CURL *easy = curl_easy_init();
	int r = easy ? set_options(easy, request) : -ENOMEM;

	if (r == 0)
		r = set_authorities(easy);
	if (r == 0)
		r = set_url(easy, request, error);
	if (r == 0)
		r = set_headers(easy, request, &headers, error);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "prepare a request to a model");
	if (r < 0)
		return r;
	*ret_easy = WFS_STEAL(easy);
	*ret_headers = WFS_STEAL(headers);
	return 0;
}
