/* SPDX-License-Identifier: Apache-2.0 */
/* Principals as files: `grants.json` is made from all grants to a principal at one height. */
#pragma once

#include <jansson.h>

#include "kernel/read/view.h"

/** wfs_principal_grants() - read the grants of a principal at the view's height, sorted by name
 *  @ret_grants: an array of the documents of their cells of sys.grant (grants.h), also of expired
 *  grants; caller owns it
 *  @ret_time_ns: when the newest of these cells was written, in nanoseconds since 1970; 0: no
 *  grants
 *  Return: 0, -EIO (a cell is damaged), -ENOMEM; after a failure no result is set. */
int wfs_principal_grants(struct wfs_view *view, struct wfs_bytes principal, json_t **ret_grants,
	int64_t *ret_time_ns);

/** wfs_principal_write_grants() - append the file `grants.json` of a principal, which is the array
 *  that wfs_principal_grants() gives, to @buffer
 *  @ret_time_ns, Return: as for wfs_principal_grants() */
int wfs_principal_write_grants(struct wfs_view *view, struct wfs_bytes principal,
	struct wfs_buffer *buffer, int64_t *ret_time_ns);
