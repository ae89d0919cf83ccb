/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/domain/timer/cron.h"

#include <string.h>
#include <strings.h>

enum {
	DAY_S = 86400,
	/* Days that are searched: 29 February on a given weekday can be 40 years away. */
	SEARCH_DAYS = 41 * 366,
};

/* --- reading --- */

/* A field: its name, bounds, and what its values are called from `min` on. */
struct field {
	const char *name;
	int min, max;
	const char *const *words;
};

static const char *const months[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field fields[] = {
	{"minute", 0, 59, NULL},
	{"hour", 0, 23, NULL},
	{"day of the month", 1, 31, NULL},
	{"month", 1, 12, months},
	{"day of the week", 0, 7, weekdays},
};
enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELD_COUNT };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes a number or a word. Return: false: neither, or out of bounds. */
static bool take_value(const struct field *field, const char **at, int *ret_value)
{
	int value = 0;

	for (int i = 0; field->words && field->words[i]; i++) {
		if (strncasecmp(*at, field->words[i], 3) == 0) {
			*at += 3;
			*ret_value = field->min + i;
			return true;
		}
	}
	if (!is_digit(**at))
		return false;
	for (; is_digit(**at) && value <= field->max; (*at)++)
		value = value * 10 + (**at - '0');
	*ret_value = value;
	return value >= field->min && value <= field->max;
}

/* Takes one item of a field's list: *, a, a-b, and a step after * or a-b. */
static bool take_item(const struct field *field, const char **at, uint64_t *bits)
{
	int first = field->min;
	int last = field->max;
	int step = 1;
	bool is_range = true;

	if (**at == '*') {
		(*at)++;
	} else {
		if (!take_value(field, at, &first))
			return false;
		last = first;
		is_range = **at == '-';
		if (is_range) {
			(*at)++;
			if (!take_value(field, at, &last) || last < first)
				return false;
		}
	}
	if (**at == '/') {
		const struct field steps = {.min = 1, .max = field->max};

		(*at)++;
		if (!is_range || !take_value(&steps, at, &step))
			return false;
	}
	for (int value = first; value <= last; value += step)
		*bits |= UINT64_C(1) << value;
	return true;
}

static bool take_field(const struct field *field, const char **at, uint64_t *ret_bits)
{
	uint64_t bits = 0;

	do {
		if (!take_item(field, at, &bits))
			return false;
	} while (**at == ',' && *(*at)++);
	*ret_bits = bits;
	return **at == ' ' || **at == '\t' || !**at;
}

int wfs_cron_parse(const char *text, struct wfs_cron *ret_cron, struct wfs_error *error)
{
	uint64_t bits[FIELD_COUNT] = {0};
	bool stars[FIELD_COUNT] = {false};
	const char *at = text;

	if (strlen(text) > WFS_CRON_TEXT_MAX)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'cron': expected at most %d bytes, got %zu", WFS_CRON_TEXT_MAX,
			strlen(text));
	for (int i = 0; i < FIELD_COUNT; i++) {
		at += strspn(at, " \t");
		stars[i] = *at == '*';
		if (!take_field(&fields[i], &at, &bits[i]))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'cron': expected five fields as in crontab(5), got '%.80s', whose "
				"%s is wrong",
				text, fields[i].name);
	}
	if (at[strspn(at, " \t")])
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'cron': expected five fields as in crontab(5), got more: '%.80s'", text);
	*ret_cron = (struct wfs_cron){
		.minutes = bits[MINUTE],
		.hours = (uint32_t)bits[HOUR],
		.days = (uint32_t)bits[DAY],
		.months = (uint16_t)bits[MONTH],
		.weekdays = (uint8_t)((bits[WEEKDAY] | bits[WEEKDAY] >> 7) & 0x7f),
		.every_hour = stars[HOUR],
		.either_day = !stars[DAY] && !stars[WEEKDAY],
	};
	return 0;
}

/* --- due times --- */

static bool is_day(const struct wfs_cron *cron, int64_t days)
{
	const struct wfs_date date = wfs_date_of(days);
	const bool of_month = cron->days >> date.day & 1;
	const bool of_week = cron->weekdays >> wfs_date_weekday(days) & 1;

	if (!(cron->months >> date.month & 1))
		return false;
	return cron->either_day ? of_month || of_week : of_month && of_week;
}

/* Calls for each minute of a day that the fields name. */
#define EACH_MINUTE(cron, minute)                                \
	for (int minute = 0; minute < DAY_S / 60; minute++)      \
		if (!((cron)->hours >> (minute / 60) & 1) ||     \
			!((cron)->minutes >> (minute % 60) & 1)) \
			;                                        \
		else

/* Finds the first due time after @after_s on a day on which the clocks do not change; INT64_MAX:
 * none. */
static int64_t first_of_plain(
	const struct wfs_cron *cron, int64_t day_s, int64_t ahead_s, int64_t after_s)
{
	EACH_MINUTE(cron, minute)
	{
		const int64_t due_s = day_s + (int64_t)minute * 60 - ahead_s;

		if (due_s > after_s)
			return due_s;
	}
	return INT64_MAX;
}

/* As above, for a day around a change of the clocks. */
static int64_t first_of_changed(
	const struct wfs_cron *cron, const struct wfs_zone *zone, int64_t day_s, int64_t after_s)
{
	int64_t first = INT64_MAX;

	EACH_MINUTE(cron, minute)
	{
		struct wfs_zone_times times = wfs_zone_times(zone, day_s + (int64_t)minute * 60);

		if (times.count == 0 && !cron->every_hour)
			times.utc_s[times.count++] = times.skipped_s;
		if (times.count == 2 && !cron->every_hour)
			times.count = 1;
		for (int i = 0; i < times.count; i++)
			if (times.utc_s[i] > after_s && times.utc_s[i] < first)
				first = times.utc_s[i];
	}
	return first;
}

static int64_t first_of(const struct wfs_cron *cron, const struct wfs_zone *zone, int64_t days,
	int64_t after_s, bool *ret_changed)
{
	const int64_t day_s = days * DAY_S;
	const int64_t ahead_s = wfs_zone_offset(zone, day_s - DAY_S);

	if (!is_day(cron, days))
		return INT64_MAX;
	*ret_changed = ahead_s != wfs_zone_offset(zone, day_s + 2 * INT64_C(86400));
	return *ret_changed ? first_of_changed(cron, zone, day_s, after_s)
			    : first_of_plain(cron, day_s, ahead_s, after_s);
}

int wfs_cron_next(const struct wfs_cron *cron, const struct wfs_zone *zone, int64_t after_s,
	int64_t *ret_due_s)
{
	/* The clocks may have been put back over midnight. */
	const int64_t begin = wfs_floor_div(after_s + wfs_zone_offset(zone, after_s), DAY_S) - 1;

	for (int64_t days = begin; days < begin + SEARCH_DAYS; days++) {
		bool changed = false;
		int64_t due_s = first_of(cron, zone, days, after_s, &changed);

		if (due_s == INT64_MAX)
			continue;
		const int64_t next_s =
			changed ? first_of(cron, zone, days + 1, after_s, &changed) : INT64_MAX;
		*ret_due_s = next_s < due_s ? next_s : due_s;
		return 0;
	}
	return -ENOENT;
}
