/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a manifest would change: for people who look before they apply one.
 * Source: spec 3, `apply --dry-run`.
 */
#pragma once

#include "kernel/manifest/manifest.h"

/**
 * wfs_manifest_diff() - what is different in @to
 *
 * @ret_diff: {added, changed, removed}, each an array of {list, name} in the order of the lists and
 * then of the manifest (`changed` and `added`: of @to). What has no name of its own: a row of
 * `routing` is named `event -> reducer`, a principal by its id; the members `name` and `policy` are
 * {list: "", name: "policy"}. Caller owns it.
 * Return: 0, -ENOMEM.
 */
int wfs_manifest_diff(
	const struct wfs_manifest *from, const struct wfs_manifest *to, json_t **ret_diff);
