/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/timer/. */
#pragma once

#include "kernel/domain/timer/timer.h"

/* The domain's memory in a fold (fold_kept). */
struct timer_kept {
	uint64_t made; /* timers that the request has made so far */
};

/** timer_effect() - make the timer that a reducer has asked for, and that timer_ask() has answered;
 *  see struct wfs_domain, member `fold_effect`. */
int timer_effect(struct wfs_fold *fold, enum wfs_effect effect, const json_t *params,
	const json_t *payload, struct wfs_error *error);

/** timer_begin() - if the request is a timer's (fold->input.fired), move the timer on
 *  Return: 0, -ENOENT (not_found), -ESTALE (conflict: the due time has fired already), … */
int timer_begin(struct wfs_fold *fold, struct wfs_error *error);
