/* SPDX-License-Identifier: Apache-2.0 */
/* A source directory of a test's own, and what loading it gives. JSON in here is written with ' for ". */
#pragma once

#include "tests/fixture/test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/directory.h"
#include "kernel/base/json.h"
#include "kernel/manifest/source.h"

struct fixture {
	char directory[64];
	struct wfs_source source;
	struct wfs_problems problems;
};

static inline int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/wfs-source-XXXXXX");
	*state = fixture;
	return mkdtemp(fixture->directory) ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	wfs_directory_remove(fixture->directory);
	wfs_source_done(&fixture->source);
	wfs_problems_done(&fixture->problems);
	free(fixture);
	return 0;
}

static inline void path_of(
	const struct fixture *fixture, const char *name, char ret_path[static 256])
{
	snprintf(ret_path, 256, "%s/%s", fixture->directory, name);
}

static inline void put_bytes(
	const struct fixture *fixture, const char *name, const void *data, size_t size)
{
	WFS_AUTO_FD int fd = -1;
	char path[256];

	path_of(fixture, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
}

static inline void put(const struct fixture *fixture, const char *name, const char *text)
{
	put_bytes(fixture, name, text, strlen(text));
}

/* A file of JSON, written with ' for ". */
static inline void put_json(const struct fixture *fixture, const char *name, const char *text)
{
	WFS_AUTO_FREE char *copy = strdup(text);

	assert_non_null(copy);
	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	put(fixture, name, copy);
}

static inline void assert_loads(struct fixture *fixture, const char *name)
{
	if (wfs_source_load(fixture->directory, name, &fixture->problems, &fixture->source) != 0)
		fail_msg("%s", wfs_buffer_text(&fixture->problems.lines));
	assert_int_equal(fixture->problems.count, 0);
}

/* @lines: all problems, as they are reported. */
static inline void assert_problems(struct fixture *fixture, const char *lines)
{
	assert_int_equal(
		wfs_source_load(fixture->directory, NULL, &fixture->problems, &fixture->source),
		-EINVAL);
	assert_string_equal(wfs_buffer_text(&fixture->problems.lines), lines);
	assert_null(fixture->source.manifest);
}

static inline void assert_world_refused(
	struct fixture *fixture, const char *world, const char *lines)
{
	put_json(fixture, "world.json", world);
	wfs_problems_done(&fixture->problems);
	assert_problems(fixture, lines);
}

#define IN_SOURCE(name) TEST_WITH(name, struct fixture *fixture, setup, teardown)
