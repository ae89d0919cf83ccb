/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the effects that reducers ask for, by the current rights of the principal whose request
 * made them ask. The kernel records a refusal.
 * Source: docs/design.md §5.
 */
#pragma once

#include "caps/authority.h"
#include "kernel/world/answerer.h"

/* Plain value; used between wfs_authority_judge_init() and wfs_authority_judge_done(). */
struct wfs_authority_judge {
	struct wfs_judge judge; /* first, because callbacks cast back */
	struct wfs_authority *authority;
};

/** wfs_authority_judge_init() - have effects that reducers of the world of @authority ask for
 *  judged by @authority. @self: filled; must live until wfs_authority_judge_done() */
void wfs_authority_judge_init(struct wfs_authority_judge *self, struct wfs_authority *authority);

/** wfs_authority_judge_done() - stop judging: the world refuses all effects that reducers ask for
 *  from now on. Waits for a judgement in progress. */
void wfs_authority_judge_done(struct wfs_authority_judge *self);
