/* SPDX-License-Identifier: Apache-2.0 */
/* Names and paths of the tree. */
#include "tests/fixture/tree.h"

/* --- names --- */

SHOWN(keys_have_percent_encoded_names)
{
	tell(shown->world, "{'key':'','op':'set'}");
	tell(shown->world, "{'key':'_','op':'set'}");
	tell(shown->world, "{'key':'.','op':'set'}");
	tell(shown->world, "{'key':'..','op':'set'}");
	tell(shown->world, "{'key':'a/b%c','op':'set'}");
	tell(shown->world, "{'key':'.hidden','op':'set'}");

	assert_lists(shown, "reducers/cell", "_ %5F %2E %2E. a%2Fb%25c .hidden ");
}

SHOWN(each_key_has_one_name)
{
	tell(shown->world, "{'key':'a/b','op':'set'}");
	tell(shown->world, "{'key':'a','op':'set'}");

	attr_of(shown, "reducers/cell/a%2Fb");
	assert_missing(shown, "reducers/cell/a%2fb");
	assert_missing(shown, "reducers/cell/%61");
	assert_missing(shown, "reducers/cell/a%");
	assert_missing(shown, "reducers/cell/a%2");
	assert_missing(shown, "reducers/cell/_");
}

SHOWN(a_reducer_without_keys_has_one_file)
{
	assert_int_equal(send_event(shown->world, "test/Total@1", "{'op':'set','n':4}"), 0);

	assert_lists(shown, "reducers/total", "_ ");
	assert_contents(shown, "reducers/total/_", "{\"n\":4}\n");
}

SHOWN(heights_have_one_spelling)
{
	attr_of(shown, "at/1");
	attr_of(shown, "at/2");
	assert_missing(shown, "at/0");
	assert_missing(shown, "at/01");
	assert_missing(shown, "at/+1");
	assert_missing(shown, "at/1x");
	assert_missing(shown, "at/-1");
	assert_missing(shown, "at/3");
	assert_missing(shown, "at/1099511627777"); /* 2^40 + 1 */
	assert_missing(shown, "at/18446744073709551617");
	assert_missing(shown, "at/99999999999999999999999");
}

SHOWN(records_have_one_spelling)
{
	attr_of(shown, "journal/0.json");
	assert_missing(shown, "journal/00.json");
	assert_missing(shown, "journal/0");
	assert_missing(shown, "journal/.json");
	assert_missing(shown, "journal/0.jsonl");
	assert_missing(shown, "journal/2.json");
	assert_missing(shown, "at/1/journal/1.json");
}

SHOWN(blobs_are_found_with_and_without_prefix)
{
	char path[128];
	char hex[WFS_HASH_HEX_SIZE + 1];
	struct wfs_hash hash;

	assert_int_equal(put_blob(shown->world, "hello\n", 6, &hash), 0);
	wfs_hash_hex(&hash, hex);

	snprintf(path, sizeof(path), "blob/%s", hex);
	assert_contents(shown, path, "hello\n");
	uint64_t ino = attr_of(shown, path).ino;
	snprintf(path, sizeof(path), "blob/sha256:%s", hex);
	assert_true(attr_of(shown, path).ino == ino);
	snprintf(path, sizeof(path), "at/2/blob/%s", hex);
	assert_missing(shown, path);
	snprintf(path, sizeof(path), "blob/%.63s", hex);
	assert_missing(shown, path);
}

SHOWN(names_that_appear_later_are_not_to_be_remembered_as_missing)
{
	struct wfs_attr attr = {0};

	assert_int_equal(
		wfs_tree_lookup(&shown->tree, attr_of(shown, "journal").ino, "2.json", &attr),
		-ENOENT);
	assert_true(attr.uncached);
	assert_int_equal(
		wfs_tree_lookup(&shown->tree, attr_of(shown, "at").ino, "3", &attr), -ENOENT);
	assert_true(attr.uncached);
	assert_int_equal(
		wfs_tree_lookup(&shown->tree, attr_of(shown, "reducers/cell").ino, "new", &attr),
		-ENOENT);
	assert_false(attr.uncached);
}

SHOWN(look_ups_need_a_directory_and_a_name_that_fits)
{
	char name[WFS_KEY_SIZE_MAX + 2];
	struct wfs_attr attr;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';

	assert_int_equal(wfs_tree_lookup(&shown->tree, attr_of(shown, "manifest").ino, "x", &attr),
		-ENOTDIR);
	assert_int_equal(wfs_tree_lookup(&shown->tree, ROOT_INO, name, &attr), -ENAMETOOLONG);
	assert_int_equal(wfs_tree_lookup(&shown->tree, 2, "x", &attr), -ENOENT);
	assert_int_equal(wfs_tree_lookup(&shown->tree, ROOT_INO, "none", &attr), -ENOENT);
	assert_int_equal(
		wfs_tree_resolve(&shown->tree, WFS_HEIGHT_HEAD, name, &attr, NULL), -ENAMETOOLONG);
}

/* --- paths --- */

SHOWN(paths_may_have_slashes_and_dots_between)
{
	assert_true(attr_of(shown, "").ino == ROOT_INO);
	assert_true(attr_of(shown, "/").ino == ROOT_INO);
	assert_true(attr_of(shown, "//./reducers///.//cell/").ino ==
		attr_of(shown, "reducers/cell").ino);
	assert_missing(shown, "reducers/..");
}

SHOWN(a_directory_knows_its_path)
{
	static const char *const paths[] = {"", "reducers", "reducers/cell", "journal", "blob",
		"at", "at/2", "at/2/reducers/cell"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer path = {0};
		uint64_t ino = attr_of(shown, paths[i]).ino;

		assert_int_equal(wfs_tree_path(&shown->tree, ino, &path), 0);
		assert_true(attr_of(shown, wfs_buffer_text(&path)).ino == ino);
	}
	WFS_AUTO_BUFFER struct wfs_buffer none = {0};
	assert_int_equal(
		wfs_tree_path(&shown->tree, attr_of(shown, "README").ino, &none), -ENOTDIR);
	assert_int_equal(wfs_tree_path(&shown->tree, 0, &none), -ENOENT);
}

SHOWN(at_head_leads_to_the_newest_height)
{
	WFS_AUTO_BUFFER struct wfs_buffer target = {0};
	struct wfs_attr link;

	tell(shown->world, "{'key':'a','op':'set'}");
	assert_int_equal(wfs_tree_lookup(&shown->tree, attr_of(shown, "at").ino, "head", &link), 0);
	assert_int_equal(wfs_tree_link(&shown->tree, link.ino, &target), 0);

	assert_true(S_ISLNK(link.mode) && link.uncached);
	assert_string_equal(wfs_buffer_text(&target), "3");
	assert_int_equal(link.size_bytes, 1);
	assert_true(attr_of(shown, "at/head").ino == attr_of(shown, "at/3").ino);
	assert_contents(shown, "at/head/reducers/cell/a", "{\"n\":0}\n");
}

SHOWN(ctl_is_a_link_a_directory_or_nothing)
{
	WFS_AUTO_BUFFER struct wfs_buffer target = {0};
	struct wfs_attr attr = attr_of(shown, "ctl");

	assert_true(S_ISLNK(attr.mode));
	assert_int_equal(wfs_tree_link(&shown->tree, attr.ino, &target), 0);
	assert_string_equal(wfs_buffer_text(&target), "/run/somewhere/ctl");
	assert_int_equal(attr.size_bytes, target.size);
	shown->tree.ctl_directory = true;
	assert_true(S_ISDIR(attr_of(shown, "ctl").mode));
	assert_lists(shown, "ctl", "");
	shown->tree.ctl_directory = false;
	shown->tree.ctl_target = NULL;
	assert_missing(shown, "ctl");
	assert_int_equal(wfs_tree_link(&shown->tree, ROOT_INO, &target), -EINVAL);
}

SHOWN(a_path_can_be_resolved_at_a_height)
{
	struct wfs_attr attr;

	tell(shown->world, "{'key':'a','op':'set'}");

	assert_int_equal(wfs_tree_resolve(&shown->tree, 3, "reducers/cell/a", &attr, NULL), 0);
	assert_int_equal(
		wfs_tree_resolve(&shown->tree, 2, "reducers/cell/a", &attr, NULL), -ENOENT);
	assert_int_equal(wfs_tree_resolve(&shown->tree, 4, "", &attr, NULL), -ENOENT);
}

SHOWN(the_same_version_is_the_same_inode_everywhere)
{
	tell(shown->world, "{'key':'a','op':'set','n':1}");
	tell(shown->world, "{'key':'b','op':'set','n':1}");
	uint64_t before = attr_of(shown, "reducers/cell/a").ino;
	assert_true(attr_of(shown, "at/3/reducers/cell/a").ino == before);
	assert_true(attr_of(shown, "at/4/reducers/cell/a").ino == before);
	tell(shown->world, "{'key':'a','op':'set','n':2}");

	assert_true(attr_of(shown, "reducers/cell/a").ino != before);
	assert_true(attr_of(shown, "at/4/reducers/cell/a").ino == before);
	assert_true(attr_of(shown, "manifest").ino == attr_of(shown, "at/1/manifest").ino);
	assert_true(
		attr_of(shown, "journal/0.json").ino == attr_of(shown, "at/1/journal/0.json").ino);
}

SHOWN(directories_keep_their_inode)
{
	uint64_t before = attr_of(shown, "reducers/cell").ino;

	tell(shown->world, "{'key':'a','op':'set'}");

	assert_true(attr_of(shown, "reducers/cell").ino == before);
	assert_true(attr_of(shown, "at/2/reducers/cell").ino != before);
	assert_true(wfs_tree_directory_ino(WFS_DIRECTORY_ROOT, 0) == ROOT_INO);
	assert_true(wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, 1) == before);
}
