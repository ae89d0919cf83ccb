/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a manifest would change, for people who want to know before they apply it.
 */
#pragma once

#include "kernel/manifest/manifest.h"

/**
 * wfs_manifest_diff() - compare two manifests
 *
 * @ret_diff: {added, changed, removed}, each an array of {list, name}: the manifest's list that the
 *            item is in, and the item's name. They are ordered by lists and then as in the manifest
 *            (`added` and `changed`: as in @to). The name of a row of `routing` is `event ->
 *            reducer`, that of a principal its id. A manifest's member `name` or `policy` that
 *            differs is in `changed`, as {list: "", name: "name" or "policy"}. Caller owns it.
 * Return: 0, -ENOMEM.
 */
int wfs_manifest_diff(
	const struct wfs_manifest *from, const struct wfs_manifest *to, json_t **ret_diff);
