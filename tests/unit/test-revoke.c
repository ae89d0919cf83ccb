/* SPDX-License-Identifier: Apache-2.0 */
/* What a mount drops when rights change, in which order, and what happens if that fails. The
 * wrapped functions act as Linux, the teller and the session. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/data/revoke.h"

enum { TOLD_SIZE = 4096 };

struct fixture {
	struct wfs_tree tree;
	struct wfs_known *known;
	struct wfs_revoke revoke;
	struct wfs_rights_watcher *watcher;
	char told[TOLD_SIZE]; /* a word for each notification: its kind, and inode or name */
	const char *failing;  /* the word that fails */
	int failure;
	unsigned int ended;
	bool looks_up; /* a client looks a name up again as soon as it is dropped */
	unsigned int lookups;
};

static struct fixture *fixture; /* for the wrapped functions */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __wrap_wfs_session_watch(const struct wfs_session *session, struct wfs_rights_watcher *watcher);
void __wrap_wfs_session_unwatch(
	const struct wfs_session *session, struct wfs_rights_watcher *watcher);
void __wrap_wfs_session_settle(const struct wfs_session *session);
int __wrap_wfs_notify_log_anew(struct wfs_notify *notify);
int __wrap_wfs_teller_run(struct wfs_teller *teller, int (*job)(void *context), void *context);
void __wrap_wfs_teller_end(struct wfs_teller *teller, const char *why);
void __wrap_wfs_teller_post(struct wfs_teller *teller, int (*job)(void *context), void *context);
int __wrap_wfs_teller_entry(
	struct wfs_teller *teller, uint64_t directory, const char *name, size_t size);
int __wrap_wfs_teller_inode(struct wfs_teller *teller, uint64_t ino, uint64_t offset);
int __wrap_wfs_teller_inode_here(struct wfs_teller *teller, uint64_t ino, uint64_t offset);
/* NOLINTEND(readability-identifier-naming) */

static int told(const char *kind, const char *name, size_t size)
{
	const size_t used = strlen(fixture->told);

	snprintf(fixture->told + used, TOLD_SIZE - used, " %s:%.*s", kind, (int)size, name);
	return fixture->failing && strcmp(fixture->told + used + 1, fixture->failing) == 0
		? fixture->failure
		: 0;
}

static int told_inode(const char *kind, uint64_t ino)
{
	struct wfs_node node;
	char name[32];

	assert_true(wfs_ino_decode(ino, &node));
	if (node.kind != WFS_NODE_DIRECTORY)
		snprintf(name, sizeof(name), "file%d", (int)node.number);
	else
		snprintf(name, sizeof(name), ino == FUSE_ROOT_ID ? "root" : "directory");
	return told(kind, name, strlen(name));
}

int __wrap_wfs_session_watch(const struct wfs_session *session, struct wfs_rights_watcher *watcher)
{
	(void)session;
	fixture->watcher = watcher;
	return 0;
}

void __wrap_wfs_session_unwatch(
	const struct wfs_session *session, struct wfs_rights_watcher *watcher)
{
	(void)session;
	assert_ptr_equal(fixture->watcher, watcher);
	fixture->watcher = NULL;
}

void __wrap_wfs_session_settle(const struct wfs_session *session)
{
	(void)session;
	told("settle", "", 0);
}

int __wrap_wfs_notify_log_anew(struct wfs_notify *notify)
{
	(void)notify;
	return told("log", "", 0);
}

int __wrap_wfs_teller_run(struct wfs_teller *teller, int (*job)(void *context), void *context)
{
	(void)teller;
	return job(context);
}

void __wrap_wfs_teller_post(struct wfs_teller *teller, int (*job)(void *context), void *context)
{
	(void)teller;
	(void)job(context);
}

void __wrap_wfs_teller_end(struct wfs_teller *teller, const char *why)
{
	(void)teller, (void)why;
	fixture->ended++;
}

int __wrap_wfs_teller_entry(
	struct wfs_teller *teller, uint64_t directory, const char *name, size_t size)
{
	(void)teller;
	if (fixture->looks_up && directory != FUSE_ROOT_ID && name[0] != '_') {
		char text[WFS_NAME_MAX + 1] = {0};

		memcpy(text, name, size);
		assert_true(++fixture->lookups < 10);
		assert_int_equal(wfs_known_add(fixture->known, directory,
					 wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, 9), text),
			0);
	}
	return told("entry", name, size);
}

int __wrap_wfs_teller_inode(struct wfs_teller *teller, uint64_t ino, uint64_t offset)
{
	(void)teller;
	return told_inode(offset == 0 ? "contents" : "attributes", ino);
}

int __wrap_wfs_teller_inode_here(struct wfs_teller *teller, uint64_t ino, uint64_t offset)
{
	(void)teller;
	return told_inode(offset == 0 ? "contents-here" : "attributes-here", ino);
}

static uint64_t file(uint64_t vid)
{
	const struct wfs_node node = {.kind = WFS_NODE_VERSION, .number = vid};

	return wfs_ino_encode(&node);
}

static uint64_t cells(void)
{
	return wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, 1);
}

static int setup(void **state)
{
	fixture = calloc(1, sizeof(*fixture));
	*state = fixture;
	if (!fixture || wfs_known_new(WFS_KNOWN_NAMES_MAX, &fixture->known))
		return -1;
	/* No test looks at the teller itself. */
	return wfs_revoke_init(&fixture->revoke, &fixture->tree, (struct wfs_teller *)fixture,
		fixture->known, NULL);
}

static int teardown(void **state)
{
	(void)state;
	wfs_revoke_stop(&fixture->revoke);
	assert_null(fixture->watcher);
	wfs_known_free(fixture->known);
	free(fixture);
	return 0;
}

#define REVOKE(name) TEST_WITH(name, void *state, setup, teardown)

static void change(void)
{
	fixture->watcher->changed(fixture->watcher);
}

REVOKE(pages_come_before_names_and_names_before_listings)
{
	wfs_known_add(fixture->known, cells(), file(5), "a");

	change();

	assert_string_equal(fixture->told,
		" settle: attributes:root contents:file5 log: entry:a entry:_ contents:root "
		"attributes:file5");
	assert_int_equal(fixture->ended, 0);
}

REVOKE(of_a_directory_the_listing_goes_last)
{
	wfs_known_add(fixture->known, FUSE_ROOT_ID, cells(), "cells");

	change();

	assert_string_equal(fixture->told,
		" settle: attributes:root attributes:directory log: entry:cells entry:_ "
		"contents:root entry:_ contents:directory");
}

REVOKE(each_name_of_a_file_is_dropped)
{
	wfs_known_add(fixture->known, cells(), file(5), "a");
	wfs_known_add(fixture->known, cells() + 1, file(5), "b");

	change();

	assert_non_null(strstr(fixture->told, "entry:a"));
	assert_non_null(strstr(fixture->told, "entry:b"));
}

REVOKE(what_linux_has_forgotten_need_not_be_dropped)
{
	wfs_known_add(fixture->known, cells(), file(5), "a");
	wfs_known_forget(fixture->known, file(5), 1);

	change();

	assert_string_equal(fixture->told, " settle: attributes:root log: entry:_ contents:root");
}

REVOKE(the_nested_control_files_stay_mounted)
{
	const struct wfs_node ctl = {.kind = WFS_NODE_DIRECTORY, .directory = WFS_DIRECTORY_CTL};

	fixture->tree.ctl_directory = true;
	wfs_known_add(fixture->known, FUSE_ROOT_ID, wfs_ino_encode(&ctl), "ctl");
	wfs_known_add(fixture->known, cells(), file(5), "ctl");

	change();

	const char *first = strstr(fixture->told, "entry:ctl");
	assert_non_null(first);
	assert_null(strstr(first + 1, "entry:ctl"));
}

REVOKE(who_looks_up_again_does_not_keep_it_going)
{
	fixture->looks_up = true;
	wfs_known_add(fixture->known, cells(), file(5), "a");

	change();

	assert_int_equal(fixture->lookups, 1);
}

REVOKE(what_linux_does_not_know_is_no_failure)
{
	fixture->failing = "entry:a";
	fixture->failure = -ENOENT;
	wfs_known_add(fixture->known, cells(), file(5), "a");

	change();

	assert_non_null(strstr(fixture->told, "contents:root"));
	assert_int_equal(fixture->ended, 0);
}

REVOKE(a_mount_that_cannot_be_told_is_ended_and_shows_no_pages)
{
	static const char *const words[] = {"attributes:root", "contents:file5", "log:", "entry:a",
		"entry:_", "contents:root", "attributes:file5"};

	fixture->failure = -ENOMEM;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(words); i++) {
		print_message("'%s' fails\n", words[i]);
		wfs_known_add(fixture->known, cells(), file(5), "a");
		fixture->told[0] = '\0';
		fixture->failing = words[i];

		change();

		assert_int_equal(fixture->ended, i + 1);
		assert_non_null(strstr(fixture->told, "contents-here:file5"));
	}
}

/* The teller has ended the mount already, or does so now. */
REVOKE(a_teller_that_was_given_up_shows_no_pages)
{
	fixture->failing = "entry:a";
	fixture->failure = -ECANCELED;
	wfs_known_add(fixture->known, cells(), file(5), "a");

	change();

	assert_int_equal(fixture->ended, 0);
	assert_string_equal(fixture->told,
		" settle: attributes:root contents:file5 log: entry:a contents-here:file5");
}

REVOKE(to_make_room_names_are_dropped_and_nothing_else)
{
	wfs_known_add(fixture->known, cells(), file(5), "a");

	wfs_revoke_make_room(&fixture->revoke);

	assert_string_equal(fixture->told, " entry:a");
}

/* --- outside tools are listed --- */

static void list(void)
{
	fixture->watcher->listed(fixture->watcher);
}

REVOKE(a_list_of_tools_drops_what_is_cached_of_tools)
{
	const struct wfs_node tool = {.kind = WFS_NODE_TOOL, .number = 7};
	const uint64_t tools = wfs_tree_directory_ino(WFS_DIRECTORY_TOOLS, 0);

	wfs_known_add(fixture->known, cells(), file(5), "a");
	wfs_known_add(fixture->known, FUSE_ROOT_ID, cells(), "cells");
	wfs_known_add(fixture->known, FUSE_ROOT_ID, tools, "tools");
	list();
	assert_string_equal(fixture->told, " entry:_ contents:root entry:_ contents:directory");

	wfs_known_add(fixture->known, tools, wfs_ino_encode(&tool), "tool.json");
	*fixture->told = '\0';
	list();
	assert_non_null(strstr(fixture->told, " contents:file7"));
	assert_null(strstr(fixture->told, "file5"));
	assert_int_equal(fixture->ended, 0);
}

REVOKE(a_mount_that_linux_does_not_use_yet_is_not_ended)
{
	fixture->failing = "entry:_";
	fixture->failure = -ENOSYS;

	list();

	assert_int_equal(fixture->ended, 0);
}

REVOKE(a_list_that_cannot_be_dropped_ends_the_mount)
{
	fixture->failing = "contents:root";
	fixture->failure = -ENOMEM;

	list();

	assert_int_equal(fixture->ended, 1);
}
