/* SPDX-License-Identifier: Apache-2.0 */
/* Inode numbers: every node has one, one number is one node, and other numbers are refused. */
#include "tests/fixture/test.h"

#include "caps/session-tools.h"
#include "fs/tree/ino.h"
#include "kernel/manifest/entity-table.h"

static void assert_comes_back(const struct wfs_node *node)
{
	struct wfs_node found;

	assert_true(wfs_ino_decode(wfs_ino_encode(node), &found));
	assert_int_equal(found.kind, node->kind);
	assert_int_equal(found.directory, node->directory);
	assert_int_equal(found.reducer_id, node->reducer_id);
	assert_int_equal(found.entity, node->entity);
	assert_int_equal(found.file, node->file);
	assert_true(found.cell == node->cell);
	assert_int_equal(found.cut, node->cut);
	assert_true(found.number == node->number);
}

#define ENTITY(constant)                                                       \
	{                                                                      \
		.kind = WFS_NODE_DIRECTORY, .directory = WFS_DIRECTORY_ENTITY, \
		.entity = WFS_ENTITY_##constant                                \
	}
#define ITEMS(constant)                                                       \
	{                                                                     \
		.kind = WFS_NODE_DIRECTORY, .directory = WFS_DIRECTORY_ITEMS, \
		.file = WFS_ENTITY_FILE_##constant                            \
	}

TEST(the_root_of_the_head_is_one)
{
	const struct wfs_node root = {.kind = WFS_NODE_DIRECTORY};

	assert_int_equal(wfs_ino_encode(&root), 1);

	assert_comes_back(&root);
}

TEST(directories_come_back)
{
	static const uint64_t views[] = {0, 1, 77, (UINT64_C(1) << WFS_VIEW_BITS) - 1};

	for (int kind = 0; kind < WFS_DIRECTORY_SERVER; kind++)
		for (size_t i = 0; i < 4; i++) {
			const struct wfs_node node = {
				.kind = WFS_NODE_DIRECTORY,
				.directory = (enum wfs_directory_kind)kind,
				.reducer_id = kind == WFS_DIRECTORY_REDUCER ? 0xffff : 0,
				.entity = kind == WFS_DIRECTORY_ENTITIES ? WFS_ENTITY_TURN : 0,
				.number = views[i],
			};

			assert_comes_back(&node);
		}
}

TEST(servers_and_tools_come_back)
{
	static const uint64_t numbers[] = {1, 77, (UINT64_C(1) << WFS_LISTED_BITS) - 1};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(numbers); i++) {
		assert_comes_back(&(struct wfs_node){.kind = WFS_NODE_DIRECTORY,
			.directory = WFS_DIRECTORY_SERVER,
			.cell = numbers[i]});
		assert_comes_back(&(struct wfs_node){.kind = WFS_NODE_TOOL, .number = numbers[i]});
		assert_comes_back(
			&(struct wfs_node){.kind = WFS_NODE_REPLICATION, .number = numbers[i]});
	}
}

TEST(documents_of_replication_json_show_one_number)
{
	const struct wfs_node first = {.kind = WFS_NODE_REPLICATION, .number = 1};
	const struct wfs_node second = {.kind = WFS_NODE_REPLICATION, .number = 2};
	const struct wfs_node tool = {.kind = WFS_NODE_TOOL, .number = 1};
	const uint64_t shown = wfs_ino_shown(wfs_ino_encode(&first));

	assert_int_equal(wfs_ino_shown(wfs_ino_encode(&second)), shown);
	assert_int_equal(wfs_ino_shown(wfs_ino_encode(&tool)), wfs_ino_encode(&tool));
	assert_int_equal(wfs_ino_shown(1), 1);
}

TEST(what_is_numbered_by_a_cell_comes_back)
{
	static const struct wfs_node kinds[] = {
		ENTITY(ARTIFACT),
		ENTITY(PRINCIPAL),
		ENTITY(TURN),
		ENTITY(PLAN),
		ITEMS(PLAN_STEPS),
		ITEMS(ENTRIES),
		{.kind = WFS_NODE_GRANTS},
	};
	static const uint64_t heights[] = {0, 1, UINT32_MAX};
	static const uint64_t cells[] = {1, 77, (UINT64_C(1) << 25) - 1};

	for (size_t i = 0; i < 63; i++) {
		struct wfs_node node = kinds[i / 9];

		node.number = heights[i / 3 % 3];
		node.cell = cells[i % 3];
		assert_comes_back(&node);
	}
}

TEST(grants_have_more_room_for_a_cell)
{
	const struct wfs_node node = {
		.kind = WFS_NODE_GRANTS, .number = UINT32_MAX, .cell = (UINT64_C(1) << 28) - 1};

	assert_comes_back(&node);
}

TEST(files_that_are_made_come_back)
{
	static const uint64_t vids[] = {1, 77, (UINT64_C(1) << 54) - 1};

	for (uint32_t file = 0; file < WFS_FILE_GROWING_EVENTS; file++)
		for (size_t i = 0; i < 3 && file != WFS_ENTITY_FILE_EVENTS; i++) {
			const struct wfs_node node = {
				.kind = WFS_NODE_MADE, .file = file, .number = vids[i]};

			assert_comes_back(&node);
		}
}

TEST(what_has_no_room_does_not_fit)
{
	static const struct wfs_node nodes[] = {
		{.kind = WFS_NODE_DIRECTORY, .number = UINT64_C(1) << WFS_VIEW_BITS},
		{.kind = WFS_NODE_DIRECTORY,
			.directory = WFS_DIRECTORY_ENTITY,
			.number = UINT64_C(1) << 32},
		{.kind = WFS_NODE_DIRECTORY,
			.directory = WFS_DIRECTORY_ENTITY,
			.cell = UINT64_C(1) << 25},
		{.kind = WFS_NODE_DIRECTORY,
			.directory = WFS_DIRECTORY_ITEMS,
			.file = WFS_ENTITY_FILE_PLAN_STEPS,
			.cell = UINT64_C(1) << 25},
		{.kind = WFS_NODE_GRANTS, .cell = UINT64_C(1) << 28},
		{.kind = WFS_NODE_MADE, .number = UINT64_C(1) << 54},
		{.kind = WFS_NODE_MADE, .file = 64},
		{.kind = WFS_NODE_LIVE, .number = UINT64_C(1) << 60},
		{.kind = WFS_NODE_LOG, .number = UINT64_C(1) << WFS_VIEW_BITS},
		{.kind = WFS_NODE_RECORD, .number = UINT64_C(1) << WFS_VIEW_BITS},
		{.kind = WFS_NODE_LOG, .cut = 1 << WFS_CUT_BITS},
		{.kind = WFS_NODE_MADE, .file = WFS_ENTITY_FILE_EVENTS, .cut = 1 << WFS_CUT_BITS},
	};

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		print_message("number %zu\n", i);
		assert_false(wfs_node_fits(&nodes[i]));
	}
}

TEST(files_come_back)
{
	static const enum wfs_node_kind kinds[] = {
		WFS_NODE_VERSION, WFS_NODE_BLOB, WFS_NODE_HEAD, WFS_NODE_LIVE};
	static const uint64_t numbers[] = {0, 1, (UINT64_C(1) << 60) - 1};

	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 3; j++) {
			const struct wfs_node node = {.kind = kinds[i], .number = numbers[j]};

			assert_comes_back(&node);
		}
}

TEST(files_of_a_cut_come_back)
{
	static const struct wfs_node kinds[] = {{.kind = WFS_NODE_RECORD}, {.kind = WFS_NODE_LOG},
		{.kind = WFS_NODE_MADE, .file = WFS_ENTITY_FILE_EVENTS},
		{.kind = WFS_NODE_MADE, .file = WFS_FILE_GROWING_EVENTS}};
	static const uint64_t numbers[] = {0, 1, (UINT64_C(1) << WFS_VIEW_BITS) - 1};
	static const uint32_t cuts[] = {0, 1, (1 << WFS_CUT_BITS) - 1};

	for (size_t i = 0; i < 36; i++) {
		struct wfs_node node = kinds[i / 9];

		node.number = numbers[i / 3 % 3];
		node.cut = cuts[i % 3];
		assert_comes_back(&node);
	}
}

TEST(nodes_without_a_number_come_back)
{
	static const enum wfs_node_kind kinds[] = {
		WFS_NODE_README, WFS_NODE_CTL_LINK, WFS_NODE_AT_LINK};

	for (size_t i = 0; i < 3; i++) {
		const struct wfs_node node = {.kind = kinds[i]};

		assert_comes_back(&node);
	}
}

TEST(numbers_of_no_node_are_refused)
{
	static const uint64_t numbers[] = {
		0,
		2,
		UINT64_C(1) << 59,
		(uint64_t)WFS_NODE_DIRECTORY << 60 | UINT64_C(14) << 56,
		/* A tool, and a server, without a number. */
		(uint64_t)WFS_NODE_DIRECTORY << 60 | UINT64_C(15) << 56,
		(uint64_t)WFS_NODE_DIRECTORY << 60 | (uint64_t)WFS_DIRECTORY_SERVER << 56,
		/* After the last kind of entity, and the last directory within one. */
		(uint64_t)(WFS_NODE_TEXT + 1) << 60 | UINT64_C(7) << 57 | 7,
		(uint64_t)(WFS_NODE_TEXT + 2) << 60 | UINT64_C(7) << 57 | 7,
		(uint64_t)WFS_NODE_DIRECTORY << 60 | (uint64_t)WFS_DIRECTORY_ENTITIES << 56 |
			UINT64_C(9) << 40,
	};
	struct wfs_node node;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		print_message("%#llx\n", (unsigned long long)numbers[i]);
		assert_false(wfs_ino_decode(numbers[i], &node));
	}
}

/* One node has one number: a second number would be a second inode for one thing. */
TEST(second_spellings_of_a_node_are_refused)
{
	static const uint64_t numbers[] = {
		(uint64_t)WFS_NODE_DIRECTORY << 60, /* the root of the head, whose number is 1 */
		(uint64_t)WFS_NODE_DIRECTORY << 60 | (uint64_t)WFS_DIRECTORY_BLOB << 56 |
			UINT64_C(5) << 40,
		/* An artifact's directory has another layout. */
		(uint64_t)WFS_NODE_DIRECTORY << 60 | (uint64_t)WFS_DIRECTORY_ENTITY << 56 | 7,
		(uint64_t)WFS_NODE_README << 60 | 5,
	};
	struct wfs_node node;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		print_message("%#llx\n", (unsigned long long)numbers[i]);
		assert_false(wfs_ino_decode(numbers[i], &node));
	}
}
