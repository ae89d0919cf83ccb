/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of time zones, and the calendar that they are about. */
#include "kernel/domain/timer/zone.h"

#include <string.h>

#include "kernel/base/buffer.h"
#include "kernel/base/json.h"

enum {
	DAY_S = 86400,
	HOUR_MAX = 167, /* of a rule's time: RFC 8536 */
};

/* --- the calendar --- */

/* Days from civil, and back: the year begins in March, so that the leap day is its last. */
int64_t wfs_date_days(struct wfs_date date)
{
	const int64_t year = date.year - (date.month <= 2);
	const int64_t era = wfs_floor_div(year, 400);
	const int64_t of_era = year - era * 400;
	const int64_t month = date.month + (date.month > 2 ? -3 : 9);
	const int64_t of_year = (153 * month + 2) / 5 + date.day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct wfs_date wfs_date_of(int64_t days)
{
	const int64_t shifted = days + 719468;
	const int64_t era = wfs_floor_div(shifted, 146097);
	const int64_t of_era = shifted - era * 146097;
	const int64_t year_of_era =
		(of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	const int64_t month = (5 * of_year + 2) / 153;
	const struct wfs_date date = {
		.year = year_of_era + era * 400 + (month >= 10),
		.month = (int)(month < 10 ? month + 3 : month - 9),
		.day = (int)(of_year - (153 * month + 2) / 5 + 1),
	};

	return date;
}

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int wfs_date_month_days(int64_t year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && is_leap(year));
}

int wfs_date_weekday(int64_t days)
{
	const int64_t since_sunday = (days + 4) % 7; /* 1 January 1970 was a Thursday */

	return (int)(since_sunday < 0 ? since_sunday + 7 : since_sunday);
}

/* --- reading a rule --- */

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Skips the name of a time: letters, or anything between < and >. Return: false if there is
 * none. */
static bool skip_name(const char **at)
{
	const char *const begin = *at;

	if (*begin == '<') {
		const char *const end = strchr(begin, '>');

		if (!end)
			return false;
		*at = end + 1;
		return end - begin >= 4;
	}
	while (is_alpha(**at))
		(*at)++;
	return *at - begin >= 3;
}

static bool take_number(const char **at, int min, int max, int *ret_number)
{
	int number = 0;

	if (!is_digit(**at))
		return false;
	for (; is_digit(**at) && number <= max; (*at)++)
		number = number * 10 + (**at - '0');
	*ret_number = number;
	return number >= min && number <= max;
}

static bool take_char(const char **at, char wanted)
{
	if (**at != wanted)
		return false;
	(*at)++;
	return true;
}

/* Takes [+-]hh[:mm[:ss]]. */
static bool take_time(const char **at, int hour_max, int64_t *ret_s)
{
	const bool negative = take_char(at, '-');
	int hour = 0;
	int minute = 0;
	int second = 0;

	if (!negative)
		(void)take_char(at, '+');
	if (!take_number(at, 0, hour_max, &hour))
		return false;
	if (take_char(at, ':')) {
		if (!take_number(at, 0, 59, &minute))
			return false;
		if (take_char(at, ':') && !take_number(at, 0, 59, &second))
			return false;
	}
	const int64_t time_s = (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
	*ret_s = negative ? -time_s : time_s;
	return true;
}

/* Takes Mm.w.d, Jn or n, and perhaps /time. */
static bool take_switch(const char **at, struct wfs_zone_switch *ret_switch)
{
	struct wfs_zone_switch found = {.kind = 'D', .time_s = 2 * INT64_C(3600)};
	bool good;

	if (take_char(at, 'M')) {
		found.kind = 'M';
		good = take_number(at, 1, 12, &found.month) && take_char(at, '.') &&
			take_number(at, 1, 5, &found.week) && take_char(at, '.') &&
			take_number(at, 0, 6, &found.day);
	} else if (take_char(at, 'J')) {
		found.kind = 'J';
		good = take_number(at, 1, 365, &found.day);
	} else {
		good = take_number(at, 0, 365, &found.day);
	}
	if (good && take_char(at, '/'))
		good = take_time(at, HOUR_MAX, &found.time_s);
	*ret_switch = found;
	return good;
}

int wfs_zone_parse(const char *rule, struct wfs_zone *ret_zone)
{
	struct wfs_zone zone = {.has_summer = false};
	const char *at = rule;

	if (strlen(rule) > WFS_ZONE_NAME_MAX || !skip_name(&at) ||
		!take_time(&at, 24, &zone.standard_s))
		return -EINVAL;
	zone.standard_s = -zone.standard_s; /* a rule counts to the west */
	if (*at) {
		zone.has_summer = true;
		zone.summer_s = zone.standard_s + 3600;
		if (!skip_name(&at))
			return -EINVAL;
		if (*at != ',') {
			if (!take_time(&at, 24, &zone.summer_s))
				return -EINVAL;
			zone.summer_s = -zone.summer_s;
		}
		if (!take_char(&at, ',') || !take_switch(&at, &zone.to_summer) ||
			!take_char(&at, ',') || !take_switch(&at, &zone.to_standard))
			return -EINVAL;
	}
	if (*at)
		return -EINVAL;
	*ret_zone = zone;
	return 0;
}

/* Checks that the changes are pairs in order, within the bounds of the zones of the world. */
static bool are_changes(const json_t *changes)
{
	json_int_t last = INT64_MIN;
	const json_t *change;
	size_t i;

	if (!json_is_array(changes) || json_array_size(changes) > WFS_ZONE_CHANGES_MAX)
		return false;
	json_array_foreach(changes, i, change) {
		const json_t *const at = json_array_get(change, 0);
		const json_t *const ahead = json_array_get(change, 1);
		const json_int_t ahead_s = json_integer_value(ahead);

		if (json_array_size(change) != 2 || !json_is_integer(at) ||
			!json_is_integer(ahead) || ahead_s < -DAY_S || ahead_s > DAY_S ||
			json_integer_value(at) <= last)
			return false;
		last = json_integer_value(at);
	}
	return true;
}

int wfs_zone_read(const json_t *description, struct wfs_zone *ret_zone)
{
	const json_t *const changes = json_object_get(description, "changes");
	struct wfs_zone zone = {.has_summer = false};
	int r = description ? wfs_zone_parse(wfs_json_text(description, "rule"), &zone) : 0;

	if (r || (changes && !are_changes(changes)))
		return -EINVAL;
	zone.changes = json_array_size(changes) > 0 ? changes : NULL;
	*ret_zone = zone;
	return 0;
}

/* --- offsets --- */

/* Seconds since 1970, by the clocks that are changed. */
static int64_t switch_local_s(const struct wfs_zone_switch *at, int64_t year)
{
	const int64_t first = wfs_date_days((struct wfs_date){year, 1, 1});
	int64_t days;

	if (at->kind == 'M') {
		const int64_t month = wfs_date_days((struct wfs_date){year, at->month, 1});
		const int ahead = (at->day - wfs_date_weekday(month) + 7) % 7;
		int day = ahead + (at->week - 1) * 7;

		while (day >= wfs_date_month_days(year, at->month))
			day -= 7;
		days = month + day;
	} else if (at->kind == 'J') {
		days = first + at->day - 1 + (is_leap(year) && at->day >= 60);
	} else {
		days = first + at->day;
	}
	return days * DAY_S + at->time_s;
}

static int64_t rule_offset(const struct wfs_zone *zone, int64_t utc_s)
{
	if (!zone->has_summer)
		return zone->standard_s;
	const struct wfs_date date = wfs_date_of(wfs_floor_div(utc_s + zone->standard_s, DAY_S));
	/* The last change before @utc_s decides; it may have been in the year before. */
	for (int64_t year = date.year + 1; year >= date.year - 1; year--) {
		const int64_t summer = switch_local_s(&zone->to_summer, year) - zone->standard_s;
		const int64_t standard = switch_local_s(&zone->to_standard, year) - zone->summer_s;
		const bool after_summer = summer <= utc_s;
		const bool after_standard = standard <= utc_s;

		if (after_summer && after_standard)
			return summer > standard ? zone->summer_s : zone->standard_s;
		if (after_summer || after_standard)
			return after_summer ? zone->summer_s : zone->standard_s;
	}
	return zone->standard_s;
}

static int64_t change_at(const struct wfs_zone *zone, size_t index, size_t member)
{
	return json_integer_value(json_array_get(json_array_get(zone->changes, index), member));
}

int64_t wfs_zone_offset(const struct wfs_zone *zone, int64_t utc_s)
{
	const size_t count = json_array_size(zone->changes);
	size_t low = 0;
	size_t high = count;

	if (count == 0 || utc_s >= change_at(zone, count - 1, 0))
		return rule_offset(zone, utc_s);
	/* The last change that is not after @utc_s. */
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (change_at(zone, middle, 0) <= utc_s)
			low = middle;
		else
			high = middle;
	}
	return change_at(zone, low, 1);
}

/* When did the clocks change between @low, with the offset before, and @high? */
static int64_t change_between(const struct wfs_zone *zone, int64_t low, int64_t high)
{
	const int64_t before = wfs_zone_offset(zone, low);

	while (high - low > 1) {
		const int64_t middle = low + (high - low) / 2;

		if (wfs_zone_offset(zone, middle) == before)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct wfs_zone_times wfs_zone_times(const struct wfs_zone *zone, int64_t local_s)
{
	const int64_t before = wfs_zone_offset(zone, local_s - DAY_S);
	const int64_t after = wfs_zone_offset(zone, local_s + DAY_S);
	struct wfs_zone_times times = {.count = 0};

	if (wfs_zone_offset(zone, local_s - before) == before)
		times.utc_s[times.count++] = local_s - before;
	if (after != before && wfs_zone_offset(zone, local_s - after) == after)
		times.utc_s[times.count++] = local_s - after;
	if (times.count == 0)
		times.skipped_s = change_between(zone, local_s - DAY_S, local_s + DAY_S);
	return times;
}
