/* SPDX-License-Identifier: Apache-2.0 */
/* Due times: fields of cron in zones whose clocks change, periods, and times of RFC 3339. The
 * expected times are those of tests/fault/timer_model.py. */
#include <string.h>

#include "tests/fixture/json.h"
#include "tests/fixture/test.h"

#include "kernel/domain/timer/cron.h"
#include "kernel/domain/timer/schedule.h"

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define NEW_YORK "EST5EDT,M3.2.0,M11.1.0"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
#define ST_JOHNS "NST3:30NDT,M3.2.0,M11.1.0"
#define HAVANA "CST5CDT,M3.2.0/0,M11.1.0/1"

static int64_t seconds_of(const char *text)
{
	int64_t time_ns = -1;

	assert_int_equal(wfs_schedule_time(text, &time_ns), 0);
	return time_ns / 1000000000;
}

static const struct {
	const char *cron;
	const char *rule;
	const char *after;
	const char *due;
} cases[] = {
	{"* * * * *", "UTC0", "2026-11-27T08:00:00Z", "2026-11-27T08:01:00Z"},
	{"*/15 * * * *", "UTC0", "2026-11-27T08:01:00Z", "2026-11-27T08:15:00Z"},
	/* leap days, and ends of months and years */
	{"0 0 29 2 *", "UTC0", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
	{"0 0 29 2 *", "UTC0", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
	{"0 0 29 2 */7", "UTC0", "2088-03-01T00:00:00Z", "2128-02-29T00:00:00Z"},
	{"0 0 31 * *", "UTC0", "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z"},
	{"59 23 31 12 *", "UTC0", "2026-12-31T23:58:59Z", "2026-12-31T23:59:00Z"},
	{"0 0 1 1 *", "<+13>-13", "2026-11-27T08:00:00Z", "2026-12-31T11:00:00Z"},
	{"0 8 * * *", "IST-5:30", "2026-11-27T08:00:00Z", "2026-11-28T02:30:00Z"},
	/* days of the week */
	{"0 12 * * 7", "UTC0", "2026-11-27T08:00:00Z", "2026-11-29T12:00:00Z"},
	{"0 12 * * mon-fri", "UTC0", "2026-11-28T08:00:00Z", "2026-11-30T12:00:00Z"},
	{"0 12 13 * 5", "UTC0", "2026-11-01T00:00:00Z", "2026-11-06T12:00:00Z"},
	{"0 12 */2 * 5", "UTC0", "2026-11-01T00:00:00Z", "2026-11-13T12:00:00Z"},
	/* the clocks are put forward: a skipped time is due then, once */
	{"30 2 * * *", BERLIN, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
	{"30 2 * * *", BERLIN, "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
	{"0 3 * * *", BERLIN, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"},
	{"15,45 2-3 29 3 *", BERLIN, "2026-03-01T00:00:00Z", "2026-03-29T01:00:00Z"},
	{"15,45 2-3 29 3 *", BERLIN, "2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z"},
	{"30 2 * * *", NEW_YORK, "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z"},
	{"15 2 * * *", LORD_HOWE, "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"},
	{"0 2 * * *", ST_JOHNS, "2026-03-07T12:00:00Z", "2026-03-08T05:30:00Z"},
	{"0 0 * * *", HAVANA, "2026-03-07T12:00:00Z", "2026-03-08T05:00:00Z"},
	/* they are put back: a time that comes twice is due the first time only */
	{"30 2 * * *", BERLIN, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},
	{"30 2 * * *", BERLIN, "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
	{"30 1 * * *", NEW_YORK, "2026-10-31T12:00:00Z", "2026-11-01T05:30:00Z"},
	{"30 1 * * *", NEW_YORK, "2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"},
	{"45 1 * * *", LORD_HOWE, "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z"},
	{"30 0 * * *", HAVANA, "2026-10-31T12:00:00Z", "2026-11-01T04:30:00Z"},
	/* with any hour it is due whenever the clocks show it */
	{"*/30 * * * *", BERLIN, "2026-03-29T00:45:00Z", "2026-03-29T01:00:00Z"},
	{"*/30 * * * *", BERLIN, "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z"},
	{"*/30 * * * *", BERLIN, "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"},
};

TEST(each_hard_case_is_due_when_the_model_says)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		struct wfs_error error = {0};
		struct wfs_cron cron;
		struct wfs_zone zone;
		int64_t due_s = -1;

		print_message("%s, %s, after %s\n", cases[i].cron, cases[i].rule, cases[i].after);
		assert_int_equal(wfs_zone_parse(cases[i].rule, &zone), 0);
		assert_int_equal(wfs_cron_parse(cases[i].cron, &cron, &error), 0);
		assert_int_equal(
			wfs_cron_next(&cron, &zone, seconds_of(cases[i].after), &due_s), 0);
		assert_int_equal(due_s, seconds_of(cases[i].due));
	}
}

TEST(a_date_that_never_comes_is_never_due)
{
	struct wfs_error error = {0};
	struct wfs_zone zone;
	struct wfs_cron cron;
	int64_t due_s;

	assert_int_equal(wfs_zone_read(NULL, &zone), 0);
	assert_int_equal(wfs_cron_parse("0 0 30 2 *", &cron, &error), 0);
	assert_int_equal(wfs_cron_next(&cron, &zone, 0, &due_s), -ENOENT);
}

TEST(fields_that_are_wrong_are_refused_by_name)
{
	static const struct {
		const char *cron;
		const char *message;
	} wrong[] = {{"60 * * * *", "minute"}, {"* 24 * * *", "hour"}, {"* * 0 * *", "day of"},
		{"* * * 13 *", "month"}, {"* * * * 8", "week"}, {"* * * *", "week"},
		{"* * * * * *", "more"}, {"5-1 * * * *", "minute"}, {"*/0 * * * *", "minute"},
		{"5/2 * * * *", "minute"}, {"1,,2 * * * *", "minute"}, {"", "minute"},
		{"* * * foo *", "month"}, {"@daily", "minute"}};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wrong); i++) {
		struct wfs_error error = {0};
		struct wfs_cron cron;

		print_message("'%s'\n", wrong[i].cron);
		assert_int_equal(wfs_cron_parse(wrong[i].cron, &cron, &error), -EINVAL);
		assert_non_null(strstr(error.message, wrong[i].message));
	}
}

TEST(changes_by_decree_go_before_the_rule)
{
	WFS_AUTO_JSON json_t *description =
		json_of("{'changes':[[1000,3600],[2000,0],[3000,3600]],'rule':'<+02>-2'}");
	struct wfs_zone zone;

	assert_int_equal(wfs_zone_read(description, &zone), 0);
	assert_int_equal(wfs_zone_offset(&zone, 1999), 3600);
	assert_int_equal(wfs_zone_offset(&zone, 2000), 0);
	assert_int_equal(wfs_zone_offset(&zone, 3000), 7200);
}

TEST(descriptions_that_are_wrong_are_refused)
{
	static const char *const wrong[] = {"{}", "{'rule':'UTC'}", "{'rule':'UTC0x'}",
		"{'rule':'UTC0','changes':[[2,0],[1,0]]}", "{'rule':'UTC0','changes':[[1,99999]]}",
		"{'rule':'UTC0','changes':[1]}", "{'rule':'CET-1CEST,M13.5.0,M10.5.0'}",
		"{'rule':'CET-1CEST'}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wrong); i++) {
		WFS_AUTO_JSON json_t *description = json_of(wrong[i]);
		struct wfs_zone zone;

		print_message("%s\n", wrong[i]);
		assert_int_equal(wfs_zone_read(description, &zone), -EINVAL);
	}
}

TEST(a_zone_of_the_host_is_described_by_its_rule)
{
	WFS_AUTO_JSON json_t *berlin = NULL;
	WFS_AUTO_JSON json_t *expected = json_of("{'rule':'" BERLIN "'}");
	struct wfs_error error = {0};

	assert_int_equal(wfs_zone_describe("Europe/Berlin", seconds_of("2026-11-27T08:00:00Z"),
				 &berlin, &error),
		0);
	assert_true(json_equal(berlin, expected));
}

TEST(names_that_lead_elsewhere_are_no_zones)
{
	static const char *const wrong[] = {"", "../zoneinfo/UTC", "/etc/passwd", "Europe/Nowhere",
		"Europe", "a//b", "zone.tab"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wrong); i++) {
		WFS_AUTO_JSON json_t *description = NULL;
		struct wfs_error error = {0};

		print_message("'%s'\n", wrong[i]);
		assert_int_equal(wfs_zone_describe(wrong[i], 0, &description, &error), -EINVAL);
		assert_int_equal(error.code, WFS_E_INVALID_ARGUMENT);
	}
}

TEST(dates_are_those_of_the_gregorian_calendar)
{
	for (int64_t days = -719468; days < 120000; days += 7) {
		const struct wfs_date date = wfs_date_of(days);

		assert_int_equal(wfs_date_days(date), days);
		assert_in_range(date.day, 1, wfs_date_month_days(date.year, date.month));
	}
}

static struct wfs_document_timer every(int64_t ms, int64_t created_ns)
{
	return (struct wfs_document_timer){.every_ms = ms,
		.created_ns = created_ns,
		.at_ns = -1,
		.until_ns = -1,
		.catch_up = "one",
		.next_ns = created_ns + ms * 1000000};
}

TEST(a_period_has_exact_multiples)
{
	const struct wfs_document_timer timer = every(100, 7);
	int64_t due_ns;

	assert_int_equal(wfs_schedule_next(&timer, 7, &due_ns), 0);
	assert_int_equal(due_ns, 100000007);
	assert_int_equal(wfs_schedule_next(&timer, 100000007, &due_ns), 0);
	assert_int_equal(due_ns, 200000007);
	assert_int_equal(wfs_schedule_last(&timer, 1000000000000, &due_ns), 0);
	assert_int_equal(due_ns, 999900000007);
}

TEST(a_period_ends_with_the_numbers)
{
	struct wfs_document_timer timer = every(INT64_MAX / 2000000, INT64_MAX / 2 + 10);
	int64_t due_ns;

	assert_int_equal(wfs_schedule_next(&timer, INT64_MAX - 5, &due_ns), -ENOENT);
	timer.every_ms = INT64_MAX;
	assert_int_equal(wfs_schedule_next(&timer, 0, &due_ns), -EIO);
}

TEST(the_last_due_time_by_cron_is_found)
{
	struct wfs_document_timer timer = {.cron = "30 2 * * *",
		.every_ms = -1,
		.at_ns = -1,
		.until_ns = -1,
		.next_ns = seconds_of("2026-01-01T02:30:00Z") * 1000000000};
	int64_t due_ns;

	assert_int_equal(
		wfs_schedule_last(&timer, seconds_of("2027-06-01T02:29:59Z") * 1000000000, &due_ns),
		0);
	assert_int_equal(due_ns / 1000000000, seconds_of("2027-05-31T02:30:00Z"));
}

TEST(the_last_of_many_due_times_is_found_long_after_it)
{
	struct wfs_document_timer timer = {.cron = "* * * 1 *",
		.every_ms = -1,
		.at_ns = -1,
		.until_ns = -1,
		.next_ns = seconds_of("2026-01-01T00:00:00Z") * 1000000000};
	int64_t due_ns;

	for (int i = 0; i < 100; i++) {
		assert_int_equal(wfs_schedule_last(&timer,
					 seconds_of("2026-12-31T23:59:59Z") * 1000000000, &due_ns),
			0);
		assert_int_equal(due_ns / 1000000000, seconds_of("2026-01-31T23:59:00Z"));
	}
}

TEST(times_of_rfc_3339_are_read)
{
	int64_t time_ns;

	assert_int_equal(wfs_schedule_time("2026-11-27T08:00:00.123456789+01:30", &time_ns), 0);
	assert_int_equal(time_ns, seconds_of("2026-11-27T06:30:00Z") * 1000000000 + 123456789);
	assert_int_equal(seconds_of("2026-11-27T06:30:00Z"), 1795761000);
	assert_int_equal(seconds_of("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(seconds_of("2016-12-31T23:59:60Z"), seconds_of("2017-01-01T00:00:00Z"));
}

TEST(other_texts_are_no_times)
{
	static const char *const wrong[] = {"", "2026-11-27", "2026-11-27T08:00:00",
		"2026-02-29T08:00:00Z", "2026-11-27T24:00:00Z", "2026-11-27T08:00:00.Z",
		"2026-11-27T08:00:00+1:00", "1969-12-31T23:59:59Z", "2262-01-01T00:00:00Z",
		"2026-11-27T08:00:00Zx", "2026-11-27 08:00"};
	int64_t time_ns;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(wrong); i++) {
		print_message("'%s'\n", wrong[i]);
		assert_int_equal(wfs_schedule_time(wrong[i], &time_ns), -EINVAL);
	}
}
