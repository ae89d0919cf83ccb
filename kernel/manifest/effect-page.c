/* SPDX-License-Identifier: Apache-2.0 */
/* Help for people and models about an action, from the table of effects. */
#include <string.h>

#include "kernel/base/page.h"
#include "kernel/manifest/effect.h"

static const char *type_name(const struct wfs_form *shape)
{
	static const char *const names[] = {
		[WFS_FORM_TEXT] = "text",
		[WFS_FORM_NAT] = "integer",
		[WFS_FORM_INTEGER] = "integer",
		[WFS_FORM_BOOL] = "boolean",
		[WFS_FORM_HASH] = "hash",
		[WFS_FORM_LIST] = "array",
		[WFS_FORM_RECORD] = "object",
		[WFS_FORM_OBJECT] = "object",
		[WFS_FORM_VALUE] = "value",
	};

	return names[shape->kind];
}

/* Appends an example with the required members. */
static void append_least(enum wfs_effect effect, struct wfs_buffer *buffer)
{
	const struct wfs_field *member = wfs_effect_params(effect)->fields;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text, "{\"action_type\":\"%s\"", wfs_effect_action(effect));
	for (; member->name; member++)
		if (!member->optional)
			wfs_buffer_printf(&text, ", \"%s\":%s", member->name,
				member->form->kind == WFS_FORM_NAT ? "1" : "\"...\"");
	wfs_buffer_append_byte(&text, '}');
	wfs_buffer_append_text(buffer, "  ");
	wfs_page_words(buffer, 2, 3, wfs_buffer_bytes(&text));
	buffer->failed = buffer->failed || text.failed;
}

void wfs_effect_action_page(enum wfs_effect effect, struct wfs_buffer *buffer)
{
	const struct wfs_field *member = wfs_effect_params(effect)->fields;

	wfs_buffer_printf(buffer, "%s: %s\n\nMembers, beside action_type:\n",
		wfs_effect_action(effect), wfs_effect_help(effect));
	for (; member->name; member++) {
		char left[64];

		snprintf(left, sizeof(left), "  %s (%s%s)", member->name, type_name(member->form),
			member->optional ? "" : "; required");
		wfs_page_item(buffer, left, member->help);
	}
	wfs_buffer_append_text(buffer, "\nAt least:\n");
	append_least(effect, buffer);
	wfs_buffer_printf(
		buffer, "\nA grant of type '%s' covers it.\n", wfs_effect_cap_type(effect));
}
