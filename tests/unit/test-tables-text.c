/* SPDX-License-Identifier: Apache-2.0 */
/* The table of private texts. */
#include "tests/fixture/store.h"

/* Every test works in one write transaction, which is dropped at its end. */
struct tables {
	struct store_fixture *store;
	struct wfs_txn *txn;
};

static int setup(void **state)
{
	struct tables *tables = calloc(1, sizeof(*tables));
	int r = store_fixture_setup((void **)&tables->store);

	*state = tables;
	return r || wfs_store_write(tables->store->store, &tables->txn);
}

static int teardown(void **state)
{
	struct tables *tables = *state;
	void *store = tables->store;

	wfs_txn_end(tables->txn);
	free(tables);
	return store_fixture_teardown(&store);
}

#define IN_TXN(name) TEST_WITH(name, struct tables *tables, setup, teardown)

static struct wfs_text text_of(uint64_t number, const char *bytes)
{
	return (struct wfs_text){
		.number = number,
		.seq = number * 10,
		.hash = wfs_hash_of(bytes, strlen(bytes)),
		.to = wfs_bytes_text("alice"),
		.of = wfs_bytes_text("[\"diary\"]"),
		.bytes = wfs_bytes_text(bytes),
	};
}

IN_TXN(text_comes_back_by_its_number)
{
	const struct wfs_text text = text_of(1, "salt and secret");
	struct wfs_text found;

	assert_int_equal(wfs_text_put(tables->txn, &text), 0);

	assert_int_equal(wfs_text_get(tables->txn, 1, &found), 0);
	assert_int_equal(found.seq, 10);
	assert_true(wfs_hash_equal(&found.hash, &text.hash));
	assert_true(wfs_bytes_equal(found.to, text.to));
	assert_true(wfs_bytes_equal(found.of, text.of));
	assert_true(wfs_bytes_equal(found.bytes, text.bytes));
}

IN_TXN(text_comes_back_by_its_hash)
{
	const struct wfs_text first = text_of(1, "first");
	const struct wfs_text second = text_of(2, "second");
	struct wfs_text found;

	assert_int_equal(wfs_text_put(tables->txn, &first), 0);
	assert_int_equal(wfs_text_put(tables->txn, &second), 0);

	assert_int_equal(wfs_text_find(tables->txn, &second.hash, &found), 0);
	assert_int_equal(found.number, 2);
}

IN_TXN(last_text_has_the_highest_number)
{
	const struct wfs_text first = text_of(1, "first");
	const struct wfs_text second = text_of(2, "second");
	uint64_t last = 7;

	assert_int_equal(wfs_text_last(tables->txn, &last), 0);
	assert_int_equal(last, 0);
	assert_int_equal(wfs_text_put(tables->txn, &first), 0);
	assert_int_equal(wfs_text_put(tables->txn, &second), 0);

	assert_int_equal(wfs_text_last(tables->txn, &last), 0);
	assert_int_equal(last, 2);
}

IN_TXN(text_that_was_never_put_is_not_found)
{
	const struct wfs_hash hash = wfs_hash_of("x", 1);
	struct wfs_text found;

	assert_int_equal(wfs_text_get(tables->txn, 1, &found), -ENOENT);
	assert_int_equal(wfs_text_find(tables->txn, &hash, &found), -ENOENT);
}
