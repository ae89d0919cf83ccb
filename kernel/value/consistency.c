/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of a wanted height. */
#include "kernel/value/consistency.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernel/base/encode.h"

enum { SHOWN_MAX = 100 }; /* bytes of a refused text that its message repeats */

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool parse(const char *text, size_t size, struct wfs_consistency *consistency)
{
	static const struct {
		const char *prefix;
		enum wfs_consistency_kind kind;
	} forms[] = {
		{"exact:", WFS_CONSISTENCY_EXACT},
		{"at_least:", WFS_CONSISTENCY_AT_LEAST},
	};

	if (size == strlen("head") && strncasecmp(text, "head", size) == 0)
		return true;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const size_t prefix_size = strlen(forms[i].prefix);

		if (size <= prefix_size || strncasecmp(text, forms[i].prefix, prefix_size) != 0)
			continue;
		consistency->kind = forms[i].kind;
		return wfs_decimal_read(text + prefix_size, size - prefix_size,
			       &consistency->height) == size - prefix_size;
	}
	return false;
}

int wfs_consistency_parse(
	const char *text, struct wfs_consistency *ret_consistency, struct wfs_error *error)
{
	struct wfs_consistency consistency = {.kind = WFS_CONSISTENCY_HEAD};
	size_t size;

	while (is_space(*text))
		text++;
	size = strlen(text);
	while (size > 0 && is_space(text[size - 1]))
		size--;
	if (!parse(text, size, &consistency))
		return wfs_error_set(error, WFS_E_INVALID_CONSISTENCY,
			"expected head, exact:<height> or at_least:<height>, got '%.*s'", SHOWN_MAX,
			text);
	*ret_consistency = consistency;
	return 0;
}

int wfs_consistency_height(
	const struct wfs_consistency *consistency, uint64_t *ret_height, struct wfs_error *error)
{
	if (consistency->kind != WFS_CONSISTENCY_EXACT) {
		*ret_height = WFS_HEIGHT_HEAD;
		return 0;
	}
	if (consistency->height == WFS_HEIGHT_HEAD)
		return wfs_error_set(
			error, WFS_E_HEIGHT_UNAVAILABLE, "height 0 does not exist, the first is 1");
	*ret_height = consistency->height;
	return 0;
}

int wfs_consistency_check(
	const struct wfs_consistency *consistency, uint64_t height, struct wfs_error *error)
{
	if (consistency->kind != WFS_CONSISTENCY_AT_LEAST || height >= consistency->height)
		return 0;
	return wfs_error_set(error, WFS_E_HEIGHT_UNAVAILABLE,
		"height %" PRIu64 " is not reached yet, the head is %" PRIu64, consistency->height,
		height);
}
