/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that are found by number alone, as file handles do: a number gives only what a path
 * leads to. */
#include "caps/authority.h"
#include "tests/fixture/tree.h"

#include "kernel/manifest/manifest.h"

static int setup_without_heights(void **state)
{
	struct shown *shown = calloc(1, sizeof(*shown));
	void *world = NULL;

	*state = shown;
	if (world_fixture_source(&world))
		return -1;
	shown->world = world;
	world_fixture_set_policy(shown->world,
		"[{'when':{'effect':'introspect.journal_head'},'decision':'deny'},"
		"{'when':{'effect':'blob.get'},'decision':'deny'},{'when':{},'decision':'allow'}]");
	if (world_fixture_create(world) || world_fixture_open(world) ||
		wfs_authority_new(shown->world->world, &shown->authority, NULL) ||
		wfs_session_new(shown->authority, WFS_PRINCIPAL_OPERATOR, &shown->session, NULL))
		return -1;
	shown->tree =
		(struct wfs_tree){.session = shown->session, .ctl_target = "/run/somewhere/ctl"};
	return 0;
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

static int by_number(struct shown *shown, uint64_t ino)
{
	struct wfs_attr attr = {0};
	const int r = wfs_tree_by_number(&shown->tree, ino, &attr);

	if (!r)
		assert_int_equal(attr.ino, ino);
	return r;
}

static int by_node(struct shown *shown, struct wfs_node node)
{
	return by_number(shown, wfs_ino_encode(&node));
}

static void assert_above(struct shown *shown, const char *path, const char *expected)
{
	struct wfs_attr attr = {0};

	print_message("%s\n", path);
	assert_int_equal(wfs_tree_parent(&shown->tree, attr_of(shown, path).ino, &attr), 0);
	assert_int_equal(attr.ino, attr_of(shown, expected).ino);
}

SHOWN(what_a_path_leads_to_is_found_by_its_number)
{
	static const char *const paths[] = {"", "README", "manifest", "reducers", "reducers/cell",
		"reducers/cell/a", "principals/operator", "principals/operator/scrip",
		"principals/operator/grants.json", "journal", "journal/head", "journal/log.jsonl",
		"journal/1.json", "at", "at/2", "at/2/reducers", "at/3/reducers/cell/a", "ctl"};

	tell(shown->world, "{'key':'a','op':'set'}");

	for (size_t i = 0; i < WFS_ARRAY_COUNT(paths); i++) {
		print_message("%s\n", paths[i]);
		assert_int_equal(by_number(shown, attr_of(shown, paths[i]).ino), 0);
	}
}

SHOWN(what_no_path_leads_to_is_not_there)
{
	assert_int_equal(by_number(shown, 0), -ENOENT);
	assert_int_equal(by_number(shown, UINT64_MAX), -ENOENT);
	/* A number must always give the bytes of one height, and the head changes. */
	assert_int_equal(by_node(shown, (struct wfs_node){.kind = WFS_NODE_HEAD}), -ENOENT);
	assert_int_equal(
		by_node(shown, (struct wfs_node){.kind = WFS_NODE_GRANTS, .cell = 1}), -ENOENT);
	assert_int_equal(by_node(shown,
				 (struct wfs_node){.kind = WFS_NODE_DIRECTORY,
					 .directory = WFS_DIRECTORY_AT,
					 .number = GENESIS_HEIGHT}),
		-ENOENT);
	assert_int_equal(by_node(shown,
				 (struct wfs_node){.kind = WFS_NODE_DIRECTORY,
					 .directory = WFS_DIRECTORY_ROOT,
					 .number = GENESIS_HEIGHT + 1}),
		-ENOENT);
}

SHOWN(the_place_of_control_files_is_a_link_or_a_directory)
{
	const struct wfs_node link = {.kind = WFS_NODE_CTL_LINK};
	const struct wfs_node directory = {
		.kind = WFS_NODE_DIRECTORY, .directory = WFS_DIRECTORY_CTL};

	assert_int_equal(by_node(shown, link), 0);
	assert_int_equal(by_node(shown, directory), -ENOENT);
	shown->tree.ctl_target = NULL;
	shown->tree.ctl_directory = true;
	assert_int_equal(by_node(shown, link), -ENOENT);
	assert_int_equal(by_node(shown, directory), 0);
}

SHOWN(a_number_of_what_is_not_seen_is_as_one_of_nothing)
{
	struct shown other = *shown;

	tell(shown->world, "{'key':'a','op':'set'}");
	const uint64_t cell = attr_of(shown, "reducers/cell/a").ino;
	const uint64_t log = attr_of(shown, "journal/log.jsonl").ino;
	const uint64_t scrip = attr_of(shown, "principals/operator/scrip").ino;
	act(shown, "{'action_type':'principal','id':'alice'}");
	act(shown,
		"{'action_type':'grant','cap':'sys/query@1','params':{'scope':['reducers/total/"
		"_']},"
		"'to':'alice'}");
	assert_int_equal(wfs_session_new(shown->authority, "alice", &other.session, NULL), 0);
	other.tree.session = other.session;

	assert_int_equal(by_number(&other, cell), -ENOENT);
	assert_int_equal(by_number(&other, log), -ENOENT);
	assert_int_equal(by_number(&other, scrip), -ENOENT);
	assert_int_equal(by_number(&other, ROOT_INO), 0);
	wfs_session_free(other.session);
}

TEST_WITH(without_the_right_to_heights_no_number_leads_to_the_past, struct shown *shown,
	setup_without_heights, shown_teardown)
{
	struct wfs_attr attr;

	tell(shown->world, "{'key':'a','op':'set','n':1}");
	const uint64_t before = attr_of(shown, "reducers/cell/a").ino;
	tell(shown->world, "{'key':'a','op':'set','n':2}");
	const uint64_t directory = attr_of(shown, "reducers/cell").ino;

	/* A file with this number may be open. */
	assert_int_equal(wfs_tree_attr(&shown->tree, before, &attr), 0);
	assert_int_equal(by_number(shown, before), -ENOENT);
	assert_int_equal(by_number(shown, directory + 2), -ENOENT); /* at/2/reducers/cell */
	assert_int_equal(by_number(shown, directory), 0);
}

SHOWN(above_a_directory_is_what_its_path_says)
{
	struct wfs_attr attr;

	tell(shown->world, "{'key':'a','op':'set'}");

	assert_above(shown, "", "");
	assert_above(shown, "reducers", "");
	assert_above(shown, "reducers/cell", "reducers");
	assert_above(shown, "principals/operator", "principals");
	assert_above(shown, "at/2", "at");
	assert_above(shown, "at/3/reducers/cell", "at/3/reducers");
	assert_int_equal(
		wfs_tree_parent(&shown->tree, attr_of(shown, "reducers/cell/a").ino, &attr),
		-ENOENT);
	assert_int_equal(wfs_tree_parent(&shown->tree, UINT64_MAX, &attr), -ENOENT);
}
