/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The models of a host: `models` in the world's host.json, which is no part of the world. Keys are
 * never there: an entry names the environment variable that has one.
 * Source: spec 1, "World directory"; spec 5, "Settled".
 */
#pragma once

#include <jansson.h>

#include "kernel/base/error.h"

/**
 * wfs_models_find() - the entry of a model, read anew, if the user trusts the world with this host.json
 * @directory: of the world
 * @ret_entry: caller owns it
 * Return: 0, -ENOENT (not_found: names those there are), -EACCES (not_authorized: see kernel/base/trust.h), -EINVAL,
 *         -EIO, -ENOMEM.
 */
int wfs_models_find(
	const char *directory, const char *name, json_t **ret_entry, struct wfs_error *error);

/** wfs_models_guard_keys() - the process has keys of these models in its environment; see
 *  agents_secret_get(). What is wrong with host.json is told when a model is asked. */
void wfs_models_guard_keys(const char *directory);
