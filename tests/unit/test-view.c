/* SPDX-License-Identifier: Apache-2.0 */
/* Views: the world at every height, compared with a model that the test keeps. */
#include "tests/fixture/builtin.h"
#include "tests/fixture/tamper.h"

enum {
	GENESIS_HEIGHT = 2,
	EVENTS = 300,
	KEYS = 7,
};

/* --- the test's own fold --- */

/* The number that each cell holds at each height, if any. */
struct model {
	bool live[GENESIS_HEIGHT + EVENTS + 1][KEYS];
	int n[GENESIS_HEIGHT + EVENTS + 1][KEYS];
};

static const char *key_of(int key)
{
	static const char *const keys[KEYS] = {"zeta", "a", "b/c", "alpha", "0", "aa", ""};

	return keys[key];
}

/* Sends events chosen by a small generator, and changes the model as they change the world. */
static void play(struct world_fixture *fixture, struct model *model)
{
	uint32_t draw = 12345;

	memset(model, 0, sizeof(*model));
	for (int i = 0; i < EVENTS; i++) {
		int height = GENESIS_HEIGHT + i + 1;
		char value[100];

		memcpy(model->live[height], model->live[height - 1], sizeof(model->live[0]));
		memcpy(model->n[height], model->n[height - 1], sizeof(model->n[0]));
		draw = draw * 1103515245 + 12345;
		int key = (int)(draw >> 16) % KEYS;
		draw = draw * 1103515245 + 12345;
		int what = (int)(draw >> 16) % 5;
		if (what == 0) {
			snprintf(value, sizeof(value), "{'key':'%s','op':'delete'}", key_of(key));
			model->live[height][key] = false;
			model->n[height][key] = 0;
		} else {
			snprintf(value, sizeof(value), "{'key':'%s','op':'add','n':%d}",
				key_of(key), what - 2);
			model->live[height][key] = true;
			model->n[height][key] += what - 2;
		}
		tell(fixture, value);
	}
}

static struct wfs_reducer reducer_in(struct wfs_view *view, const char *name)
{
	struct wfs_reducer reducer;

	assert_int_equal(wfs_view_reducer(view, name, strlen(name), &reducer), 0);
	return reducer;
}

IN_WORLD(cells_at_every_height_are_those_of_an_independent_fold)
{
	static struct model model;

	play(fixture, &model);

	for (uint64_t height = 1; height <= GENESIS_HEIGHT + EVENTS; height++) {
		for (int key = 0; key < KEYS; key++) {
			char expected[32];

			snprintf(expected, sizeof(expected), "{'n':%d}", model.n[height][key]);
			assert_state_at(fixture, height, "cell", key_of(key),
				model.live[height][key] ? expected : NULL);
		}
	}
}

static int model_index(struct wfs_bytes key)
{
	for (int i = 0; i < KEYS; i++)
		if (wfs_bytes_equal(key, wfs_bytes_text(key_of(i))))
			return i;
	fail();
	return -1;
}

/* Walks the cells of a height after @after_id, and ticks each off. */
static void walk(struct world_fixture *fixture, uint64_t height, bool ret_seen[static KEYS])
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, height);
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk entries = {0};
	struct wfs_entry entry;
	uint64_t last_id = 0;
	int r;

	assert_int_equal(
		wfs_entry_walk_init(&entries, &view, reducer_in(&view, "cell").reducer_id, 0), 0);
	while ((r = wfs_entry_walk_next(&entries, &entry)) > 0) {
		struct wfs_version version;

		assert_true(entry.cell_id > last_id);
		last_id = entry.cell_id;
		ret_seen[model_index(entry.key)] = true;
		assert_int_equal(wfs_view_version(&view, entry.vid, &version), 0);
		assert_true(version.cell_id == entry.cell_id);
		assert_int_equal(version.height, entry.height);
		assert_true(version.height <= view.height);
		assert_int_equal(version.size_bytes, entry.size_bytes);
		assert_int_equal(version.time_ns, entry.time_ns);
	}
	assert_int_equal(r, 0);
}

IN_WORLD(listings_at_every_height_are_those_of_an_independent_fold)
{
	static struct model model;

	play(fixture, &model);

	for (uint64_t height = 1; height <= GENESIS_HEIGHT + EVENTS; height++) {
		bool seen[KEYS] = {false};

		walk(fixture, height, seen);
		assert_memory_equal(seen, model.live[height], sizeof(seen));
	}
}

IN_WORLD(keys_at_every_height_come_in_byte_order)
{
	static struct model model;

	play(fixture, &model);

	for (uint64_t height = 1; height <= GENESIS_HEIGHT + EVENTS; height++) {
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, height);
		uint32_t reducer_id = reducer_in(&view, "cell").reducer_id;
		bool seen[KEYS] = {false};
		const struct wfs_bytes *after = NULL;
		struct wfs_version version;
		struct wfs_bytes key;
		struct wfs_bytes last;

		while (wfs_view_next_key(&view, reducer_id, after, &key, &version) == 0) {
			seen[model_index(key)] = true;
			if (after && last.size)
				assert_true(
					memcmp(last.data, key.data,
						last.size < key.size ? last.size : key.size) <= 0);
			last = key;
			after = &last;
		}
		assert_memory_equal(seen, model.live[height], sizeof(seen));
	}
}

IN_WORLD(a_walk_goes_on_behind_any_entry)
{
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk entries = {0};
	struct wfs_entry entry;

	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	uint32_t id = reducer_in(&view, "cell").reducer_id;

	assert_int_equal(wfs_entry_walk_init(&entries, &view, id, wfs_cell_id(id, 1)), 0);
	assert_int_equal(wfs_entry_walk_next(&entries, &entry), 1);
	assert_int_equal(*(const char *)entry.key.data, 'b');
	assert_int_equal(wfs_entry_walk_next(&entries, &entry), 0);
}

/* --- opening --- */

IN_WORLD(a_height_above_the_head_is_unavailable)
{
	struct wfs_view view;

	assert_int_equal(
		wfs_view_open(fixture->world, GENESIS_HEIGHT + 1, &view, &fixture->error), -ENOENT);

	assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
}

IN_WORLD(a_view_knows_whether_it_is_the_head)
{
	WFS_AUTO_VIEW struct wfs_view head = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_VIEW struct wfs_view same = view_at(fixture, GENESIS_HEIGHT);
	WFS_AUTO_VIEW struct wfs_view before = view_at(fixture, GENESIS_HEIGHT - 1);

	assert_true(head.head && same.head);
	assert_false(before.head);
	assert_int_equal(head.height, GENESIS_HEIGHT);
}

IN_WORLD(a_view_of_the_head_does_not_move)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_version version;
	uint32_t reducer_id = reducer_in(&view, "cell").reducer_id;

	tell(fixture, "{'key':'a','op':'set'}");

	assert_int_equal(view.height, GENESIS_HEIGHT);
	assert_int_equal(wfs_view_cell(&view, reducer_id, wfs_bytes_text("a"), &version), -ENOENT);
}

TEST(closing_a_view_twice_is_allowed)
{
	struct wfs_view view = {0};

	wfs_view_close(&view);
	wfs_view_close(&view);
}

IN_WORLD(meta_tells_height_manifest_and_newest_snapshot)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(fixture->world);
	WFS_AUTO_VIEW struct wfs_view genesis = view_at(fixture, 1);
	WFS_AUTO_VIEW struct wfs_view head = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_meta meta;

	assert_int_equal(wfs_view_meta(&genesis, &meta), 0);
	assert_int_equal(meta.journal_height, 1);
	assert_false(meta.has_snapshot);
	assert_true(wfs_hash_equal(&meta.manifest_hash, wfs_manifest_hash(manifest)));
	assert_int_equal(wfs_view_meta(&head, &meta), 0);
	assert_int_equal(meta.journal_height, GENESIS_HEIGHT);
	assert_true(meta.has_snapshot);
}

IN_WORLD(the_manifest_is_its_document)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(fixture->world);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, 1);
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_version version;

	assert_int_equal(wfs_view_manifest(&view, &version), 0);
	assert_int_equal(wfs_view_content(&view, &version, WFS_RANGE_ALL, &content, NULL), 0);

	assert_true(wfs_bytes_equal(content.bytes, wfs_manifest_document(manifest)));
}

/* --- reducers --- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Appends the names of all reducers, sorted, each followed by a space. */
static void write_reducers(struct wfs_buffer *buffer)
{
#define NAME(constant, name, hidden) name,
	const char *names[] = {"cell", "total", "deep", WFS_BUILTIN_REDUCERS(NAME)};
#undef NAME

	qsort(names, WFS_ARRAY_COUNT(names), sizeof(*names), compare_names);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++)
		wfs_buffer_printf(buffer, "%s ", names[i]);
}

IN_WORLD(reducers_are_found_by_name_and_id_and_listed)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_reducer by_name = reducer_in(&view, "total");
	struct wfs_reducer reducer = {0};
	struct wfs_bytes name = {0};
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	WFS_AUTO_BUFFER struct wfs_buffer expected = {0};

	assert_false(by_name.keyed);
	assert_int_equal(wfs_view_reducer_by_id(&view, by_name.reducer_id, &reducer), 0);
	assert_int_equal(reducer.reducer_id, by_name.reducer_id);
	assert_int_equal(wfs_view_reducer(&view, "none", 4, &reducer), -ENOENT);
	assert_int_equal(wfs_view_reducer_by_id(&view, 99, &reducer), -ENOENT);
	while (wfs_view_reducer_next_name(&view, name, &name, &reducer) == 0)
		wfs_buffer_printf(&names, "%.*s ", (int)name.size, (const char *)name.data);
	write_reducers(&expected);
	assert_string_equal(wfs_buffer_text(&names), wfs_buffer_text(&expected));
	size_t count = 0;
	for (uint32_t id = 0; wfs_view_reducer_next(&view, id, &name, &reducer) == 0; count++)
		id = reducer.reducer_id;
	assert_int_equal(count, 3 + WFS_BUILTIN_REDUCER_COUNT);
}

IN_WORLD(reducers_count_their_cells)
{
	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'a','op':'set','n':2}");
	tell(fixture, "{'key':'b','op':'delete'}");

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(reducer_in(&view, "cell").live_count, 1);
	assert_int_equal(reducer_in(&view, "cell").cell_count, 2);
	assert_int_equal(reducer_in(&view, "total").cell_count, 0);
}

/* --- versions --- */

IN_WORLD(a_version_knows_its_cell)
{
	struct wfs_version version;
	struct wfs_bytes reducer;
	struct wfs_bytes key;

	tell(fixture, "{'key':'a/b','op':'set'}");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_cell(&view, reducer_in(&view, "cell").reducer_id,
				 wfs_bytes_text("a/b"), &version),
		0);

	assert_int_equal(wfs_view_name(&view, &version, &reducer, &key), 0);
	assert_true(wfs_bytes_equal(reducer, wfs_bytes_text("cell")));
	assert_true(wfs_bytes_equal(key, wfs_bytes_text("a/b")));
	assert_int_equal(wfs_view_version(&view, 999, &version), -ENOENT);
}

IN_WORLD(a_deleted_cell_has_no_content)
{
	struct wfs_content content = {0};
	struct wfs_version version;
	uint64_t last;

	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'a','op':'delete'}");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_version_last(view.txn, &last), 0);
	assert_int_equal(wfs_view_version(&view, last, &version), 0);

	assert_true(version.tombstone);
	assert_int_equal(wfs_view_content(&view, &version, WFS_RANGE_ALL, &content, NULL), -ENOENT);
}

IN_WORLD(content_with_a_flipped_bit_is_not_served)
{
	struct wfs_content content = {0};
	struct wfs_version version;
	uint64_t vid;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	{
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);

		assert_int_equal(wfs_version_last(view.txn, &vid), 0);
	}
	tamper_number(fixture, "version", vid, "{\"n\":1}", "{\"n\":2}");
	assert_int_equal(world_fixture_open(fixture), 0);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_version(&view, vid, &version), 0);
	assert_int_equal(
		wfs_view_content(&view, &version, WFS_RANGE_ALL, &content, &fixture->error), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'add','n':1}"), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
}

IN_WORLD(content_whose_file_is_cut_short_is_not_served)
{
	struct wfs_content content = {0};
	struct wfs_version version;
	char path[256];

	tell(fixture, "{'key':'a','op':'grow','n':100000}");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_cell(&view, reducer_in(&view, "cell").reducer_id,
				 wfs_bytes_text("a"), &version),
		0);
	blob_file_path(fixture, &version.hash, path);
	assert_int_equal(truncate(path, 1000), 0);

	assert_int_equal(
		wfs_view_content(&view, &version, WFS_RANGE_ALL, &content, &fixture->error), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
	fixture->error = (struct wfs_error){0};
	assert_int_equal(send_event(fixture, "test/Do@1", "{'key':'a','op':'same'}"), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
}

IN_WORLD(content_whose_file_is_gone_is_not_served)
{
	struct wfs_content content = {0};
	struct wfs_version version;
	char path[256];

	tell(fixture, "{'key':'a','op':'grow','n':100000}");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(wfs_view_cell(&view, reducer_in(&view, "cell").reducer_id,
				 wfs_bytes_text("a"), &version),
		0);
	blob_file_path(fixture, &version.hash, path);
	assert_int_equal(unlink(path), 0);

	assert_int_equal(
		wfs_view_content(&view, &version, WFS_RANGE_ALL, &content, &fixture->error), -EIO);
	assert_int_equal(fixture->error.code, WFS_E_HASH_MISMATCH);
}

/* --- blobs --- */

IN_WORLD(a_blob_is_listed_from_its_height_on)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	struct wfs_hash hash;
	uint64_t last;

	assert_int_equal(put_blob(fixture, "hello", 5, &hash), 0);
	WFS_AUTO_VIEW struct wfs_view before = view_at(fixture, GENESIS_HEIGHT);
	WFS_AUTO_VIEW struct wfs_view head = view_at(fixture, WFS_HEIGHT_HEAD);

	assert_int_equal(wfs_view_blob(&before, &hash, &blob, &listing), -ENOENT);
	assert_int_equal(wfs_view_blob(&head, &hash, &blob, &listing), 0);
	assert_int_equal(listing.height, GENESIS_HEIGHT + 1);
	assert_int_equal(wfs_view_blob_last(&head, &last), 0);
	assert_int_equal(last, listing.listed_id);
	assert_int_equal(wfs_view_blob_listed(&before, last, &blob, &listing), -ENOENT);
	assert_int_equal(wfs_view_blob_listed(&head, last, &blob, &listing), 0);
	assert_int_equal(wfs_view_blob_listed(&head, last + 1, &blob, &listing), -ENOENT);
	assert_int_equal(wfs_view_blob_content(&head, &blob, WFS_RANGE_ALL, &content, NULL), 0);
	assert_int_equal(content.bytes.size, 5);
}

IN_WORLD(the_modules_of_the_manifest_are_listed_blobs)
{
	const struct wfs_hash module = wfs_hash_of(fixture_step_lua, strlen(fixture_step_lua));
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, 1);
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	uint64_t last;

	assert_int_equal(wfs_view_blob(&view, &module, &blob, &listing), 0);

	assert_int_equal(listing.height, 1);
	assert_int_equal(wfs_view_blob_last(&view, &last), 0);
	assert_int_equal(last, 1); /* three reducers share the module */
}

/* --- journal --- */

IN_WORLD(records_end_at_the_height)
{
	WFS_AUTO_VIEW struct wfs_view genesis = view_at(fixture, 1);
	struct wfs_bytes line;
	int64_t at_ns;

	assert_int_equal(wfs_view_record(&genesis, 0, &line), 0);
	assert_int_equal(wfs_view_record(&genesis, 1, &line), -ENOENT);
	assert_int_equal(wfs_view_record_time(&genesis, 1, &at_ns), -ENOENT);
}

IN_WORLD(record_time_is_that_of_the_line)
{
	WFS_AUTO_RECORD struct wfs_record_parsed parsed = record_at(fixture, 1);
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	int64_t at_ns;

	assert_int_equal(wfs_view_record_time(&view, 1, &at_ns), 0);

	assert_int_equal(at_ns, parsed.record.at_ns);
}

/* Joins the records of a height to a journal. */
static void join_lines(struct wfs_view *view, struct wfs_buffer *ret_text)
{
	for (uint64_t seq = 0; seq < view->height; seq++) {
		struct wfs_bytes line;

		assert_int_equal(wfs_view_record(view, seq, &line), 0);
		wfs_buffer_append(ret_text, line.data, line.size);
	}
}

IN_WORLD(journal_size_is_that_of_all_lines_below_the_height)
{
	tell(fixture, "{'key':'a','op':'set'}");
	for (uint64_t height = 1; height <= GENESIS_HEIGHT + 1; height++) {
		WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, height);
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		join_lines(&view, &text);
		assert_int_equal(log_size(&view), text.size);
	}
}

IN_WORLD(journal_can_be_read_from_every_byte)
{
	static const size_t sizes[] = {1, 7, 500, 100000};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer part = {0};

	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, GENESIS_HEIGHT + 1);
	join_lines(&view, &text);

	for (size_t offset = 0; offset <= text.size + 10; offset++) {
		for (size_t i = 0; i < WFS_ARRAY_COUNT(sizes); i++) {
			size_t left = offset < text.size ? text.size - offset : 0;
			size_t expected = left < sizes[i] ? left : sizes[i];

			wfs_buffer_reset(&part);
			assert_int_equal(read_log(&view, offset, sizes[i], &part), 0);
			assert_int_equal(part.size, expected);
			if (expected)
				assert_memory_equal(part.data, text.data + offset, expected);
		}
	}
}

IN_WORLD(journal_with_a_gap_is_damage)
{
	WFS_AUTO_BUFFER struct wfs_buffer part = {0};

	for (int i = 0; i < 3; i++) /* opening the world looks at the last two */
		tell(fixture, "{'key':'a','op':'set'}");
	/* One byte less, so the next line does not begin where this line ends. */
	tamper_number(fixture, "journal", GENESIS_HEIGHT, "\"test", "\"tes");
	assert_int_equal(world_fixture_open(fixture), 0);

	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	assert_int_equal(read_log(&view, 0, 100000, &part), 0);
	/* The part before the damage, in whole lines. */
	assert_int_equal(part.data[part.size - 1], '\n');
	assert_int_equal(read_log(&view, part.size, 100000, &part), -EIO);
}
