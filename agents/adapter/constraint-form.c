/* SPDX-License-Identifier: Apache-2.0 */
/* How each server is asked for a constraint: the values, and their members of a body. */
#include <errno.h>
#include <string.h>

#include "agents/adapter/constraint-impl.h"
#include "kernel/base/json.h"

/* The schema is nested, because llama.cpp reads a flat one as "any object". */
json_t *wfs_constraint_response_format(const json_t *constraint, const json_t *tools)
{
	const char *const name = json_string_value(json_object_get(constraint, "name"));
	const json_t *const strict = json_object_get(constraint, "strict");

	(void)tools;
	return json_pack("{s:s, s:{s:s, s:O, s:b}}", "type", "json_schema", "json_schema", "name",
		name ? name : "answer", "schema", json_object_get(constraint, "schema"), "strict",
		strict ? json_is_true(strict) : true);
}

/* --- choices, for servers without that kind --- */

static bool is_control(char byte)
{
	return (unsigned char)byte < 0x20 || byte == 0x7f;
}

static void append_regex_byte(struct wfs_buffer *text, char byte)
{
	if (is_control(byte)) {
		wfs_buffer_printf(text, "\\x%02x", (unsigned char)byte);
		return;
	}
	if (strchr("\\^$.|?*+()[]{}", byte))
		wfs_buffer_append_byte(text, '\\');
	wfs_buffer_append_byte(text, byte);
}

/* Source: llama.cpp, grammars/README.md */
static void append_grammar_byte(struct wfs_buffer *text, char byte)
{
	if (byte == '\n')
		wfs_buffer_append_text(text, "\\n");
	else if (is_control(byte))
		wfs_buffer_printf(text, "\\x%02x", (unsigned char)byte);
	else if (byte == '"' || byte == '\\')
		wfs_buffer_printf(text, "\\%c", byte);
	else
		wfs_buffer_append_byte(text, byte);
}

/* Appends all choices. @quote: around each */
static void append_choices(struct wfs_buffer *text, const json_t *constraint, const char *quote,
	const char *separator, void (*append)(struct wfs_buffer *text, char byte))
{
	size_t index;
	json_t *choice;

	json_array_foreach(json_object_get(constraint, "choices"), index, choice) {
		const char *const bytes = json_string_value(choice);

		wfs_buffer_append_text(text, index > 0 ? separator : "");
		wfs_buffer_append_text(text, quote);
		for (size_t i = 0; i < json_string_length(choice); i++)
			append(text, bytes[i]);
		wfs_buffer_append_text(text, quote);
	}
}

static json_t *text_of(const struct wfs_buffer *text)
{
	return text->failed ? NULL : json_stringn(text->data, text->size);
}

json_t *wfs_constraint_choices_regex(const json_t *constraint, const json_t *tools)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	(void)tools;
	wfs_buffer_append_byte(&text, '(');
	append_choices(&text, constraint, "", "|", append_regex_byte);
	wfs_buffer_append_byte(&text, ')');
	return text_of(&text);
}

json_t *wfs_constraint_choices_grammar(const json_t *constraint, const json_t *tools)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	(void)tools;
	wfs_buffer_append_text(&text, "root ::= ");
	append_choices(&text, constraint, "\"", " | ", append_grammar_byte);
	return text_of(&text);
}

/* --- structural tags --- */

json_t *wfs_constraint_tag(const json_t *constraint, const json_t *tools)
{
	WFS_AUTO_JSON json_t *structures = json_array();
	size_t index;
	json_t *tool;

	(void)constraint;
	json_array_foreach(tools, index, tool) {
		json_t *const parameters = json_object_get(tool, "parameters");
		json_t *const structure = json_pack("{s:o, s:o, s:s}", "begin",
			json_sprintf(CONSTRAINT_TAG_TRIGGER "%s>", wfs_json_text(tool, "name")),
			"schema",
			parameters ? json_incref(parameters) : json_pack("{s:s}", "type", "object"),
			"end", "</function>");

		if (json_array_append_new(structures, structure) < 0)
			return NULL;
	}
	return json_pack("{s:s, s:O, s:[s]}", "type", "structural_tag", "structures", structures,
		"triggers", CONSTRAINT_TAG_TRIGGER);
}

json_t *wfs_constraint_tag_text(const json_t *constraint, const json_t *tools)
{
	WFS_AUTO_JSON json_t *tag = wfs_constraint_tag(constraint, tools);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (!tag)
		return NULL;
	wfs_json_write(tag, &text);
	return text_of(&text);
}

/* --- bodies --- */

int wfs_constraint_build(const struct wfs_grammar_config *config, const json_t *constraint,
	const json_t *tools, json_t *body)
{
	const struct wfs_grammar_form *const form = &config->forms[constraint_kind(constraint)];
	json_t *value = form->value ? form->value(constraint, tools)
				    : json_incref(json_object_get(constraint, form->member));

	if (value && form->inside)
		value = json_pack("{s:o}", form->inside, value);
	return json_object_set_new(body, form->key, value) < 0 ? -ENOMEM : 0;
}
