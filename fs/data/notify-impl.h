/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/data/notify*.c. What these return but 0, their callers return at once: teller.h. */
#pragma once

#include "fs/data/notify.h"

/** notify_known() - of what nobody has looked up nothing is cached. */
int notify_known(int r);

/** notify_name() - drop a name. */
int notify_name(struct wfs_notify *notify, uint64_t directory, const char *name, size_t size);

/** notify_listing() - drop a directory's cached listing and attributes. */
int notify_listing(struct wfs_notify *notify, uint64_t directory);

/** notify_again() - wait a moment if @r calls for another of the @tries. */
bool notify_again(int r, unsigned int *tries);

/** notify_view() - the head. No view is held while Linux is told something. */
int notify_view(struct wfs_notify *notify, struct wfs_view *ret_view);

bool notify_names_changed(const struct wfs_change *change);

/* --- notify-entity.c: artifacts, principals and turns --- */

/** notify_entities() - what a commit has changed of them. */
int notify_entities(struct wfs_notify *notify, const struct wfs_commit *commit);

/** notify_grants() - heights were dropped: each `grants.json` at the head may be of one of them
 *  (fs/tree/ino.h). */
int notify_grants(struct wfs_notify *notify);
