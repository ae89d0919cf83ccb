/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges what reducers ask for: by the rights of the principal whose request made them ask, as the
 * newest commit has them. A refusal is recorded by the kernel.
 * Source: spec 1, "Introspection"; spec 3.
 */
#pragma once

#include "caps/authority.h"
#include "kernel/world/answerer.h"

/* Plain value; init, done. */
struct wfs_authority_judge {
	struct wfs_judge judge; /* first: callbacks cast back */
	struct wfs_authority *authority;
};

/** wfs_authority_judge_init() - have @authority's world judged by it. @self: kept until `done`. */
void wfs_authority_judge_init(struct wfs_authority_judge *self, struct wfs_authority *authority);

/** wfs_authority_judge_done() - when it returns, nobody is being judged any more. */
void wfs_authority_judge_done(struct wfs_authority_judge *self);
