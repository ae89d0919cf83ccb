/* SPDX-License-Identifier: Apache-2.0 */
/* Where a model is, as its entry in host.json says. */
#pragma once

#include "agents/model/client.h"

/**
 * agents_endpoint_make() - @entry: that passed wfs_models_find(); it and the environment are borrowed from
 * The key is not kept: it is read where it is.
 * @left_ms: that there is for all of it
 * Return: 0, -ENOENT (not_found: the environment has no key), -EACCES (not_authorized: it may not go to that
 *         host), -EINVAL.
 */
int agents_endpoint_make(const json_t *entry, int64_t left_ms,
	struct wfs_model_endpoint *ret_endpoint, struct wfs_error *error);
