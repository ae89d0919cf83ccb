/* SPDX-License-Identifier: Apache-2.0 */
/* Listings of the tree: what they show, from any place on, and while the tree changes. */
#include "tests/fixture/tree.h"

SHOWN(the_root_lists_its_names)
{
	assert_lists(shown, "/",
		"README manifest reducers artifacts principals plans turns blob journal at ctl ");
}

SHOWN(the_root_of_a_height_has_neither_at_nor_ctl)
{
	assert_lists(shown, "at/1",
		"README manifest reducers artifacts principals plans turns blob journal ");
	assert_missing(shown, "at/1/at");
	assert_missing(shown, "at/1/ctl");
}

SHOWN(at_lists_nothing)
{
	assert_lists(shown, "at", "");
}

SHOWN(every_listed_name_can_be_looked_up)
{
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

SHOWN(listing_look_up_and_stat_agree)
{
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

SHOWN(a_listing_goes_on_behind_any_cookie)
{
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

SHOWN(a_listing_ends_where_its_scan_does)
{
	static const char *const directories[] = {"reducers/cell", "journal", "principals"};

	tell(shown->world, "{'key':'a','op':'emit','n':20}");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(directories); i++) {
		struct wfs_tree_scan scan = {.ended = true};
		struct wfs_tree tree = shown->tree;
		struct listing whole = {0};
		struct listing parts = {0};
		uint64_t ino = attr_of(shown, directories[i]).ino;

		print_message("%s\n", directories[i]);
		assert_int_equal(wfs_tree_list(&tree, ino, 0, add_name, &whole), 0);
		tree.scan = &scan;
		for (size_t one = 0; scan.ended; one++) {
			scan = (struct wfs_tree_scan){.left = 3, .cookie = scan.cookie};
			assert_int_equal(
				wfs_tree_list(&tree, ino, scan.cookie, add_name, &parts), 0);
			assert_true(parts.count <= (one + 1) * 3);
		}
		assert_string_equal(wfs_buffer_text(&parts.names), wfs_buffer_text(&whole.names));
		wfs_buffer_done(&whole.names);
		wfs_buffer_done(&parts.names);
	}
}

SHOWN(a_cookie_that_was_never_given_lists_nothing_else)
{
	static const char *const directories[] = {
		"/", "reducers", "reducers/cell", "blob", "journal"};
	static const uint64_t cookies[] = {
		UINT64_MAX, INT64_MAX, (UINT64_C(2) << 40) + 1, UINT64_C(3) << 40};

	/* In the table, cells of other reducers come before and after those of `cell`. */
	assert_int_equal(send_event(shown->world, "test/Both@1", "{'key':'a','op':'set'}"), 0);
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
		if (send_event(shown->world, "test/Do@1", value))
			return shown;
		snprintf(value, sizeof(value), "{'key':'new%d','op':'delete'}", i / 2);
		if (send_event(shown->world, "test/Do@1", value))
			return shown;
	}
	return NULL;
}

SHOWN(a_listing_in_parts_is_right_under_change)
{
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

SHOWN(a_listing_of_a_height_does_not_change)
{
	tell(shown->world, "{'key':'a','op':'set'}");
	tell(shown->world, "{'key':'b','op':'set'}");
	tell(shown->world, "{'key':'a','op':'delete'}");

	assert_lists(shown, "at/2/reducers/cell", "");
	assert_lists(shown, "at/3/reducers/cell", "a ");
	assert_lists(shown, "at/4/reducers/cell", "a b ");
	assert_lists(shown, "at/5/reducers/cell", "b ");
	assert_lists(shown, "reducers/cell", "b ");
}

SHOWN(the_journal_lists_its_records_up_to_the_height)
{
	tell(shown->world, "{'key':'a','op':'set'}");

	assert_lists(shown, "journal", "head log.jsonl 0.json 1.json 2.json ");
	assert_lists(shown, "at/1/journal", "head log.jsonl 0.json ");
}

SHOWN(counts_are_never_too_few_at_the_head)
{
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

SHOWN(only_directories_are_listed)
{
	struct listing listing = {0};

	assert_int_equal(
		wfs_tree_list(&shown->tree, attr_of(shown, "manifest").ino, 0, add_name, &listing),
		-ENOTDIR);
	assert_int_equal(wfs_tree_list(&shown->tree, 2, 0, add_name, &listing), -ENOENT);
}
