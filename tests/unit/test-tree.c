/* SPDX-License-Identifier: Apache-2.0 */
/* The tree: paths, names, listings, contents and attributes, without a mount. */
#include "tests/unit/world-fixture.h"

#include "caps/session.h"
#include "caps/upkeep.h"
#include "fs/tree/tree.h"

enum {
	GENESIS_HEIGHT = 2,
	ROOT_INO = 1,
	MANY = 500,
};

struct shown {
	struct world_fixture *world;
	struct wfs_session *session;
	struct wfs_tree tree;
};

static int setup(void **state)
{
	struct shown *shown = calloc(1, sizeof(*shown));

	*state = shown;
	if (world_fixture_setup((void **)&shown->world) ||
		wfs_session_new(shown->world->world, WFS_PRINCIPAL_OPERATOR, &shown->session, NULL))
		return -1;
	shown->tree =
		(struct wfs_tree){.session = shown->session, .ctl_target = "/run/somewhere/ctl"};
	return 0;
}

static int teardown(void **state)
{
	struct shown *shown = *state;
	void *world = shown->world;

	wfs_session_free(shown->session);
	free(shown);
	return world_fixture_teardown(&world);
}

static struct wfs_attr attr_of(struct shown *shown, const char *path)
{
	struct wfs_attr attr = {0};
	int r = wfs_tree_resolve(&shown->tree, WFS_HEIGHT_HEAD, path, &attr);

	if (r)
		print_error("%s: %s\n", path, strerrorname_np(-r));
	assert_int_equal(r, 0);
	return attr;
}

static void assert_missing(struct shown *shown, const char *path)
{
	struct wfs_attr attr;

	print_message("no %s\n", path);
	assert_int_equal(wfs_tree_resolve(&shown->tree, WFS_HEIGHT_HEAD, path, &attr), -ENOENT);
}

/* The whole contents of a file; caller frees. */
static char *contents(struct shown *shown, const char *path)
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

static void assert_contents(struct shown *shown, const char *path, const char *expected)
{
	WFS_AUTO_FREE char *text = contents(shown, path);

	assert_string_equal(text, expected);
}

/* --- listings --- */

/* The names of a directory, each with a space behind it, and the last cookie. */
struct listing {
	struct wfs_buffer names;
	uint64_t cookie;
	size_t count;
	size_t most; /* stop after so many; 0: never */
};

static bool add_name(void *context, const struct wfs_tree_entry *entry)
{
	struct listing *listing = context;

	assert_true(entry->cookie != 0);
	wfs_buffer_printf(&listing->names, "%s ", entry->name);
	listing->cookie = entry->cookie;
	return ++listing->count != listing->most;
}

static void assert_lists(struct shown *shown, const char *path, const char *expected)
{
	struct listing listing = {0};

	assert_int_equal(
		wfs_tree_list(&shown->tree, attr_of(shown, path).ino, 0, add_name, &listing), 0);
	assert_string_equal(wfs_buffer_text(&listing.names), expected);
	wfs_buffer_done(&listing.names);
}

static void the_root_lists_its_names(void **state)
{
	assert_lists(*state, "/",
		"README manifest reducers artifacts principals plans turns blob journal at ctl ");
}

static void the_root_of_a_height_has_neither_at_nor_ctl(void **state)
{
	assert_lists(*state, "at/1",
		"README manifest reducers artifacts principals plans turns blob journal ");
	assert_missing(*state, "at/1/at");
	assert_missing(*state, "at/1/ctl");
}

static void at_lists_nothing(void **state)
{
	assert_lists(*state, "at", "");
}

static void every_listed_name_can_be_looked_up(void **state)
{
	struct shown *shown = *state;
	static const char *const directories[] = {
		"/", "reducers", "reducers/cell", "blob", "journal", "at/2", "at/2/journal"};

	tell(shown->world, "{'key':'a/b','op':'set'}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(directories); i++) {
		struct listing listing = {0};
		struct wfs_attr attr;
		uint64_t ino = attr_of(shown, directories[i]).ino;

		print_message("%s\n", directories[i]);
		assert_int_equal(wfs_tree_list(&shown->tree, ino, 0, add_name, &listing), 0);
		char *rest = NULL;
		char *name =
			strtok_r((char *)(uintptr_t)wfs_buffer_text(&listing.names), " ", &rest);
		for (; name; name = strtok_r(NULL, " ", &rest))
			assert_int_equal(wfs_tree_lookup(&shown->tree, ino, name, &attr), 0);
		assert_true(listing.count > 0);
		wfs_buffer_done(&listing.names);
	}
}

struct comparison {
	struct shown *shown;
	uint64_t parent;
};

static bool compare_with_lookup(void *context, const struct wfs_tree_entry *entry)
{
	const struct comparison *comparison = context;
	struct wfs_attr attr;

	assert_int_equal(
		wfs_tree_lookup(&comparison->shown->tree, comparison->parent, entry->name, &attr),
		0);
	assert_true(attr.ino == entry->attr->ino);
	assert_int_equal(attr.mode, entry->attr->mode);
	assert_int_equal(attr.size_bytes, entry->attr->size_bytes);
	assert_int_equal(attr.mtime_ns, entry->attr->mtime_ns);
	assert_int_equal(wfs_tree_attr(&comparison->shown->tree, attr.ino, &attr), 0);
	assert_int_equal(attr.size_bytes, entry->attr->size_bytes);
	assert_int_equal(attr.mtime_ns, entry->attr->mtime_ns);
	return true;
}

static void listing_look_up_and_stat_agree(void **state)
{
	struct shown *shown = *state;
	static const char *const directories[] = {
		"/", "reducers", "reducers/cell", "blob", "journal", "at/3", "at/3/reducers/cell"};

	tell(shown->world, "{'key':'a','op':'set'}");
	tell(shown->world, "{'key':'a','op':'set','n':10}");
	tell(shown->world, "{'key':'b','op':'set'}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(directories); i++) {
		struct comparison comparison = {shown, attr_of(shown, directories[i]).ino};

		print_message("%s\n", directories[i]);
		assert_int_equal(wfs_tree_list(&shown->tree, comparison.parent, 0,
					 compare_with_lookup, &comparison),
			0);
	}
}

static void a_listing_goes_on_behind_any_cookie(void **state)
{
	struct shown *shown = *state;
	static const char *const directories[] = {"/", "reducers", "reducers/cell", "journal"};

	tell(shown->world, "{'key':'a','op':'emit','n':20}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(directories); i++) {
		struct listing whole = {0};
		struct listing parts = {.most = 1};
		uint64_t ino = attr_of(shown, directories[i]).ino;

		print_message("%s\n", directories[i]);
		assert_int_equal(wfs_tree_list(&shown->tree, ino, 0, add_name, &whole), 0);
		for (size_t one = 0; one < whole.count + 1; one++) {
			parts.count = 0;
			assert_int_equal(
				wfs_tree_list(&shown->tree, ino, parts.cookie, add_name, &parts),
				0);
		}
		assert_string_equal(wfs_buffer_text(&parts.names), wfs_buffer_text(&whole.names));
		wfs_buffer_done(&whole.names);
		wfs_buffer_done(&parts.names);
	}
}

static void a_cookie_that_was_never_given_lists_nothing_else(void **state)
{
	struct shown *shown = *state;
	static const char *const directories[] = {
		"/", "reducers", "reducers/cell", "blob", "journal"};
	static const uint64_t cookies[] = {
		UINT64_MAX, INT64_MAX, (UINT64_C(2) << 40) + 1, UINT64_C(3) << 40};

	/* Cells of other reducers stand before and behind those of `cell`. */
	assert_int_equal(send(shown->world, "test/Both@1", "{'key':'a','op':'set'}"), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(directories); i++)
		for (size_t j = 0; j < WFS_ARRAY_COUNT(cookies); j++) {
			struct listing listing = {0};

			print_message("%s %#llx\n", directories[i], (unsigned long long)cookies[j]);
			assert_int_equal(
				wfs_tree_list(&shown->tree, attr_of(shown, directories[i]).ino,
					cookies[j], add_name, &listing),
				0);
			assert_int_equal(listing.count, 0);
		}
}

static void *insert_and_delete(void *argument)
{
	struct shown *shown = argument;
	char value[100];

	for (int i = 0; i < MANY; i++) {
		snprintf(value, sizeof(value), "{'key':'new%d','op':'set'}", i);
		if (send(shown->world, "test/Do@1", value))
			return shown;
		snprintf(value, sizeof(value), "{'key':'new%d','op':'delete'}", i / 2);
		if (send(shown->world, "test/Do@1", value))
			return shown;
	}
	return NULL;
}

static void a_listing_in_parts_is_right_under_change(void **state)
{
	struct shown *shown = *state;
	pthread_t thread;
	void *failed;

	/* Names that stay must come exactly once, whatever comes and goes around them. */
	tell(shown->world, "{'key':'old','op':'emit','n':100}");
	uint64_t ino = attr_of(shown, "reducers/cell").ino;
	assert_int_equal(pthread_create(&thread, NULL, insert_and_delete, shown), 0);
	for (int round = 0; round < 20; round++) {
		struct listing parts = {.most = 7};
		size_t old = 0;

		for (size_t before = SIZE_MAX; parts.count != before;) {
			before = parts.count;
			parts.most = parts.count + 7;
			assert_int_equal(
				wfs_tree_list(&shown->tree, ino, parts.cookie, add_name, &parts),
				0);
		}
		const char *text = wfs_buffer_text(&parts.names);
		for (const char *at = text; (at = strstr(at, "old.")); at++)
			old++;
		assert_int_equal(old, 100);
		wfs_buffer_done(&parts.names);
	}
	pthread_join(thread, &failed);
	assert_null(failed);
}

static void a_listing_of_a_height_does_not_change(void **state)
{
	struct shown *shown = *state;

	tell(shown->world, "{'key':'a','op':'set'}");
	tell(shown->world, "{'key':'b','op':'set'}");
	tell(shown->world, "{'key':'a','op':'delete'}");

	assert_lists(shown, "at/2/reducers/cell", "");
	assert_lists(shown, "at/3/reducers/cell", "a ");
	assert_lists(shown, "at/4/reducers/cell", "a b ");
	assert_lists(shown, "at/5/reducers/cell", "b ");
	assert_lists(shown, "reducers/cell", "b ");
}

static void the_journal_lists_its_records_up_to_the_height(void **state)
{
	struct shown *shown = *state;

	tell(shown->world, "{'key':'a','op':'set'}");

	assert_lists(shown, "journal", "head log.jsonl 0.json 1.json 2.json ");
	assert_lists(shown, "at/1/journal", "head log.jsonl 0.json ");
}

static void counts_are_never_too_few_at_the_head(void **state)
{
	struct shown *shown = *state;
	static const char *const directories[] = {"reducers/cell", "journal", "blob"};

	tell(shown->world, "{'key':'a','op':'emit','n':20}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(directories); i++) {
		struct listing listing = {0};
		uint64_t ino = attr_of(shown, directories[i]).ino;
		uint64_t count;

		assert_int_equal(wfs_tree_list(&shown->tree, ino, 0, add_name, &listing), 0);
		assert_int_equal(wfs_tree_count(&shown->tree, ino, &count), 0);
		assert_true(count >= listing.count);
		wfs_buffer_done(&listing.names);
	}
}

static void only_directories_are_listed(void **state)
{
	struct shown *shown = *state;
	struct listing listing = {0};

	assert_int_equal(
		wfs_tree_list(&shown->tree, attr_of(shown, "manifest").ino, 0, add_name, &listing),
		-ENOTDIR);
	assert_int_equal(wfs_tree_list(&shown->tree, 2, 0, add_name, &listing), -ENOENT);
}

/* --- names --- */

static void keys_have_percent_encoded_names(void **state)
{
	struct shown *shown = *state;

	tell(shown->world, "{'key':'','op':'set'}");
	tell(shown->world, "{'key':'_','op':'set'}");
	tell(shown->world, "{'key':'.','op':'set'}");
	tell(shown->world, "{'key':'..','op':'set'}");
	tell(shown->world, "{'key':'a/b%c','op':'set'}");
	tell(shown->world, "{'key':'.hidden','op':'set'}");

	assert_lists(shown, "reducers/cell", "_ %5F %2E %2E. a%2Fb%25c .hidden ");
}

static void each_key_has_one_name(void **state)
{
	struct shown *shown = *state;

	tell(shown->world, "{'key':'a/b','op':'set'}");
	tell(shown->world, "{'key':'a','op':'set'}");

	attr_of(shown, "reducers/cell/a%2Fb");
	assert_missing(shown, "reducers/cell/a%2fb");
	assert_missing(shown, "reducers/cell/%61");
	assert_missing(shown, "reducers/cell/a%");
	assert_missing(shown, "reducers/cell/a%2");
	assert_missing(shown, "reducers/cell/_");
}

static void a_reducer_without_keys_has_one_file(void **state)
{
	struct shown *shown = *state;

	assert_int_equal(send(shown->world, "test/Total@1", "{'op':'set','n':4}"), 0);

	assert_lists(shown, "reducers/total", "_ ");
	assert_contents(shown, "reducers/total/_", "{\"n\":4}\n");
}

static void heights_have_one_spelling(void **state)
{
	struct shown *shown = *state;

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

static void records_have_one_spelling(void **state)
{
	struct shown *shown = *state;

	attr_of(shown, "journal/0.json");
	assert_missing(shown, "journal/00.json");
	assert_missing(shown, "journal/0");
	assert_missing(shown, "journal/.json");
	assert_missing(shown, "journal/0.jsonl");
	assert_missing(shown, "journal/2.json");
	assert_missing(shown, "at/1/journal/1.json");
}

static void blobs_are_found_with_and_without_prefix(void **state)
{
	struct shown *shown = *state;
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

static void names_that_appear_later_are_not_to_be_remembered_as_missing(void **state)
{
	struct shown *shown = *state;
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

static void look_ups_need_a_directory_and_a_name_that_fits(void **state)
{
	struct shown *shown = *state;
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
		wfs_tree_resolve(&shown->tree, WFS_HEIGHT_HEAD, name, &attr), -ENAMETOOLONG);
}

/* --- paths --- */

static void paths_may_have_slashes_and_dots_between(void **state)
{
	struct shown *shown = *state;

	assert_true(attr_of(shown, "").ino == ROOT_INO);
	assert_true(attr_of(shown, "/").ino == ROOT_INO);
	assert_true(attr_of(shown, "//./reducers///.//cell/").ino ==
		attr_of(shown, "reducers/cell").ino);
	assert_missing(shown, "reducers/..");
}

static void a_directory_knows_its_path(void **state)
{
	static const char *const paths[] = {"", "reducers", "reducers/cell", "journal", "blob",
		"at", "at/2", "at/2/reducers/cell"};
	struct shown *shown = *state;

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

static void at_head_leads_to_the_newest_height(void **state)
{
	struct shown *shown = *state;
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

static void ctl_is_a_link_a_directory_or_nothing(void **state)
{
	struct shown *shown = *state;
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

static void a_path_can_be_resolved_at_a_height(void **state)
{
	struct shown *shown = *state;
	struct wfs_attr attr;

	tell(shown->world, "{'key':'a','op':'set'}");

	assert_int_equal(wfs_tree_resolve(&shown->tree, 3, "reducers/cell/a", &attr), 0);
	assert_int_equal(wfs_tree_resolve(&shown->tree, 2, "reducers/cell/a", &attr), -ENOENT);
	assert_int_equal(wfs_tree_resolve(&shown->tree, 4, "", &attr), -ENOENT);
}

static void the_same_version_is_the_same_inode_everywhere(void **state)
{
	struct shown *shown = *state;

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

static void directories_keep_their_inode(void **state)
{
	struct shown *shown = *state;
	uint64_t before = attr_of(shown, "reducers/cell").ino;

	tell(shown->world, "{'key':'a','op':'set'}");

	assert_true(attr_of(shown, "reducers/cell").ino == before);
	assert_true(attr_of(shown, "at/2/reducers/cell").ino != before);
	assert_true(wfs_tree_directory_ino(WFS_DIRECTORY_ROOT, 0) == ROOT_INO);
	assert_true(wfs_tree_directory_ino(WFS_DIRECTORY_REDUCER, 1) == before);
}

/* --- contents --- */

static void a_cell_is_its_document(void **state)
{
	struct shown *shown = *state;

	tell(shown->world, "{'key':'a','op':'set','n':1}");
	tell(shown->world, "{'key':'a','op':'set','n':22}");

	assert_contents(shown, "reducers/cell/a", "{\"n\":22}\n");
	assert_contents(shown, "at/3/reducers/cell/a", "{\"n\":1}\n");
}

static void a_file_is_read_from_any_offset(void **state)
{
	struct shown *shown = *state;
	static const char *const paths[] = {
		"README", "manifest", "journal/0.json", "journal/log.jsonl", "journal/head"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		WFS_AUTO_FREE char *whole = contents(shown, paths[i]);
		struct wfs_attr attr = attr_of(shown, paths[i]);

		print_message("%s\n", paths[i]);
		for (uint64_t offset = 0; offset < attr.size_bytes + 3; offset += 13) {
			WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
			uint64_t left = offset < attr.size_bytes ? attr.size_bytes - offset : 0;
			size_t expected = left < 40 ? (size_t)left : 40;

			assert_int_equal(
				wfs_tree_read(&shown->tree, attr.ino, offset, 40, &data), 0);
			assert_int_equal(data.bytes.size, expected);
			if (expected)
				assert_memory_equal(data.bytes.data, whole + offset, expected);
		}
	}
}

static void the_readme_of_a_copy_is_known(void **state)
{
	WFS_AUTO_FREE char *text = contents(*state, "README");

	assert_true(wfs_restore_knows_readme(wfs_bytes_text(text)));
	text[0]++;
	assert_false(wfs_restore_knows_readme(wfs_bytes_text(text)));
}

static void a_large_cell_is_read_from_its_file(void **state)
{
	struct shown *shown = *state;
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
	WFS_AUTO_TREE_DATA struct wfs_tree_data behind = {0};

	tell(shown->world, "{'key':'a','op':'grow','n':100000}");
	WFS_AUTO_FREE char *text = contents(shown, "reducers/cell/a");
	struct wfs_attr attr = attr_of(shown, "reducers/cell/a");

	assert_int_equal(strlen(text), 100000 + strlen("{\"pad\":\"\"}\n"));
	assert_int_equal(wfs_tree_read(&shown->tree, attr.ino, 99990, 1000, &data), 0);
	assert_true(wfs_bytes_equal(
		data.bytes, WFS_BYTES(text + 99990, (size_t)attr.size_bytes - 99990)));
	assert_int_equal(wfs_tree_read(&shown->tree, attr.ino, 1 << 20, 1000, &behind), 0);
	assert_int_equal(behind.bytes.size, 0);
}

static void the_log_is_all_records(void **state)
{
	struct shown *shown = *state;
	WFS_AUTO_BUFFER struct wfs_buffer joined = {0};
	char path[64];

	tell(shown->world, "{'key':'a','op':'set'}");
	for (int seq = 0; seq < GENESIS_HEIGHT + 1; seq++) {
		snprintf(path, sizeof(path), "journal/%d.json", seq);
		WFS_AUTO_FREE char *line = contents(shown, path);
		wfs_buffer_append_text(&joined, line);
		snprintf(path, sizeof(path), "at/%d/journal/log.jsonl", seq + 1);
		assert_contents(shown, path, wfs_buffer_text(&joined));
	}

	assert_contents(shown, "journal/log.jsonl", wfs_buffer_text(&joined));
}

static void the_head_of_the_journal_tells_where_it_stands(void **state)
{
	struct shown *shown = *state;
	WFS_AUTO_FREE char *text = contents(shown, "at/1/journal/head");
	WFS_AUTO_FREE char *head = contents(shown, "journal/head");

	assert_non_null(strstr(text, "{\"journal_height\":1,\"manifest_hash\":\"sha256:"));
	assert_null(strstr(text, "snapshot_hash"));
	assert_non_null(strstr(head, "{\"journal_height\":2,"));
	assert_non_null(strstr(head, ",\"snapshot_hash\":\"sha256:"));
}

static void directories_and_links_are_not_read(void **state)
{
	struct shown *shown = *state;
	struct wfs_tree_data data;

	assert_int_equal(wfs_tree_read(&shown->tree, ROOT_INO, 0, 10, &data), -EISDIR);
	assert_int_equal(
		wfs_tree_read(&shown->tree, attr_of(shown, "ctl").ino, 0, 10, &data), -EINVAL);
	assert_int_equal(wfs_tree_read(&shown->tree, 2, 0, 10, &data), -ENOENT);
}

/* --- attributes --- */

static void files_and_directories_are_read_only_and_as_old_as_their_record(void **state)
{
	struct shown *shown = *state;

	tell(shown->world, "{'key':'a','op':'set'}");
	tell(shown->world, "{'key':'b','op':'set'}");
	WFS_AUTO_RECORD struct wfs_record_parsed record = record_at(shown->world, GENESIS_HEIGHT);
	struct wfs_attr file = attr_of(shown, "reducers/cell/a");
	struct wfs_attr directory = attr_of(shown, "at/3");

	assert_int_equal(file.mode, S_IFREG | 0444);
	assert_int_equal(file.mtime_ns, record.record.at_ns);
	assert_int_equal(directory.mode, S_IFDIR | 0555);
	assert_int_equal(directory.mtime_ns, record.record.at_ns);
}

static void a_deleted_cell_keeps_its_old_inode_and_has_no_new_one(void **state)
{
	struct shown *shown = *state;
	struct wfs_attr attr;

	tell(shown->world, "{'key':'a','op':'set'}");
	uint64_t ino = attr_of(shown, "reducers/cell/a").ino;
	tell(shown->world, "{'key':'a','op':'delete'}");

	assert_missing(shown, "reducers/cell/a");
	assert_int_equal(wfs_tree_attr(&shown->tree, ino, &attr), 0);
	assert_int_equal(wfs_tree_attr(&shown->tree, ino + 1, &attr), -ENOENT);
}

struct xattrs {
	struct wfs_buffer text;
	size_t most;
	size_t count;
};

static bool add_xattr(void *context, const char *name, struct wfs_bytes value)
{
	struct xattrs *xattrs = context;

	wfs_buffer_printf(
		&xattrs->text, "%s=%.*s\n", name, (int)value.size, (const char *)value.data);
	return ++xattrs->count != xattrs->most;
}

static void assert_xattrs(struct shown *shown, const char *path, const char *expected)
{
	struct xattrs xattrs = {0};

	assert_int_equal(
		wfs_tree_xattrs(&shown->tree, attr_of(shown, path).ino, add_xattr, &xattrs), 0);
	assert_string_equal(wfs_buffer_text(&xattrs.text), expected);
	wfs_buffer_done(&xattrs.text);
}

static void a_cell_has_its_hash_height_key_and_reducer_as_attributes(void **state)
{
	struct shown *shown = *state;
	const struct wfs_hash hash = wfs_hash_of("{\"n\":0}\n", 8);
	char text[WFS_HASH_TEXT_SIZE];
	char expected[512];

	tell(shown->world, "{'key':'a/b','op':'set'}");
	wfs_hash_text(&hash, text);
	snprintf(expected, sizeof(expected),
		"user.worldfs.state_hash=%s\nuser.worldfs.height=3\n"
		"user.worldfs.key_b64=YS9i\nuser.worldfs.reducer=cell\n",
		text);

	assert_xattrs(shown, "reducers/cell/a%2Fb", expected);
}

static void a_cell_without_a_key_has_an_empty_key_attribute(void **state)
{
	struct shown *shown = *state;
	struct xattrs xattrs = {0};

	assert_int_equal(send(shown->world, "test/Total@1", "{'op':'set'}"), 0);
	assert_int_equal(wfs_tree_xattrs(&shown->tree, attr_of(shown, "reducers/total/_").ino,
				 add_xattr, &xattrs),
		0);

	assert_non_null(strstr(wfs_buffer_text(&xattrs.text), "user.worldfs.key_b64=\n"));
	wfs_buffer_done(&xattrs.text);
}

static void a_directory_has_where_it_stands_as_attributes(void **state)
{
	struct shown *shown = *state;
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(shown->world->world);
	char text[WFS_HASH_TEXT_SIZE];
	char expected[512];

	wfs_hash_text(wfs_manifest_hash(manifest), text);
	snprintf(expected, sizeof(expected),
		"user.worldfs.journal_height=1\nuser.worldfs.manifest_hash=%s\n", text);

	assert_xattrs(shown, "at/1", expected);
	assert_xattrs(shown, "at/1/reducers/cell", expected);
}

static void a_blob_has_its_hash_as_attribute_and_other_files_have_none(void **state)
{
	struct shown *shown = *state;
	char expected[256];
	char path[128];
	char hex[WFS_HASH_HEX_SIZE + 1];
	struct wfs_hash hash;

	assert_int_equal(put_blob(shown->world, "x", 1, &hash), 0);
	wfs_hash_hex(&hash, hex);
	snprintf(path, sizeof(path), "blob/%s", hex);
	snprintf(expected, sizeof(expected),
		"user.worldfs.state_hash=sha256:%s\nuser.worldfs.height=3\n", hex);

	assert_xattrs(shown, path, expected);
	assert_xattrs(shown, "README", "");
	assert_xattrs(shown, "journal/0.json", "");
}

static void attributes_stop_when_the_receiver_has_enough(void **state)
{
	struct shown *shown = *state;
	struct xattrs xattrs = {.most = 1};

	assert_int_equal(wfs_tree_xattrs(&shown->tree, ROOT_INO, add_xattr, &xattrs), 0);

	assert_int_equal(xattrs.count, 1);
	wfs_buffer_done(&xattrs.text);
}

#define SHOWN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHOWN(the_root_lists_its_names),
		SHOWN(the_root_of_a_height_has_neither_at_nor_ctl),
		SHOWN(at_lists_nothing),
		SHOWN(every_listed_name_can_be_looked_up),
		SHOWN(listing_look_up_and_stat_agree),
		SHOWN(a_listing_goes_on_behind_any_cookie),
		SHOWN(a_cookie_that_was_never_given_lists_nothing_else),
		SHOWN(a_listing_in_parts_is_right_under_change),
		SHOWN(a_listing_of_a_height_does_not_change),
		SHOWN(the_journal_lists_its_records_up_to_the_height),
		SHOWN(counts_are_never_too_few_at_the_head),
		SHOWN(only_directories_are_listed),
		SHOWN(keys_have_percent_encoded_names),
		SHOWN(each_key_has_one_name),
		SHOWN(a_reducer_without_keys_has_one_file),
		SHOWN(heights_have_one_spelling),
		SHOWN(records_have_one_spelling),
		SHOWN(blobs_are_found_with_and_without_prefix),
		SHOWN(names_that_appear_later_are_not_to_be_remembered_as_missing),
		SHOWN(look_ups_need_a_directory_and_a_name_that_fits),
		SHOWN(paths_may_have_slashes_and_dots_between),
		SHOWN(a_directory_knows_its_path),
		SHOWN(at_head_leads_to_the_newest_height),
		SHOWN(ctl_is_a_link_a_directory_or_nothing),
		SHOWN(a_path_can_be_resolved_at_a_height),
		SHOWN(the_same_version_is_the_same_inode_everywhere),
		SHOWN(directories_keep_their_inode),
		SHOWN(a_cell_is_its_document),
		SHOWN(a_file_is_read_from_any_offset),
		SHOWN(the_readme_of_a_copy_is_known),
		SHOWN(a_large_cell_is_read_from_its_file),
		SHOWN(the_log_is_all_records),
		SHOWN(the_head_of_the_journal_tells_where_it_stands),
		SHOWN(directories_and_links_are_not_read),
		SHOWN(files_and_directories_are_read_only_and_as_old_as_their_record),
		SHOWN(a_deleted_cell_keeps_its_old_inode_and_has_no_new_one),
		SHOWN(a_cell_has_its_hash_height_key_and_reducer_as_attributes),
		SHOWN(a_cell_without_a_key_has_an_empty_key_attribute),
		SHOWN(a_directory_has_where_it_stands_as_attributes),
		SHOWN(a_blob_has_its_hash_as_attribute_and_other_files_have_none),
		SHOWN(attributes_stop_when_the_receiver_has_enough),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
