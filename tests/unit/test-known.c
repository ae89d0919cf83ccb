/* SPDX-License-Identifier: Apache-2.0 */
/* What Linux may have cached: counts, several names of an inode, walks, growth, bounds. */
#include "tests/fixture/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/data/known.h"

enum {
	PARENT = 10,
	OTHER_PARENT = 20,
	INO = 100,
	MANY = 20000, /* more than the table has room for at first */
};

static int failing = -1; /* the number of the allocation that fails, from 0; -1: none fails */

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
/* NOLINTEND(readability-identifier-naming) */

static bool fails(void)
{
	return failing >= 0 && failing-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

static int setup(void **state)
{
	failing = -1;
	return wfs_known_new(WFS_KNOWN_NAMES_MAX, (struct wfs_known **)state);
}

static int teardown(void **state)
{
	failing = -1;
	wfs_known_free(*state);
	return 0;
}

#define KNOWN(name) TEST_WITH(name, struct wfs_known *known, setup, teardown)

static void add(struct wfs_known *known, uint64_t parent, uint64_t ino, const char *name)
{
	assert_int_equal(wfs_known_add(known, parent, ino, name), 0);
}

static void assert_figures(struct wfs_known *known, size_t inodes_count, size_t names_count)
{
	const struct wfs_known_figures figures = wfs_known_figures(known);

	assert_int_equal(figures.inodes_count, inodes_count);
	assert_int_equal(figures.names_count, names_count);
}

static size_t count_inodes(struct wfs_known *known)
{
	struct wfs_known_walk walk;
	size_t count = 0;
	uint64_t ino;

	wfs_known_walk_init(&walk, known);
	while (wfs_known_next(&walk, &ino))
		count++;
	return count;
}

/* Takes all names. Return: is this one among them? */
static bool takes(struct wfs_known *known, uint64_t parent, const char *name, size_t *ret_count)
{
	WFS_AUTO_KNOWN_WALK struct wfs_known_walk walk;
	struct wfs_known_name taken;
	bool found = false;
	size_t count = 0;

	wfs_known_walk_init(&walk, known);
	for (; wfs_known_take_name(&walk, &taken); count++)
		found = found ||
			(taken.parent == parent && taken.size == strlen(name) &&
				memcmp(taken.text, name, taken.size) == 0);
	*ret_count = count;
	return found;
}

KNOWN(an_inode_goes_when_it_was_forgotten_as_often_as_it_was_handed_out)
{
	add(known, PARENT, INO, "a");
	add(known, PARENT, INO, "a");
	add(known, PARENT, INO, "a");

	wfs_known_forget(known, INO, 2);
	assert_figures(known, 1, 1);

	wfs_known_forget(known, INO, 1);
	assert_figures(known, 0, 0);
}

KNOWN(what_is_not_known_can_be_forgotten)
{
	add(known, PARENT, INO, "a");

	wfs_known_forget(known, INO + 1, 1);
	wfs_known_forget(known, INO, 5);
	wfs_known_forget(known, INO, 1);

	assert_figures(known, 0, 0);
}

KNOWN(an_inode_has_a_name_in_each_directory_once)
{
	size_t count;

	for (int i = 0; i < 3; i++) {
		add(known, PARENT, INO, "a");
		add(known, OTHER_PARENT, INO, "a");
		add(known, OTHER_PARENT + 1, INO, "a");
	}

	assert_figures(known, 1, 3);
	assert_true(takes(known, OTHER_PARENT, "a", &count));
	assert_int_equal(count, 3);
}

KNOWN(an_inode_can_have_two_names_in_a_directory)
{
	size_t count;

	add(known, PARENT, INO, "a");
	add(known, PARENT, INO, "b");
	add(known, PARENT, INO, "b");

	assert_true(takes(known, PARENT, "b", &count));
	assert_int_equal(count, 2);
}

KNOWN(all_names_go_with_their_inode)
{
	size_t count;

	for (uint64_t i = 0; i < MANY; i++)
		add(known, PARENT + i, INO, "a");
	add(known, PARENT, INO + 1, "b");

	wfs_known_forget(known, INO, MANY);

	assert_figures(known, 1, 1);
	assert_true(takes(known, PARENT, "b", &count));
	assert_int_equal(count, 1);
}

KNOWN(names_are_taken_once_and_inodes_stay)
{
	size_t count;

	add(known, PARENT, INO, "a");
	add(known, OTHER_PARENT, INO, "a");
	assert_true(takes(known, PARENT, "a", &count));

	assert_false(takes(known, PARENT, "a", &count));
	assert_int_equal(count, 0);
	assert_figures(known, 1, 1);
	wfs_known_forget(known, INO, 2);
	assert_figures(known, 0, 0);
}

KNOWN(a_name_that_was_taken_is_noted_again)
{
	size_t count;

	add(known, PARENT, INO, "a");
	takes(known, PARENT, "a", &count);

	add(known, OTHER_PARENT, INO, "a");
	add(known, PARENT, INO, "longer");

	assert_true(takes(known, PARENT, "longer", &count));
	assert_int_equal(count, 2);
	assert_figures(known, 1, 1);
}

KNOWN(the_longest_name_is_kept_whole)
{
	char name[WFS_NAME_MAX + 1];
	size_t count;

	memset(name, 'n', WFS_NAME_MAX);
	name[WFS_NAME_MAX] = '\0';
	add(known, PARENT, INO, name);

	assert_true(takes(known, PARENT, name, &count));
}

KNOWN(an_inode_of_a_handle_has_no_name_until_it_is_looked_up)
{
	size_t count;

	assert_int_equal(wfs_known_add_inode(known, INO), 0);
	assert_int_equal(wfs_known_add_inode(known, INO), 0);
	assert_figures(known, 1, 1);
	assert_int_equal(count_inodes(known), 1);
	takes(known, PARENT, "a", &count);
	assert_int_equal(count, 0);

	add(known, PARENT, INO, "a");
	assert_true(takes(known, PARENT, "a", &count));
	assert_int_equal(count, 1);
	wfs_known_forget(known, INO, 3);
	assert_figures(known, 0, 0);
}

KNOWN(many_are_found_after_the_table_has_grown)
{
	char name[16];
	size_t count;

	for (uint64_t i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%d", (int)i);
		add(known, PARENT, INO + i, name);
	}

	assert_figures(known, MANY, MANY);
	assert_int_equal(count_inodes(known), MANY);
	assert_true(takes(known, PARENT, "19999", &count));
	assert_int_equal(count, MANY);
	for (uint64_t i = 0; i < MANY; i++)
		wfs_known_forget(known, INO + i, 1);
	assert_figures(known, 0, 0);
}

/* A client that looks up each name again when it is dropped must not keep a walk going for ever. */
KNOWN(what_is_added_during_a_walk_is_not_part_of_it)
{
	struct wfs_known_walk walk;
	size_t count = 0;
	uint64_t ino;

	add(known, PARENT, INO, "a");
	wfs_known_walk_init(&walk, known);
	while (wfs_known_next(&walk, &ino)) {
		assert_true(++count <= 1);
		for (uint64_t i = 1; i < MANY; i++)
			add(known, PARENT, INO + i, "b");
	}

	assert_int_equal(count, 1);
	assert_int_equal(count_inodes(known), MANY);
}

KNOWN(a_walk_comes_by_each_inode_once_while_the_table_grows)
{
	struct wfs_known_walk walk;
	size_t count = 0;
	uint64_t ino;

	for (uint64_t i = 0; i < 1000; i++)
		add(known, PARENT, INO + i, "a");
	wfs_known_walk_init(&walk, known);
	for (; wfs_known_next(&walk, &ino); count++)
		for (uint64_t i = 0; i < MANY / 1000; i++)
			add(known, PARENT, INO + 1000 + count * (MANY / 1000) + i, "b");

	assert_int_equal(count, 1000);
}

KNOWN(names_that_a_walk_took_and_did_not_give_are_freed)
{
	WFS_AUTO_KNOWN_WALK struct wfs_known_walk walk;
	struct wfs_known_name name;

	for (uint64_t i = 0; i < 10; i++)
		add(known, PARENT + i, INO, "a");
	wfs_known_walk_init(&walk, known);

	assert_true(wfs_known_take_name(&walk, &name));
	wfs_known_forget(known, INO, 10);
	assert_figures(known, 0, 0);
}

TEST(more_than_the_bound_is_refused)
{
	WFS_AUTO_KNOWN struct wfs_known *known = NULL;

	assert_int_equal(wfs_known_new(2, &known), 0);
	wfs_known_add(known, PARENT, INO, "a");
	wfs_known_add(known, OTHER_PARENT, INO, "a");

	assert_int_equal(wfs_known_add(known, PARENT, INO + 1, "b"), -ENFILE);
	assert_int_equal(wfs_known_add(known, PARENT + 1, INO, "a"), -ENFILE);
	assert_int_equal(wfs_known_add_inode(known, INO + 1), -ENFILE);
	assert_int_equal(wfs_known_add_inode(known, INO), 0);

	assert_true(wfs_known_add(known, PARENT, INO, "a") >= 0); /* the name is there */
	wfs_known_forget(known, INO, 4);
	assert_true(wfs_known_add(known, PARENT, INO + 1, "b") >= 0);
}

TEST(before_the_bound_it_is_said_that_there_is_little_room)
{
	WFS_AUTO_KNOWN struct wfs_known *known = NULL;
	uint64_t i = 0;

	assert_int_equal(wfs_known_new(80, &known), 0);
	for (; i < 70; i++)
		add(known, PARENT, INO + i, "a");

	for (; i < 80; i++)
		assert_int_equal(wfs_known_add(known, PARENT, INO + i, "a"), 1);

	assert_int_equal(wfs_known_add(known, PARENT, INO + i, "a"), -ENFILE);
}

TEST(the_bound_is_what_the_user_says)
{
	static const struct {
		const char *text;
		size_t names_max;
	} cases[] = {
		{"64", 64},
		{"4194304", WFS_KNOWN_NAMES_MAX},
		{"63", WFS_KNOWN_NAMES_MAX},
		{"4194305", WFS_KNOWN_NAMES_MAX},
		{"100k", WFS_KNOWN_NAMES_MAX},
		{"-1", WFS_KNOWN_NAMES_MAX},
		{"", WFS_KNOWN_NAMES_MAX},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cases); i++) {
		print_message("'%s'\n", cases[i].text);
		/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads the environment */
		setenv("WORLDFS_CACHED_NAMES", cases[i].text, 1);
		assert_int_equal(wfs_known_limit(), cases[i].names_max);
	}
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread looks at the environment */
	unsetenv("WORLDFS_CACHED_NAMES");
	assert_int_equal(wfs_known_limit(), WFS_KNOWN_NAMES_MAX);
}

KNOWN(without_memory_nothing_is_noted)
{
	add(known, PARENT, INO, "a");

	failing = 0;
	assert_int_equal(wfs_known_add(known, PARENT, INO + 1, "b"), -ENOMEM);
	failing = 0;
	assert_int_equal(wfs_known_add(known, OTHER_PARENT, INO, "a"), -ENOMEM);

	assert_figures(known, 1, 1);
	wfs_known_forget(known, INO, 1);
	assert_figures(known, 0, 0);
}

KNOWN(a_table_that_cannot_grow_goes_on)
{
	for (uint64_t i = 0; i < MANY; i++) {
		failing = 1; /* the second allocation is the table's; the first is the entry's */
		add(known, PARENT, INO + i, "a");
	}
	failing = -1;

	assert_int_equal(count_inodes(known), MANY);
}

KNOWN(a_table_without_memory_is_not_made)
{
	for (int i = 0; i < 2; i++) {
		struct wfs_known *made = NULL;

		print_message("allocation %d\n", i);
		failing = i;
		assert_int_equal(wfs_known_new(1, &made), -ENOMEM);
		assert_null(made);
	}
	wfs_known_free(NULL);
}
