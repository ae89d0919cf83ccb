/* SPDX-License-Identifier: Apache-2.0 */
/* The file /replication.json, which changes without a commit. */
#include "tests/fixture/tree.h"

#include "caps/nodes.h"
#include "kernel/manifest/manifest.h"

/* A source whose document has a number that a test changes. */
struct source {
	struct wfs_nodes_source nodes; /* first */
	int number;
	const char *text;
};

static json_t *status(struct wfs_nodes_source *nodes)
{
	struct source *const source = (struct source *)nodes;

	return json_pack("{s:i, s:s*}", "number", source->number, "text", source->text);
}

#define SOURCE                      \
	{                           \
		.nodes = { status } \
	}

static atomic_int_fast64_t skipped_ns; /* by which the clock is ahead */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int64_t __real_wfs_clock_monotonic_ns(void);
int64_t __wrap_wfs_clock_monotonic_ns(void);
/* NOLINTEND(readability-identifier-naming) */

int64_t __wrap_wfs_clock_monotonic_ns(void)
{
	return __real_wfs_clock_monotonic_ns() + atomic_load(&skipped_ns);
}

static void skip_ms(int64_t ms)
{
	atomic_fetch_add(&skipped_ns, ms * 1000000);
}

/* Changes the document, and looks it up when the one before is not fresh any more. Return: its
 * attributes. */
static struct wfs_attr change(struct shown *shown, struct source *source)
{
	source->number++;
	skip_ms(WFS_NODES_FRESH_MS + 1);
	return attr_of(shown, "replication.json");
}

static int read_number(struct shown *shown, uint64_t ino, char *text, size_t size)
{
	WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};
	int r = wfs_tree_read(&shown->tree, ino, 0, size - 1, &data);

	if (!r)
		snprintf(text, size, "%.*s", (int)data.bytes.size, (const char *)data.bytes.data);
	return r;
}

SHOWN(a_world_without_other_nodes_has_no_replication_json)
{
	struct wfs_attr attr;

	assert_missing(shown, "replication.json");
	assert_int_equal(
		wfs_tree_lookup(&shown->tree, ROOT_INO, "replication.json", &attr), -ENOENT);
	assert_false(attr.uncached);
}

SHOWN(replication_json_is_at_the_root_of_the_head_only)
{
	struct source source = SOURCE;

	wfs_authority_set_nodes(shown->authority, &source.nodes);

	assert_contents(shown, "replication.json", "{\"number\":0}\n");
	assert_missing(shown, "at/2/replication.json");
	assert_missing(shown, "journal/replication.json");
	assert_true(wfs_tree_path_is_live("replication.json"));
	wfs_authority_set_nodes(shown->authority, NULL);
	assert_missing(shown, "replication.json");
}

SHOWN(the_root_lists_replication_json_if_the_world_has_it)
{
	struct listing before = {.names = {0}};
	struct listing after = {.names = {0}};
	struct source source = SOURCE;

	assert_int_equal(wfs_tree_list(&shown->tree, ROOT_INO, 0, add_name, &before), 0);
	wfs_authority_set_nodes(shown->authority, &source.nodes);
	assert_int_equal(wfs_tree_list(&shown->tree, ROOT_INO, 0, add_name, &after), 0);

	assert_null(strstr(wfs_buffer_text(&before.names), "replication.json "));
	assert_non_null(strstr(wfs_buffer_text(&after.names), "replication.json "));
	wfs_buffer_done(&before.names);
	wfs_buffer_done(&after.names);
	wfs_authority_set_nodes(shown->authority, NULL);
}

SHOWN(each_look_up_finds_what_is_so_now_and_linux_caches_none)
{
	struct source source = SOURCE;

	wfs_authority_set_nodes(shown->authority, &source.nodes);
	const struct wfs_attr first = attr_of(shown, "replication.json");
	const struct wfs_attr second = change(shown, &source);

	assert_true(first.uncached && second.uncached);
	assert_true(first.ino != second.ino);
	assert_contents(shown, "replication.json", "{\"number\":1}\n");
	wfs_authority_set_nodes(shown->authority, NULL);
}

SHOWN(a_file_that_is_open_keeps_its_bytes)
{
	struct source source = SOURCE;
	struct wfs_attr attr;
	char text[40];

	wfs_authority_set_nodes(shown->authority, &source.nodes);
	const struct wfs_attr first = attr_of(shown, "replication.json");
	(void)change(shown, &source);

	assert_int_equal(read_number(shown, first.ino, text, sizeof(text)), 0);
	assert_string_equal(text, "{\"number\":0}\n");
	assert_int_equal(wfs_tree_attr(&shown->tree, first.ino, &attr), 0);
	assert_int_equal(attr.size_bytes, first.size_bytes);
	assert_int_equal(attr.mtime_ns, first.mtime_ns);
	assert_int_equal(wfs_tree_by_number(&shown->tree, first.ino, &attr), 0);
	wfs_authority_set_nodes(shown->authority, NULL);
	assert_int_equal(read_number(shown, first.ino, text, sizeof(text)), -ENOENT);
	assert_int_equal(wfs_tree_by_number(&shown->tree, first.ino, &attr), -ENOENT);
}

SHOWN(documents_are_kept_for_a_while)
{
	struct source source = SOURCE;
	char text[40];

	wfs_authority_set_nodes(shown->authority, &source.nodes);
	const struct wfs_attr first = attr_of(shown, "replication.json");
	skip_ms(WFS_NODES_KEPT_MS - 2 * WFS_NODES_FRESH_MS);
	(void)change(shown, &source);
	assert_int_equal(read_number(shown, first.ino, text, sizeof(text)), 0);
	(void)change(shown, &source);

	assert_int_equal(read_number(shown, first.ino, text, sizeof(text)), -ENOENT);
	wfs_authority_set_nodes(shown->authority, NULL);
}

SHOWN(documents_have_a_limit_of_bytes_together)
{
	enum { LARGE = WFS_NODES_KEPT_BYTES / 2 - 100 };
	WFS_AUTO_FREE char *large = malloc(LARGE + 1);
	struct source source = SOURCE;
	char text[40];

	memset(large, 'a', LARGE);
	large[LARGE] = '\0';
	source.text = large;
	wfs_authority_set_nodes(shown->authority, &source.nodes);
	const struct wfs_attr first = attr_of(shown, "replication.json");
	const struct wfs_attr second = change(shown, &source);
	assert_int_equal(read_number(shown, first.ino, text, sizeof(text)), 0);
	const struct wfs_attr third = change(shown, &source);

	assert_int_equal(read_number(shown, first.ino, text, sizeof(text)), -ENOENT);
	assert_int_equal(read_number(shown, second.ino, text, sizeof(text)), 0);
	assert_int_equal(read_number(shown, third.ino, text, sizeof(text)), 0);
	wfs_authority_set_nodes(shown->authority, NULL);
}

static void act(struct shown *shown, const char *action)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {.kind = WFS_REQUEST_ACTION,
		.principal = WFS_PRINCIPAL_OPERATOR,
		.action.document = json};
	const int r = wfs_world_call(shown->world->world, &request);

	json_decref(request.answer);
	if (r)
		fail_msg("%s: %s", action, request.error.message);
}

SHOWN(replication_json_needs_the_right_to_see_status)
{
	WFS_AUTO_SESSION struct wfs_session *alice = NULL;
	struct source source = SOURCE;
	struct wfs_attr attr;

	wfs_authority_set_nodes(shown->authority, &source.nodes);
	const struct wfs_attr found = attr_of(shown, "replication.json");
	act(shown, "{'action_type':'principal','id':'alice'}");
	assert_int_equal(wfs_session_new(shown->authority, "alice", &alice, NULL), 0);
	const struct wfs_tree tree = {.session = alice};

	assert_int_equal(wfs_tree_lookup(&tree, ROOT_INO, "replication.json", &attr), -EACCES);
	assert_int_equal(wfs_tree_attr(&tree, found.ino, &attr), -EACCES);
	assert_int_equal(wfs_tree_by_number(&tree, found.ino, &attr), -ENOENT);
	act(shown,
		"{'action_type':'grant','cap':'sys/query@1','params':{'scope':['reducers']},"
		"'to':'alice'}");
	assert_int_equal(wfs_tree_lookup(&tree, ROOT_INO, "replication.json", &attr), -ENOENT);
	wfs_authority_set_nodes(shown->authority, NULL);
}
