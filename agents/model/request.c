/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a curl handle for a request. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "agents/model/client-impl.h"

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
	wfs_multi_headers_free(*headers);
}

#define AUTO_EASY WFS_CLEANUP(easy_free)
#define AUTO_HEADERS WFS_CLEANUP(headers_free)

/* --- the URL --- */

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

static int set_url(CURL *easy, const struct wfs_model_request *request, struct wfs_error *error)
{
	AUTO_URL CURLU *url = curl_url();
	int r = url ? wfs_multi_parse_url("base_url", request->endpoint->base_url, url, error)
		    : -ENOMEM;

	if (r == 0)
		r = extend_path(url, request->service);
	return r < 0 ? r : wfs_multi_set_url(easy, url);
}

/* --- headers --- */

static int set_headers(CURL *easy, const struct wfs_model_request *request,
	struct curl_slist **headers, struct wfs_error *error)
{
	const char *const key = request->endpoint->api_key ? request->endpoint->api_key : "";
	const bool stream = request->endpoint->stream && request->service == WFS_MODEL_CHAT;
	int r = wfs_multi_check_value("api_key", key, error);

	if (r == 0)
		r = wfs_multi_check_value("idempotency key", request->idempotency_key, error);
	if (r == 0)
		r = wfs_multi_add_header(headers, "Content-Type: ", "application/json");
	if (r == 0)
		r = wfs_multi_add_header(
			headers, "Accept: ", stream ? "text/event-stream" : "application/json");
	if (r == 0)
		r = wfs_multi_add_header(headers, "Expect:", ""); /* not to wait for 100 Continue */
	if (r == 0)
		r = wfs_multi_add_header(headers, "Idempotency-Key: ", request->idempotency_key);
	if (r == 0 && key[0] != '\0')
		r = wfs_multi_add_header(headers, "Authorization: Bearer ", key);
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

	r |= (int)curl_easy_setopt(
		easy, CURLOPT_CONNECTTIMEOUT_MS, (long)endpoint->connect_timeout_ms);
	r |= (int)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body); /* borrowed, not copied */
	r |= (int)curl_easy_setopt(
		easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size);
	return r ? -ENOMEM : 0;
}

int wfs_model_easy_new(const struct wfs_model_request *request, CURL **ret_easy,
	struct curl_slist **ret_headers, struct wfs_error *error)
{
	AUTO_HEADERS struct curl_slist *headers = NULL;
	AUTO_EASY CURL *easy = NULL;
	int r = wfs_multi_easy_new(&easy);

	if (r == 0)
		r = set_options(easy, request);
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
