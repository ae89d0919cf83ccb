/* SPDX-License-Identifier: Apache-2.0 */
/* Memory stores and the states of workflows as files: what they contain at each height, and
 * which principals read them. */
#include "tests/fixture/tree.h"

#include <sys/stat.h>

#include "caps/authority.h"
#include "tests/fixture/cells.h"
#include "tests/fixture/memory.h"

enum { COUNT = MEMORY_TEXT_COUNT };

#define NOTES "artifacts/notes"
#define ENTRIES NOTES "/entries"

/* Makes a store, and the session of the operator, which reads everything. */
static int store_setup(void **state)
{
	struct shown *const shown = calloc(1, sizeof(*shown));

	*state = shown;
	if (memory_world_setup((void **)&shown->world) ||
		wfs_authority_new(shown->world->world, &shown->authority, NULL) ||
		wfs_session_new(shown->authority, WFS_PRINCIPAL_OPERATOR, &shown->session, NULL))
		return -1;
	shown->tree = (struct wfs_tree){.session = shown->session};
	return 0;
}

#define STORE(name) TEST_WITH(name, struct shown *shown, store_setup, shown_teardown)

/* A world with alice's private store, which has all texts. */
struct stored {
	struct shown *shown;
	char ids[COUNT][MEMORY_ID_TEXT_SIZE];
};

static struct stored store_of(struct shown *shown)
{
	struct stored stored = {.shown = shown};

	memory_make(stored.shown->world, "notes");
	memory_fill(stored.shown->world, "notes", stored.ids);
	return stored;
}

/* The path of an entry, under a height or at the head. Valid until the fourth call after this
 * one. */
static const char *entry_path(uint64_t height, const char *entry_id)
{
	static char texts[4][256];
	static size_t next;
	char *const text = texts[next++ % 4];

	if (height == WFS_HEIGHT_HEAD)
		snprintf(text, sizeof(texts[0]), ENTRIES "/%s.json", entry_id);
	else
		snprintf(text, sizeof(texts[0]), "at/%llu/" ENTRIES "/%s.json",
			(unsigned long long)height, entry_id);
	return text;
}

static uint64_t entry_ino(struct shown *shown, uint64_t height, const char *entry_id)
{
	return attr_of(shown, entry_path(height, entry_id)).ino;
}

/* The tree of another principal. */
static struct shown as(struct shown *shown, const char *principal)
{
	struct shown other = *shown;

	assert_int_equal(wfs_session_new(shown->authority, principal, &other.session, NULL), 0);
	other.tree.session = other.session;
	return other;
}

static int try_read(struct shown *shown, uint64_t ino)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};

	return wfs_tree_read(&shown->tree, ino, 0, 16384, &data);
}

static void write_notes(struct shown *shown, const char *members)
{
	char action[256];

	snprintf(action, sizeof(action),
		"{'action_type':'write_artifact','artifact_id':'notes',%s}", members);
	assert_done(shown->world, "alice", action);
}

/* Checks all names of a directory: those of the entries with these ids. */
static void assert_entries(
	struct shown *shown, const char *path, const char (*ids)[MEMORY_ID_TEXT_SIZE], size_t count)
{
	char expected[1024] = "";

	for (size_t i = 0; i < count; i++)
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			"%s.json ", ids[i]);
	assert_lists(shown, path, expected);
}

/* --- what is there --- */

STORE(a_memory_store_has_a_directory_of_entries)
{
	memory_make(shown->world, "notes");

	assert_lists(shown, NOTES,
		"content meta.json type created_by owner executable invoke_price read_price "
		"entries ");
	assert_lists(shown, ENTRIES, "");
	assert_int_equal(attr_of(shown, ENTRIES).mode, S_IFDIR | 0555);
	assert_missing(shown, "artifacts/genesis_memory/entries");
}

/* The type of an artifact may change until it has entries. */
STORE(what_becomes_a_memory_store_gets_the_directory)
{
	write_notes(shown, "'content':'{}'");
	assert_missing(shown, ENTRIES);
	const uint64_t height = height_of(shown->world);
	write_notes(shown, "'type':'memory_store'");
	assert_lists(shown, ENTRIES, "");
	write_notes(shown, "'type':'data'");

	char path[64];
	assert_missing(shown, ENTRIES);
	snprintf(path, sizeof(path), "at/%d/" ENTRIES, (int)height);
	assert_missing(shown, path);
	snprintf(path, sizeof(path), "at/%d/" ENTRIES, (int)height + 1);
	assert_lists(shown, path, "");
}

STORE(an_entry_is_the_bytes_of_its_cell)
{
	char id[MEMORY_ID_TEXT_SIZE];
	char key[64];

	memory_make(shown->world, "notes");
	memory_remember(shown->world, "alice", "notes", memory_texts[0], id);

	WFS_AUTO_FREE char *text = contents(shown, entry_path(WFS_HEIGHT_HEAD, id));
	snprintf(key, sizeof(key), "notes/%s", id);
	WFS_AUTO_FREE char *cell = state_at(shown->world, WFS_HEIGHT_HEAD, "sys.memory", key);
	assert_int_equal(strlen(text), strlen(cell) + 1);
	assert_memory_equal(text, cell, strlen(cell));
	WFS_AUTO_JSON json_t *document = NULL;
	assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	assert_int_equal(json_object_size(document), 9);
	assert_string_equal(wfs_json_text(document, "id"), id);
	assert_string_equal(wfs_json_text(document, "text"), memory_texts[0]);
	assert_int_equal(attr_of(shown, entry_path(WFS_HEIGHT_HEAD, id)).mode, S_IFREG | 0444);
}

struct xattrs {
	size_t count;
	struct wfs_hash hash;
	bool hash_right;
};

static bool see_xattr(void *context, const char *name, struct wfs_bytes value)
{
	struct xattrs *const xattrs = context;
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(&xattrs->hash, text);
	xattrs->count++;
	if (strcmp(name, "user.worldfs.state_hash") == 0)
		xattrs->hash_right = wfs_bytes_equal(value, wfs_bytes_text(text));
	return true;
}

/* The cells of sys.memory appear in no other place, so no other name leads to them. */
STORE(an_entry_tells_its_hash_and_its_height)
{
	const struct stored stored = store_of(shown);
	WFS_AUTO_FREE char *text =
		contents(stored.shown, entry_path(WFS_HEIGHT_HEAD, stored.ids[2]));
	struct xattrs xattrs = {.hash = wfs_hash_of(text, strlen(text))};

	assert_int_equal(wfs_tree_xattrs(&stored.shown->tree,
				 entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[2]), see_xattr,
				 &xattrs),
		0);

	assert_true(xattrs.hash_right);
	assert_int_equal(xattrs.count, 2);
	assert_missing(stored.shown, "reducers/sys.memory");
}

STORE(names_that_are_no_entries_are_not_there)
{
	static const char *const names[] = {"mem_00000000.json", "mem_0.json", ".json", "mem_.json",
		"mem_000000000.json", "mem_0000000g.json", "content"};
	struct stored stored = store_of(shown);
	char path[256];

	for (size_t i = 0; i < WFS_ARRAY_COUNT(names); i++) {
		snprintf(path, sizeof(path), ENTRIES "/%s", names[i]);
		assert_missing(stored.shown, path);
	}
	snprintf(path, sizeof(path), ENTRIES "/%s", stored.ids[0]);
	assert_missing(stored.shown, path);
	snprintf(path, sizeof(path), ENTRIES "/%s.jsonl", stored.ids[0]);
	assert_missing(stored.shown, path);
	snprintf(path, sizeof(path), ENTRIES "/MEM_%s.json", stored.ids[0] + 4);
	assert_missing(stored.shown, path);
	snprintf(path, sizeof(path), "artifacts/genesis_memory/entries/%s.json", stored.ids[0]);
	assert_missing(stored.shown, path);
}

STORE(numbers_that_are_no_entry_are_not_there)
{
	const struct stored stored = store_of(shown);
	struct wfs_node node;
	struct wfs_attr attr;

	assert_true(wfs_ino_decode(entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[0]), &node));
	assert_int_equal(node.kind, WFS_NODE_LIVE);
	node = (struct wfs_node){
		.kind = WFS_NODE_MADE, .file = WFS_ENTITY_FILE_ENTRIES, .number = node.number};
	assert_int_equal(wfs_tree_attr(&stored.shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	node.file = WFS_ENTITY_FILE_WORKFLOW_STATE;
	assert_int_equal(wfs_tree_attr(&stored.shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
	assert_true(wfs_ino_decode(attr_of(stored.shown, ENTRIES).ino, &node));
	node.cell = 1; /* a cell that is not an artifact's */
	assert_int_equal(wfs_tree_attr(&stored.shown->tree, wfs_ino_encode(&node), &attr), -ENOENT);
}

/* --- listing --- */

STORE(entries_are_listed_in_the_order_of_their_ids)
{
	const struct stored stored = store_of(shown);
	char id[MEMORY_ID_TEXT_SIZE];

	/* In the table, entries of other stores come before and after those of this one. */
	memory_make(stored.shown->world, "note");
	memory_make(stored.shown->world, "notes.2");
	memory_remember(stored.shown->world, "alice", "note", memory_texts[0], id);
	memory_remember(stored.shown->world, "alice", "notes.2", memory_texts[0], id);

	assert_entries(stored.shown, ENTRIES, stored.ids, COUNT);
}

STORE(entries_are_counted)
{
	const struct stored stored = store_of(shown);
	uint64_t count;

	assert_int_equal(
		wfs_tree_count(&stored.shown->tree, attr_of(stored.shown, ENTRIES).ino, &count), 0);
	assert_int_equal(count, COUNT);
}

/* Entries are deleted one after the other; the next one is always still there. */
STORE(a_listing_goes_on_behind_what_has_gone)
{
	struct stored stored = store_of(shown);
	const uint64_t ino = attr_of(stored.shown, ENTRIES).ino;
	struct listing listing = {0};
	char expected[512] = "";

	for (size_t i = 0; i < COUNT; i++) {
		listing.most = listing.count + 1;
		assert_int_equal(
			wfs_tree_list(&stored.shown->tree, ino, listing.cookie, add_name, &listing),
			0);
		memory_forget(stored.shown->world, "notes", stored.ids[i]);
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected),
			"%s.json ", stored.ids[i]);
	}

	assert_string_equal(wfs_buffer_text(&listing.names), expected);
	assert_lists(stored.shown, ENTRIES, "");
	wfs_buffer_done(&listing.names);
}

/* Also after an id that never existed: the cookie depends on the id alone. */
STORE(a_listing_goes_on_behind_any_id)
{
	const struct stored stored = store_of(shown);
	const uint64_t ino = attr_of(stored.shown, ENTRIES).ino;
	struct listing listing = {0};
	char expected[64];

	const uint64_t before_last = strtoull(stored.ids[COUNT - 1] + 4, NULL, 16);
	assert_int_equal(
		wfs_tree_list(&stored.shown->tree, ino, before_last, add_name, &listing), 0);
	snprintf(expected, sizeof(expected), "%s.json ", stored.ids[COUNT - 1]);
	assert_string_equal(wfs_buffer_text(&listing.names), expected);
	assert_int_equal(
		wfs_tree_list(&stored.shown->tree, ino, UINT64_C(1) << 32, add_name, &listing), 0);
	assert_int_equal(listing.count, 1); /* nothing came after the last id */
	wfs_buffer_done(&listing.names);
}

static bool has_cookie(void *context, const struct wfs_tree_entry *entry)
{
	const struct wfs_attr *const attr = context;

	assert_true(entry->attr->ino != attr->ino || entry->cookie == attr->cookie);
	return true;
}

STORE(a_look_up_tells_the_cookie_of_the_listing)
{
	const struct stored stored = store_of(shown);
	struct wfs_attr attr = attr_of(stored.shown, entry_path(WFS_HEIGHT_HEAD, stored.ids[1]));

	assert_int_equal(attr.cookie, strtoull(stored.ids[1] + 4, NULL, 16) + 1);
	assert_int_equal(wfs_tree_list(&stored.shown->tree, attr_of(stored.shown, ENTRIES).ino, 0,
				 has_cookie, &attr),
		0);
}

STORE(the_directory_knows_its_path)
{
	const struct stored stored = store_of(shown);
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};
	char expected[64];

	snprintf(expected, sizeof(expected), "at/%d/" ENTRIES, (int)height_of(stored.shown->world));
	assert_int_equal(
		wfs_tree_path(&stored.shown->tree, attr_of(stored.shown, expected).ino, &path), 0);
	assert_string_equal(wfs_buffer_text(&path), expected);
	wfs_buffer_reset(&path);
	assert_int_equal(
		wfs_tree_path(&stored.shown->tree, attr_of(stored.shown, ENTRIES).ino, &path), 0);
	assert_string_equal(wfs_buffer_text(&path), ENTRIES);
}

/* Its time is that of its last change, whatever happens to the artifact. */
STORE(the_directory_has_the_time_of_its_last_change)
{
	struct stored stored = store_of(shown);
	const int64_t before = attr_of(stored.shown, ENTRIES).mtime_ns;

	write_notes(stored.shown, "'access':'freeware'");
	assert_int_equal(attr_of(stored.shown, ENTRIES).mtime_ns, before);
	memory_forget(stored.shown->world, "notes", stored.ids[0]);

	assert_true(attr_of(stored.shown, ENTRIES).mtime_ns > before);
}

/* --- at each height --- */

STORE(a_height_has_the_entries_of_then)
{
	char ids[2][MEMORY_ID_TEXT_SIZE];
	char path[64];

	memory_make(shown->world, "notes");
	const int empty = (int)height_of(shown->world);
	memory_remember(shown->world, "alice", "notes", memory_texts[0], ids[0]);
	const int one = (int)height_of(shown->world);
	memory_forget(shown->world, "notes", ids[0]);
	const int none = (int)height_of(shown->world);
	memory_remember(shown->world, "alice", "notes", memory_texts[1], ids[1]);

	assert_entries(shown, ENTRIES, &ids[1], 1);
	snprintf(path, sizeof(path), "at/%d/" ENTRIES, empty);
	assert_lists(shown, path, "");
	snprintf(path, sizeof(path), "at/%d/" ENTRIES, one);
	assert_entries(shown, path, &ids[0], 1);
	snprintf(path, sizeof(path), "at/%d/" ENTRIES, none);
	assert_lists(shown, path, "");
	assert_missing(shown, entry_path(WFS_HEIGHT_HEAD, ids[0]));
	assert_missing(shown, entry_path((uint64_t)empty, ids[0]));
	assert_missing(shown, entry_path((uint64_t)one, ids[1]));
}

STORE(an_entry_is_one_file_below_all_heights)
{
	const struct stored stored = store_of(shown);
	const uint64_t height = height_of(stored.shown->world);
	const uint64_t head = entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[0]);
	WFS_AUTO_FREE char *text =
		contents(stored.shown, entry_path(WFS_HEIGHT_HEAD, stored.ids[0]));

	tell(stored.shown->world, "{'key':'a','op':'set'}");
	memory_forget(stored.shown->world, "notes", stored.ids[1]);

	assert_true(entry_ino(stored.shown, height, stored.ids[0]) ==
		entry_ino(stored.shown, height + 2, stored.ids[0]));
	assert_true(entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[0]) == head);
	assert_contents(stored.shown, entry_path(height, stored.ids[0]), text);
}

STORE(what_is_deleted_is_gone_at_the_head)
{
	struct stored stored = store_of(shown);
	const uint64_t height = height_of(stored.shown->world);
	const uint64_t directory = attr_of(stored.shown, ENTRIES).ino;
	const uint64_t entry = entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[0]);
	struct wfs_attr attr;

	assert_done(stored.shown->world, "alice",
		"{'action_type':'delete_artifact','artifact_id':'notes'}");

	assert_missing(stored.shown, ENTRIES);
	assert_int_equal(wfs_tree_attr(&stored.shown->tree, directory, &attr), -ENOENT);
	assert_int_equal(try_read(stored.shown, entry), -ENOENT);
	WFS_AUTO_FREE char *text = contents(stored.shown, entry_path(height, stored.ids[0]));
	assert_non_null(strstr(text, stored.ids[0]));
	struct shown bob = as(stored.shown, "bob");
	assert_int_equal(try_read(&bob, entry_ino(stored.shown, height, stored.ids[0])), -EACCES);
	wfs_session_free(bob.session);
}

/* --- who reads --- */

STORE(a_private_store_is_for_its_owner)
{
	struct stored stored = store_of(shown);
	const uint64_t height = height_of(stored.shown->world);
	struct shown alice = as(stored.shown, "alice");
	struct shown bob = as(stored.shown, "bob");

	assert_entries(&bob, ENTRIES, stored.ids, COUNT);
	assert_int_equal(try_read(&bob, entry_ino(&bob, WFS_HEIGHT_HEAD, stored.ids[0])), -EACCES);
	assert_int_equal(try_read(&bob, entry_ino(&bob, height, stored.ids[0])), -EACCES);
	assert_int_equal(try_read(&alice, entry_ino(&alice, WFS_HEIGHT_HEAD, stored.ids[0])), 0);
	assert_int_equal(try_read(&alice, entry_ino(&alice, height, stored.ids[0])), 0);
	/* A principal that administers the world can copy it. */
	assert_int_equal(try_read(stored.shown, entry_ino(stored.shown, height, stored.ids[0])), 0);
	wfs_session_free(alice.session);
	wfs_session_free(bob.session);
}

STORE(the_rule_and_the_price_say_who_reads_for_nothing)
{
	static const struct {
		const char *members;
		int others;
	} rules[] = {
		{"'access':'freeware'", 0},
		{"'access':'private'", -EACCES},
		{"'access':'public'", 0},
		{"'access':'public','policy':{'read_price':1,'invoke_price':0}", -EACCES},
		{"'access':'self_owned','policy':{'read_price':0,'invoke_price':0}", -EACCES},
		{"'access':'transferable_freeware'", 0},
	};
	struct stored stored = store_of(shown);
	const uint64_t height = height_of(stored.shown->world);
	struct shown bob = as(stored.shown, "bob");

	for (size_t i = 0; i < WFS_ARRAY_COUNT(rules); i++) {
		print_message("%s\n", rules[i].members);
		write_notes(stored.shown, rules[i].members);
		assert_int_equal(try_read(&bob, entry_ino(&bob, WFS_HEIGHT_HEAD, stored.ids[0])),
			rules[i].others);
		assert_int_equal(
			try_read(&bob, entry_ino(&bob, height, stored.ids[0])), rules[i].others);
	}
	wfs_session_free(bob.session);
}

STORE(who_bought_a_store_reads_it_and_who_sold_it_does_not)
{
	struct stored stored = store_of(shown);
	struct shown alice = as(stored.shown, "alice");
	struct shown bob = as(stored.shown, "bob");
	const uint64_t entry = entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[0]);

	json_decref(memory_call(
		stored.shown->world, "alice", "genesis_escrow", "deposit", "['notes',10]"));
	assert_int_equal(try_read(&alice, entry), -EACCES);
	assert_int_equal(try_read(&bob, entry), -EACCES);
	json_decref(
		memory_call(stored.shown->world, "bob", "genesis_escrow", "purchase", "['notes']"));

	assert_int_equal(try_read(&alice, entry), -EACCES);
	assert_int_equal(try_read(&bob, entry), 0);
	wfs_session_free(alice.session);
	wfs_session_free(bob.session);
}

/* A reader that sees these paths; alice's rule lets everybody read. */
static struct shown looker(struct stored *stored, const char *paths)
{
	char action[512];

	write_notes(stored->shown, "'access':'public'");
	assert_done(stored->shown->world, "tester", "{'action_type':'principal','id':'looker'}");
	snprintf(action, sizeof(action),
		"{'action_type':'grant','cap':'sys/query@1','params':{'scope':[%s]},"
		"'to':'looker'}",
		paths);
	assert_done(stored->shown->world, "tester", action);
	return as(stored->shown, "looker");
}

STORE(a_scope_may_show_the_entries_alone)
{
	struct stored stored = store_of(shown);
	struct shown other = looker(&stored, "'" ENTRIES "/**'");

	assert_lists(&other, "artifacts", "notes ");
	assert_lists(&other, NOTES, "entries ");
	assert_entries(&other, ENTRIES, stored.ids, COUNT);
	assert_int_equal(try_read(&other, entry_ino(&other, WFS_HEIGHT_HEAD, stored.ids[0])), 0);
	wfs_session_free(other.session);
}

STORE(a_scope_may_show_one_entry)
{
	struct stored stored = store_of(shown);
	char scope[128];

	snprintf(scope, sizeof(scope), "'" ENTRIES "/%s.json'", stored.ids[3]);
	const uint64_t hidden = entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[2]);
	const uint64_t past =
		entry_ino(stored.shown, height_of(stored.shown->world), stored.ids[2]);
	struct shown other = looker(&stored, scope);

	assert_entries(&other, ENTRIES, &stored.ids[3], 1);
	assert_int_equal(try_read(&other, entry_ino(&other, WFS_HEIGHT_HEAD, stored.ids[3])), 0);
	assert_missing(&other, entry_path(WFS_HEIGHT_HEAD, stored.ids[2]));
	assert_int_equal(try_read(&other, hidden), -EACCES);
	assert_int_equal(try_read(&other, past), -EACCES);
	wfs_session_free(other.session);
}

STORE(a_scope_of_content_shows_no_entries)
{
	struct stored stored = store_of(shown);
	const uint64_t hidden = entry_ino(stored.shown, WFS_HEIGHT_HEAD, stored.ids[0]);
	const uint64_t directory = attr_of(stored.shown, ENTRIES).ino;
	struct shown other = looker(&stored, "'" NOTES "/content'");
	struct listing listing = {0};
	struct wfs_attr attr;

	assert_lists(&other, NOTES, "content ");
	assert_missing(&other, ENTRIES);
	assert_int_equal(try_read(&other, hidden), -EACCES);
	assert_int_equal(wfs_tree_attr(&other.tree, directory, &attr), -ENOENT);
	assert_int_equal(wfs_tree_list(&other.tree, directory, 0, add_name, &listing), -ENOENT);
	wfs_session_free(other.session);
}

/* --- what workflows are at --- */

#define AT_WORK "{'current_state':'plan','entered_at_seq':7,'history':[]}"

/* A world with an agent in a workflow and an artifact without one. */
static int working_setup(void **state)
{
	struct shown *const shown = calloc(1, sizeof(*shown));
	int r = world_fixture_setup((void **)&shown->world);

	*state = shown;
	if (r || action_fixture_begin(shown->world))
		return -1;
	assert_done(shown->world, "alice", WRITE("'artifact_id':'worker'"));
	assert_done(shown->world, "alice", WRITE("'artifact_id':'idle'"));
	struct cells cells = cells_begin(shown->world);
	cells_set(&cells, "sys.workflow", "worker", AT_WORK);
	cells_set(&cells, "sys.workflow", "nobody", AT_WORK);
	cells_commit(&cells);
	if (wfs_authority_new(shown->world->world, &shown->authority, NULL) ||
		wfs_session_new(shown->authority, WFS_PRINCIPAL_OPERATOR, &shown->session, NULL))
		return -1;
	shown->tree = (struct wfs_tree){.session = shown->session};
	return 0;
}

#define WORKING(name) TEST_WITH(name, struct shown *shown, working_setup, shown_teardown)

WORKING(a_workflow_in_use_is_shown_as_state)
{
	WFS_AUTO_FREE char *expected = json_text(AT_WORK "\n");
	char path[64];

	assert_contents(shown, "artifacts/worker/state", expected);
	assert_contents(shown, "reducers/sys.workflow/worker", expected);
	assert_lists(shown, "artifacts/worker",
		"content meta.json type created_by owner executable invoke_price read_price "
		"state ");
	assert_missing(shown, "artifacts/idle/state");
	assert_missing(shown, "artifacts/nobody");
	snprintf(path, sizeof(path), "at/%d/artifacts/worker/state",
		(int)height_of(shown->world) - 1);
	assert_missing(shown, path);
}

WORKING(what_a_workflow_is_at_is_seen_by_its_path)
{
	const uint64_t ino = attr_of(shown, "artifacts/worker/state").ino;

	assert_done(shown->world, "tester", "{'action_type':'principal','id':'looker'}");
	assert_done(shown->world, "tester",
		"{'action_type':'grant','cap':'sys/query@1','to':'looker',"
		"'params':{'scope':['artifacts/worker/meta.json']}}");
	struct shown other = as(shown, "looker");
	struct shown bob = as(shown, "bob");

	assert_missing(&other, "artifacts/worker/state");
	assert_int_equal(try_read(&other, ino), -EACCES);
	assert_int_equal(try_read(&bob, ino), 0);
	wfs_session_free(other.session);
	wfs_session_free(bob.session);
}
