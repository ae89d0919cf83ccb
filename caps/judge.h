/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges what reducers ask for: by the rights of the principal whose request made them ask, as the
 * newest commit has them. A refusal is recorded by the kernel.
 * Source: spec 1, "Introspection"; spec 3.
 */
#pragma once

#include "caps/authority.h"
#include "kernel/effects.h"

/* Plain value; begin, end. */
struct caps_judge {
	struct wfs_judge judge; /* first: callbacks cast back */
	struct wfs_authority *authority;
};

/** caps_judge_begin() - have @authority's world judged by it. @judge: kept until the end. */
void caps_judge_begin(struct caps_judge *judge, struct wfs_authority *authority);

/** caps_judge_end() - when it returns, nobody is being judged any more. */
void caps_judge_end(struct caps_judge *judge);
