/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time zones of timers: how far local time is ahead of UTC, at any time.
 *
 * Folding must give the same due times on every host and in every year, so it never looks a zone up
 * by its name. The host that records a timer looks it up once, and the record gets a description
 * (struct wfs_zone as JSON): the zone's rule, as in TZ of POSIX, and the changes by decree that the
 * rule does not give. Everything else here computes from that description, with integers.
 * Source: tzfile(5) and RFC 8536; docs/decisions/0034-timers.md.
 * Thread: any.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/error.h"

enum {
	WFS_ZONE_NAME_MAX = 64,     /* bytes of a name or a rule */
	WFS_ZONE_CHANGES_MAX = 512, /* changes by decree in one description */
};

/* When the clocks of a rule change, each year. Plain value. */
struct wfs_zone_switch {
	char kind;      /* 'M': day `day` of week `week` of `month`; 'J': day 1 to 365, without 29
			 * February; 'D': day 0 to 365 */
	int month;      /* 1 to 12 */
	int week;       /* 1 to 5; 5: the last */
	int day;        /* of 'M': 0, Sunday, to 6 */
	int64_t time_s; /* seconds after midnight, local time; may be negative */
};

/* A zone. Plain value; `changes` is borrowed from the description it was read from. */
struct wfs_zone {
	int64_t standard_s; /* seconds ahead of UTC */
	int64_t summer_s;
	bool has_summer;
	struct wfs_zone_switch to_summer;
	struct wfs_zone_switch to_standard;
	const json_t *changes; /* [[seconds since 1970, seconds ahead of UTC from then on], …],
				* sorted; NULL: none. The rule begins with the last one. */
};

/** wfs_zone_parse() - read a rule, such as `CET-1CEST,M3.5.0,M10.5.0/3`, `<+0530>-5:30` or `UTC0`
 *  @ret_zone: its `changes` is NULL. Return: 0, or -EINVAL (@rule is not a rule; @ret_zone must
 *  not be used). */
int wfs_zone_parse(const char *rule, struct wfs_zone *ret_zone);

/** wfs_zone_read() - read a description {rule, changes?}; NULL: UTC
 *  @ret_zone: borrows from @description. Return: 0, or -EINVAL (@description has another form;
 *  @ret_zone must not be used). */
int wfs_zone_read(const json_t *description, struct wfs_zone *ret_zone);

/** wfs_zone_describe() - make the description of a zone
 *  @name: of a zone on this host, such as Europe/Berlin, or a rule
 *  @since_s: changes before this time, in seconds since 1970, may be left out
 *  @ret_description: set on success; caller owns it
 *  Return: 0, -EINVAL (invalid_argument: no such zone), -ENOMEM. */
int wfs_zone_describe(
	const char *name, int64_t since_s, json_t **ret_description, struct wfs_error *error);

/** wfs_zone_offset() - get how many seconds local time is ahead of UTC. @utc_s: since 1970 */
int64_t wfs_zone_offset(const struct wfs_zone *zone, int64_t utc_s);

/* The times at which clocks of a zone show a local time: one; two, when they were put back; or none
 * when they were put forward. Plain value. */
struct wfs_zone_times {
	int count;         /* of `utc_s` */
	int64_t utc_s[2];  /* the earlier one first */
	int64_t skipped_s; /* with a count of 0: when the clocks were put forward */
};

/** wfs_zone_times() - find when clocks show @local_s, seconds since 1970 by these clocks. */
struct wfs_zone_times wfs_zone_times(const struct wfs_zone *zone, int64_t local_s);

/* --- the calendar --- */

/* A day of the Gregorian calendar. Plain value. */
struct wfs_date {
	int64_t year;
	int month; /* 1 to 12 */
	int day;   /* 1 to 31 */
};

/** wfs_date_of() - get the date of a day. @days: days after 1 January 1970; may be negative */
struct wfs_date wfs_date_of(int64_t days);

/** wfs_date_days() - count the days from 1 January 1970 to a date. */
int64_t wfs_date_days(struct wfs_date date);

/** wfs_date_month_days() - get the number of days of a month. */
int wfs_date_month_days(int64_t year, int month);

/** wfs_date_weekday() - get the weekday of a day: 0 (Sunday) to 6. @days: as for wfs_date_of() */
int wfs_date_weekday(int64_t days);

/** wfs_floor_div() - divide, rounded down. @b: positive */
static inline int64_t wfs_floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}
