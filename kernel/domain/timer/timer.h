/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers: actions that a principal wants done later, once or again and again.
 *
 *   sys.timer, key principal/id: {action, at_ns?, by?, catch_up, created_ns, cron?, every_ms?,
 *       fired, id, max?, next_ns, principal, tz?, until_ns?, zone?}
 *
 * A timer is due at `at_ns`, at created_ns plus each multiple of every_ms, or when `cron` fits the
 * clocks of `zone` (zone.h), which the host has described under the name `tz`. `next_ns` is the
 * first due time that has not fired. `fired` counts firings, up to `max`. `by` names the artifact
 * whose code has asked.
 *
 * The driver sends the action when it is due, as a request of the principal. Its record names the
 * timer and the due time; folding the record moves `next_ns` on, whatever comes of the action. So
 * each due time fires at most once. A timer without a next due time is deleted.
 * Source: docs/design.md §15; worldfs-tree(5).
 * Thread: the one that folds, unless a function says otherwise.
 */
#pragma once

#include "kernel/fold/fold-work.h"
#include "kernel/manifest/effect.h"

enum {
	WFS_TIMERS_MAX = 100000,          /* of a world */
	WFS_TIMERS_PRINCIPAL_MAX = 10000, /* of a principal */
	WFS_TIMER_PERIOD_MS = 100,        /* the shortest */
	WFS_TIMER_ID_MAX = 64,            /* bytes */
	WFS_TIMER_ACTION_MAX = 64 << 10,  /* bytes of the action's canonical text */
	WFS_TIMER_KEY_SIZE = 128 + 1 + WFS_TIMER_ID_MAX + 1, /* of a key, with NUL */
};

/* Words that say which of the missed due times fire (worldfs(1)): `one`, the default: the latest;
 * `all` of them; or `none`. */
#define WFS_TIMER_CATCH_UPS "one all none"

/** wfs_timer_id_valid() - does an id match `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`? Thread: any. */
bool wfs_timer_id_valid(const char *id);

/** wfs_timer_key() - write the key of a timer's cell. @principal, @id: valid. Thread: any. */
void wfs_timer_key(const char *principal, const char *id, char ret_key[static WFS_TIMER_KEY_SIZE]);

/** wfs_timer_check() - check the params of WFS_EFFECT_ACTION_SCHEDULE without looking at the world:
 *  each member, the form of the timer's action, and that exactly one of `at`, `after_ms`,
 *  `every_ms` and `cron` is given. Thread: any.
 *  Return: 0, -EINVAL (one of them is not valid), -EFBIG (too_large: the action), -ENOMEM. */
int wfs_timer_check(const struct wfs_params *params, struct wfs_error *error);

/* A timer that is wanted. Plain value; borrowed. */
struct timer_wish {
	const char *principal;           /* whose timer it is */
	bool code;                       /* code asks: `tz` must be a rule, not a name */
	const char *by;                  /* artifact whose code asks; NULL: the principal itself */
	const struct wfs_params *params; /* of WFS_EFFECT_ACTION_SCHEDULE */
	json_t *action;                  /* for the cell: with stand-ins for private texts */
	const json_t *result;            /* of the record, when it is folded again; else NULL */
};

/** timer_schedule() - make a timer
 *  @ret_zone: description of the time zone, which the record's result gets; set on success; caller
 *  owns it; NULL: @wish has no `tz`. @ret_answer: {id, next_ns}; set on success; caller owns it
 *  Return: 0, -EEXIST (already_exists: the principal has a timer with this id), -EDQUOT
 *  (quota_exceeded: the principal or the world has too many timers), -EINVAL and -EFBIG (as
 *  wfs_timer_check(), or the timer would never be due, or its `tz` is not valid), -EOPNOTSUPP
 *  (not_enabled: the manifest lacks the reducer sys.timer), … */
int timer_schedule(struct wfs_fold *fold, const struct timer_wish *wish, json_t **ret_zone,
	json_t **ret_answer, struct wfs_error *error);

/** timer_unschedule() - delete the timer @id of @principal
 *  @by: delete it only if code of this artifact has made it; NULL: in any case
 *  Return: 0, -ENOENT (not_found: no such timer, or code of @by has not made it), … */
int timer_unschedule(struct wfs_fold *fold, const char *principal, const char *by, const char *id,
	struct wfs_error *error);

/** timer_ask() - answer a reducer that asks for a timer: find out what making the timer gives, and
 *  change nothing; timer_effect() (timer-impl.h) makes the timer when the answer is folded
 *  The timer belongs to the principal of the request, and its action must be an event.
 *  @ret_payload: of the receipt: {id, next_ns} on success, {code, message} with -EINVAL; caller
 *  owns it
 *  Return: 0, -EINVAL (no timer can be made, for the reason in @ret_payload), or another -errno
 *  that fails the request, without @ret_payload. */
int timer_ask(const struct wfs_intent *intent, json_t **ret_payload, struct wfs_error *error);

/** timer_is_enabled() - does the manifest in force have the reducer sys.timer? Worlds that an
 *  earlier version of worldfs made get it when a manifest is applied. */
bool timer_is_enabled(const struct wfs_fold *fold);

extern const struct wfs_domain wfs_timer_domain;
