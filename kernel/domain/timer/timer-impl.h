/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/timer/. */
#pragma once

#include "kernel/domain/timer/timer.h"

/* The domain's memory in a fold (fold_kept). */
struct timer_kept {
	uint64_t made; /* timers that the request has made so far */
};

/** timer_effect() - make the timer that a reducer has asked for, after timer_ask() has given the
 *  answer @payload; see member `fold_effect` of struct wfs_domain (kernel/fold/fold-domain.h). Does
 *  nothing if @effect is not WFS_EFFECT_ACTION_SCHEDULE. Return: 0, or -errno as
 *  timer_schedule(). */
int timer_effect(struct wfs_fold *fold, enum wfs_effect effect, const json_t *params,
	const json_t *payload, struct wfs_error *error);

/** timer_begin() - before a request is folded: if a timer sent the request (fold->input.fired), set
 *  the timer's `next_ns` to its due time after the one that fires, or delete a timer that has none
 *  Return: 0 (also if no timer sent the request), -ENOENT (not_found: the timer does not exist any
 *  more), -ESTALE (conflict: the due time has fired already), -EINVAL (the manifest lacks the
 *  reducer sys.timer), … */
int timer_begin(struct wfs_fold *fold, struct wfs_error *error);
