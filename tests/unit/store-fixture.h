/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private temporary directory with a store in it, for the tests of kernel/store.
 *
 * The test's own file has included cmocka. Group setup functions take no part: every test gets a
 * directory of its own.
 */
#pragma once

#include "tests/fixture/test.h"

#include "kernel/base/directory.h"
#include "kernel/store/blob.h"
#include "kernel/store/store.h"
#include "kernel/store/tables.h"

struct store_fixture {
	char directory[64];
	struct wfs_store *store;
	struct wfs_error error;
};

static inline int store_fixture_open(
	struct store_fixture *fixture, const struct wfs_store_options *options)
{
	wfs_store_close(fixture->store);
	fixture->store = NULL;
	fixture->error = (struct wfs_error){0};
	return wfs_store_open(fixture->directory, options, &fixture->store, &fixture->error);
}

/* A directory without a store. */
static inline int store_fixture_directory(void **state)
{
	struct store_fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->directory, sizeof(fixture->directory), "/tmp/wfs-store-XXXXXX");
	*state = fixture;
	return mkdtemp(fixture->directory) ? 0 : -1;
}

/* A directory with an empty store, open. */
static inline int store_fixture_setup(void **state)
{
	const struct wfs_store_options options = {.create = true};

	return store_fixture_directory(state) || store_fixture_open(*state, &options);
}

static inline int store_fixture_teardown(void **state)
{
	struct store_fixture *fixture = *state;

	wfs_store_close(fixture->store);
	wfs_directory_remove(fixture->directory);
	free(fixture);
	return 0;
}

static inline struct wfs_txn *store_fixture_write(struct store_fixture *fixture)
{
	struct wfs_txn *txn;

	assert_int_equal(wfs_store_write(fixture->store, &txn), 0);
	return txn;
}

static inline struct wfs_txn *store_fixture_read(struct store_fixture *fixture)
{
	struct wfs_txn *txn;

	assert_int_equal(wfs_store_read(fixture->store, &txn), 0);
	return txn;
}

static inline void assert_bytes_text(struct wfs_bytes bytes, const char *text)
{
	assert_int_equal(bytes.size, strlen(text));
	assert_memory_equal(bytes.data, text, bytes.size);
}

#define IN_STORE(name) \
	TEST_WITH(name, struct store_fixture *fixture, store_fixture_setup, store_fixture_teardown)
#define IN_DIRECTORY(name)                                                      \
	TEST_WITH(name, struct store_fixture *fixture, store_fixture_directory, \
		store_fixture_teardown)
