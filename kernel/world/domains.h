/* SPDX-License-Identifier: Apache-2.0 */
/* The domains that worlds have: each is the code of one subject, such as plans. A new domain is a
 * folder in kernel/domain/ and a line in domains.c. */
#pragma once

#include "kernel/domain/action/action.h"

extern const struct wfs_domain *const wfs_domains[]; /* the last is NULL */

/** wfs_action_check() - check an action, as far as its document and the manifest suffice for this,
 *  by wfs_domain_check() (kernel/fold/fold-domain.h) for wfs_domains. @action: the document
 *  Return: 0, -EINVAL (the document has another form), -ENOENT (not_found: the capability in a
 *  grant), -EFBIG (too_large), -ENOMEM. */
int wfs_action_check(
	const struct wfs_manifest *manifest, const json_t *action, struct wfs_error *error);

/** wfs_action_ends() - does an action with this `action_type` end a grant, a turn, a chat or a
 *  plan? False for an unknown type. */
bool wfs_action_ends(const char *action_type);

/** wfs_privacy_in() - find which texts of an action that is not done yet are private, given the
 *  artifacts in @view; calls action_privacy() (kernel/domain/action/action.h) for wfs_domains.
 *  @action: document of the action
 *  @ret_privacy: caller ends it with wfs_privacy_done(). Return: 0, -EIO, -ENOMEM. */
int wfs_privacy_in(struct wfs_view *view, const json_t *action, struct wfs_privacy *ret_privacy,
	struct wfs_error *error);
