/* SPDX-License-Identifier: Apache-2.0 */
/* Fills templates of prompts in one pass. */
#include "agents/mind/template.h"

#include "agents/mind/mind-impl.h"
#include "agents/plan/placeholder.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"

/* --- pieces --- */

enum piece_kind {
	PIECE_END,
	PIECE_TEXT,
	PIECE_NAME,       /* without its braces */
	PIECE_OPEN,       /* `{` without a variable's name after it */
	PIECE_OPEN_TWICE, /* `{{` */
	PIECE_CLOSE,      /* one `}`, perhaps the first of two */
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

/* Counts the bytes up to the first brace, or all. */
static size_t plain_size(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	while (size < text.size && bytes[size] != '{' && bytes[size] != '}')
		size++;
	return size;
}

/* Return: the piece that an opening brace begins. */
static struct piece opened_piece(struct wfs_bytes text)
{
	const struct wfs_bytes inside = behind(text, 1);
	const size_t size = wfs_mind_name_size(inside);

	if (begins(inside, '{'))
		return (struct piece){PIECE_OPEN_TWICE, WFS_BYTES(text.data, 2)};
	if (size > 0 && begins(behind(inside, size), '}'))
		return (struct piece){PIECE_NAME, WFS_BYTES(inside.data, size)};
	return (struct piece){PIECE_OPEN, WFS_BYTES(text.data, 1)};
}

/* Removes the next piece from @rest. */
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
	struct wfs_buffer open;  /* kinds of the braces that are open, a byte each; owned */
	struct wfs_buffer *text; /* gets the result */
	size_t before;           /* size of `text` at the beginning */
};

static int check_declared(const json_t *names, const json_t *variables, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer there = {0};
	size_t i;
	const json_t *name;

	json_array_foreach(names, i, name) {
		if (json_object_get(variables, json_string_value(name)))
			continue;
		wfs_mind_list(variables, &there);
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

/* Two closing braces become one, unless the brace that they close was single. */
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
		wfs_buffer_append_byte(&filling->open, (char)piece.kind);
		wfs_buffer_append_byte(filling->text, '{');
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
