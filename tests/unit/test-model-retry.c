/* SPDX-License-Identifier: Apache-2.0 */
/* When a request is sent again. */
#include "tests/fixture/test.h"

#include "agents/model/retry.h"

/* The input after the first of three attempts, with no wait asked for; tests change one member. */
static struct wfs_retry_input after(int status)
{
	return (struct wfs_retry_input){
		.attempt = 1,
		.attempt_max = 3,
		.status = status,
		.now_s = 1700000000,
		.wait_max_ms = 120000,
	};
}

static void expect_wait(const struct wfs_retry_input *input, int64_t wait_ms)
{
	const struct wfs_retry retry = wfs_retry_decide(input);

	assert_true(retry.again);
	assert_int_equal(retry.wait_ms, wait_ms);
	assert_int_equal(retry.asked_ms, 0);
}

static void expect_final(const struct wfs_retry_input *input)
{
	assert_false(wfs_retry_decide(input).again);
}

/* Case 92. */
TEST(statuses_worth_it_are_retried)
{
	const int statuses[] = {408, 409, 429, 500, 502, 503, 504, 529};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		const struct wfs_retry_input input = after(statuses[i]);

		print_message("status %d\n", statuses[i]);
		expect_wait(&input, 500);
	}
}

/* Case 93. */
TEST(other_statuses_are_final)
{
	const int statuses[] = {200, 301, 307, 400, 401, 403, 404, 413, 422, 501};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		const struct wfs_retry_input input = after(statuses[i]);

		print_message("status %d\n", statuses[i]);
		expect_final(&input);
	}
}

TEST(what_the_transport_lost_is_retried)
{
	struct wfs_retry_input input = after(0);

	expect_final(&input);
	input.lost = true;
	expect_wait(&input, 500);
	input.status = 200; /* half of a body */
	expect_wait(&input, 500);
}

/* Case 92. */
TEST(the_last_attempt_is_final)
{
	struct wfs_retry_input input = after(500);

	input.attempt = 2;
	expect_wait(&input, 1000);
	input.attempt = 3;
	expect_final(&input);
}

TEST(waits_double_up_to_eight_seconds)
{
	struct wfs_retry_input input = after(500);

	input.attempt_max = 100;
	input.attempt = 4;
	expect_wait(&input, 4000);
	input.attempt = 5;
	expect_wait(&input, 8000);
	input.attempt = 99;
	expect_wait(&input, 8000);
}

TEST(chance_takes_up_to_a_quarter_off)
{
	struct wfs_retry_input input = after(500);

	input.random = 0.5;
	expect_wait(&input, 438);
	input.random = 0.999999;
	expect_wait(&input, 376);
}

/* Case 87. */
TEST(seconds_of_the_server_are_kept)
{
	struct wfs_retry_input input = after(429);

	input.random = 0.9;
	input.retry_after = "1";
	expect_wait(&input, 1000);
	input.retry_after = "1.2345";
	expect_wait(&input, 1234);
}

/* Case 88. */
TEST(milliseconds_go_before_seconds)
{
	struct wfs_retry_input input = after(429);

	input.retry_after_ms = "50";
	input.retry_after = "9";
	expect_wait(&input, 50);
	input.retry_after_ms = "50.75";
	expect_wait(&input, 50);
}

/* Case 89. */
TEST(a_date_is_a_wait_from_now)
{
	struct wfs_retry_input input = after(503);

	input.retry_after = "Tue, 14 Nov 2023 22:13:22 GMT"; /* 1700000002 */
	expect_wait(&input, 2000);
}

TEST(a_wait_that_is_none_is_ignored)
{
	const char *const texts[] = {"", "0", "-5", "soon", "inf", "nan", "0x10", "1e3", "1,5",
		"Tue, 14 Nov 2023 22:13:19 GMT"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct wfs_retry_input input = after(429);

		print_message("Retry-After: %s\n", texts[i]);
		input.retry_after = texts[i];
		expect_wait(&input, 500);
	}
}

/* Case 90. */
TEST(a_wait_that_is_too_long_is_final_and_told)
{
	struct wfs_retry_input input = after(429);

	input.should_retry = "true"; /* setting it changes nothing */
	input.retry_after = "120";
	expect_wait(&input, 120000);
	input.retry_after = "600";
	assert_false(wfs_retry_decide(&input).again);
	assert_int_equal(wfs_retry_decide(&input).asked_ms, 600000);
	input.retry_after = "99999999999999999999999";
	assert_int_equal(wfs_retry_decide(&input).asked_ms, INT64_MAX);
	input.retry_after = "Wed, 15 Nov 2023 22:13:20 GMT";
	assert_int_equal(wfs_retry_decide(&input).asked_ms, 86400000);
}

/* Case 91. */
TEST(an_empty_purse_is_final)
{
	struct wfs_retry_input input = after(429);

	input.should_retry = "true";
	input.code = "insufficient_quota";
	expect_final(&input);
	input.code = "";
	input.type = "insufficient_quota";
	expect_final(&input);
	input.type = "requests";
	expect_wait(&input, 500);
}

/* Case 94. */
TEST(the_server_may_say_whether_to_retry)
{
	struct wfs_retry_input input = after(503);

	input.should_retry = "false";
	expect_final(&input);
	input.should_retry = "perhaps";
	expect_wait(&input, 500);
	input = after(400);
	input.should_retry = "true";
	expect_wait(&input, 500);
}
