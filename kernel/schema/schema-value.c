/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares JSON values exactly, without the rounding of conversions to double.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-impl.h"

enum {
	PAIRWISE_MAX = 8,        /* items that are compared pairwise, without writing them */
	DECIMAL_DIGITS_MAX = 19, /* of any uint64_t below 10^19 */
};

/* Exact, although converting integers beyond 2^53 to double is not. */
static int compare_integer_to_real(json_int_t integer, double real)
{
	double whole = trunc(real);

	if (real >= 0x1p63)
		return -1;
	if (real < -0x1p63)
		return 1;
	if (integer != (json_int_t)whole)
		return integer < (json_int_t)whole ? -1 : 1;
	return (whole > real) - (whole < real);
}

int schema_compare_numbers(const json_t *a, const json_t *b)
{
	if (json_is_integer(a) && json_is_integer(b)) {
		json_int_t left = json_integer_value(a);
		json_int_t right = json_integer_value(b);

		return (left > right) - (left < right);
	}
	if (json_is_integer(a))
		return compare_integer_to_real(json_integer_value(a), json_real_value(b));
	if (json_is_integer(b))
		return -compare_integer_to_real(json_integer_value(b), json_real_value(a));
	return (json_real_value(a) > json_real_value(b)) -
		(json_real_value(a) < json_real_value(b));
}

static bool arrays_equal(uint64_t *steps, const json_t *a, const json_t *b)
{
	if (json_array_size(a) != json_array_size(b))
		return false;
	for (size_t i = 0; i < json_array_size(a); i++) {
		if (!schema_values_equal(steps, json_array_get(a, i), json_array_get(b, i)))
			return false;
	}
	return true;
}

static bool objects_equal(uint64_t *steps, const json_t *a, const json_t *b)
{
	const char *name;
	json_t *item;

	if (json_object_size(a) != json_object_size(b))
		return false;
	json_object_foreach((json_t *)a, name, item) {
		const json_t *other = json_object_get(b, name);

		if (!other || !schema_values_equal(steps, item, other))
			return false;
	}
	return true;
}

bool schema_values_equal(uint64_t *steps, const json_t *a, const json_t *b)
{
	schema_spend(steps, 1);
	if (json_is_number(a) && json_is_number(b))
		return schema_compare_numbers(a, b) == 0;
	if (json_typeof(a) != json_typeof(b))
		return false;
	if (json_is_array(a))
		return arrays_equal(steps, a, b);
	if (json_is_object(a))
		return objects_equal(steps, a, b);
	if (!json_is_string(a))
		return true;
	if (json_string_length(a) != json_string_length(b))
		return false;
	schema_spend(steps, json_string_length(a) / SCHEMA_TEXT_BYTES_PER_STEP);
	return memcmp(json_string_value(a), json_string_value(b), json_string_length(a)) == 0;
}

/* @value = digits × 10^exponent, without its sign. */
struct decimal {
	uint64_t digits;
	int exponent;
};

/* A real's shortest decimal is what its author wrote: 0.1, not the double next to it. */
static struct decimal decimal_of(const json_t *value, struct wfs_buffer *buffer)
{
	struct decimal decimal = {0};
	bool fraction = false;

	if (json_is_integer(value)) {
		json_int_t integer = json_integer_value(value);

		decimal.digits = integer < 0 ? -(uint64_t)integer : (uint64_t)integer;
		return decimal;
	}
	wfs_buffer_reset(buffer);
	wfs_json_write_real(buffer, json_real_value(value));
	for (const char *at = wfs_buffer_text(buffer); *at; at++) {
		if (*at == 'e') {
			decimal.exponent += (int)strtol(at + 1, NULL, 10);
			break;
		}
		if (*at == '.')
			fraction = true;
		if (*at < '0' || *at > '9')
			continue;
		/* Zeros after 17 digits of a large number (1e20 has 21) go to the exponent. */
		if (decimal.digits >= UINT64_MAX / 10 - 1) {
			decimal.exponent += fraction ? 0 : 1;
			continue;
		}
		decimal.digits = decimal.digits * 10 + (uint64_t)(*at - '0');
		decimal.exponent -= fraction ? 1 : 0;
	}
	return decimal;
}

/* Is value.digits × 10^value.exponent ≡ 0 (mod divisor), in exact arithmetic? */
static bool decimal_is_multiple(struct decimal value, struct decimal divisor)
{
	int shift = value.exponent - divisor.exponent;
	unsigned __int128 scaled = divisor.digits;
	uint64_t rest;

	if (value.digits == 0)
		return true;
	if (divisor.digits == 0)
		return false;
	if (shift < -DECIMAL_DIGITS_MAX)
		return false;
	if (shift < 0) {
		for (; shift < 0; shift++)
			scaled *= 10;
		return value.digits % scaled == 0;
	}
	rest = value.digits % divisor.digits;
	for (; shift > 0 && rest != 0; shift--)
		rest = (uint64_t)((unsigned __int128)rest * 10 % divisor.digits);
	return rest == 0;
}

int schema_is_multiple(const json_t *value, const json_t *divisor)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};
	struct decimal by = decimal_of(divisor, &buffer);
	struct decimal number = decimal_of(value, &buffer);
	int r = wfs_buffer_check(&buffer);

	return r < 0 ? r : decimal_is_multiple(number, by);
}

struct written_item {
	struct wfs_bytes text;
	size_t index;
};

static int compare_written(const void *a, const void *b)
{
	const struct written_item *left = a;
	const struct written_item *right = b;
	size_t size = left->text.size < right->text.size ? left->text.size : right->text.size;
	int order = size > 0 ? memcmp(left->text.data, right->text.data, size) : 0;

	if (order != 0)
		return order;
	if (left->text.size != right->text.size)
		return left->text.size < right->text.size ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

/* Sorts the canonical texts of the items: those of equal values are equal, and then neighbours. */
static int find_repeated_written(
	uint64_t *steps, const json_t *array, size_t *ret_first, size_t *ret_second)
{
	WFS_AUTO_FREE struct written_item *items = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	size_t count = json_array_size(array);
	size_t from = 0;

	items = calloc(count, sizeof(*items));
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		size_t before = text.size;

		wfs_json_write(json_array_get(array, i), &text);
		items[i].index = i;
		items[i].text.size = text.size - before;
	}
	if (wfs_buffer_check(&text) < 0)
		return -ENOMEM;
	schema_spend(steps, count + text.size / SCHEMA_TEXT_BYTES_PER_STEP);
	for (size_t i = 0; i < count; i++) {
		items[i].text.data = text.data + from;
		from += items[i].text.size;
	}
	qsort(items, count, sizeof(*items), compare_written);
	for (size_t i = 1; i < count; i++) {
		if (!wfs_bytes_equal(items[i - 1].text, items[i].text))
			continue;
		*ret_first = items[i - 1].index;
		*ret_second = items[i].index;
		return 1;
	}
	return 0;
}

int schema_find_repeated(
	uint64_t *steps, const json_t *array, size_t *ret_first, size_t *ret_second)
{
	size_t count = json_array_size(array);

	if (count > PAIRWISE_MAX)
		return find_repeated_written(steps, array, ret_first, ret_second);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = i + 1; j < count; j++) {
			if (!schema_values_equal(
				    steps, json_array_get(array, i), json_array_get(array, j)))
				continue;
			*ret_first = i;
			*ret_second = j;
			return 1;
		}
	}
	return 0;
}
