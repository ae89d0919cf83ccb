/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of tools of outside servers. */
#include "tests/fixture/outside-tools.h"
#include "tests/fixture/tree.h"

#include "caps/session-tools.h"

static void set_list(struct shown *shown)
{
	assert_int_equal(wfs_authority_set_tools(shown->authority, json_of(listed_tools)), 0);
}

SHOWN(tools_are_there_once_they_are_listed)
{
	assert_missing(shown, "tools");
	set_list(shown);
	attr_of(shown, "tools");
	assert_int_equal(wfs_authority_set_tools(shown->authority, NULL), 0);
	assert_missing(shown, "tools");
}

static size_t count_of(struct shown *shown, const char *path)
{
	struct listing listing = {.names = {0}};

	assert_int_equal(
		wfs_tree_list(&shown->tree, attr_of(shown, path).ino, 0, add_name, &listing), 0);
	wfs_buffer_done(&listing.names);
	return listing.count;
}

SHOWN(each_server_that_listed_tools_has_a_directory)
{
	set_list(shown);

	assert_int_equal(count_of(shown, "tools"), 2);
	assert_int_equal(count_of(shown, "tools/git"), 4);
	assert_lists(shown, "tools/fs", "ls.json ");
	assert_missing(shown, "tools/down");
	assert_missing(shown, "tools/gi");
	assert_missing(shown, "tools/git/log");
	assert_missing(shown, "tools/git/.json");
	assert_missing(shown, "tools/git/git.log.json");
	assert_missing(shown, "tools/fs/log.json");
}

SHOWN(a_tool_s_file_is_what_is_listed_of_it)
{
	set_list(shown);

	assert_contents(shown, "tools/fs/ls.json",
		"{\"annotations\":{\"readOnlyHint\":true},\"description\":\"List files.\","
		"\"hash\":\"" LISTED_HASH("01") "\",\"name\":\"fs.ls\","
						"\"schema\":{\"type\":\"object\"}}\n");
}

SHOWN(tools_are_not_of_a_height)
{
	set_list(shown);

	assert_missing(shown, "at/2/tools");
	assert_missing(shown, "at/2/tools/git");
}

SHOWN(nothing_of_tools_is_cached)
{
	struct wfs_attr attr;

	attr = attr_of(shown, "/");
	assert_int_equal(wfs_tree_lookup(&shown->tree, attr.ino, "tools", &attr), -ENOENT);
	assert_true(attr.uncached);
	set_list(shown);
	assert_true(attr_of(shown, "tools").uncached);
	assert_true(attr_of(shown, "tools/git").uncached);
	assert_true(attr_of(shown, "tools/git/log.json").uncached);
	attr = attr_of(shown, "tools/git");
	assert_int_equal(wfs_tree_lookup(&shown->tree, attr.ino, "new.json", &attr), -ENOENT);
	assert_true(attr.uncached);
}

SHOWN(a_number_leads_to_its_tool)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	struct wfs_attr attr;

	set_list(shown);
	const uint64_t server = attr_of(shown, "tools/git").ino;
	const uint64_t tool = attr_of(shown, "tools/git/log.json").ino;

	assert_int_equal(wfs_tree_by_number(&shown->tree, tool, &attr), 0);
	assert_int_equal(wfs_tree_by_number(&shown->tree, server, &attr), 0);
	assert_int_equal(wfs_tree_path(&shown->tree, server, &path), 0);
	assert_string_equal(wfs_buffer_text(&path), "tools/git");
	assert_int_equal(wfs_tree_parent(&shown->tree, server, &attr), 0);
	assert_true(attr.ino == attr_of(shown, "tools").ino);
	assert_int_equal(wfs_authority_set_tools(shown->authority, NULL), 0);
	assert_int_equal(wfs_tree_by_number(&shown->tree, tool, &attr), -ENOENT);
	assert_int_equal(wfs_tree_by_number(&shown->tree, server, &attr), -ENOENT);
}

SHOWN(a_listing_goes_on_after_its_cookie)
{
	struct listing first = {.names = {0}, .most = 2};
	struct listing rest = {.names = {0}};

	set_list(shown);
	const uint64_t ino = attr_of(shown, "tools/git").ino;
	assert_int_equal(wfs_tree_list(&shown->tree, ino, 0, add_name, &first), 0);
	assert_int_equal(wfs_tree_list(&shown->tree, ino, first.cookie, add_name, &rest), 0);
	assert_int_equal(first.count + rest.count, 4);
	wfs_buffer_done(&first.names);
	wfs_buffer_done(&rest.names);
}

SHOWN(a_listing_is_bounded)
{
	struct wfs_tree_scan scan = {.left = 2};
	struct listing listing = {.names = {0}};

	set_list(shown);
	const uint64_t ino = attr_of(shown, "tools/git").ino;
	shown->tree.scan = &scan;
	assert_int_equal(wfs_tree_list(&shown->tree, ino, 0, add_name, &listing), 0);
	assert_int_equal(listing.count, 2);
	assert_true(scan.ended && scan.cookie == listing.cookie);
	scan = (struct wfs_tree_scan){.left = 100};
	assert_int_equal(wfs_tree_list(&shown->tree, ino, listing.cookie, add_name, &listing), 0);
	assert_int_equal(listing.count, 4);
	shown->tree.scan = NULL;
	wfs_buffer_done(&listing.names);
}
