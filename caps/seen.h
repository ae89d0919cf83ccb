/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session was judged to see. Readers of content take it as their argument; only functions of
 * caps/ make it, so that a version which was not judged cannot be read.
 */
#pragma once

#include "kernel/store/tables.h"

struct wfs_buffer;
struct wfs_view;

/* A version that a session was judged to see. Plain value. */
struct wfs_seen {
	struct wfs_version version;
};

/** wfs_seen_name() - find the name of the reducer and the key of the cell to which a seen version
 *  belongs; both are borrowed until the view is closed. Return: 0, or -errno. */
int wfs_seen_name(struct wfs_view *view, const struct wfs_seen *seen, struct wfs_bytes *ret_reducer,
	struct wfs_bytes *ret_key);

/** wfs_seen_grants() - append the contents of the file `grants.json` of a principal to @buffer
 *  @seen: from wfs_session_entity_file() (caps/session-entity.h) for this file
 *  @ret_time_ns: when the newest grant was written, since 1970; 0: the principal has none
 *  Return: 0, -EIO (stored bytes are damaged), -ENOMEM. */
int wfs_seen_grants(struct wfs_view *view, const struct wfs_seen *seen, struct wfs_buffer *buffer,
	int64_t *ret_time_ns);
