/* SPDX-License-Identifier: Apache-2.0 */
/* Zones by their names, from the host's files (tzfile(5)). */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "kernel/base/buffer.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/domain/timer/zone.h"

#define ZONES "/usr/share/zoneinfo/"

enum {
	FILE_MAX = 64 << 10,   /* bytes of a zone's file */
	HEADER_SIZE = 44,      /* bytes */
	TYPE_SIZE = 6,         /* bytes of a kind of local time */
	FIRST_TIMES_SIZE = 4,  /* bytes of a time in the first part of a file, */
	SECOND_TIMES_SIZE = 8, /* and in the second */
};

/* The parts of a file's second block. Plain value; borrowed from its bytes. */
struct zone_file {
	const uint8_t *times; /* of changes, 8 bytes each */
	const uint8_t *kinds; /* which kind of local time each change brings */
	const uint8_t *types; /* the kinds */
	size_t time_count;
	size_t type_count;
	char rule[WFS_ZONE_NAME_MAX + 1];
};

/* Counts that a header has. */
struct header {
	size_t is_ut, is_standard, leap, time, type, letters;
};

static uint64_t read_big(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* Return: the bytes of the block after the header, or -EINVAL. */
static int64_t read_header(const uint8_t *at, size_t left, size_t time_size, struct header *ret)
{
	if (left < HEADER_SIZE || memcmp(at, "TZif", 4) != 0 || at[4] < '2')
		return -EINVAL;
	const struct header header = {
		.is_ut = read_big(at + 20, 4),
		.is_standard = read_big(at + 24, 4),
		.leap = read_big(at + 28, 4),
		.time = read_big(at + 32, 4),
		.type = read_big(at + 36, 4),
		.letters = read_big(at + 40, 4),
	};
	*ret = header;
	return (int64_t)(header.time * (time_size + 1) + header.type * TYPE_SIZE + header.letters +
		header.leap * (time_size + 4) + header.is_standard + header.is_ut);
}

/* Takes the rule: a line after the second block. */
static int read_rule(const uint8_t *at, size_t left, struct zone_file *file)
{
	const uint8_t *const end = left > 1 ? memchr(at + 1, '\n', left - 1) : NULL;
	struct wfs_zone zone;

	if (!end || at[0] != '\n' || end - at - 1 > WFS_ZONE_NAME_MAX)
		return -EINVAL;
	memcpy(file->rule, at + 1, (size_t)(end - at - 1));
	return wfs_zone_parse(file->rule, &zone);
}

static int parse(struct wfs_bytes bytes, struct zone_file *file)
{
	const uint8_t *at = bytes.data;
	size_t left = bytes.size;
	struct header header;
	int64_t size = read_header(at, left, FIRST_TIMES_SIZE, &header);

	if (size < 0 || (size_t)size + HEADER_SIZE > left)
		return -EINVAL;
	at += HEADER_SIZE + size;
	left -= HEADER_SIZE + (size_t)size;
	size = read_header(at, left, SECOND_TIMES_SIZE, &header);
	if (size < 0 || (size_t)size + HEADER_SIZE > left || header.type == 0)
		return -EINVAL;
	file->time_count = header.time;
	file->type_count = header.type;
	file->times = at + HEADER_SIZE;
	file->kinds = file->times + header.time * SECOND_TIMES_SIZE;
	file->types = file->kinds + header.time;
	return read_rule(at + HEADER_SIZE + size, left - HEADER_SIZE - (size_t)size, file);
}

static int64_t time_of(const struct zone_file *file, size_t index)
{
	return (int64_t)read_big(file->times + index * SECOND_TIMES_SIZE, SECOND_TIMES_SIZE);
}

/* Return: seconds ahead of UTC, or INT64_MIN: the file is damaged. */
static int64_t ahead_of(const struct zone_file *file, size_t index)
{
	const size_t kind = file->kinds[index];

	if (kind >= file->type_count)
		return INT64_MIN;
	return (int32_t)(uint32_t)read_big(file->types + kind * TYPE_SIZE, 4);
}

/* Does the rule give everything that is in the file from change @first on? */
static bool rule_says_all(const struct zone_file *file, size_t first)
{
	struct wfs_zone zone;

	if (wfs_zone_parse(file->rule, &zone))
		return false;
	for (size_t i = first; i < file->time_count; i++) {
		const int64_t at = time_of(file, i);

		if (wfs_zone_offset(&zone, at) != ahead_of(file, i) ||
			(i > first && wfs_zone_offset(&zone, at - 1) != ahead_of(file, i - 1)))
			return false;
	}
	return true;
}

/* @first: the change before the first one that counts */
static json_t *changes_of(const struct zone_file *file, size_t first)
{
	WFS_AUTO_JSON json_t *changes = json_array();

	for (size_t i = first; i < file->time_count; i++)
		if (json_array_append_new(changes,
			    json_pack("[I, I]", (json_int_t)time_of(file, i),
				    (json_int_t)ahead_of(file, i))) < 0)
			return NULL;
	return WFS_STEAL(changes);
}

static int describe(const struct zone_file *file, int64_t since_s, json_t **ret_description)
{
	json_t *changes = NULL;
	size_t first = file->time_count;
	struct wfs_zone zone;

	while (first > 0 && time_of(file, first - 1) > since_s)
		first--;
	first -= first > 0;
	if (!rule_says_all(file, first)) {
		changes = changes_of(file, first);
		if (!changes)
			return -ENOMEM;
	}
	*ret_description = json_pack("{s:s, s:o*}", "rule", file->rule, "changes", changes);
	return *ret_description ? wfs_zone_read(*ret_description, &zone) : -ENOMEM;
}

/* Names of zones: `Europe/Berlin`, `Etc/GMT+1`; no path that leads elsewhere. */
static bool is_name(const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/";

	return *name && strlen(name) <= WFS_ZONE_NAME_MAX &&
		strspn(name, allowed) == strlen(name) && *name != '/' && !strstr(name, "//");
}

static int read_file(const char *name, struct wfs_buffer *buffer)
{
	char path[sizeof(ZONES) + WFS_ZONE_NAME_MAX];
	char bytes[4096];
	ssize_t got;

	snprintf(path, sizeof(path), "%s%s", ZONES, name);
	WFS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -EINVAL;
	while ((got = read(fd, bytes, sizeof(bytes))) > 0 && buffer->size <= FILE_MAX)
		wfs_buffer_append(buffer, bytes, (size_t)got);
	if (got < 0 || buffer->size > FILE_MAX)
		return -EINVAL;
	return wfs_buffer_check(buffer);
}

int wfs_zone_describe(
	const char *name, int64_t since_s, json_t **ret_description, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_JSON json_t *description = NULL;
	struct zone_file file = {.times = NULL};
	struct wfs_zone zone;
	int r;

	if (!wfs_zone_parse(name, &zone)) {
		description = json_pack("{s:s}", "rule", name);
		r = description ? 0 : -ENOMEM;
	} else {
		r = is_name(name) ? read_file(name, &bytes) : -EINVAL;
		if (!r)
			r = parse(wfs_buffer_bytes(&bytes), &file);
		if (!r)
			r = describe(&file, since_s, &description);
	}
	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'tz': expected a time zone of this host, such as Europe/Berlin, or a "
			"rule, "
			"such as CET-1CEST,M3.5.0,M10.5.0/3, got '%.80s'",
			name);
	if (r)
		return wfs_error_from_errno(error, r, "read a time zone");
	*ret_description = WFS_STEAL(description);
	return 0;
}
