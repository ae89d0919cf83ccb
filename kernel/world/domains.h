/* SPDX-License-Identifier: Apache-2.0 */
/* The domains that worlds have: the code of one subject each, such as plans. A new one is a folder
 * in kernel/domain/ and a line in domains.c. */
#pragma once

#include "kernel/domain/action/action.h"

extern const struct wfs_domain *const wfs_domains[]; /* the last is NULL */

/** wfs_action_check() - check the form of an action, @action being its document, by @manifest alone
 *  (wfs_domain_check() with wfs_domains)
 *  Return: 0, -EINVAL, -ENOENT (not_found: the capability in a grant), -EFBIG, -ENOMEM. */
int wfs_action_check(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** wfs_action_ends() - does an action with this `action_type` end a grant, a turn, a chat or a
 *  plan? False for an unknown type. */
bool wfs_action_ends(const char *action_type);

/** wfs_privacy_in() - find which texts of an action are private (action_privacy() with
 *  wfs_domains), by the artifacts in @view, before the action is done. @action: its document
 *  @ret_privacy: caller ends it with wfs_privacy_done(). Return: 0, -EIO, -ENOMEM. */
int wfs_privacy_in(struct wfs_view *view, const json_t *action, struct wfs_privacy *ret_privacy,
	struct wfs_error *error);
