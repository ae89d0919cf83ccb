/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a directory is listed ahead, and how much of it. The test mounts nothing: the child lists a
 * plain directory, and while the test waits for the child, it makes the calls that FUSE would make
 * for it.
 */
#include "tests/fixture/test.h"

#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>

#include "fs/data/listahead.h"

enum {
	LOOKUPS = 16, /* look-ups that begin a window */
	FIRST = 256,  /* entries of the first window */
	SECOND = 1024,
	SCANS = 8, /* directories followed at a time */
	CHILDREN_MAX = 8,
	A = 1000, /* numbers of directories */
	B = 2000,
};

/* One child, as FUSE sees it. */
struct child {
	uint64_t directory;
	bool asks; /* FUSE knows the child by its pid */
	bool stranger_asks;
	bool plain;         /* the first entry came without attributes */
	unsigned int taken; /* entries */
	unsigned int plain_taken;
	uint64_t tripwire; /* the last entry that came without attributes */
};

struct fixture {
	struct wfs_tree tree;
	struct wfs_listahead *listahead;
	sem_t listed; /* posted when a child has ended or could not be started */
	/* The thread of listahead writes these before it posts. */
	struct child children[CHILDREN_MAX];
	size_t count;
	/* The test sets these before it looks anything up. */
	unsigned int entries; /* in every directory, from offset 1 */
	uint64_t damaged;     /* a directory whose path cannot be found */
	uint64_t now;         /* directory whose path was asked for */
};

static struct fixture *fixture; /* for the wrapped functions */
static const struct wfs_numbers numbers;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __wrap_wfs_tree_path(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *path);
int __wrap_wfs_teller_listing(struct wfs_teller *teller, uint64_t directory);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
/* NOLINTEND(readability-identifier-naming) */

int __wrap_wfs_tree_path(const struct wfs_tree *tree, uint64_t ino, struct wfs_buffer *path)
{
	(void)tree;
	fixture->now = ino;
	if (ino == fixture->damaged) {
		sem_post(&fixture->listed);
		return -EIO;
	}
	wfs_buffer_append_text(path, ".");
	return 0;
}

int __wrap_wfs_teller_listing(struct wfs_teller *teller, uint64_t directory)
{
	(void)teller, (void)directory;
	return 0;
}

/* Gives a directory's child the entries that follow the last one it got. */
static void list(struct child *child)
{
	uint64_t next = 1;
	bool plain = false;

	for (size_t i = 0; i < fixture->count; i++)
		if (fixture->children[i].directory == child->directory)
			next += fixture->children[i].taken;
	while (next <= fixture->entries && wfs_listahead_take(fixture->listahead, next, &plain)) {
		child->plain |= child->taken == 0 && plain;
		child->taken++;
		child->plain_taken += plain;
		if (plain)
			child->tripwire = next;
		next++;
	}
	if (next > fixture->entries)
		wfs_listahead_end(fixture->listahead);
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct child child = {
		.directory = fixture->now,
		.asks = wfs_listahead_asks(fixture->listahead, (pid_t)id),
		.stranger_asks = wfs_listahead_asks(fixture->listahead, getpid()),
	};

	list(&child);
	int r = __real_waitid(type, id, info, options);
	if (fixture->count < CHILDREN_MAX)
		fixture->children[fixture->count++] = child;
	sem_post(&fixture->listed);
	return r;
}

static int setup(void **state)
{
	fixture = calloc(1, sizeof(*fixture));
	*state = fixture;
	if (!fixture)
		return -1;
	fixture->entries = 100000;
	sem_init(&fixture->listed, 0, 0);
	return wfs_listahead_new(&fixture->tree, &numbers, NULL, "/tmp", &fixture->listahead);
}

static int teardown(void **state)
{
	(void)state;
	wfs_listahead_stop(fixture->listahead);
	wfs_listahead_free(fixture->listahead);
	sem_destroy(&fixture->listed);
	free(fixture);
	return 0;
}

#define LISTS_AHEAD(name) TEST_WITH(name, void *state, setup, teardown)

static void look_up(uint64_t directory, unsigned int count)
{
	for (unsigned int i = 1; i <= count; i++)
		wfs_listahead_looked_up(fixture->listahead, directory, i);
}

/* Returns after `listed` was posted @count more times, and the results are noted. */
static void wait_for(unsigned int count)
{
	while (count > 0)
		count -= sem_wait(&fixture->listed) == 0;
	wfs_listahead_pause(fixture->listahead);
	wfs_listahead_resume(fixture->listahead);
}

/* Lists another directory ahead: after that, an earlier listing has been done or will never be. */
static void list_another(void)
{
	wfs_listahead_listed(fixture->listahead, B);
	look_up(B, LOOKUPS);
	wait_for(1);
}

LISTS_AHEAD(few_look_ups_begin_nothing)
{
	wfs_listahead_listed(fixture->listahead, A);

	look_up(A, LOOKUPS - 1);
	list_another();

	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->children[0].directory, B);
}

LISTS_AHEAD(look_ups_in_a_directory_that_was_not_listed_begin_nothing)
{
	look_up(A, 10 * LOOKUPS);
	list_another();

	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->children[0].directory, B);
}

LISTS_AHEAD(enough_look_ups_have_a_window_listed_by_a_child)
{
	const struct child *child = &fixture->children[0];

	wfs_listahead_listed(fixture->listahead, A);

	look_up(A, LOOKUPS);
	wait_for(1);

	assert_int_equal(fixture->count, 1);
	assert_int_equal(child->directory, A);
	assert_true(child->asks);
	assert_false(child->stranger_asks);
	assert_int_equal(child->taken, FIRST);
}

LISTS_AHEAD(the_entry_in_the_middle_comes_without_attributes)
{
	const struct child *child = &fixture->children[0];

	wfs_listahead_listed(fixture->listahead, A);

	look_up(A, LOOKUPS);
	wait_for(1);

	assert_int_equal(child->plain_taken, 1);
	assert_int_equal(child->tripwire, FIRST / 2);
}

LISTS_AHEAD(looking_that_entry_up_has_a_larger_window_listed)
{
	wfs_listahead_listed(fixture->listahead, A);
	look_up(A, LOOKUPS);
	wait_for(1);

	wfs_listahead_looked_up(fixture->listahead, A, fixture->children[0].tripwire);
	wait_for(1);

	assert_int_equal(fixture->count, 2);
	assert_int_equal(fixture->children[1].taken, SECOND);
	assert_int_equal(fixture->children[1].tripwire, FIRST + SECOND / 2);
}

LISTS_AHEAD(at_the_end_the_directory_is_listed_plainly_and_that_is_all)
{
	fixture->entries = FIRST / 2;
	wfs_listahead_listed(fixture->listahead, A);

	look_up(A, LOOKUPS);
	wait_for(2);
	look_up(A, 10 * LOOKUPS);
	fixture->entries = 100000;
	list_another();

	assert_int_equal(fixture->count, 3);
	assert_int_equal(fixture->children[0].taken, FIRST / 2);
	assert_false(fixture->children[0].plain);
	assert_true(fixture->children[1].asks);
	assert_int_equal(fixture->children[2].directory, B);
}

LISTS_AHEAD(listing_a_directory_anew_begins_anew)
{
	fixture->entries = FIRST / 2;
	wfs_listahead_listed(fixture->listahead, A);
	look_up(A, LOOKUPS);
	wait_for(2);

	wfs_listahead_listed(fixture->listahead, A);
	look_up(A, LOOKUPS);
	wait_for(2);

	assert_int_equal(fixture->count, 4);
}

LISTS_AHEAD(a_directory_that_cannot_be_listed_is_not_tried_again)
{
	fixture->damaged = A;
	wfs_listahead_listed(fixture->listahead, A);

	look_up(A, LOOKUPS);
	wait_for(1);
	fixture->damaged = 0;
	look_up(A, 10 * LOOKUPS);
	list_another();

	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->children[0].directory, B);
}

LISTS_AHEAD(while_it_is_paused_nothing_is_begun)
{
	wfs_listahead_listed(fixture->listahead, A);

	wfs_listahead_pause(fixture->listahead);
	look_up(A, 10 * LOOKUPS);
	wfs_listahead_resume(fixture->listahead);
	list_another();

	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->children[0].directory, B);
}

LISTS_AHEAD(only_so_many_directories_are_followed)
{
	wfs_listahead_listed(fixture->listahead, A);
	for (uint64_t i = 1; i <= SCANS; i++)
		wfs_listahead_listed(fixture->listahead, A + i);

	look_up(A, LOOKUPS);
	look_up(A + 1, LOOKUPS);
	wait_for(1);

	assert_int_equal(fixture->count, 1);
	assert_int_equal(fixture->children[0].directory, A + 1);
}

LISTS_AHEAD(nobody_asks_for_a_child_that_is_not_there)
{
	bool plain = true;

	assert_false(wfs_listahead_asks(fixture->listahead, 0));
	assert_false(wfs_listahead_asks(fixture->listahead, getpid()));
	assert_false(wfs_listahead_take(fixture->listahead, 1, &plain));
	assert_false(plain);
}
