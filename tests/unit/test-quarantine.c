/* SPDX-License-Identifier: Apache-2.0 */
/* Code that ended its process: how crashes are counted, stored and forgiven, how such code is
 * refused, and how many codes are known at once. */
#include "kernel/world/crashes.h"
#include "tests/fixture/store.h"

static struct wfs_hash code_of(uint32_t number)
{
	return wfs_hash_of(&number, sizeof(number));
}

static struct wfs_quarantine *quarantine_new(void)
{
	struct wfs_quarantine *quarantine = NULL;

	assert_int_equal(wfs_quarantine_new(&quarantine), 0);
	return quarantine;
}

static size_t rows_of(struct wfs_quarantine *quarantine)
{
	struct wfs_quarantine_row *rows;
	size_t count;

	assert_int_equal(wfs_quarantine_rows(quarantine, &rows, &count), 0);
	free(rows);
	return count;
}

IN_STORE(code_is_refused_after_three_crashes_until_it_is_lifted)
{
	struct wfs_quarantine *const quarantine = quarantine_new();
	const struct wfs_hash code = code_of(1);
	const struct wfs_hash other = code_of(2);

	assert_int_equal(wfs_quarantine_crashed(quarantine, &code, "a"), 1);
	assert_int_equal(wfs_quarantine_crashed(quarantine, &code, "a"), 2);
	assert_false(wfs_quarantine_refuses(quarantine, &code));
	assert_int_equal(wfs_quarantine_generation(quarantine), 0);
	assert_int_equal(wfs_quarantine_crashed(quarantine, &code, "b"), 3);
	assert_true(wfs_quarantine_refuses(quarantine, &code));
	assert_false(wfs_quarantine_refuses(quarantine, &other));
	assert_int_equal(wfs_quarantine_generation(quarantine), 1);

	assert_true(wfs_quarantine_lift(quarantine, &code));
	assert_false(wfs_quarantine_refuses(quarantine, &code));
	assert_int_equal(rows_of(quarantine), 0);
	assert_int_equal(wfs_quarantine_crashed(quarantine, &code, "a"), 1);
	wfs_quarantine_free(quarantine);
}

IN_STORE(the_store_has_what_was_counted)
{
	struct wfs_quarantine *const first = quarantine_new();
	struct wfs_quarantine *const second = quarantine_new();
	struct wfs_quarantine *const third = quarantine_new();
	const struct wfs_hash code = code_of(1);
	const struct wfs_hash other = code_of(2);
	struct wfs_txn *txn;
	bool changed = false;

	for (int i = 0; i < WFS_QUARANTINE_CRASHES; i++)
		(void)wfs_quarantine_crashed(first, &code, "a");
	(void)wfs_quarantine_crashed(first, &other, "b");
	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	assert_int_equal(wfs_crashes_keep(txn, first, &changed), 0);
	assert_true(changed);
	changed = false;
	assert_int_equal(wfs_crashes_keep(txn, first, &changed), 0);
	assert_false(changed);

	assert_int_equal(wfs_crashes_load(txn, second), 0);
	assert_true(wfs_quarantine_refuses(second, &code));
	assert_int_equal(rows_of(second), 2);

	assert_true(wfs_quarantine_lift(second, &code));
	assert_int_equal(wfs_crashes_keep(txn, second, &changed), 0);
	wfs_quarantine_settle(second, true);
	assert_false(wfs_quarantine_lift(second, &code));
	assert_int_equal(wfs_crashes_load(txn, third), 0);
	assert_int_equal(rows_of(third), 1);
	wfs_txn_end(txn);
	wfs_quarantine_free(first);
	wfs_quarantine_free(second);
	wfs_quarantine_free(third);
}

static void keep_all(struct store_fixture *fixture, struct wfs_quarantine *quarantine)
{
	struct wfs_txn *txn;
	bool changed = false;

	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	assert_int_equal(wfs_crashes_keep(txn, quarantine, &changed), 0);
	assert_int_equal(wfs_txn_commit(txn), 0);
	wfs_quarantine_settle(quarantine, true);
}

/* Fills @quarantine with codes that crashed once. Return: the code that it will forget first. */
static struct wfs_hash fill(struct wfs_quarantine *quarantine)
{
	struct wfs_hash least = code_of(1);

	for (uint32_t i = 1; i <= WFS_QUARANTINE_ROWS_MAX; i++) {
		const struct wfs_hash code = code_of(i);

		assert_int_equal(wfs_quarantine_crashed(quarantine, &code, "once"), 1);
		if (memcmp(code.bytes, least.bytes, WFS_HASH_SIZE) < 0)
			least = code;
	}
	return least;
}

IN_STORE(a_code_that_crashes_right_after_it_was_forgotten_makes_no_row_too_many)
{
	struct wfs_quarantine *const quarantine = quarantine_new();
	struct wfs_quarantine *const again = quarantine_new();
	const struct wfs_hash least = fill(quarantine); /* the code that it forgot */
	const struct wfs_hash other = code_of(0);
	struct wfs_txn *txn;

	keep_all(fixture, quarantine);
	assert_int_equal(wfs_quarantine_crashed(quarantine, &other, "other"), 1);
	assert_int_equal(wfs_quarantine_crashed(quarantine, &least, "least"), 1);
	keep_all(fixture, quarantine);

	assert_int_equal(wfs_store_read(fixture->store, &txn), 0);
	assert_int_equal(wfs_crashes_load(txn, again), 0);
	wfs_txn_end(txn);
	wfs_quarantine_free(quarantine);
	wfs_quarantine_free(again);
}

IN_STORE(what_a_transaction_did_not_store_is_stored_by_the_next_one)
{
	struct wfs_quarantine *const quarantine = quarantine_new();
	const struct wfs_hash code = code_of(1);
	struct wfs_txn *txn;
	bool changed = false;

	(void)wfs_quarantine_crashed(quarantine, &code, "a");
	keep_all(fixture, quarantine);
	assert_true(wfs_quarantine_lift(quarantine, &code));
	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	assert_int_equal(wfs_crashes_keep(txn, quarantine, &changed), 0);
	wfs_txn_end(txn);
	wfs_quarantine_settle(quarantine, false);

	/* The request that lifted the quarantine is sent again. */
	changed = false;
	assert_true(wfs_quarantine_lift(quarantine, &code));
	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	assert_int_equal(wfs_crashes_keep(txn, quarantine, &changed), 0);
	assert_true(changed);
	wfs_txn_end(txn);
	wfs_quarantine_free(quarantine);
}

IN_STORE(of_too_many_codes_those_are_forgotten_that_crashed_least)
{
	struct wfs_quarantine *const quarantine = quarantine_new();
	const struct wfs_hash twice = code_of(0);

	(void)wfs_quarantine_crashed(quarantine, &twice, "twice");
	(void)wfs_quarantine_crashed(quarantine, &twice, "twice");
	for (uint32_t i = 1; i < WFS_QUARANTINE_ROWS_MAX + 100; i++) {
		const struct wfs_hash code = code_of(i);

		assert_int_equal(wfs_quarantine_crashed(quarantine, &code, "once"), 1);
		if (i % 64 == 0)
			keep_all(fixture, quarantine);
	}
	assert_in_range(rows_of(quarantine), 1, WFS_QUARANTINE_ROWS_MAX);
	assert_int_equal(wfs_quarantine_crashed(quarantine, &twice, "twice"), 3);
	wfs_quarantine_free(quarantine);
}

IN_STORE(when_all_are_refused_another_one_is_not_noted)
{
	struct wfs_quarantine *const quarantine = quarantine_new();
	const struct wfs_hash late = code_of(WFS_QUARANTINE_ROWS_MAX);

	for (uint32_t i = 0; i < WFS_QUARANTINE_ROWS_MAX; i++) {
		const struct wfs_hash code = code_of(i);

		for (int n = 0; n < WFS_QUARANTINE_CRASHES; n++)
			(void)wfs_quarantine_crashed(quarantine, &code, "thrice");
	}
	assert_int_equal(wfs_quarantine_crashed(quarantine, &late, "late"), 0);
	wfs_quarantine_free(quarantine);
}

IN_STORE(a_damaged_row_is_an_error)
{
	struct wfs_quarantine *const quarantine = quarantine_new();
	char name[WFS_QUARANTINE_NAME_MAX + 1];
	struct wfs_txn *txn;

	memset(name, 'x', sizeof(name));
	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	assert_int_equal(wfs_code_crash_put(txn,
				 &(struct wfs_code_crash){.code = code_of(1),
					 .crashes = 1,
					 .name = WFS_BYTES(name, sizeof(name))}),
		0);
	assert_int_equal(wfs_crashes_load(txn, quarantine), -EIO);
	wfs_txn_end(txn);
	wfs_quarantine_free(quarantine);
}
