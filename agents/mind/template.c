/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of prompts: reading, and filling in one pass. */
#include "agents/mind/template.h"

#include "agents/mind/mind-impl.h"
#include "agents/plan/find.h"
#include "agents/plan/placeholder.h"
#include "agents/plan/text.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"

/* --- names --- */

static bool is_name_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
		(byte >= '0' && byte <= '9');
}

/* Bytes of the name that the text begins with; 0: it does not. */
static size_t name_size(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	if (text.size > 0 && bytes[0] >= '0' && bytes[0] <= '9')
		return 0;
	while (size < text.size && is_name_byte(bytes[size]))
		size++;
	return size;
}

static bool is_name(struct wfs_bytes text)
{
	return text.size > 0 && text.size <= WFS_MIND_VARIABLE_NAME_MAX &&
		name_size(text) == text.size;
}

/* --- reading --- */

static int no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "read a prompt");
}

/* Is all of it one object, as the grammar has it? Return: 1, 0, -errno. */
static int is_object(struct wfs_bytes content)
{
	const struct wfs_bytes text = wfs_text_trimmed(content);
	struct wfs_bytes object;
	int r = wfs_find_object(text, &object);

	return r > 0 ? object.data == text.data && object.size == text.size : r;
}

static int read_plain(struct wfs_bytes content, json_t **ret_json, struct wfs_error *error)
{
	if (!wfs_utf8_valid(content.data, content.size))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the prompt: expected a text, got bytes that are not valid UTF-8");
	*ret_json = json_stringn(content.data, content.size);
	return *ret_json ? 0 : no_memory(error);
}

/* What is not JSON is text. But an object with a name twice, or too deep, is a mistake, and told. */
static int read_content(
	struct wfs_bytes content, bool is_library, json_t **ret_json, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	int r;

	if (content.size > WFS_MIND_CONTENT_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"prompts are looked for in at most %d bytes, the content has %zu",
			WFS_MIND_CONTENT_MAX, content.size);
	if (content.size == 0)
		return read_plain(WFS_BYTES("", 0), ret_json, error);
	r = wfs_json_parse_bounded(content.data, content.size, ret_json, &reason);
	if (r != -EINVAL) {
		if (r && error)
			*error = reason;
		return r;
	}
	r = is_library ? 1 : is_object(content);
	if (r < 0)
		return no_memory(error);
	if (r > 0)
		return wfs_error_set(error, reason.code, "%s: %s",
			is_library ? "the library of prompts" : "the prompt", reason.message);
	return read_plain(content, ret_json, error);
}

static int check_template(const json_t *text, const char *what, struct wfs_error *error)
{
	if (!text)
		return wfs_error_set(error, WFS_E_MISSING_ARGUMENT,
			"%s: 'template' is missing, expected a text", what);
	if (!json_is_string(text))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: 'template': expected a text, got %s", what, mind_kind(text));
	if (mind_has_nul(text))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: expected a text without NUL characters", what);
	if (json_string_length(text) > WFS_MIND_TEXT_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"%s: the template has %zu bytes, at most %d are taken", what,
			json_string_length(text), WFS_MIND_TEXT_MAX);
	return 0;
}

static int check_variables(const json_t *names, const char *what, struct wfs_error *error)
{
	size_t i;
	const json_t *name;

	if (!json_is_array(names))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: 'variables': expected an array of names, got %s", what,
			mind_kind(names));
	if (json_array_size(names) > WFS_MIND_VARIABLES_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"%s: 'variables': expected at most %d names, got %zu", what,
			WFS_MIND_VARIABLES_MAX, json_array_size(names));
	json_array_foreach(names, i, name)
	{
		if (!json_is_string(name))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: 'variables[%zu]': expected a name, got %s", what, i,
				mind_kind(name));
		if (!is_name(wfs_text_of(name)))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: 'variables[%zu]': expected a name ([A-Za-z_][A-Za-z0-9_]*, at "
				"most %d bytes), got '%.80s'",
				what, i, WFS_MIND_VARIABLE_NAME_MAX, json_string_value(name));
	}
	return 0;
}

/* @what: the value is, for messages */
static int read_prompt(
	json_t *value, const char *what, json_t **ret_prompt, struct wfs_error *error)
{
	json_t *const text = json_is_object(value) ? json_object_get(value, "template") : value;
	json_t *const written = json_object_get(value, "variables");
	WFS_AUTO_JSON json_t *names = mind_is_absent(written) ? json_array() : json_incref(written);
	int r;

	if (!json_is_object(value) && !json_is_string(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: expected a text, or an object with 'template', got %s", what,
			mind_kind(value));
	if (!names)
		return no_memory(error);
	r = check_template(text, what, error);
	if (!r)
		r = check_variables(names, what, error);
	if (r)
		return r;
	*ret_prompt = json_pack("{s:O, s:O}", "template", text, "variables", names);
	return *ret_prompt ? 0 : no_memory(error);
}

/* @ret_value: borrowed */
static int find_fragment(
	const json_t *library, const char *fragment, json_t **ret_value, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	json_t *const prompts = json_object_get(library, "prompts");

	if (!json_is_object(library))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the library of prompts: expected an object with 'prompts', got %s",
			mind_kind(library));
	if (!json_is_object(prompts))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the library of prompts: 'prompts': expected an object name → prompt, got "
			"%s",
			mind_kind(prompts));
	*ret_value = json_object_get(prompts, fragment);
	if (*ret_value)
		return 0;
	mind_list(prompts, &names);
	return wfs_error_set(error, WFS_E_NOT_FOUND,
		"no prompt '%.64s' in the library; there are: %s", fragment,
		wfs_buffer_text(&names));
}

int wfs_mind_prompt_read(struct wfs_bytes content, const char *fragment, json_t **ret_prompt,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer what = {0};
	WFS_AUTO_JSON json_t *json = NULL;
	json_t *value;
	int r = read_content(content, fragment, &json, error);

	if (r)
		return wfs_trace(r);
	value = json;
	if (fragment) {
		r = find_fragment(json, fragment, &value, error);
		wfs_buffer_printf(&what, "prompt '%.64s' of the library", fragment);
	} else {
		wfs_buffer_append_text(&what, "the prompt");
	}
	return wfs_trace(r ? r : read_prompt(value, wfs_buffer_text(&what), ret_prompt, error));
}

/* --- pieces --- */

enum piece_kind {
	PIECE_END,
	PIECE_TEXT,
	PIECE_NAME,       /* without its braces */
	PIECE_OPEN,       /* `{` that no name follows */
	PIECE_OPEN_TWICE, /* `{{` */
	PIECE_CLOSE,      /* one `}`; it may be the first of two */
};

/* A part of a template. Plain value; borrows it. */
struct piece {
	enum piece_kind kind;
	struct wfs_bytes text;
};

static struct wfs_bytes behind(struct wfs_bytes text, size_t size)
{
	return WFS_BYTES((const char *)text.data + size, text.size - size);
}

static bool begins(struct wfs_bytes text, char byte)
{
	return text.size > 0 && *(const char *)text.data == byte;
}

/* Bytes up to the first brace, or all. */
static size_t plain_size(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	while (size < text.size && bytes[size] != '{' && bytes[size] != '}')
		size++;
	return size;
}

/* What an opening brace begins. */
static struct piece opened_piece(struct wfs_bytes text)
{
	const struct wfs_bytes inside = behind(text, 1);
	const size_t size = name_size(inside);

	if (begins(inside, '{'))
		return (struct piece){PIECE_OPEN_TWICE, WFS_BYTES(text.data, 2)};
	if (size > 0 && begins(behind(inside, size), '}'))
		return (struct piece){PIECE_NAME, WFS_BYTES(inside.data, size)};
	return (struct piece){PIECE_OPEN, WFS_BYTES(text.data, 1)};
}

/* The next part of @rest, which it is taken off. */
static struct piece next_piece(struct wfs_bytes *rest)
{
	const struct wfs_bytes text = *rest;
	struct piece piece = {PIECE_TEXT, WFS_BYTES(text.data, plain_size(text))};

	if (text.size == 0)
		return (struct piece){PIECE_END};
	if (begins(text, '{'))
		piece = opened_piece(text);
	else if (begins(text, '}'))
		piece = (struct piece){PIECE_CLOSE, WFS_BYTES(text.data, 1)};
	*rest = behind(text, piece.text.size + (piece.kind == PIECE_NAME ? 2 : 0));
	return piece;
}

static struct wfs_bytes template_of(const json_t *prompt)
{
	return wfs_text_of(json_object_get(prompt, "template"));
}

bool wfs_mind_template_uses(const json_t *prompt, const char *name)
{
	struct wfs_bytes rest = template_of(prompt);
	struct piece piece;

	while ((piece = next_piece(&rest)).kind != PIECE_END)
		if (piece.kind == PIECE_NAME && wfs_bytes_equal(piece.text, wfs_bytes_text(name)))
			return true;
	return false;
}

/* --- filling --- */

struct filling {
	const json_t *variables;
	struct wfs_bytes rest;   /* of the template */
	struct wfs_buffer open;  /* kinds of the braces that are not closed, a byte each; owned */
	struct wfs_buffer *text; /* takes what it becomes */
	size_t before;           /* bytes that were in it */
};

static int check_declared(const json_t *names, const json_t *variables, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer there = {0};
	size_t i;
	const json_t *name;

	json_array_foreach(names, i, name)
	{
		if (json_object_get(variables, json_string_value(name)))
			continue;
		mind_list(variables, &there);
		return wfs_error_set(error, WFS_E_MISSING_ARGUMENT,
			"the template's variable '%s' has no value; there are: %s",
			json_string_value(name), wfs_buffer_text(&there));
	}
	return 0;
}

static void put_name(struct filling *filling, struct wfs_bytes name)
{
	const json_t *const value = json_object_getn(filling->variables, name.data, name.size);

	if (value) {
		wfs_placeholder_append(value, filling->text);
		return;
	}
	wfs_buffer_append_byte(filling->text, '{');
	wfs_buffer_append(filling->text, name.data, name.size);
	wfs_buffer_append_byte(filling->text, '}');
}

static void put_open(struct filling *filling, enum piece_kind kind)
{
	wfs_buffer_append_byte(&filling->open, (char)kind);
	wfs_buffer_append_byte(filling->text, '{');
}

/* Two of them are one, unless what they close was opened by one. */
static void put_close(struct filling *filling)
{
	struct wfs_buffer *const open = &filling->open;
	const enum piece_kind last =
		open->size > 0 ? (enum piece_kind)open->data[open->size - 1] : PIECE_END;
	const bool twice = last != PIECE_OPEN && begins(filling->rest, '}');

	if (twice)
		filling->rest = behind(filling->rest, 1);
	if (last == PIECE_OPEN || (last == PIECE_OPEN_TWICE && twice))
		open->size--;
	wfs_buffer_append_byte(filling->text, '}');
}

static void put_piece(struct filling *filling, struct piece piece)
{
	switch (piece.kind) {
	case PIECE_NAME:
		put_name(filling, piece.text);
		break;
	case PIECE_OPEN:
	case PIECE_OPEN_TWICE:
		put_open(filling, piece.kind);
		break;
	case PIECE_CLOSE:
		put_close(filling);
		break;
	default:
		wfs_buffer_append(filling->text, piece.text.data, piece.text.size);
	}
}

static int fill(struct filling *filling, struct wfs_error *error)
{
	struct piece piece;

	while ((piece = next_piece(&filling->rest)).kind != PIECE_END) {
		put_piece(filling, piece);
		if (filling->text->size - filling->before > WFS_MIND_TEXT_MAX)
			return wfs_error_set(error, WFS_E_TOO_LARGE,
				"with its values the prompt has more than %d bytes",
				WFS_MIND_TEXT_MAX);
	}
	if (wfs_buffer_check(filling->text) || wfs_buffer_check(&filling->open))
		return wfs_error_from_errno(error, -ENOMEM, "fill a prompt");
	return 0;
}

int wfs_mind_template_fill(const json_t *prompt, const json_t *variables,
	struct wfs_buffer *ret_text, struct wfs_error *error)
{
	struct filling filling = {
		.variables = variables,
		.rest = template_of(prompt),
		.text = ret_text,
		.before = ret_text->size,
	};
	int r = check_declared(json_object_get(prompt, "variables"), variables, error);

	if (!r)
		r = fill(&filling, error);
	if (r)
		ret_text->size = filling.before;
	wfs_buffer_done(&filling.open);
	return wfs_trace(r);
}

/* --- references --- */

bool wfs_mind_reference_split(
	const char *reference, struct wfs_bytes *ret_id, const char **ret_fragment)
{
	const char *const mark = strrchr(reference, '#');

	if (!mark || mark == reference || !mark[1])
		return false;
	*ret_id = WFS_BYTES(reference, (size_t)(mark - reference));
	*ret_fragment = mark + 1;
	return true;
}
