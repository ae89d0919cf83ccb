/* SPDX-License-Identifier: Apache-2.0 */
/* Contents and attributes of the files of the tree. */
#include "tests/fixture/tree.h"

#include "caps/upkeep.h"

/* --- contents --- */

SHOWN(a_cell_is_its_document)
{
	tell(shown->world, "{'key':'a','op':'set','n':1}");
	tell(shown->world, "{'key':'a','op':'set','n':22}");

	assert_contents(shown, "reducers/cell/a", "{\"n\":22}\n");
	assert_contents(shown, "at/3/reducers/cell/a", "{\"n\":1}\n");
}

SHOWN(a_file_is_read_from_any_offset)
{
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

SHOWN(the_readme_of_a_copy_is_known)
{
	WFS_AUTO_FREE char *text = contents(shown, "README");

	assert_true(wfs_restore_knows_readme(wfs_bytes_text(text)));
	text[0]++;
	assert_false(wfs_restore_knows_readme(wfs_bytes_text(text)));
}

SHOWN(a_large_cell_is_read_from_its_file)
{
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

/* The memory of the first read is freed, as the address sanitizer sees. */
SHOWN(large_cells_are_read_one_after_the_other_under_one_view)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
	struct wfs_node node;

	tell(shown->world, "{'key':'a','op':'grow','n':100000}");
	assert_true(wfs_ino_decode(attr_of(shown, "reducers/cell/a").ino, &node));
	assert_int_equal(wfs_session_view(shown->session, WFS_HEIGHT_HEAD, &data.view, NULL), 0);

	for (uint64_t offset = 0; offset < 3; offset++) {
		assert_int_equal(wfs_tree_read_in(&shown->tree, &node, offset, 5, &data), 0);
		assert_true(wfs_bytes_equal(data.bytes, WFS_BYTES(&"{\"pad\":"[offset], 5)));
	}
}

SHOWN(the_log_is_all_records)
{
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

SHOWN(the_head_of_the_journal_tells_where_it_stands)
{
	WFS_AUTO_FREE char *text = contents(shown, "at/1/journal/head");
	WFS_AUTO_FREE char *head = contents(shown, "journal/head");

	assert_non_null(strstr(text, "{\"journal_height\":1,\"manifest_hash\":\"sha256:"));
	assert_null(strstr(text, "snapshot_hash"));
	assert_non_null(strstr(head, "{\"journal_height\":2,"));
	assert_non_null(strstr(head, ",\"snapshot_hash\":\"sha256:"));
}

SHOWN(directories_and_links_are_not_read)
{
	struct wfs_tree_data data;

	assert_int_equal(wfs_tree_read(&shown->tree, ROOT_INO, 0, 10, &data), -EISDIR);
	assert_int_equal(
		wfs_tree_read(&shown->tree, attr_of(shown, "ctl").ino, 0, 10, &data), -EINVAL);
	assert_int_equal(wfs_tree_read(&shown->tree, 2, 0, 10, &data), -ENOENT);
}

/* --- attributes --- */

SHOWN(files_and_directories_are_read_only_and_as_old_as_their_record)
{
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

SHOWN(a_deleted_cell_keeps_its_old_inode_and_has_no_new_one)
{
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

SHOWN(a_cell_has_its_hash_height_key_and_reducer_as_attributes)
{
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

SHOWN(a_cell_without_a_key_has_an_empty_key_attribute)
{
	struct xattrs xattrs = {0};

	assert_int_equal(send_event(shown->world, "test/Total@1", "{'op':'set'}"), 0);
	assert_int_equal(wfs_tree_xattrs(&shown->tree, attr_of(shown, "reducers/total/_").ino,
				 add_xattr, &xattrs),
		0);

	assert_non_null(strstr(wfs_buffer_text(&xattrs.text), "user.worldfs.key_b64=\n"));
	wfs_buffer_done(&xattrs.text);
}

SHOWN(a_directory_has_where_it_stands_as_attributes)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(shown->world->world);
	char text[WFS_HASH_TEXT_SIZE];
	char expected[512];

	wfs_hash_text(wfs_manifest_hash(manifest), text);
	snprintf(expected, sizeof(expected),
		"user.worldfs.journal_height=1\nuser.worldfs.manifest_hash=%s\n", text);

	assert_xattrs(shown, "at/1", expected);
	assert_xattrs(shown, "at/1/reducers/cell", expected);
}

SHOWN(a_blob_has_its_hash_as_attribute_and_other_files_have_none)
{
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

SHOWN(attributes_stop_when_the_receiver_has_enough)
{
	struct xattrs xattrs = {.most = 1};

	assert_int_equal(wfs_tree_xattrs(&shown->tree, ROOT_INO, add_xattr, &xattrs), 0);

	assert_int_equal(xattrs.count, 1);
	wfs_buffer_done(&xattrs.text);
}
