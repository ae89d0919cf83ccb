/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshot documents: equal states have equal hashes, whatever their histories. */
#include "kernel/manifest/manifest.h"
#include "tests/fixture/world.h"

#include "kernel/base/encode.h"
#include "kernel/read/snapshot.h"

enum {
	GENESIS_HEIGHT = 2,
	MANY = 10000, /* cells: more than are read between two renewals of the view */
};

static struct wfs_hash snapshot_at(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_hash hash;

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), height, NULL, NULL,
				 &hash, &fixture->error),
		0);
	return hash;
}

static void assert_same(const struct wfs_hash *a, const struct wfs_hash *b, bool same)
{
	assert_int_equal(wfs_hash_equal(a, b), same);
}

static void add_line(struct world_fixture *fixture, struct wfs_buffer *document,
	const char *reducer, const char *key)
{
	WFS_AUTO_FREE char *state = state_at(fixture, WFS_HEIGHT_HEAD, reducer, key);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char hash_text[WFS_HASH_TEXT_SIZE];

	wfs_buffer_printf(&text, "%s\n", state);
	const struct wfs_hash hash = wfs_hash_of(text.data, text.size);
	wfs_hash_text(&hash, hash_text);
	wfs_buffer_append_text(document, "{\"key_b64\":\"");
	wfs_base64_append(document, key, strlen(key));
	wfs_buffer_printf(
		document, "\",\"reducer\":\"%s\",\"state_hash\":\"%s\"}\n", reducer, hash_text);
}

IN_WORLD(the_document_is_a_header_and_a_line_for_each_cell)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(fixture->world);
	WFS_AUTO_BUFFER struct wfs_buffer document = {0};
	static const char *const cap_types[] = {
		"act", "admin", "blob", "drive", "llm", "query", "timer", "tool"};
	char manifest_text[WFS_HASH_TEXT_SIZE];

	tell(fixture, "{'key':'b','op':'set','n':1}");
	assert_int_equal(send_event(fixture, "test/Both@1", "{'key':'a','op':'set','n':1}"), 0);
	struct wfs_hash found = snapshot_at(fixture, WFS_HEIGHT_HEAD);

	wfs_hash_text(wfs_manifest_hash(manifest), manifest_text);
	wfs_buffer_printf(
		&document, "{\"manifest_hash\":\"%s\",\"world_version\":1}\n", manifest_text);
	add_line(fixture, &document, "cell", "a");
	add_line(fixture, &document, "cell", "b");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(cap_types); i++) {
		char name[64];

		snprintf(name, sizeof(name), "operator.%s.1", cap_types[i]);
		add_line(fixture, &document, "sys.grant", name);
	}
	add_line(fixture, &document, "sys.ledger", "operator");
	add_line(fixture, &document, "sys.principal", "operator");
	add_line(fixture, &document, "total", "");
	struct wfs_hash expected = wfs_hash_of(document.data, document.size);
	assert_same(&found, &expected, true);
}

IN_WORLD(equal_states_have_equal_hashes_whatever_their_history)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b','op':'set','n':2}");
	struct wfs_hash first = snapshot_at(fixture, WFS_HEIGHT_HEAD);
	tell(fixture, "{'key':'b','op':'delete'}");
	tell(fixture, "{'key':'a','op':'delete'}");
	tell(fixture, "{'key':'0','op':'set'}");
	tell(fixture, "{'key':'b','op':'set','n':2}");
	struct wfs_hash other = snapshot_at(fixture, WFS_HEIGHT_HEAD);
	tell(fixture, "{'key':'a','op':'add','n':1}");
	tell(fixture, "{'key':'0','op':'delete'}");
	struct wfs_hash second = snapshot_at(fixture, WFS_HEIGHT_HEAD);

	assert_same(&first, &second, true);
	assert_same(&first, &other, false);
}

IN_WORLD(a_height_keeps_its_hash)
{
	tell(fixture, "{'key':'a','op':'set','n':1}");
	struct wfs_hash before = snapshot_at(fixture, WFS_HEIGHT_HEAD);
	tell(fixture, "{'key':'a','op':'set','n':2}");
	tell(fixture, "{'key':'b','op':'set','n':2}");

	struct wfs_hash after = snapshot_at(fixture, GENESIS_HEIGHT + 1);
	assert_same(&before, &after, true);
}

IN_WORLD(the_first_snapshot_of_a_world_is_that_of_its_genesis)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_meta meta;

	assert_int_equal(wfs_view_meta(&view, &meta), 0);

	struct wfs_hash hash = snapshot_at(fixture, 1);
	assert_same(&hash, &meta.snapshot_hash, true);
}

IN_WORLD(a_height_above_the_head_is_unavailable)
{
	struct wfs_hash hash;

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), GENESIS_HEIGHT + 1,
				 NULL, NULL, &hash, &fixture->error),
		-ENOENT);

	assert_int_equal(fixture->error.code, WFS_E_HEIGHT_UNAVAILABLE);
}

struct progress {
	uint64_t calls;
	uint64_t last;
};

static void note_progress(void *context, uint64_t done, uint64_t total)
{
	struct progress *progress = context;

	assert_true(done > progress->last && done <= total);
	progress->calls++;
	progress->last = done;
}

IN_WORLD(many_cells_are_read_over_several_views)
{
	struct progress progress = {0};
	struct wfs_hash with_progress;
	char value[100];

	for (int i = 0; i < MANY / 1000; i++) {
		snprintf(value, sizeof(value), "{'key':'k%d','op':'emit','n':999}", i);
		tell(fixture, value);
	}
	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), WFS_HEIGHT_HEAD,
				 note_progress, &progress, &with_progress, &fixture->error),
		0);

	struct wfs_hash again = snapshot_at(fixture, WFS_HEIGHT_HEAD);
	assert_true(progress.calls > 1);
	assert_same(&with_progress, &again, true);
}
