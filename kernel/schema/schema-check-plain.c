/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about violations; checks of values without parts. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-check-impl.h"

enum {
	POINTER_SHOWN_MAX = 200,    /* bytes of a pointer in a message */
	MATCH_WORK_PER_STEP = 4096, /* units of match_work() */
	MATCH_LIMIT_FIRST = 32,
	MATCH_LIMIT_FACTOR = 32,
};

/* Reports "at <pointer>: <text>[, got <value>]". */
static int report(struct schema_check *check, const struct schema_path *path, const json_t *value,
	const char *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};
	size_t cut;

	if (!path)
		wfs_buffer_append_text(&pointer, "the top");
	schema_path_append(&pointer, path);
	cut = schema_cut(pointer.data, pointer.size, POINTER_SHOWN_MAX);
	if (cut < pointer.size) {
		pointer.size = cut;
		wfs_buffer_append_text(&pointer, "…");
	}
	if (value) {
		wfs_buffer_append_text(&came, ", got ");
		wfs_json_describe(value, &came);
	}
	if (wfs_buffer_check(&pointer) < 0 || wfs_buffer_check(&came) < 0)
		return -ENOMEM;
	return wfs_error_set(check->error, WFS_E_SCHEMA_VIOLATION, "at %s: %s%s",
		wfs_buffer_text(&pointer), text, wfs_buffer_text(&came));
}

int schema_violation(struct schema_check *check, const struct schema_path *path,
	const json_t *value, const char *format, ...)
{
	char text[512];
	va_list arguments;

	if (check->quiet > 0 || !check->error)
		return -EINVAL;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return report(check, path, value, text);
}

int schema_stop(struct schema_check *check, const struct schema_path *path, const char *text)
{
	int r = report(check, path, NULL, text);

	return r == -EINVAL ? SCHEMA_CHECK_STOPPED : r;
}

/* Appends the value that the schema expects: short arrays and objects in full. */
static void append_expected(struct wfs_buffer *buffer, const json_t *value)
{
	const size_t before = buffer->size;

	if (!json_is_array(value) && !json_is_object(value)) {
		wfs_json_describe(value, buffer);
		return;
	}
	wfs_json_write(value, buffer);
	if (buffer->size - before <= POINTER_SHOWN_MAX)
		return;
	buffer->size = before +
		schema_cut(buffer->data + before, buffer->size - before, POINTER_SHOWN_MAX);
	wfs_buffer_append_text(buffer, "…");
}

int schema_check_equal(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	size_t count = json_array_size(node->enumeration);

	if (node->constant && !schema_values_equal(&check->steps, value, node->constant)) {
		if (check->quiet == 0)
			append_expected(&expected, node->constant);
		return schema_violation(
			check, path, value, "expected %s", wfs_buffer_text(&expected));
	}
	if (!node->enumeration)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (schema_values_equal(&check->steps, value, json_array_get(node->enumeration, i)))
			return 0;
	}
	for (size_t i = 0; check->quiet == 0 && i < count && expected.size < POINTER_SHOWN_MAX;
		i++) {
		if (i > 0)
			wfs_buffer_append_text(&expected, i + 1 == count ? " or " : ", ");
		append_expected(&expected, json_array_get(node->enumeration, i));
		if (i + 1 < count && expected.size >= POINTER_SHOWN_MAX)
			wfs_buffer_append_text(&expected, ", …");
	}
	return schema_violation(check, path, value, "expected %s",
		count > 0 ? wfs_buffer_text(&expected) : "nothing");
}

static int check_bound(struct schema_check *check, const json_t *bound, bool fits,
	const json_t *value, const struct schema_path *path, const char *what)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!bound || fits)
		return 0;
	if (check->quiet > 0)
		return -EINVAL;
	wfs_json_write(bound, &text);
	return schema_violation(check, path, value, "expected %s %s", what, wfs_buffer_text(&text));
}

int schema_check_number(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const struct {
		const json_t *bound;
		int least; /* how the value may compare with the bound */
		int most;
		const char *what;
	} bounds[] = {
		{node->minimum, 0, 1, "a number of at least"},
		{node->maximum, -1, 0, "a number of at most"},
		{node->exclusive_minimum, 1, 1, "a number above"},
		{node->exclusive_maximum, -1, -1, "a number below"},
	};
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(bounds); i++) {
		const json_t *const bound = bounds[i].bound;
		const int order = bound ? schema_compare_numbers(value, bound) : 0;

		r = check_bound(check, bound, order >= bounds[i].least && order <= bounds[i].most,
			value, path, bounds[i].what);
	}
	if (r < 0)
		return r;
	if (!node->multiple_of)
		return 0;
	r = schema_is_multiple(value, node->multiple_of);
	if (r < 0)
		return r;
	return check_bound(check, node->multiple_of, r > 0, value, path, "a multiple of");
}

static uint64_t count_code_points(const char *text, size_t size)
{
	uint64_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/*
 * The greatest cost of a match with this limit. PCRE2 counts its limit separately for each position
 * where a match could begin (pcre2_match.c), and between two counts it may read the whole text.
 */
static uint64_t match_work(const struct wfs_pattern *pattern, size_t size, uint32_t limit)
{
	uint64_t starts = wfs_pattern_at_start(pattern) ? 1 : (uint64_t)size + 1;
	uint64_t work;

	if (__builtin_mul_overflow(starts, (uint64_t)size + 64, &work) ||
		__builtin_mul_overflow(work, (uint64_t)limit, &work))
		return UINT64_MAX;
	return work / MATCH_WORK_PER_STEP + 1;
}

/* Tries small limits first, so that the check is charged for what the match needs. */
int schema_match(struct schema_check *check, const struct schema_pattern *pattern, const char *text,
	size_t size, const struct schema_path *path)
{
	static const char too_much[] = "the pattern takes too much work on this string";
	int r = check->matcher ? 0 : wfs_matcher_new(&check->matcher);

	if (r < 0)
		return r;
	r = -EAGAIN;
	for (uint32_t limit = MATCH_LIMIT_FIRST; r == -EAGAIN && limit <= WFS_PATTERN_MATCH_MAX;
		limit *= MATCH_LIMIT_FACTOR) {
		uint64_t work = match_work(pattern->compiled, size, limit);

		if (work > check->steps)
			return schema_stop(check, path, too_much);
		schema_spend(&check->steps, work);
		r = wfs_pattern_match(pattern->compiled, check->matcher, text, size, limit);
	}
	if (r >= 0 || r == -ENOMEM)
		return r;
	if (r == -EAGAIN || r == -E2BIG)
		return schema_stop(check, path, too_much);
	return schema_stop(check, path, "the string is not one that a pattern can be tried on");
}

static int check_pattern(struct schema_check *check, const struct schema_pattern *pattern,
	const json_t *value, const struct schema_path *path)
{
	const size_t shown = schema_cut(pattern->text, strlen(pattern->text), POINTER_SHOWN_MAX);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const int r = schema_match(
		check, pattern, json_string_value(value), json_string_length(value), path);

	if (r != 0)
		return r < 0 ? r : 0;
	if (check->quiet > 0)
		return -EINVAL;
	wfs_json_write_string(&text, pattern->text, shown);
	return schema_violation(
		check, path, value, "expected a string that matches %s", wfs_buffer_text(&text));
}

const char *schema_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

int schema_check_string(struct schema_check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	size_t size = json_string_length(value);
	uint64_t min = node->length_min;
	uint64_t max = node->length_max;

	schema_spend(&check->steps, size / SCHEMA_TEXT_BYTES_PER_STEP);
	if (min > 0 || max < size) {
		uint64_t count = count_code_points(json_string_value(value), size);

		if (count < min)
			return schema_violation(check, path, value,
				"expected at least %llu character%s (there are %llu)",
				(unsigned long long)min, schema_plural(min),
				(unsigned long long)count);
		if (count > max)
			return schema_violation(check, path, value,
				"expected at most %llu character%s (there are %llu)",
				(unsigned long long)max, schema_plural(max),
				(unsigned long long)count);
	}
	return node->pattern.compiled ? check_pattern(check, &node->pattern, value, path) : 0;
}
