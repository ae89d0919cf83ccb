/* SPDX-License-Identifier: Apache-2.0 */
/* The table of private texts. */
#include "tests/fixture/store.h"

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

	assert_int_equal(wfs_text_put(txn, &text), 0);

	assert_int_equal(wfs_text_get(txn, 1, &found), 0);
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

	assert_int_equal(wfs_text_put(txn, &first), 0);
	assert_int_equal(wfs_text_put(txn, &second), 0);

	assert_int_equal(wfs_text_find(txn, &second.hash, &found), 0);
	assert_int_equal(found.number, 2);
}

IN_TXN(last_text_has_the_highest_number)
{
	const struct wfs_text first = text_of(1, "first");
	const struct wfs_text second = text_of(2, "second");
	uint64_t last = 7;

	assert_int_equal(wfs_text_last(txn, &last), 0);
	assert_int_equal(last, 0);
	assert_int_equal(wfs_text_put(txn, &first), 0);
	assert_int_equal(wfs_text_put(txn, &second), 0);

	assert_int_equal(wfs_text_last(txn, &last), 0);
	assert_int_equal(last, 2);
}

IN_TXN(text_that_was_never_put_is_not_found)
{
	const struct wfs_hash hash = wfs_hash_of("x", 1);
	struct wfs_text found;

	assert_int_equal(wfs_text_get(txn, 1, &found), -ENOENT);
	assert_int_equal(wfs_text_find(txn, &hash, &found), -ENOENT);
}
