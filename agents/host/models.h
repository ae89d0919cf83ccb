/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The models and the servers of tools of a host: `models` and `tools` in the world's host.json,
 * which no copy of the world has. Keys are not in it: an entry names the environment variable that
 * has one.
 * Source: worldfs-host(5).
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

/** wfs_models_find() - read the entry of a model, if the user has trusted this host.json of the
 *  world
 *  @directory: of the world
 *  @name: of the model, a member of `models`
 *  @ret_entry: the member's value; caller owns it
 *  Return: 0, -ENOENT (not_found: host.json is missing, or has no model @name, and then the message
 *          names its models), -EACCES (not_authorized: the user has not trusted this host.json,
 *          kernel/base/trust.h), -EINVAL (invalid_json: host.json is not JSON; invalid_argument or
 *          another code: a part of host.json has a wrong form), or another -errno of reading
 *          host.json; with @error. */
int wfs_models_find(
	const char *directory, const char *name, json_t **ret_entry, struct wfs_error *error);

/** wfs_models_servers() - read the servers of tools, if the user has trusted this host.json of the
 *  world
 *  @ret_tools: the table for wfs_outside_new() (agents/outside/outside.h); caller owns it; NULL:
 *  host.json names no server. Return: as wfs_models_find(), but 0 if host.json names no server. */
int wfs_models_servers(const char *directory, json_t **ret_tools, struct wfs_error *error);

/** wfs_models_keep_raw() - does host.json have the requests to models and the answers kept, as it
 *  does by default? @directory: of the world. Return: false also if host.json cannot be read. */
bool wfs_models_keep_raw(const char *directory);

/** wfs_models_guard_keys() - if the environment has a key for a model, or a header for a server of
 *  tools, of the world in @directory: have Linux write no core of this process, and let only root
 *  look into it (see agents_secret_get() in secret.h). Does nothing, and reports nothing, if
 *  host.json is broken or the user does not trust it. */
void wfs_models_guard_keys(const char *directory);
