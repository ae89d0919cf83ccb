/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking of values against a compiled schema. The first violation is reported.
 *
 * The work of a check is bounded by a count of steps, whatever schema and value are, and the count
 * depends on nothing but the two, so that the same check ends the same way on every machine. When
 * it runs out the check as a whole fails: no `not` or `anyOf` may take that for an answer.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/schema/schema-impl.h"

enum {
	POINTER_SHOWN_MAX = 200,    /* bytes of a pointer in a message */
	MATCH_WORK_PER_STEP = 4096, /* units of match_work() */
	MATCH_LIMIT_FIRST = 32,
	MATCH_LIMIT_FACTOR = 32,
};

struct check {
	struct wfs_error *error;
	unsigned quiet; /* above 0: the answer counts, nobody will read why */
	unsigned depth;
	uint64_t steps;              /* left */
	struct wfs_matcher *matcher; /* owned; NULL until there is a pattern to try */
};

/* Results of the functions below, besides 0 (fits), -EINVAL (does not) and -ENOMEM. */
enum { CHECK_STOPPED = -E2BIG };

static int check_node(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path);

/* "at <pointer>: <text>[, got <value>]" */
static int report(
	struct check *check, const struct schema_path *path, const json_t *value, const char *text)
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
		wfs_schema_describe(value, &came);
	}
	if (wfs_buffer_check(&pointer) < 0 || wfs_buffer_check(&came) < 0)
		return -ENOMEM;
	return wfs_error_set(check->error, WFS_E_SCHEMA_VIOLATION, "at %s: %s%s",
		wfs_buffer_text(&pointer), text, wfs_buffer_text(&came));
}

/* The value does not fit. Return: -EINVAL, -ENOMEM. */
__attribute__((format(printf, 4, 5))) static int violation(struct check *check,
	const struct schema_path *path, const json_t *value, const char *format, ...)
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

/* A limit was hit. Return: CHECK_STOPPED, -ENOMEM. */
static int stop(struct check *check, const struct schema_path *path, const char *text)
{
	int r = report(check, path, NULL, text);

	return r == -EINVAL ? CHECK_STOPPED : r;
}

static bool is_whole(const json_t *value)
{
	double real;

	if (json_is_integer(value))
		return true;
	real = json_real_value(value);
	return isfinite(real) && floor(real) == real;
}

static unsigned types_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_NULL:
		return SCHEMA_NULL;
	case JSON_TRUE:
	case JSON_FALSE:
		return SCHEMA_BOOLEAN;
	case JSON_INTEGER:
		return SCHEMA_INTEGER | SCHEMA_NUMBER;
	case JSON_REAL:
		return is_whole(value) ? SCHEMA_INTEGER | SCHEMA_NUMBER : SCHEMA_NUMBER;
	case JSON_STRING:
		return SCHEMA_STRING;
	case JSON_ARRAY:
		return SCHEMA_ARRAY;
	case JSON_OBJECT:
		return SCHEMA_OBJECT;
	}
	return 0;
}

/* A value the schema expects: arrays and objects in full, as far as they are short. */
static void append_expected(struct wfs_buffer *buffer, const json_t *value)
{
	const size_t before = buffer->size;

	if (!json_is_array(value) && !json_is_object(value)) {
		wfs_schema_describe(value, buffer);
		return;
	}
	wfs_json_write(value, buffer);
	if (buffer->size - before <= POINTER_SHOWN_MAX)
		return;
	buffer->size = before +
		schema_cut(buffer->data + before, buffer->size - before, POINTER_SHOWN_MAX);
	wfs_buffer_append_text(buffer, "…");
}

static int check_equal(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};
	size_t count = json_array_size(node->enumeration);

	if (node->constant && !schema_values_equal(&check->steps, value, node->constant)) {
		if (check->quiet == 0)
			append_expected(&expected, node->constant);
		return violation(check, path, value, "expected %s", wfs_buffer_text(&expected));
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
	return violation(check, path, value, "expected %s",
		count > 0 ? wfs_buffer_text(&expected) : "nothing");
}

static int check_bound(struct check *check, const json_t *bound, bool fits, const json_t *value,
	const struct schema_path *path, const char *what)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!bound || fits)
		return 0;
	if (check->quiet > 0)
		return -EINVAL;
	wfs_json_write(bound, &text);
	return violation(check, path, value, "expected %s %s", what, wfs_buffer_text(&text));
}

static int check_number(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	const json_t *bound;
	int r;

	bound = node->minimum;
	r = check_bound(check, bound, bound && schema_compare_numbers(value, bound) >= 0, value,
		path, "a number of at least");
	if (r < 0)
		return r;
	bound = node->maximum;
	r = check_bound(check, bound, bound && schema_compare_numbers(value, bound) <= 0, value,
		path, "a number of at most");
	if (r < 0)
		return r;
	bound = node->exclusive_minimum;
	r = check_bound(check, bound, bound && schema_compare_numbers(value, bound) > 0, value,
		path, "a number above");
	if (r < 0)
		return r;
	bound = node->exclusive_maximum;
	r = check_bound(check, bound, bound && schema_compare_numbers(value, bound) < 0, value,
		path, "a number below");
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
 * What a match with this limit can cost at worst. PCRE2 counts its limit anew for each place where
 * a match could begin (pcre2_match.c), and between two counts it may walk over the whole text.
 */
static uint64_t match_work(const struct schema_node *node, size_t size, uint32_t limit)
{
	uint64_t starts = wfs_pattern_at_start(node->pattern) ? 1 : (uint64_t)size + 1;
	uint64_t work;

	if (__builtin_mul_overflow(starts, (uint64_t)size + 64, &work) ||
		__builtin_mul_overflow(work, (uint64_t)limit, &work))
		return UINT64_MAX;
	return work / MATCH_WORK_PER_STEP + 1;
}

/* Small limits first, so that a check is charged for what it needs and not for what it could. */
static int check_pattern(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	static const char too_much[] = "the pattern takes too much work on this string";
	size_t size = json_string_length(value);
	int r = check->matcher ? 0 : wfs_matcher_new(&check->matcher);

	if (r < 0)
		return r;
	r = -EAGAIN;
	for (uint32_t limit = MATCH_LIMIT_FIRST; r == -EAGAIN && limit <= WFS_PATTERN_MATCH_MAX;
		limit *= MATCH_LIMIT_FACTOR) {
		uint64_t work = match_work(node, size, limit);

		if (work > check->steps)
			return stop(check, path, too_much);
		schema_spend(&check->steps, work);
		r = wfs_pattern_match(
			node->pattern, check->matcher, json_string_value(value), size, limit);
	}
	if (r == 1)
		return 0;
	if (r == 0) {
		WFS_AUTO_BUFFER struct wfs_buffer shown = {0};

		if (check->quiet > 0)
			return -EINVAL;
		wfs_json_write_string(&shown, node->pattern_text,
			schema_cut(
				node->pattern_text, strlen(node->pattern_text), POINTER_SHOWN_MAX));
		return violation(check, path, value, "expected a string that matches %s",
			wfs_buffer_text(&shown));
	}
	if (r == -ENOMEM)
		return r;
	if (r == -EAGAIN || r == -E2BIG)
		return stop(check, path, too_much);
	return stop(check, path, "the string is not one that a pattern can be tried on");
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static int check_string(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	size_t size = json_string_length(value);
	uint64_t min = node->length_min;
	uint64_t max = node->length_max;

	schema_spend(&check->steps, size / SCHEMA_TEXT_BYTES_PER_STEP);
	if (min > 0 || max < size) {
		uint64_t count = count_code_points(json_string_value(value), size);

		if (count < min)
			return violation(check, path, value,
				"expected at least %llu character%s (there are %llu)",
				(unsigned long long)min, plural(min), (unsigned long long)count);
		if (count > max)
			return violation(check, path, value,
				"expected at most %llu character%s (there are %llu)",
				(unsigned long long)max, plural(max), (unsigned long long)count);
	}
	return node->pattern ? check_pattern(check, node, value, path) : 0;
}

static int check_unique(struct check *check, const json_t *value, const struct schema_path *path)
{
	size_t first = 0;
	size_t second = 0;
	int r = schema_find_repeated(&check->steps, value, &first, &second);

	if (r <= 0)
		return r;
	return violation(check, path, NULL,
		"expected items that differ, got items %zu and %zu equal", first, second);
}

static int check_inner(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	int r;

	if (check->depth >= WFS_JSON_DEPTH_MAX)
		return stop(check, path, "the value is nested too deeply");
	check->depth++;
	r = check_node(check, node, value, path);
	check->depth--;
	return r;
}

static int check_array(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	size_t count = json_array_size(value);

	if (count < node->items_min)
		return violation(check, path, value, "expected at least %llu item%s",
			(unsigned long long)node->items_min, plural(node->items_min));
	if (count > node->items_max)
		return violation(check, path, value, "expected at most %llu item%s",
			(unsigned long long)node->items_max, plural(node->items_max));
	for (size_t i = 0; i < count; i++) {
		struct schema_path inner = {.parent = path, .index = i};
		const struct schema_node *item_node =
			i < node->prefix_items.count ? node->prefix_items.nodes[i] : node->items;
		int r;

		if (!item_node)
			break;
		if (item_node->never)
			return violation(check, &inner, json_array_get(value, i),
				"expected no item at this place");
		r = check_inner(check, item_node, json_array_get(value, i), &inner);
		if (r < 0)
			return r;
	}
	return node->items_unique ? check_unique(check, value, path) : 0;
}

static int member_missing(struct check *check, const struct schema_property *property,
	const json_t *value, const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	WFS_AUTO_JSON json_t *text = NULL;

	if (check->quiet > 0)
		return -EINVAL;
	text = json_string(property->name);
	if (!text)
		return -ENOMEM;
	wfs_schema_describe(text, &name);
	/* "string " is how describe begins; a name needs only what follows. */
	return violation(check, path, value, "expected a member %s",
		wfs_buffer_text(&name) + strlen("string "));
}

/* Members that `properties` does not name. */
static int check_additional(struct check *check, const struct schema_node *node,
	const json_t *value, const struct schema_path *path)
{
	const json_t *known = json_object_get(node->definition, "properties");
	const char *name;
	json_t *item;

	json_object_foreach((json_t *)value, name, item)
	{
		struct schema_path inner = {.parent = path, .name = name};
		int r;

		if (json_object_get(known, name))
			continue;
		if (node->additional->never)
			return violation(check, &inner, item, "expected no member of this name");
		r = check_inner(check, node->additional, item, &inner);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_object(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	size_t size = json_object_size(value);
	size_t known = 0;

	if (size < node->members_min)
		return violation(check, path, value, "expected at least %llu member%s",
			(unsigned long long)node->members_min, plural(node->members_min));
	if (size > node->members_max)
		return violation(check, path, value, "expected at most %llu member%s",
			(unsigned long long)node->members_max, plural(node->members_max));
	schema_spend(&check->steps, node->property_count / 8);
	for (size_t i = 0; i < node->property_count; i++) {
		const struct schema_property *property = &node->properties[i];
		struct schema_path inner = {.parent = path, .name = property->name};
		const json_t *item = json_object_get(value, property->name);
		int r;

		if (!item) {
			if (property->required)
				return member_missing(check, property, value, path);
			continue;
		}
		if (!property->node)
			continue;
		known++;
		r = check_inner(check, property->node, item, &inner);
		if (r < 0)
			return r;
	}
	if (!node->additional || known == size)
		return 0;
	return check_additional(check, node, value, path);
}

/* How many of the list fit; looking ends at @enough. Return: the count, or negative. */
static int count_fitting(struct check *check, const struct schema_list *list, const json_t *value,
	const struct schema_path *path, int enough)
{
	int count = 0;

	check->quiet++;
	for (size_t i = 0; i < list->count && count < enough; i++) {
		int r = check_node(check, list->nodes[i], value, path);

		if (r < 0 && r != -EINVAL)
			return r;
		count += r == 0;
	}
	check->quiet--;
	return count;
}

static int check_choices(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	int count;

	if (node->any_of.count > 0) {
		count = count_fitting(check, &node->any_of, value, path, 1);
		if (count < 0)
			return count;
		if (count == 0)
			return violation(check, path, value,
				"expected a value that fits one of %zu schemas (anyOf)",
				node->any_of.count);
	}
	if (node->one_of.count > 0) {
		count = count_fitting(check, &node->one_of, value, path, 2);
		if (count < 0)
			return count;
		if (count != 1)
			return violation(check, path, value,
				"expected a value that fits exactly one of %zu schemas (oneOf, %s)",
				node->one_of.count, count == 0 ? "it fits none" : "it fits two");
	}
	return 0;
}

static int check_in_place(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	int r = node->target ? check_node(check, node->target, value, path) : 0;

	for (size_t i = 0; r == 0 && i < node->all_of.count; i++)
		r = check_node(check, node->all_of.nodes[i], value, path);
	if (r == 0)
		r = check_choices(check, node, value, path);
	if (r < 0 || !node->negated)
		return r;
	check->quiet++;
	r = check_node(check, node->negated, value, path);
	if (r < 0 && r != -EINVAL)
		return r;
	check->quiet--;
	return r < 0 ? 0
		     : violation(check, path, value, "expected a value that does not fit (not)");
}

static int check_type(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};

	if (check->quiet > 0)
		return -EINVAL;
	schema_type_names(node->types, &names);
	return violation(check, path, value, "expected %s", wfs_buffer_text(&names));
}

static int check_node(struct check *check, const struct schema_node *node, const json_t *value,
	const struct schema_path *path)
{
	int r = 0;

	if (check->steps == 0)
		return stop(check, path, "the check takes too many steps");
	check->steps--;
	if (node->never)
		return violation(check, path, value, "expected nothing");
	if (node->types != SCHEMA_ANY && !(node->types & types_of(value)))
		return check_type(check, node, value, path);
	if (node->checks == 0)
		return 0;
	if (node->checks & SCHEMA_CHECK_EQUAL)
		r = check_equal(check, node, value, path);
	if (r < 0)
		return r;
	if (json_is_number(value) && (node->checks & SCHEMA_CHECK_NUMBER))
		r = check_number(check, node, value, path);
	else if (json_is_string(value) && (node->checks & SCHEMA_CHECK_STRING))
		r = check_string(check, node, value, path);
	else if (json_is_array(value) && (node->checks & SCHEMA_CHECK_ARRAY))
		r = check_array(check, node, value, path);
	else if (json_is_object(value) && (node->checks & SCHEMA_CHECK_OBJECT))
		r = check_object(check, node, value, path);
	if (r < 0 || !(node->checks & SCHEMA_CHECK_IN_PLACE))
		return r;
	return check_in_place(check, node, value, path);
}

int wfs_schema_check_counted(const struct wfs_schema *schema, const json_t *value, uint64_t *steps,
	struct wfs_error *error)
{
	struct check check = {.error = error, .steps = WFS_SCHEMA_STEPS_MAX};
	int r;

	r = check_node(&check, schema->root, value, NULL);
	wfs_matcher_free(check.matcher);
	*steps += WFS_SCHEMA_STEPS_MAX - check.steps;
	return r == CHECK_STOPPED ? -EINVAL : r;
}

int wfs_schema_check(const struct wfs_schema *schema, const json_t *value, struct wfs_error *error)
{
	uint64_t steps = 0;

	return wfs_schema_check_counted(schema, value, &steps, error);
}
