/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options. See option.h. */
#include "fs/command/frame/option.h"

#include <string.h>

#include "kernel/base/cleanup.h"

const struct wfs_option_row wfs_option_rows[WFS_OPTION_COUNT] = {
#define OPTION_ROW(constant_, name_, letter_, value_, member_, help_) \
	[WFS_OPTION_##constant_] = {(name_), (letter_), (value_), (member_), (help_)},
	WFS_OPTIONS(OPTION_ROW)
#undef OPTION_ROW
};

bool wfs_option_needs_value(const struct wfs_option_row *row)
{
	return row->value && row->value[0] != '[';
}

const struct wfs_option_row *wfs_option_find(const char *name, size_t size, wfs_option_set allowed)
{
	for (size_t i = 0; i < WFS_OPTION_COUNT; i++) {
		const struct wfs_option_row *const row = &wfs_option_rows[i];

		if (wfs_option_in(allowed, i) &&
			(size == 1 ? row->letter == name[0]
				   : strlen(row->name) == size &&
						memcmp(row->name, name, size) == 0))
			return row;
	}
	return NULL;
}

/* Reads an argument that begins with `-`. @next: the argument after it, or NULL
 * Return: how many arguments it takes: 2 if @next is its value, otherwise 1. */
static int read_option(const char *argument, const char *next, struct wfs_given *ret_given)
{
	const bool is_long = argument[1] == '-';
	const char *const name = argument + (is_long ? 2 : 1);
	const size_t size = is_long ? strcspn(name, "=") : 1;

	*ret_given = (struct wfs_given){
		.row = is_long && size == 1 ? NULL
					    : wfs_option_find(name, size, ~(wfs_option_set)0),
		.argument = argument,
		.name = name,
		.name_size = size,
		.value = name[size] ? name + size + is_long : NULL,
	};
	if (ret_given->value || !ret_given->row || !wfs_option_needs_value(ret_given->row) || !next)
		return 1;
	ret_given->value = next;
	return 2;
}

void wfs_line_read(struct wfs_line *line, int count, char *const *arguments)
{
	for (int i = 0; i < count;) {
		const char *const argument = arguments[i];
		struct wfs_given given;

		if (!line->options_ended && strcmp(argument, "--") == 0) {
			line->options_ended = true;
			i++;
		} else if (!line->options_ended && argument[0] == '-' && argument[1]) {
			i += read_option(argument, i + 1 < count ? arguments[i + 1] : NULL, &given);
			line->too_many |= line->given_count == WFS_GIVEN_MAX;
			if (!line->too_many)
				line->given[line->given_count++] = given;
		} else {
			if (line->word_count < WFS_ARRAY_COUNT(line->words))
				line->words[line->word_count++] = argument;
			i++;
		}
	}
}
