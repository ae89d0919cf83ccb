/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/domain/timer/schedule.h"

#include <string.h>

#include "kernel/domain/timer/cron.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)
#define YEAR_MAX 2261 /* the last whole year of 64 bits */

/* --- due times --- */

static int next_of_period(
	const struct wfs_document_timer *timer, int64_t after_ns, int64_t *ret_due_ns)
{
	int64_t period_ns;
	int64_t since_ns;

	if (timer->every_ms < 1 || __builtin_mul_overflow(timer->every_ms, MS_NS, &period_ns) ||
		__builtin_sub_overflow(after_ns, timer->created_ns, &since_ns))
		return -EIO;
	const int64_t count = since_ns < 0 ? 1 : since_ns / period_ns + 1;
	int64_t offset_ns;
	if (__builtin_mul_overflow(count, period_ns, &offset_ns) ||
		__builtin_add_overflow(timer->created_ns, offset_ns, ret_due_ns))
		return -ENOENT;
	return 0;
}

static int next_of_cron(
	const struct wfs_document_timer *timer, int64_t after_ns, int64_t *ret_due_ns)
{
	struct wfs_error ignored = {0};
	struct wfs_zone zone;
	struct wfs_cron cron;
	int64_t due_s;

	if (wfs_cron_parse(timer->cron, &cron, &ignored) || wfs_zone_read(timer->zone, &zone))
		return -EIO;
	int r = wfs_cron_next(&cron, &zone, wfs_floor_div(after_ns, SECOND_NS), &due_s);
	if (!r && due_s > INT64_MAX / SECOND_NS)
		r = -ENOENT;
	if (!r)
		*ret_due_ns = due_s * SECOND_NS;
	return r;
}

int wfs_schedule_next(const struct wfs_document_timer *timer, int64_t after_ns, int64_t *ret_due_ns)
{
	int64_t due_ns = timer->at_ns;
	int r = timer->at_ns > after_ns ? 0 : -ENOENT;

	if (timer->every_ms >= 0)
		r = next_of_period(timer, after_ns, &due_ns);
	else if (timer->cron)
		r = next_of_cron(timer, after_ns, &due_ns);
	if (!r && timer->until_ns >= 0 && due_ns > timer->until_ns)
		r = -ENOENT;
	if (!r)
		*ret_due_ns = due_ns;
	return r;
}

int wfs_schedule_last(const struct wfs_document_timer *timer, int64_t until_ns, int64_t *ret_due_ns)
{
	int64_t due_ns = timer->next_ns;

	/* The time in which it can be is halved: 63 steps at most, however many due times are in
	 * it. */
	while (due_ns < until_ns) {
		const int64_t middle_ns = due_ns + (until_ns - due_ns) / 2;
		int64_t found_ns;
		int r = wfs_schedule_next(timer, middle_ns, &found_ns);

		if (r == -EIO)
			return r;
		if (!r && found_ns <= until_ns)
			due_ns = found_ns;
		else
			until_ns = middle_ns;
	}
	*ret_due_ns = due_ns;
	return 0;
}

int64_t wfs_schedule_after(int64_t now_ns, int64_t after_ms)
{
	int64_t after_ns;
	int64_t time_ns;

	return __builtin_mul_overflow(after_ms, MS_NS, &after_ns) ||
			__builtin_add_overflow(now_ns, after_ns, &time_ns)
		? INT64_MAX
		: time_ns;
}

/* --- RFC 3339 --- */

/* Takes @count digits, and the character that follows. @after: '\0': any */
static bool take_digits(const char **at, int count, char after, int64_t *ret_number)
{
	int64_t number = 0;

	for (int i = 0; i < count; i++, (*at)++) {
		if (**at < '0' || **at > '9')
			return false;
		number = number * 10 + (**at - '0');
	}
	*ret_number = number;
	if (!after)
		return true;
	if (**at != after)
		return false;
	(*at)++;
	return true;
}

/* Takes a fraction of a second, of which nine digits count. */
static bool take_fraction(const char **at, int64_t *ret_ns)
{
	int64_t unit_ns = SECOND_NS / 10;

	*ret_ns = 0;
	if (**at != '.')
		return true;
	(*at)++;
	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9'; (*at)++, unit_ns /= 10)
		*ret_ns += (**at - '0') * unit_ns;
	return true;
}

/* Takes Z, or +hh:mm. @ret_s: seconds ahead of UTC */
static bool take_offset(const char **at, int64_t *ret_s)
{
	const char sign = **at;
	int64_t hour;
	int64_t minute;

	*ret_s = 0;
	(*at)++;
	if (sign == 'Z' || sign == 'z')
		return true;
	if ((sign != '+' && sign != '-') || !take_digits(at, 2, ':', &hour) ||
		!take_digits(at, 2, '\0', &minute) || hour > 23 || minute > 59)
		return false;
	*ret_s = (hour * 3600 + minute * 60) * (sign == '-' ? -1 : 1);
	return true;
}

int wfs_schedule_time(const char *text, int64_t *ret_ns)
{
	const char *at = text;
	int64_t year, month, day, hour, minute, second, fraction_ns, ahead_s;

	if (!take_digits(&at, 4, '-', &year) || !take_digits(&at, 2, '-', &month) ||
		!take_digits(&at, 2, '\0', &day) || !*at || !strchr("Tt ", *at))
		return -EINVAL;
	at++;
	if (!take_digits(&at, 2, ':', &hour) || !take_digits(&at, 2, ':', &minute) ||
		!take_digits(&at, 2, '\0', &second) || !take_fraction(&at, &fraction_ns) || !*at ||
		!take_offset(&at, &ahead_s) || *at)
		return -EINVAL;
	if (year < 1970 || year > YEAR_MAX || month < 1 || month > 12 || day < 1 ||
		day > wfs_date_month_days(year, (int)month) || hour > 23 || minute > 59 ||
		second > 60)
		return -EINVAL;
	const int64_t days = wfs_date_days((struct wfs_date){year, (int)month, (int)day});
	const int64_t utc_s = days * 86400 + hour * 3600 + minute * 60 + second - ahead_s;
	if (utc_s < 0)
		return -EINVAL;
	*ret_ns = utc_s * SECOND_NS + fraction_ns;
	return 0;
}
