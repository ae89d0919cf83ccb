/* SPDX-License-Identifier: Apache-2.0 */
/* The domains that worlds have. A new one is a folder in kernel/domain/ and a line in domains.c. */
#pragma once

#include "kernel/domain/action/action.h"

extern const struct wfs_domain *const wfs_domains[]; /* the last is NULL */

/** wfs_action_check() - call wfs_domain_check() with these domains. */
int wfs_action_check(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** wfs_action_ends() - does an action of this type end a grant, a turn, a chat or a plan? */
bool wfs_action_ends(const char *action_type);

/** wfs_privacy_in() - find the privacy of an action that is not done yet, by the artifacts that a
 *  view shows. Return: 0, -EIO, -ENOMEM. */
int wfs_privacy_in(struct wfs_view *view, const json_t *action, struct wfs_privacy *ret_privacy,
	struct wfs_error *error);
