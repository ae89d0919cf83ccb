/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the tables from which parts of the manual are made (docs/man/parts.py), as one line of
 * JSON: {"effects":[…],"host":FORM,"verbs":[…]}.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fs/verb/verb-impl.h"
#include "kernel/base/host-form.h"
#include "kernel/base/json.h"

static json_t *form_document(const struct wfs_form *form)
{
	static const char *const kinds[] = {
		[WFS_FORM_TEXT] = "text",
		[WFS_FORM_NAT] = "integer",
		[WFS_FORM_INTEGER] = "integer",
		[WFS_FORM_BOOL] = "boolean",
		[WFS_FORM_HASH] = "hash",
		[WFS_FORM_HASH_BYTES] = "hash",
		[WFS_FORM_LIST] = "array",
		[WFS_FORM_RECORD] = "object",
		[WFS_FORM_OBJECT] = "object",
		[WFS_FORM_VALUE] = "value",
	};
	json_t *const document =
		json_pack("{s:s, s:s*, s:s*, s:o*}", "kind", kinds[form->kind], "ref", form->ref,
			"words", form->words, "of", form->of ? form_document(form->of) : NULL);

	if (form->kind == WFS_FORM_INTEGER && form->min > INT64_MIN)
		json_object_update_new(document,
			json_pack("{s:I, s:I}", "min", (json_int_t)form->min, "max",
				(json_int_t)form->max));
	if (form->kind == WFS_FORM_RECORD) {
		json_t *const fields = json_array();

		for (const struct wfs_field *field = form->fields; field->name; field++)
			json_array_append_new(fields,
				json_pack("{s:o, s:s*, s:s, s:b}", "form",
					form_document(field->form), "help", field->help, "name",
					field->name, "optional", field->optional != 0));
		json_object_set_new(document, "fields", fields);
	}
	return document;
}

static json_t *verbs(void)
{
	static const char *const orders[] = {
		[WFS_ORDER_READ] = "read",
		[WFS_ORDER_CHANGE] = "change",
		[WFS_ORDER_RIGHTS] = "rights",
		[WFS_ORDER_TURN] = "turn",
		[WFS_ORDER_WORLD] = "world",
		[WFS_ORDER_AT_ONCE] = "at once",
	};
	json_t *const all = json_array();

	for (size_t i = 0; i < verb_count; i++) {
		const struct verb *const verb = &verb_table[i];

		json_array_append_new(all,
			json_pack("{s:s, s:s?, s:s, s:s, s:o, s:o, s:b}", "name", verb->name,
				"effect",
				verb->effect < WFS_EFFECT_COUNT
					? wfs_effect_kind((enum wfs_effect)verb->effect)
					: NULL,
				"help", verb_help(verb), "order", orders[verb->order], "params",
				form_document(verb_params(verb)), "answer",
				form_document(verb_answer(verb)), "slow", verb->slow));
	}
	return all;
}

static json_t *effects(void)
{
	json_t *const all = json_array();

	for (int i = 0; i < WFS_EFFECT_COUNT; i++) {
		const enum wfs_effect effect = (enum wfs_effect)i;

		json_array_append_new(all,
			json_pack("{s:s?, s:s, s:s, s:s, s:o}", "action", wfs_effect_action(effect),
				"capability", wfs_effect_cap_type(effect), "help",
				wfs_effect_help(effect), "kind", wfs_effect_kind(effect), "params",
				form_document(wfs_effect_params(effect))));
	}
	return all;
}

int main(void)
{
	WFS_AUTO_JSON json_t *tables = json_pack("{s:o, s:o, s:o}", "effects", effects(), "host",
		form_document(&wfs_host_form), "verbs", verbs());
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!tables)
		return EXIT_FAILURE;
	wfs_json_write_document(tables, &text);
	return fwrite(text.data, 1, text.size, stdout) == text.size && fflush(stdout) == 0
		? EXIT_SUCCESS
		: EXIT_FAILURE;
}
