/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The models of a host: `models` in the world's host.json, which no copy of the world has. Keys
 * are not in it: an entry names the environment variable that has one.
 * Source: worldfs-tree(5).
 */
#pragma once

#include <jansson.h>

#include "kernel/base/error.h"

/** wfs_models_find() - read the entry of a model, if the user trusts the world with this host.json
 *  @directory: of the world
 *  @name: of the model, a member of `models`
 *  @ret_entry: the member's value; caller owns it
 *  Return: 0, -ENOENT (not_found: the message names all models), -EACCES (not_authorized: the user
 *          does not trust it, kernel/base/trust.h), -EINVAL (invalid_json, or a wrong entry), or
 *          another -errno of reading host.json; with @error. */
int wfs_models_find(
	const char *directory, const char *name, json_t **ret_entry, struct wfs_error *error);

/** wfs_models_guard_keys() - have no core of this process written, and only root look into it (see
 *  agents_secret_get() in secret.h), if its environment has a key for a model of the world in
 *  @directory. Does nothing, and reports nothing, if host.json is broken or the user does not trust
 *  it. */
void wfs_models_guard_keys(const char *directory);
