/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when a request is sent again. */
#include "agents/model/retry.h"

#include <curl/curl.h>
#include <string.h>

#include "agents/model/failure.h"
#include "kernel/base/encode.h"

enum {
	WAIT_FIRST_MS = 500,
	WAIT_LAST_MS = 8000,
	MS_PER_S = 1000,
};

#define JITTER 0.25 /* greatest part of the wait that is randomly subtracted */
#define QUOTA "insufficient_quota"

static bool same(const char *text, const char *wanted)
{
	return text && strcmp(text, wanted) == 0;
}

/*
 * Reads a decimal number without sign or exponent, times @unit, rounded down. Does not use
 * strtod(), which accepts "inf", "nan" and hexadecimal, and the locale's comma.
 * Return: -1: not a number; INT64_MAX: this much or more.
 */
static int64_t read_number(const char *text, int64_t unit)
{
	uint64_t whole = 0;
	int64_t fraction = 0;
	const size_t size = wfs_decimal_read(text, strlen(text), &whole);
	const char *at = text + size;

	if (size == 0)
		return strspn(text, "0123456789") > 0 ? INT64_MAX : -1;
	if (*at == '.')
		for (int64_t digit_unit = unit / 10; *++at >= '0' && *at <= '9'; digit_unit /= 10)
			fraction += digit_unit * (*at - '0');
	if (*at != '\0')
		return -1;
	if (whole > (uint64_t)(INT64_MAX / unit - 1))
		return INT64_MAX;
	return (int64_t)whole * unit + fraction;
}

/* Return: the wait that the server asked for in milliseconds; 0 or less: it did not ask. */
static int64_t asked_ms(const struct wfs_retry_input *input)
{
	int64_t wait_ms = -1;

	if (input->retry_after_ms)
		wait_ms = read_number(input->retry_after_ms, 1);
	if (wait_ms <= 0 && input->retry_after)
		wait_ms = read_number(input->retry_after, MS_PER_S);
	if (wait_ms >= 0 || !input->retry_after)
		return wait_ms;
	const time_t date = curl_getdate(input->retry_after, NULL);
	return date > input->now_s ? ((int64_t)date - input->now_s) * MS_PER_S : -1;
}

static int64_t backoff_ms(unsigned int attempt, double random)
{
	int64_t wait_ms = WAIT_FIRST_MS;

	for (unsigned int i = 1; i < attempt && wait_ms < WAIT_LAST_MS; i++)
		wait_ms *= 2;
	return wait_ms - (int64_t)((double)wait_ms * JITTER * random);
}

static bool status_passes(int status)
{
	switch (status) {
	case 408:
	case 409:
	case 429:
		return true;
	case 501:
		return false;
	default:
		return status >= 500;
	}
}

static bool is_quota(const char *code, const char *type)
{
	return same(code, QUOTA) || same(type, QUOTA);
}

bool wfs_retry_may_pass(const struct wfs_model_failure *failure)
{
	return !is_quota(failure->code, failure->type) &&
		(failure->kind != WFS_MODEL_FAILURE_HTTP || status_passes(failure->status));
}

static bool worth_it(const struct wfs_retry_input *input)
{
	if (is_quota(input->code, input->type))
		return false;
	if (same(input->should_retry, "true"))
		return true;
	if (same(input->should_retry, "false"))
		return false;
	return input->lost || status_passes(input->status);
}

struct wfs_retry wfs_retry_decide(const struct wfs_retry_input *input)
{
	const int64_t asked = asked_ms(input);

	if (asked > input->wait_max_ms)
		return (struct wfs_retry){.asked_ms = asked};
	if (input->attempt >= input->attempt_max || !worth_it(input))
		return (struct wfs_retry){0};
	return (struct wfs_retry){
		.again = true,
		.wait_ms = asked > 0 ? asked : backoff_ms(input->attempt, input->random),
	};
}
