/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real numbers in ECMAScript's shortest form (RFC 8785 3.2.2.3; ECMA-262, Number::toString).
 *
 * The C library prints correctly rounded digits of a chosen count, so the shortest form is found
 * by asking for few digits and reading them back. Nothing here depends on the locale.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/json.h"

enum {
	DIGITS_MAX = DBL_DECIMAL_DIG, /* 17: enough for every double */
	PLAIN_EXPONENT_MAX = 21,      /* ECMA-262: below 10^21 there is no exponent … */
	PLAIN_EXPONENT_MIN = -6,      /* … nor from 10^-6 on */
};

#define TWO_TO_63 9223372036854775808.0
#define TEN_TO_21 1e21

/* 0.DIGITS × 10^exponent */
struct decimal {
	char digits[DIGITS_MAX];
	int count;
	int exponent;
};

int wfs_json_real_canonical(double value, int64_t *ret_integer)
{
	const double size = fabs(value);

	if (!isfinite(value))
		return 0;
	if (size >= TEN_TO_21)
		return 1;
	if (size >= TWO_TO_63)
		return 0;
	if (trunc(value) != value)
		return 1;
	*ret_integer = (int64_t)value;
	return 2;
}

/* @value > 0, correctly rounded to @count digits. */
static struct decimal decimal_round(double value, int count)
{
	struct decimal decimal = {.count = 0};
	char text[DIGITS_MAX + 16]; /* point (in some locales several bytes), e, sign, exponent */
	const char *at = text;

	snprintf(text, sizeof(text), "%.*e", count - 1, value);
	for (; *at != 'e'; at++)
		if (*at >= '0' && *at <= '9' && decimal.count < count)
			decimal.digits[decimal.count++] = *at;
	decimal.exponent = (int)strtol(at + 1, NULL, 10) + 1;
	return decimal;
}

static bool decimal_is(const struct decimal *decimal, double value)
{
	char text[DIGITS_MAX + 16];

	/* Without a point, whose form depends on the locale. */
	snprintf(text, sizeof(text), "%.*se%d", decimal->count, decimal->digits,
		decimal->exponent - decimal->count);
	return strtod(text, NULL) == value;
}

/* The next larger decimal with as many digits. */
static struct decimal decimal_next(struct decimal decimal)
{
	int i = decimal.count - 1;

	for (; i >= 0 && decimal.digits[i] == '9'; i--)
		decimal.digits[i] = '0';
	if (i >= 0) {
		decimal.digits[i]++;
	} else {
		decimal.digits[0] = '1';
		decimal.exponent++;
	}
	return decimal;
}

static bool is_power_of_two(double value)
{
	int exponent = 0;

	return frexp(value, &exponent) == 0.5;
}

/*
 * The fewest digits that read back as @value; of several such decimals the nearest.
 *
 * Normal numbers keep every decimal of up to DBL_DIG digits, so rounding to DBL_DIG finds all
 * shorter forms too (with zeros at the end); subnormals hold fewer and are searched from one digit.
 * Below a power of two doubles lie closer than above it: there the nearest decimal may not read
 * back while the next one above does (2^-44 is 5.684341886080802e-14, not …801e-14).
 */
static struct decimal decimal_shortest(double value)
{
	struct decimal decimal = {0};

	for (int count = value < DBL_MIN ? 1 : DBL_DIG; count < DIGITS_MAX; count++) {
		decimal = decimal_round(value, count);
		if (decimal_is(&decimal, value))
			return decimal;
		if (is_power_of_two(value)) {
			decimal = decimal_next(decimal);
			if (decimal_is(&decimal, value))
				return decimal;
		}
	}
	return decimal_round(value, DIGITS_MAX);
}

static void append_zeros(struct wfs_buffer *buffer, int count)
{
	for (int i = 0; i < count; i++)
		wfs_buffer_append_byte(buffer, '0');
}

static void append_decimal(struct wfs_buffer *buffer, const struct decimal *decimal)
{
	const int point = decimal->exponent; /* digits before the point */
	const int count = decimal->count;

	if (point > PLAIN_EXPONENT_MAX || point <= PLAIN_EXPONENT_MIN) {
		wfs_buffer_append_byte(buffer, decimal->digits[0]);
		if (count > 1) {
			wfs_buffer_append_byte(buffer, '.');
			wfs_buffer_append(buffer, decimal->digits + 1, (size_t)count - 1);
		}
		wfs_buffer_append_text(buffer, point > 0 ? "e+" : "e");
		wfs_buffer_append_int(buffer, point - 1);
	} else if (point <= 0) {
		wfs_buffer_append_text(buffer, "0.");
		append_zeros(buffer, -point);
		wfs_buffer_append(buffer, decimal->digits, (size_t)count);
	} else if (point < count) {
		wfs_buffer_append(buffer, decimal->digits, (size_t)point);
		wfs_buffer_append_byte(buffer, '.');
		wfs_buffer_append(buffer, decimal->digits + point, (size_t)(count - point));
	} else {
		wfs_buffer_append(buffer, decimal->digits, (size_t)count);
		append_zeros(buffer, point - count);
	}
}

void wfs_json_write_real(struct wfs_buffer *buffer, double value)
{
	struct decimal decimal = {0};

	wfs_require(isfinite(value));
	if (value == 0) {
		wfs_buffer_append_byte(buffer, '0');
		return;
	}
	if (value < 0)
		wfs_buffer_append_byte(buffer, '-');

	decimal = decimal_shortest(fabs(value));
	while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0')
		decimal.count--;
	append_decimal(buffer, &decimal);
}
