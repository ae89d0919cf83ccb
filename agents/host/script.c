/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/host/script.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "kernel/base/file.h"
#include "kernel/base/json.h"
#include "kernel/base/world-file.h"

enum {
	FILE_MAX = 64 << 20,      /* bytes */
	DELAY_MAX = 24 * 3600000, /* ms */
};

#define MEMBERS                                                                              \
	"content? delay_ms? duration_ms? error? finish_reason? last_message? match? model? " \
	"attempts? native_calls_count? tool_calls? turn? usage?"

static int read_file(
	const char *directory, const char *file, struct wfs_buffer *text, struct wfs_error *error)
{
	char path[PATH_MAX];
	const bool absolute = file[0] == '/';

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", absolute ? "" : directory,
		    absolute ? "" : "/", file) >= sizeof(path))
		return wfs_error_from_errno(error, -ENAMETOOLONG, "open the script");
	char *const slash = strrchr(path, '/');
	if (!slash)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "the script '%s' does not exist", path);
	*slash = '\0';
	WFS_AUTO_FD int fd = wfs_world_file_open(*path ? path : "/", slash + 1, O_RDONLY, error);
	*slash = '/';
	if (fd == -ENOENT)
		return wfs_error_set(
			error, WFS_E_NOT_FOUND, "the script '%s' does not exist", path);
	if (fd < 0)
		return fd;
	const int r = wfs_file_read(fd, FILE_MAX, text);
	return r ? wfs_error_from_errno(error, r, "read the script '%s'", path) : 0;
}

/* --- one line --- */

static int check_types(const json_t *line, struct wfs_error *error)
{
	enum {
		NUL = 1 << JSON_NULL,
		TEXT = 1 << JSON_STRING,
		ARRAY = 1 << JSON_ARRAY,
		OBJECT = 1 << JSON_OBJECT,
	};
	static const struct {
		const char *name;
		int types;
		const char *expected;
	} members[] = {
		{"content", TEXT | NUL, "a text or null"},
		{"error", OBJECT, "an object with the texts code and message"},
		{"finish_reason", TEXT | NUL, "a text or null"},
		{"last_message", TEXT,
			"a text"}, /* a condition of a wrong type would always hold */
		{"match", TEXT, "a text"},
		{"tool_calls", ARRAY, "an array"},
		{"usage", OBJECT | NUL, "an object or null"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		const json_t *const value = json_object_get(line, members[i].name);
		const bool whole = strcmp(members[i].name, "error") != 0 ||
			(json_is_string(json_object_get(value, "code")) &&
				json_is_string(json_object_get(value, "message")));

		if (value && (!(members[i].types & 1 << json_typeof(value)) || !whole))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected %s",
				members[i].name, members[i].expected);
	}
	return 0;
}

static int check_line(const json_t *line, struct wfs_error *error)
{
	int64_t number = 0;
	int r = wfs_json_members(line, "a line of a script", MEMBERS, error);

	if (!r)
		r = wfs_json_get_integer(line, "turn", 1, INT64_MAX, &number, error);
	if (!r)
		r = wfs_json_get_integer(line, "delay_ms", 0, DELAY_MAX, &number, error);
	return r ? r : check_types(line, error);
}

static bool fits(const json_t *line, int64_t turn, const char *last)
{
	const json_t *const number = json_object_get(line, "turn");
	const char *const part = json_string_value(json_object_get(line, "match"));
	const char *const whole = json_string_value(json_object_get(line, "last_message"));

	return (!number || json_integer_value(number) == turn) && (!part || strstr(last, part)) &&
		(!whole || strcmp(whole, last) == 0);
}

static json_t *member_or(const json_t *line, const char *name, json_t *otherwise)
{
	json_t *const value = json_object_get(line, name);

	if (!value)
		return otherwise;
	json_decref(otherwise);
	return json_incref(value);
}

static int take(const json_t *line, struct script_answer *ret_answer, struct wfs_error *error)
{
	json_t *const failure = json_object_get(line, "error");
	const json_t *const calls = json_object_get(line, "tool_calls");
	const bool called = json_array_size(calls) > 0;

	*ret_answer = (struct script_answer){
		.delay_ms = json_integer_value(json_object_get(line, "delay_ms"))};
	if (failure) {
		ret_answer->failure = json_incref(failure);
		return 0;
	}
	ret_answer->completion = json_pack("{s:o, s:o, s:o, s:o}", "content",
		member_or(line, "content", json_null()), "finish_reason",
		member_or(line, "finish_reason", json_string(called ? "tool_calls" : "stop")),
		"tool_calls", member_or(line, "tool_calls", json_array()), "usage",
		member_or(line, "usage", json_null()));
	return ret_answer->completion ? 0 : wfs_error_from_errno(error, -ENOMEM, "read a script");
}

/* --- all of them --- */

int script_read(const char *directory, const char *file, int64_t turn, const json_t *messages,
	struct script_answer *ret_answer, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const size_t count = json_array_size(messages);
	const char *const last =
		wfs_json_text(count ? json_array_get(messages, count - 1) : NULL, "content");
	int64_t in_order = 0;
	int r = read_file(directory, file, &text, error);

	if (r)
		return r;
	const char *at = wfs_buffer_text(&text);
	for (size_t number = 1; *at; number++) {
		const size_t size = strcspn(at, "\n");
		WFS_AUTO_JSON json_t *line = NULL;
		struct wfs_error reason = {0};

		if (strspn(at, " \t\r") < size) {
			r = wfs_json_parse_bounded(at, size, &line, &reason);
			if (!r)
				r = check_line(line, &reason);
			if (r)
				return wfs_error_set(error, reason.code,
					"line %zu of the script '%s': %s", number, file,
					reason.message);
			const bool has_condition = json_object_get(line, "turn") ||
				json_object_get(line, "match") ||
				json_object_get(line, "last_message");
			if (has_condition ? fits(line, turn, last) : ++in_order == turn)
				return take(line, ret_answer, error);
		}
		at += size + (at[size] == '\n');
	}
	return wfs_error_set(error, WFS_E_NOT_FOUND,
		"the script '%s' has no answer for request %lld, whose last message begins with "
		"'%.60s'",
		file, (long long)turn, last);
}
