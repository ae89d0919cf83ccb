/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing: jansson reads the text (and refuses bad syntax, duplicate keys, lone surrogates,
 * invalid UTF-8, and numbers out of range), then one walk over the value refuses what has no
 * canonical form and turns whole reals into integers.
 *
 * jansson stops at 2048 levels by itself, so the recursion is bounded before the walk, which goes
 * no deeper than its caller allows, has seen the value.
 */
#include <assert.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "kernel/base/json.h"
#include "kernel/base/span.h"

/* Its "%d" is the greatest depth. */
#define DEPTH_REASON "nested too deeply, the greatest depth is %d levels"

/* Where the walk is: a chain from the value up to the document; formatted only for a refusal. */
struct place {
	const struct place *up; /* NULL: this is the document */
	const char *key;        /* NULL: an array element */
	size_t key_size;
	size_t index;
};

static void pointer_append(struct wfs_buffer *pointer, const struct place *place)
{
	if (!place->up)
		return;
	pointer_append(pointer, place->up);
	wfs_buffer_append_byte(pointer, '/');
	if (!place->key) {
		wfs_buffer_append_int(pointer, (int64_t)place->index);
		return;
	}
	for (size_t i = 0; i < place->key_size; i++) {
		if (place->key[i] == '~')
			wfs_buffer_append_text(pointer, "~0");
		else if (place->key[i] == '/')
			wfs_buffer_append_text(pointer, "~1");
		else
			wfs_buffer_append_byte(pointer, place->key[i]);
	}
}

static int refuse(const struct place *place, const char *reason, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};

	pointer_append(&pointer, place);
	/* The pointer comes last: a long one may be cut, but not the reason. */
	return wfs_error_set(
		error, WFS_E_INVALID_JSON, "%s, at '%s'", reason, wfs_buffer_text(&pointer));
}

static int refuse_depth(const struct place *place, struct wfs_error *error)
{
	char reason[64];
	int depth = 0;

	for (const struct place *around = place->up; around; around = around->up)
		depth++;
	(void)snprintf(reason, sizeof(reason), DEPTH_REASON, depth);
	return refuse(place, reason, error);
}

static int normalise(json_t *json, const struct place *place, int levels, json_t **ret_instead,
	struct wfs_error *error);

static int normalise_real(const json_t *real, const struct place *place, json_t **ret_instead,
	struct wfs_error *error)
{
	int64_t integer = 0;

	switch (wfs_json_real_canonical(json_real_value(real), &integer)) {
	case 0:
		return refuse(place,
			"a real of 2^63 or more and below 10^21 would be an integer beyond 64 bits",
			error);
	case 1:
		return 0;
	default:
		*ret_instead = json_integer(integer);
		return *ret_instead ? 0 : -ENOMEM;
	}
}

static int normalise_array(
	json_t *array, const struct place *place, int levels, struct wfs_error *error)
{
	const size_t count = json_array_size(array);
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct place element = {.up = place, .index = i};
		json_t *instead = NULL;

		r = normalise(json_array_get(array, i), &element, levels, &instead, error);
		if (instead && json_array_set_new(array, i, instead) < 0)
			return -ENOMEM;
	}
	return r;
}

static int normalise_object(
	json_t *object, const struct place *place, int levels, struct wfs_error *error)
{
	void *at = json_object_iter(object);
	int r = 0;

	for (; at && r == 0; at = json_object_iter_next(object, at)) {
		const struct place member = {
			.up = place,
			.key = json_object_iter_key(at),
			.key_size = json_object_iter_key_len(at),
		};
		json_t *instead = NULL;

		r = normalise(json_object_iter_value(at), &member, levels, &instead, error);
		if (instead && json_object_iter_set_new(object, at, instead) < 0)
			return -ENOMEM;
	}
	return r;
}

/*
 * normalise() - make the parsed value at @place canonical
 * @levels: how many arrays and objects may be within one another
 * @ret_instead: the value to replace @json by; caller owns it; unchanged if @json can stay
 */
static int normalise(json_t *json, const struct place *place, int levels, json_t **ret_instead,
	struct wfs_error *error)
{
	switch (json_typeof(json)) {
	case JSON_REAL:
		return normalise_real(json, place, ret_instead, error);
	case JSON_ARRAY:
		if (levels == 0)
			return refuse_depth(place, error);
		return normalise_array(json, place, levels - 1, error);
	case JSON_OBJECT:
		if (levels == 0)
			return refuse_depth(place, error);
		return normalise_object(json, place, levels - 1, error);
	default:
		return 0;
	}
}

/* --- scanning --- */

/*
 * When jansson's scanner has no memory for a byte of a token it does not stop: it ends the process
 * by an assertion, gives another value, or writes after a string whose closing quote it lost. So
 * allocate() jumps out of the scanner, and scan_text() frees what the scan had allocated.
 */
struct block {                  /* in front of all memory that jansson allocates */
	LIST_ENTRY(block) link; /* of the list of its scan; followed during that scan only */
};
static_assert(sizeof(struct block) % alignof(max_align_t) == 0, "what is behind it is aligned");

static _Thread_local struct {
	bool goes;
	LIST_HEAD(blocks, block) blocks; /* of this scan */
	jmp_buf out_of_memory;
} scan;

static void *allocate(size_t size)
{
	struct block *const block =
		size <= SIZE_MAX - sizeof(*block) ? malloc(sizeof(*block) + size) : NULL;

	if (!block && scan.goes)
		longjmp(scan.out_of_memory, 1);
	if (block && scan.goes)
		LIST_INSERT_HEAD(&scan.blocks, block, link);
	return block ? block + 1 : NULL;
}

static void release(void *data)
{
	struct block *const block = data ? (struct block *)data - 1 : NULL;

	if (block && scan.goes)
		LIST_REMOVE(block, link);
	free(block);
}

__attribute__((constructor)) static void set_allocator(void)
{
	json_set_alloc_funcs(allocate, release);
}

/* Return: 0, -EINVAL (@found says where and why), -ENOMEM. */
static int scan_text(
	const char *text, size_t size, size_t more_flags, json_t **ret_json, json_error_t *found)
{
	const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | more_flags;

	LIST_INIT(&scan.blocks);
	scan.goes = true;
	if (setjmp(scan.out_of_memory) == 0) {
		*ret_json = json_loadb(size > 0 ? text : "", size, flags, found);
		scan.goes = false;
		return *ret_json ? 0 : -EINVAL;
	}
	while (!LIST_EMPTY(&scan.blocks))
		release(LIST_FIRST(&scan.blocks) + 1);
	scan.goes = false;
	return -ENOMEM;
}

/*
 * A NUL byte is never JSON, but jansson ignores one that follows a number or a word.
 */
static int refuse_nul(const char *text, size_t nul_index, struct wfs_error *error)
{
	size_t line = 1;
	size_t column = 1;

	for (size_t i = 0; i < nul_index; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return wfs_error_set(
		error, WFS_E_INVALID_JSON, "line %zu column %zu: NUL byte", line, column);
}

static int refuse_syntax(const json_error_t *found, int levels, struct wfs_error *error)
{
	char reason[64];

	(void)snprintf(reason, sizeof(reason), DEPTH_REASON, levels);
	return wfs_error_set(error, WFS_E_INVALID_JSON, "line %d column %d: %s", found->line,
		found->column,
		json_error_code(found) == json_error_stack_overflow ? reason : found->text);
}

/* @levels: as many arrays and objects may be within one another */
static int parse(
	const char *text, size_t size, int levels, json_t **ret_json, struct wfs_error *error)
{
	const struct place document = {0};
	WFS_AUTO_JSON json_t *json = NULL;
	json_error_t found = {0};
	json_t *instead = NULL;
	const char *const nul = size > 0 ? memchr(text, '\0', size) : NULL;
	int r = 0;

	if (nul)
		return refuse_nul(text, (size_t)(nul - text), error);
	r = scan_text(text, size, JSON_REJECT_DUPLICATES, &json, &found);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "parse JSON");
	if (r < 0)
		return refuse_syntax(&found, levels, error);

	r = normalise(json, &document, levels, &instead, error);
	if (r == -ENOMEM)
		return wfs_error_from_errno(error, r, "parse JSON");
	if (r < 0)
		return r;
	if (instead) {
		json_decref(json);
		json = instead;
	}
	*ret_json = WFS_STEAL(json);
	return 0;
}

int wfs_json_parse(const char *text, size_t size, json_t **ret_json, struct wfs_error *error)
{
	return parse(text, size, WFS_JSON_STORED_DEPTH_MAX, ret_json, error);
}

int wfs_json_parse_counted(
	const char *text, size_t size, json_t **ret_json, struct wfs_error *error)
{
	return parse(text, size, WFS_JSON_DEPTH_MAX, ret_json, error);
}

/* --- counting values --- */

size_t wfs_json_count(const char *text, size_t size)
{
	size_t count = 1; /* the outermost value; and one for each comma and each opening bracket */
	bool empty = false; /* nothing follows the last opening bracket so far */

	for (size_t at = 0; at < size;) {
		size_t string;

		switch (text[at++]) {
		case ' ':
		case '\t':
		case '\n':
		case '\r':
			continue;
		case '[':
		case '{':
			count++;
			empty = true;
			continue;
		case ']':
		case '}':
			count -= empty;
			break;
		case ',':
			count++;
			break;
		case '"':
			string = wfs_span_value(WFS_BYTES(text + at - 1, size - at + 1));
			at = string ? at - 1 + string : size;
			break;
		default:
			break;
		}
		empty = false;
	}
	return count;
}

int wfs_json_check_count(size_t count, struct wfs_error *error)
{
	if (count <= WFS_JSON_VALUES_MAX)
		return 0;
	return wfs_error_set(error, WFS_E_TOO_LARGE,
		"the JSON text has %zu values, at most %d are taken", count, WFS_JSON_VALUES_MAX);
}

int wfs_json_parse_bounded(
	const char *text, size_t size, json_t **ret_json, struct wfs_error *error)
{
	/* A value has at least one byte. */
	int r = size > WFS_JSON_VALUES_MAX ? wfs_json_check_count(wfs_json_count(text, size), error)
					   : 0;

	return r ? r : wfs_json_parse_counted(text, size, ret_json, error);
}

int wfs_json_look(const char *text, size_t size, json_t **ret_json)
{
	json_error_t found = {0};

	if (size > WFS_JSON_VALUES_MAX &&
		wfs_json_check_count(wfs_json_count(text, size), NULL) < 0)
		return -EFBIG;
	return size > 0 && memchr(text, '\0', size)
		? -EINVAL
		: scan_text(text, size, JSON_DECODE_INT_AS_REAL, ret_json, &found);
}
