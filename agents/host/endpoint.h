/* SPDX-License-Identifier: Apache-2.0 */
/* How to reach a model: its entry in host.json as an endpoint. */
#pragma once

#include "agents/model/client.h"

/** agents_endpoint_make() - fill an endpoint from a model's entry in host.json and the environment
 *  @entry: from wfs_models_find() (models.h); the endpoint borrows from it, and the key from the
 *          environment
 *  @left_ms: how long the request may take with all its attempts, if less than the entry says
 *  @ret_endpoint: written also on failure
 *  Return: 0, -ENOENT (not_found: the environment lacks the variable that `api_key_env` names),
 *          -EACCES (not_authorized: the key may not go to that host), -EINVAL (invalid_argument:
 *          base_url is not a URL, or a member does not have its form), or another -errno of reading
 *          what this user allows; with @error. */
int agents_endpoint_make(const json_t *entry, int64_t left_ms,
	struct wfs_model_endpoint *ret_endpoint, struct wfs_error *error);

/** agents_endpoint_check() - check that this user allows an environment variable to be sent to the
 *  host of a URL (kernel/base/trust.h). @variable: its name; @url_text: NULL is refused
 *  Return: 0, -EACCES (not_authorized: the user does not allow it), -EINVAL (invalid_argument: not
 *  a URL), or another -errno of reading what this user allows; with @error. */
int agents_endpoint_check(const char *variable, const char *url_text, struct wfs_error *error);
