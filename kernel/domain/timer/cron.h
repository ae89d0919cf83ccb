/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Due times by five fields, as in crontab(5): minute, hour, day of the month, month, day of the
 * week. A day is meant if it fits both of its fields or, when neither of them begins with `*`, at
 * least one.
 *
 * When clocks are put forward or back: if the hour begins with `*`, a time is due whenever the
 * clocks show it, twice if they show it twice. Otherwise a time that the clocks skip is due when
 * they are put forward, and one that they show twice is due the first time only.
 * Thread: any.
 */
#pragma once

#include "kernel/domain/timer/zone.h"

enum { WFS_CRON_TEXT_MAX = 256 }; /* bytes */

/* Parsed fields: sets of bits. Plain value. */
struct wfs_cron {
	uint64_t minutes;
	uint32_t hours;
	uint32_t days;    /* of the month; bit 0 is not used */
	uint16_t months;  /* bit 0 is not used */
	uint8_t weekdays; /* bit 0: Sunday */
	bool every_hour;  /* the field of the hour begins with `*` */
	bool either_day;  /* neither field of the day begins with `*` */
};

/** wfs_cron_parse() - read five fields; names of months and weekdays have three letters. @ret_cron:
 *  set on success only. Return: 0, or -EINVAL (invalid_argument: a field is missing or not valid;
 *  the message names the field). */
int wfs_cron_parse(const char *text, struct wfs_cron *ret_cron, struct wfs_error *error);

/** wfs_cron_next() - find the first due time after @after_s, both in seconds since 1970.
 *  @ret_due_s: set on success only
 *  Return: 0, or -ENOENT (no due time in the 41 years after @after_s, as for 30 February). */
int wfs_cron_next(const struct wfs_cron *cron, const struct wfs_zone *zone, int64_t after_s,
	int64_t *ret_due_s);
