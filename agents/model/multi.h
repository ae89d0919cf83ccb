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

/** wfs_multi_new() - make one on a loop; caller frees it with wfs_multi_free()
 *  @over: a transfer has ended. @private: its CURLOPT_PRIVATE. May add and remove transfers, and
 *  free the multi
 *  @closed: called with @context when all handles on the loop are closed, after wfs_multi_free()
 *  Return: 0, or -ENOMEM. */
int wfs_multi_new(uv_loop_t *loop, void (*over)(void *private, CURLcode result),
	void (*closed)(void *context), void *context, struct wfs_multi **ret_multi);

/** wfs_multi_free() - close all connections; the caller has removed its transfers. libuv closes
 *  handles in the loop's next turn, which frees the memory, and then `closed` is called.
 *  @multi may be NULL. */
void wfs_multi_free(struct wfs_multi *multi);

/** wfs_multi_add() - begin a transfer. Return: 0, or -ENOMEM. */
int wfs_multi_add(struct wfs_multi *multi, CURL *easy);

/** wfs_multi_remove() - end a transfer, which has been added; `over` is not called for it. */
void wfs_multi_remove(struct wfs_multi *multi, CURL *easy);

/** wfs_multi_easy_new() - make a handle with the common options. @ret_easy: caller frees it with
 *  curl_easy_cleanup(). Return: 0, or -ENOMEM. */
int wfs_multi_easy_new(CURL **ret_easy);

/** wfs_multi_parse_url() - parse an URL of http or https without a user's name
 *  @what: name of its member, for messages. Return: 0, -EINVAL (invalid_argument), -ENOMEM. */
int wfs_multi_parse_url(const char *what, const char *text, CURLU *url, struct wfs_error *error);

/** wfs_multi_set_url() - have a transfer go there, without a proxy if that is this machine.
 *  Return: 0, or -ENOMEM. */
int wfs_multi_set_url(CURL *easy, CURLU *url);

/** wfs_multi_check_value() - check that a text may be in a header. @what: names it in the message
 *  Return: 0, -EINVAL (invalid_argument: the message does not contain the text). */
int wfs_multi_check_value(const char *what, const char *value, struct wfs_error *error);

/** wfs_multi_add_header() - add a header whose value may be a key, of which no copy stays
 *  @name: with `: ` at its end. @headers: caller frees with wfs_multi_headers_free()
 *  Return: 0, or -ENOMEM. */
int wfs_multi_add_header(struct curl_slist **headers, const char *name, const char *value);

/** wfs_multi_headers_free() - overwrite the headers of a request, and free them. */
void wfs_multi_headers_free(struct curl_slist *headers);
