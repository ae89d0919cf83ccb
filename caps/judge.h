/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges what reducers ask for, by the current rights of the principal whose request made them ask.
 * The kernel records a refusal.
 * Source: docs/design.md §5.
 */
#pragma once

#include "caps/authority.h"
#include "kernel/world/answerer.h"

/* Plain value; init, done. */
struct wfs_authority_judge {
	struct wfs_judge judge; /* first, because callbacks cast back */
	struct wfs_authority *authority;
};

/** wfs_authority_judge_init() - let @authority judge for its world.
 *  @self: must live until `done` */
void wfs_authority_judge_init(struct wfs_authority_judge *self, struct wfs_authority *authority);

/** wfs_authority_judge_done() - end that; after it returns, no judgement is in progress. */
void wfs_authority_judge_done(struct wfs_authority_judge *self);
