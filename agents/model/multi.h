/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl's multi interface on a libuv loop, and what transfers to servers of models and of tools have
 * in common: TLS is verified, redirects are not followed, only HTTP/1.1 is spoken.
 *
 * Only the loop's thread uses it.
 */
#pragma once

#include <curl/curl.h>
#include <uv.h>

#include "kernel/base/error.h"

struct wfs_multi;

/** wfs_multi_new() - make a multi, which runs curl's transfers on a loop; caller frees it with
 *  wfs_multi_free()
 *  @over: called when a transfer has ended, with @private, the CURLOPT_PRIVATE of its handle, and
 *  with curl's result; may add and remove transfers, and free the multi
 *  @closed: called with @context after wfs_multi_free(), when libuv has closed all handles of the
 *  multi
 *  Return: 0, or -ENOMEM. */
int wfs_multi_new(uv_loop_t *loop, void (*over)(void *private, CURLcode result),
	void (*closed)(void *context), void *context, struct wfs_multi **ret_multi);

/** wfs_multi_free() - close all connections; the caller has removed its transfers before. libuv
 *  closes handles in the loop's next turn, which frees the memory, and then `closed` is called.
 *  @multi may be NULL. */
void wfs_multi_free(struct wfs_multi *multi);

/** wfs_multi_add() - begin the transfer of @easy, a handle of wfs_multi_easy_new(), which the
 *  caller still owns. Return: 0, or -ENOMEM. */
int wfs_multi_add(struct wfs_multi *multi, CURL *easy);

/** wfs_multi_remove() - end the transfer of @easy, which was added; `over` is not called for it. */
void wfs_multi_remove(struct wfs_multi *multi, CURL *easy);

/** wfs_multi_easy_new() - make a curl handle with the options that all transfers have in common.
 *  @ret_easy: caller frees it with curl_easy_cleanup(). Return: 0, or -ENOMEM. */
int wfs_multi_easy_new(CURL **ret_easy);

/** wfs_multi_parse_url() - parse a URL of http or https; one with a user's name is refused
 *  @what: name of the member that has the URL, for messages; @text: the URL; @url: from curl_url();
 *  gets the parts of the URL
 *  Return: 0, -EINVAL (invalid_argument: not a URL of this form), -ENOMEM. */
int wfs_multi_parse_url(const char *what, const char *text, CURLU *url, struct wfs_error *error);

/** wfs_multi_set_url() - set the URL of the transfer of @easy; if its host is this machine
 *  (loopback), no proxy is used.
 *  Return: 0, or -ENOMEM. */
int wfs_multi_set_url(CURL *easy, CURLU *url);

/** wfs_multi_check_value() - check that @value can be the value of an HTTP header. @what: names the
 *  value in the message
 *  Return: 0, -EINVAL (invalid_argument: it has a control character; the message does not contain
 *  the value). */
int wfs_multi_check_value(const char *what, const char *value, struct wfs_error *error);

/** wfs_multi_add_header() - append a header to @headers. @value may be a key: no copy of it stays
 *  but that in @headers
 *  @name: with `: ` at its end. @headers: caller frees them with wfs_multi_headers_free()
 *  Return: 0, or -ENOMEM. */
int wfs_multi_add_header(struct curl_slist **headers, const char *name, const char *value);

/** wfs_multi_headers_free() - overwrite the headers of a request, and free them. */
void wfs_multi_headers_free(struct curl_slist *headers);
