/* SPDX-License-Identifier: Apache-2.0 */
/* What commands share: finding their world, sending requests, printing. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "fs/command/frame/input.h"
#include "fs/command/frame/run.h"
#include "fs/mount/mount-table.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/value/consistency.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS INT64_C(1000000)

enum {
	VALUE_MAX = 16 << 20,  /* bytes of one value in a file */
	MESSAGE_MAX = 8 << 20, /* bytes of a message in a file */
};

int wfs_run_misuse(struct wfs_run *run, const char *format, ...)
{
	char message[WFS_ERROR_MESSAGE_SIZE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	run->misused = true;
	return wfs_error_set(&run->error, WFS_E_INVALID_ARGUMENT, "%s", message);
}

/* --- the table of commands --- */

/* Size of the first word of a command with two words; otherwise 0. */
static size_t group_word_size(const struct wfs_command *command)
{
	const char *const space = strchr(command->name, ' ');

	return space ? (size_t)(space - command->name) : 0;
}

bool wfs_command_is_group(const struct wfs_commands *commands, const char *word)
{
	for (size_t i = 0; i < commands->count; i++) {
		const size_t size = group_word_size(&commands->rows[i]);

		if (size > 0 && strlen(word) == size &&
			memcmp(commands->rows[i].name, word, size) == 0)
			return true;
	}
	return false;
}

const struct wfs_command *wfs_command_find(const struct wfs_commands *commands,
	const char *const *words, size_t word_count, size_t *ret_words)
{
	for (size_t i = 0; i < commands->count; i++) {
		const struct wfs_command *const command = &commands->rows[i];
		const size_t first = group_word_size(command);

		if (first == 0 && word_count > 0 && strcmp(command->name, words[0]) == 0) {
			*ret_words = 1;
			return command;
		}
		if (first > 0 && word_count == 1 && command->alone && strlen(words[0]) == first &&
			memcmp(command->name, words[0], first) == 0) {
			*ret_words = 1;
			return command;
		}
		if (first > 0 && word_count > 1 && strlen(words[0]) == first &&
			memcmp(command->name, words[0], first) == 0 &&
			strcmp(command->name + first + 1, words[1]) == 0) {
			*ret_words = 2;
			return command;
		}
	}
	return NULL;
}

/* --- the world --- */

static bool is_world(const char *directory)
{
	char path[PATH_MAX];
	struct stat status;

	return (size_t)snprintf(path, sizeof(path), "%s/data.mdb", directory) < sizeof(path) &&
		stat(path, &status) == 0;
}

/* Cuts the last name off @directory. Return: is a directory below / left? */
static bool go_up(char *directory)
{
	char *const slash = strrchr(directory, '/');

	if (!slash || slash == directory)
		return false;
	*slash = '\0';
	return true;
}

/* Refuses @directory, which is cut, if it is in a mount of ours, and names the world of the mount.
 * Return: 0 (it is not in one), or -ENOENT. */
static int refuse_mount(struct wfs_run *run, char *directory)
{
	WFS_AUTO_FREE char *world = NULL;
	struct wfs_error ignored;
	unsigned long device;

	do {
		if (!wfs_mount_device(directory, &device, &world, &ignored))
			return wfs_error_set(&run->error, WFS_E_NOT_FOUND,
				"'%s' is a mount of the world '%s'; name that with -w", directory,
				world);
	} while (go_up(directory));
	return 0;
}

/* Finds the world of this directory or of its nearest parent. */
static int world_here(struct wfs_run *run, char **ret_directory)
{
	WFS_AUTO_FREE char *here = getcwd(NULL, 0);
	WFS_AUTO_FREE char *directory = here ? strdup(here) : NULL;
	int r;

	if (!directory)
		return wfs_error_from_errno(&run->error, -errno, "find the working directory");
	do {
		if (is_world(directory)) {
			*ret_directory = WFS_STEAL(directory);
			return 0;
		}
	} while (go_up(directory));
	r = refuse_mount(run, here);
	return r ? r
		 : wfs_error_set(&run->error, WFS_E_NOT_FOUND,
			   "no world here or above; name one with -w DIR or $WORLDFS_WORLD, "
			   "or make one with 'worldfs init DIR'");
}

int wfs_run_check_path(struct wfs_run *run, const char *path)
{
	if (wfs_utf8_valid(path, strlen(path)))
		return 0;
	return wfs_error_set(&run->error, WFS_E_INVALID_ARGUMENT,
		"'%s': expected a path that is valid UTF-8", path);
}

static int find_world(struct wfs_run *run)
{
	const char *named = run->options[WFS_OPTION_WORLD];
	int r;

	if (!named)
		named = secure_getenv("WORLDFS_WORLD");
	if (!named || !*named)
		return world_here(run, &run->directory);
	run->directory = realpath(named, NULL);
	if (!run->directory)
		return wfs_error_from_errno(&run->error, -errno, "open the world '%s'", named);
	if (!is_world(run->directory) && errno == EACCES)
		return wfs_error_from_errno(&run->error, -EACCES, "open the world '%s'", named);
	if (is_world(run->directory))
		return 0;
	r = refuse_mount(run, run->directory);
	return r ? r : wfs_error_set(&run->error, WFS_E_NOT_FOUND, "'%s' is not a world", named);
}

int wfs_run_directory(struct wfs_run *run)
{
	if (run->directory)
		return 0;
	int r = find_world(run);

	return r ? r : wfs_run_check_path(run, run->directory);
}

int wfs_run_open(struct wfs_run *run)
{
	int r = run->access ? 0 : wfs_run_directory(run);

	if (r || run->access)
		return r;
	const struct wfs_access_options options = {
		.directory = run->directory,
		.as = run->options[WFS_OPTION_AS],
		.change = run->command->changes,
		.drive = run->drive,
		.wait_ms = run->wait_ms,
	};
	return wfs_access_new(&options, &run->access, &run->error);
}

/* --- requests --- */

int wfs_run_take(struct wfs_run *run, json_t **ret_result)
{
	WFS_AUTO_ANSWER struct wfs_answer answer = {.status = 0};
	int r = wfs_access_take(run->access, true, &answer, &run->error);

	if (r < 0)
		return r;
	json_decref(run->meta);
	run->meta = WFS_STEAL(answer.meta);
	json_decref(run->error_details);
	run->error_details = WFS_STEAL(answer.details);
	if (answer.status)
		run->error = answer.error;
	else
		*ret_result = WFS_STEAL(answer.result);
	return answer.status;
}

int wfs_run_call(struct wfs_run *run, const char *verb, json_t *payload, json_t **ret_result)
{
	int r = wfs_run_open(run);

	if (r) {
		json_decref(payload);
		return r;
	}
	r = wfs_access_post(run->access, verb, payload);
	if (r)
		return wfs_error_from_errno(&run->error, r, "send '%s'", verb);
	return wfs_run_take(run, ret_result);
}

int wfs_run_show(struct wfs_run *run, const char *verb, json_t *payload,
	int (*print)(struct wfs_run *run, const json_t *result))
{
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_run_call(run, verb, payload, &result);

	if (r)
		return r;
	return run->options[WFS_OPTION_JSON] ? wfs_run_json(run, WFS_STEAL(result))
					     : print(run, result);
}

int wfs_run_order(
	struct wfs_run *run, const char *verb, json_t *payload, const char *done, const char *what)
{
	WFS_AUTO_JSON json_t *result = NULL;
	int r = wfs_run_call(run, verb, payload, &result);

	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run, WFS_STEAL(result));
	wfs_run_notice(run, "%s %s", done, what);
	return 0;
}

int wfs_run_pin(struct wfs_run *run, char **consistency)
{
	free(*consistency);
	if (asprintf(consistency, "exact:%" PRId64, wfs_run_integer(run->meta, "journal_height")) <
		0)
		*consistency = NULL;
	return *consistency ? 0 : -ENOMEM;
}

int wfs_run_each_cell(struct wfs_run *run, const char *reducer, const char *consistency,
	int (*each)(void *context, const json_t *cell), void *context)
{
	WFS_AUTO_FREE char *pinned = consistency ? strdup(consistency) : NULL;
	WFS_AUTO_JSON json_t *cursor = NULL;
	int r = 0;

	do {
		WFS_AUTO_JSON json_t *page = NULL;
		const json_t *cell;
		size_t i;

		r = wfs_run_call(run, "list-cells",
			json_pack("{s:s, s:s*, s:O*}", "reducer", reducer, "consistency", pinned,
				"cursor", cursor),
			&page);
		if (r)
			return r;
		json_array_foreach(json_object_get(page, "cells"), i, cell) {
			r = each(context, cell);
			if (r)
				return r;
		}
		json_decref(cursor);
		cursor = json_incref(json_object_get(page, "next_cursor"));
		r = wfs_run_pin(run, &pinned);
	} while (!r && cursor);
	return r;
}

/* --- values of options and answers --- */

int wfs_run_number(struct wfs_run *run, const char *name, const char *text, uint64_t *ret_number)
{
	uint64_t number;
	const size_t digits = wfs_decimal_read(text, strlen(text), &number);

	if (digits == 0 || text[digits] || number > INT64_MAX)
		return wfs_run_misuse(run, "%s: expected a number from 0, got '%.60s'", name, text);
	*ret_number = number;
	return 0;
}

int wfs_duration_read(const char *text, int64_t *ret_ns)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	uint64_t number;
	const size_t digits = wfs_decimal_read(text, strlen(text), &number);

	for (size_t i = 0; digits && i < WFS_ARRAY_COUNT(units); i++) {
		const int64_t unit_ns = units[i].seconds * SECOND_NS;

		if (text[digits] != units[i].unit || text[digits + 1])
			continue;
		if (number > (uint64_t)(INT64_MAX / unit_ns))
			return -EINVAL;
		*ret_ns = (int64_t)number * unit_ns;
		return 0;
	}
	return -EINVAL;
}

int wfs_run_count(struct wfs_run *run, enum wfs_option option, uint64_t *ret_number)
{
	char name[40];

	if (!run->options[option])
		return 0;
	snprintf(name, sizeof(name), "--%s", wfs_option_rows[option].name);
	return wfs_run_number(run, name, run->options[option], ret_number);
}

/* Reads the JSON in a file (-: standard input). */
static int read_json(struct wfs_run *run, const char *path, json_t **ret_value)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = wfs_input_read(path, VALUE_MAX, &text, &run->error);

	return r ? r : wfs_json_parse_bounded(text.data, text.size, ret_value, &run->error);
}

/* Makes a list of `a,b`. Return: new reference, NULL without memory. */
static json_t *list_of(const char *names)
{
	WFS_AUTO_JSON json_t *list = json_array();

	while (*names) {
		const size_t size = strcspn(names, ",");

		if (json_array_append_new(list, json_stringn(names, size)) < 0)
			return NULL;
		names += size + (names[size] == ',');
	}
	return WFS_STEAL(list);
}

static int milliseconds(
	struct wfs_run *run, const struct wfs_option_row *row, const char *text, json_t **ret_value)
{
	int64_t ns;

	if (wfs_duration_read(text, &ns) < 0 || ns == 0)
		return wfs_run_misuse(run, "--%s: expected a time like 90s, 10m or 1h, got '%.60s'",
			row->name, text);
	*ret_value = json_integer(ns / MS_NS);
	return 0;
}

/* Reads the value of an option. @ret_value: new reference, NULL without memory */
static int option_value(struct wfs_run *run, enum wfs_option option, json_t **ret_value)
{
	const struct wfs_option_row *const row = &wfs_option_rows[option];
	const char *const kind = row->value ? row->value : "";
	const char *const text = run->options[option];
	uint64_t number = 0;
	int r = 0;

	*ret_value = NULL;
	if (strcmp(kind, "TIME") == 0)
		return milliseconds(run, row, text, ret_value);
	if (strcmp(kind, "FILE") == 0)
		return read_json(run, text, ret_value);
	if (strcmp(kind, "N") == 0 || strcmp(kind, "H") == 0) {
		r = wfs_run_count(run, option, &number);
		*ret_value = r ? NULL : json_integer((json_int_t)number);
	} else if (strcmp(kind, "NAMES") == 0) {
		*ret_value = list_of(text);
	} else {
		*ret_value = *kind ? json_string(text) : json_true();
	}
	return r;
}

/* Sets a member, or as `budget.calls` one of an object in @payload. @value: taken; may be NULL */
static int set_member(json_t *payload, const char *name, json_t *value)
{
	const char *const dot = strchr(name, '.');
	char outer[40];

	if (!dot)
		return json_object_set_new(payload, name, value) < 0 ? -ENOMEM : 0;
	snprintf(outer, sizeof(outer), "%.*s", (int)(dot - name), name);
	if (!json_object_get(payload, outer))
		json_object_set_new(payload, outer, json_object());
	return json_object_set_new(json_object_get(payload, outer), dot + 1, value) < 0 ? -ENOMEM
											: 0;
}

int wfs_run_members(struct wfs_run *run, json_t *payload)
{
	for (int i = 0; i < WFS_OPTION_COUNT; i++) {
		json_t *value;

		if (!wfs_option_rows[i].member || !run->options[i])
			continue;
		int r = option_value(run, (enum wfs_option)i, &value);
		if (!r)
			r = set_member(payload, wfs_option_rows[i].member, value);
		if (r)
			return r;
	}
	return 0;
}

static int number_text(struct wfs_run *run, enum wfs_option option, const char *form, char **ret)
{
	uint64_t number = 0;
	int r = wfs_run_count(run, option, &number);

	if (!r && asprintf(ret, "%s:%" PRIu64, form, number) < 0)
		r = -ENOMEM;
	return r;
}

int wfs_run_consistency(struct wfs_run *run, char **ret_text)
{
	const bool exact = run->options[WFS_OPTION_EXACT_HEIGHT];
	const bool at_least = run->options[WFS_OPTION_AT_LEAST_HEIGHT];

	*ret_text = NULL;
	if (exact && at_least)
		return wfs_run_misuse(
			run, "--exact-height and --at-least-height cannot be used together");
	if (exact)
		return number_text(run, WFS_OPTION_EXACT_HEIGHT, "exact", ret_text);
	if (at_least)
		return number_text(run, WFS_OPTION_AT_LEAST_HEIGHT, "at_least", ret_text);
	return 0;
}

int wfs_run_at(struct wfs_run *run, char **ret_text)
{
	const char *const at = run->options[WFS_OPTION_AT];
	struct wfs_consistency consistency;

	*ret_text = NULL;
	if (!at)
		return 0;
	if (*at && strspn(at, "0123456789") == strlen(at))
		return number_text(run, WFS_OPTION_AT, "exact", ret_text);
	if (wfs_consistency_parse(at, &consistency, NULL) < 0)
		return wfs_run_misuse(run,
			"--at: expected a height, exact:HEIGHT, at_least:HEIGHT or head, got "
			"'%.60s'",
			at);
	*ret_text = strdup(at);
	return *ret_text ? 0 : -ENOMEM;
}

int wfs_run_value(struct wfs_run *run, const char *given, json_t **ret_value)
{
	return given[0] == '@'
		? read_json(run, given + 1, ret_value)
		: wfs_json_parse_bounded(given, strlen(given), ret_value, &run->error);
}

int wfs_run_message(struct wfs_run *run, const char *given, json_t *payload)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = 0;

	if (given[0] == '@')
		r = wfs_input_read(given + 1, MESSAGE_MAX, &text, &run->error);
	else
		wfs_buffer_append_text(&text, given);
	if (!r)
		r = wfs_buffer_check(&text);
	if (r)
		return r;
	if (!wfs_utf8_valid(text.data, text.size))
		return wfs_error_set(
			&run->error, WFS_E_INVALID_ARGUMENT, "the message is not valid UTF-8");
	return json_object_set_new(
		       payload, "message", json_stringn(text.size ? text.data : "", text.size)) < 0
		? -ENOMEM
		: 0;
}

/* --- listings --- */

/* Prints the items of a page or, with --json, keeps them. */
static int take_items(struct wfs_run *run, const json_t *items, json_t *all, bool *first,
	void (*print)(FILE *out, const json_t *item, bool first))
{
	const json_t *item;
	size_t i;

	if (run->options[WFS_OPTION_JSON])
		return json_array_extend(all, (json_t *)items) < 0 ? -ENOMEM : 0;
	json_array_foreach(items, i, item) {
		print(run->out, item, *first);
		*first = false;
	}
	return 0;
}

int wfs_run_list(struct wfs_run *run, const char *verb, json_t *payload,
	void (*print)(FILE *out, const json_t *item, bool first))
{
	WFS_AUTO_JSON json_t *request = payload;
	WFS_AUTO_JSON json_t *all = json_array();
	bool more = request && all;
	bool first = true;
	int r = more ? 0 : -ENOMEM;

	while (!r && more) {
		WFS_AUTO_JSON json_t *page = NULL;

		json_t *const asked = wfs_json_copy(request);

		r = asked ? wfs_run_call(run, verb, asked, &page) : -ENOMEM;
		if (!r)
			r = take_items(run, json_object_get(page, verb), all, &first, print);
		json_t *const cursor = json_object_get(page, "next_cursor");
		more = cursor != NULL;
		if (!r && more && json_object_set(request, "cursor", cursor) < 0)
			r = -ENOMEM;
	}
	return !r && run->options[WFS_OPTION_JSON]
		? wfs_run_json(run, json_pack("{s:O}", verb, all))
		: r;
}

int64_t wfs_run_integer(const json_t *result, const char *name)
{
	return json_integer_value(json_object_get(result, name));
}

int wfs_run_decode(
	struct wfs_run *run, const json_t *result, const char *name, struct wfs_buffer *buffer)
{
	const char *const text = wfs_json_text(result, name);

	return wfs_base64_decode(text, strlen(text), buffer, &run->error);
}

/* --- printing --- */

static int print_document(FILE *file, const json_t *document)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_json_write_document(document, &text);
	if (wfs_buffer_check(&text) < 0)
		return -ENOMEM;
	(void)fwrite(text.data, 1, text.size, file);
	return 0;
}

int wfs_run_print_document(struct wfs_run *run, const json_t *document)
{
	return print_document(run->out, document);
}

int wfs_run_json(struct wfs_run *run, json_t *data)
{
	WFS_AUTO_JSON json_t *document = json_pack("{s:o, s:O*}", "data", data, "meta", run->meta);

	return document ? print_document(run->out, document) : -ENOMEM;
}

void wfs_run_notice(struct wfs_run *run, const char *format, ...)
{
	WFS_AUTO_BUFFER struct wfs_buffer line = {0};
	va_list arguments;

	va_start(arguments, format);
	wfs_buffer_vprintf(&line, format, arguments);
	va_end(arguments);
	if (wfs_buffer_check(&line) == 0) {
		wfs_line_clean(line.data, line.size); /* it may contain text of strangers */
		fprintf(run->err, "%s\n", wfs_buffer_text(&line));
		return;
	}
	/* Without memory, print it uncleaned. */
	va_start(arguments, format);
	vfprintf(run->err, format, arguments);
	va_end(arguments);
	fputc('\n', run->err);
}

int wfs_run_act(struct wfs_run *run, json_t *action, json_t **ret_data)
{
	WFS_AUTO_JSON json_t *result = NULL;
	int r = action ? wfs_run_call(run, "invoke", json_pack("{s:o}", "action", action), &result)
		       : -ENOMEM;

	if (!r && ret_data)
		*ret_data = json_incref(json_object_get(result, "data"));
	return r;
}

int wfs_run_read_artifact(struct wfs_run *run, const char *id, json_t **ret_artifact)
{
	WFS_AUTO_JSON json_t *data = NULL;
	int r = wfs_run_act(run,
		json_pack("{s:s, s:s}", "action_type", "read_artifact", "artifact_id", id), &data);

	if (!r)
		*ret_artifact = json_incref(json_object_get(data, "artifact"));
	return r;
}
