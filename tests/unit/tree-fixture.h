/* SPDX-License-Identifier: Apache-2.0 */
/* A world, a session in it, and the tree that the session sees, without a mount. */
#pragma once

#include "tests/unit/world-fixture.h"

#include "caps/session.h"
#include "fs/tree/tree.h"

enum {
	GENESIS_HEIGHT = 2,
	ROOT_INO = 1,
	MANY = 500,
};

struct shown {
	struct world_fixture *world;
	struct wfs_authority *authority;
	struct wfs_session *session;
	struct wfs_tree tree;
};

static inline int setup(void **state)
{
	struct shown *shown = calloc(1, sizeof(*shown));

	*state = shown;
	if (world_fixture_setup((void **)&shown->world) ||
		wfs_authority_new(shown->world->world, &shown->authority, NULL) ||
		wfs_session_new(shown->authority, WFS_PRINCIPAL_OPERATOR, &shown->session, NULL))
		return -1;
	shown->tree =
		(struct wfs_tree){.session = shown->session, .ctl_target = "/run/somewhere/ctl"};
	return 0;
}

static inline int teardown(void **state)
{
	struct shown *shown = *state;
	void *world = shown->world;

	wfs_session_free(shown->session);
	wfs_authority_free(shown->authority);
	free(shown);
	return world_fixture_teardown(&world);
}

static inline struct wfs_attr attr_of(struct shown *shown, const char *path)
{
	struct wfs_attr attr = {0};
	int r = wfs_tree_resolve(&shown->tree, WFS_HEIGHT_HEAD, path, &attr, NULL);

	if (r)
		print_error("%s: %s\n", path, strerrorname_np(-r));
	assert_int_equal(r, 0);
	return attr;
}

static inline void assert_missing(struct shown *shown, const char *path)
{
	struct wfs_attr attr;

	print_message("no %s\n", path);
	assert_int_equal(
		wfs_tree_resolve(&shown->tree, WFS_HEIGHT_HEAD, path, &attr, NULL), -ENOENT);
}

/* The whole contents of a file; caller frees. */
static inline char *contents(struct shown *shown, const char *path)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
	struct wfs_attr attr = attr_of(shown, path);
	char *text = calloc(1, attr.size_bytes + 1);

	assert_non_null(text);
	assert_int_equal(wfs_tree_read(&shown->tree, attr.ino, 0, attr.size_bytes + 100, &data), 0);
	assert_int_equal(data.bytes.size, attr.size_bytes);
	memcpy(text, data.bytes.data, data.bytes.size);
	return text;
}

static inline void assert_contents(struct shown *shown, const char *path, const char *expected)
{
	WFS_AUTO_FREE char *text = contents(shown, path);

	assert_string_equal(text, expected);
}

/* The names of a directory, each with a space behind it, and the last cookie. */
struct listing {
	struct wfs_buffer names;
	uint64_t cookie;
	size_t count;
	size_t most; /* stop after so many; 0: never */
};

static inline bool add_name(void *context, const struct wfs_tree_entry *entry)
{
	struct listing *listing = context;

	assert_true(entry->cookie != 0);
	wfs_buffer_printf(&listing->names, "%s ", entry->name);
	listing->cookie = entry->cookie;
	return ++listing->count != listing->most;
}

static inline void assert_lists(struct shown *shown, const char *path, const char *expected)
{
	struct listing listing = {0};

	assert_int_equal(
		wfs_tree_list(&shown->tree, attr_of(shown, path).ino, 0, add_name, &listing), 0);
	assert_string_equal(wfs_buffer_text(&listing.names), expected);
	wfs_buffer_done(&listing.names);
}

#define SHOWN(name) TEST_WITH(name, struct shown *shown, setup, teardown)
