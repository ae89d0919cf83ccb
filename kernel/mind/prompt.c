/* SPDX-License-Identifier: Apache-2.0 */
/* Finds prompts in contents. */
#include "kernel/mind/prompt.h"

#include <errno.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/base/span.h"
#include "kernel/base/text.h"
#include "kernel/mind/kind.h"

/* --- names --- */

static bool is_name_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
		(byte >= '0' && byte <= '9');
}

size_t wfs_mind_name_size(struct wfs_bytes text)
{
	const char *const bytes = text.data;
	size_t size = 0;

	if (text.size > 0 && bytes[0] >= '0' && bytes[0] <= '9')
		return 0;
	while (size < text.size && is_name_byte(bytes[size]))
		size++;
	return size;
}

/* --- reading --- */

static int no_memory(struct wfs_error *error)
{
	return wfs_error_from_errno(error, -ENOMEM, "read a prompt");
}

/* Is the whole content one object by JSON's grammar? Return: 1, 0, -errno. */
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

/* Content that is not JSON is text.
 * But an object with a repeated name, or too deep, is an error. */
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
			"%s: 'template': expected a text, got %s", what, wfs_mind_kind(text));
	if (wfs_mind_has_nul(text))
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
			wfs_mind_kind(names));
	if (json_array_size(names) > WFS_MIND_VARIABLES_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"%s: 'variables': expected at most %d names, got %zu", what,
			WFS_MIND_VARIABLES_MAX, json_array_size(names));
	json_array_foreach(names, i, name) {
		if (!json_is_string(name))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: 'variables[%zu]': expected a name, got %s", what, i,
				wfs_mind_kind(name));
		const struct wfs_bytes text = wfs_text_of(name);
		if (text.size == 0 || text.size > WFS_MIND_VARIABLE_NAME_MAX ||
			wfs_mind_name_size(text) != text.size)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: 'variables[%zu]': expected a name ([A-Za-z_][A-Za-z0-9_]*, at "
				"most %d bytes), got '%.80s'",
				what, i, WFS_MIND_VARIABLE_NAME_MAX, json_string_value(name));
	}
	return 0;
}

/* @what: what the value is, for messages */
static int read_prompt(
	json_t *value, const char *what, json_t **ret_prompt, struct wfs_error *error)
{
	json_t *const text = json_is_object(value) ? json_object_get(value, "template") : value;
	json_t *const written = json_object_get(value, "variables");
	WFS_AUTO_JSON json_t *names =
		wfs_mind_is_absent(written) ? json_array() : json_incref(written);
	int r;

	if (!json_is_object(value) && !json_is_string(value))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"%s: expected a text, or an object with 'template', got %s", what,
			wfs_mind_kind(value));
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
			wfs_mind_kind(library));
	if (!json_is_object(prompts))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the library of prompts: 'prompts': expected an object name → prompt, got "
			"%s",
			wfs_mind_kind(prompts));
	*ret_value = json_object_get(prompts, fragment);
	if (*ret_value)
		return 0;
	wfs_mind_list(prompts, &names);
	return wfs_error_set(error, WFS_E_NOT_FOUND,
		"no prompt '%.64s' in the library; there are: %s", fragment,
		wfs_buffer_text(&names));
}

static void name_prompt(struct wfs_buffer *what, const char *name)
{
	if (name)
		wfs_buffer_printf(what, "prompt '%.64s' of the library", name);
	else
		wfs_buffer_append_text(what, "the prompt");
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
	if (fragment)
		r = find_fragment(json, fragment, &value, error);
	name_prompt(&what, fragment);
	return wfs_trace(r ? r : read_prompt(value, wfs_buffer_text(&what), ret_prompt, error));
}

/* --- checking --- */

/* @name: of the prompt in a library; NULL: not in a library */
static int check_prompt(json_t *value, const char *name, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer what = {0};
	WFS_AUTO_JSON json_t *prompt = NULL;

	name_prompt(&what, name);
	return wfs_trace(read_prompt(value, wfs_buffer_text(&what), &prompt, error));
}

int wfs_mind_prompts_check(const json_t *library, struct wfs_error *error)
{
	const char *name;
	json_t *value;

	json_object_foreach(json_object_get(library, "prompts"), name, value) {
		int r = check_prompt(value, name, error);

		if (r)
			return wfs_trace(r);
	}
	return 0;
}

int wfs_mind_prompt_check(struct wfs_bytes content, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = NULL;
	int r = read_content(content, false, &json, error);

	if (r)
		return wfs_trace(r);
	if (json_is_object(json_object_get(json, "prompts")) && !json_object_get(json, "template"))
		return wfs_trace(wfs_mind_prompts_check(json, error));
	return wfs_trace(check_prompt(json, NULL, error));
}
