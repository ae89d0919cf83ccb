/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/timer/. */
#pragma once

#include "kernel/domain/timer/timer.h"

/* The domain's memory in a fold (fold_kept). */
struct timer_kept {
	uint64_t made; /* timers that the request has made so far */
};

/** timer_effect() - make the timer that a reducer has asked for, after timer_ask() has given the
 *  answer; see struct wfs_domain, member `fold_effect`. Does nothing for other effects. */
int timer_effect(struct wfs_fold *fold, enum wfs_effect effect, const json_t *params,
	const json_t *payload, struct wfs_error *error);

/** timer_begin() - if a timer sent the request (fold->input.fired), set the timer's `next_ns` to
 *  its next due time, or delete a timer that has none
 *  Return: 0, -ENOENT (not_found), -ESTALE (conflict: the due time has fired already), … */
int timer_begin(struct wfs_fold *fold, struct wfs_error *error);
