/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options. See option.h. */
#include "fs/command/frame/option.h"

#include <string.h>

const struct wfs_option_row wfs_option_rows[WFS_OPTION_COUNT] = {
#define OPTION_ROW(constant_, name_, letter_, value_, help_) \
	[WFS_OPTION_##constant_] = {(name_), (letter_), (value_), (help_)},
	WFS_OPTIONS(OPTION_ROW)
#undef OPTION_ROW
};

bool wfs_option_named(const struct wfs_option_row *row, const char *name, size_t size)
{
	if (size == 1)
		return row->letter == name[0];
	return strlen(row->name) == size && memcmp(row->name, name, size) == 0;
}

bool wfs_option_needs_value(const struct wfs_option_row *row)
{
	return row->value && row->value[0] != '[';
}

/* Options of one name agree on whether they take a value. */
const struct wfs_option_row *wfs_option_find(const char *name, size_t size)
{
	for (size_t i = 0; i < WFS_OPTION_COUNT; i++)
		if (wfs_option_named(&wfs_option_rows[i], name, size))
			return &wfs_option_rows[i];
	return NULL;
}

int wfs_option_read(const char *argument, const char *next, struct wfs_given *ret_given)
{
	const bool is_long = argument[1] == '-';
	const char *const name = argument + (is_long ? 2 : 1);
	const size_t size = is_long ? strcspn(name, "=") : 1;

	*ret_given = (struct wfs_given){
		.row = is_long && size == 1 ? NULL : wfs_option_find(name, size),
		.name = name,
		.name_size = size,
		.value = name[size] ? name + size + is_long : NULL,
	};
	if (ret_given->value || !ret_given->row || !wfs_option_needs_value(ret_given->row) || !next)
		return 1;
	ret_given->value = next;
	return 2;
}
