/* SPDX-License-Identifier: Apache-2.0 */
/* What known.json says of a store. */
#include "tests/unit/world-fixture.h"

#include "kernel/base/trust.h"

static char directory[64];

static int setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/wfs-trust-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	put_file(directory, "data.mdb", "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	wfs_directory_remove(directory);
	return 0;
}

static void a_store_is_known_by_what_it_was_closed_with(void **state)
{
	const struct wfs_store_mark mark = {.txn = 7, .head = {{1, 2, 3}}};
	const struct wfs_store_mark later = {.txn = 8, .head = {{1, 2, 3}}};
	const struct wfs_store_mark other = {.txn = 7, .head = {{1, 2, 4}}};

	(void)state;
	assert_false(wfs_trust_has_written(directory, "1", &mark));

	wfs_trust_closed(directory, "1", &mark);

	assert_true(wfs_trust_has_written(directory, "1", &mark));
	assert_false(wfs_trust_has_written(directory, "2", &mark));
	assert_false(wfs_trust_has_written(directory, "1", &later));
	assert_false(wfs_trust_has_written(directory, "1", &other));
}

static void a_store_of_another_user_may_have_been_written_to(void **state)
{
	const struct wfs_store_mark mark = {.txn = 7, .head = {{1, 2, 3}}};
	char path[128];

	(void)state;
	if (geteuid() != 0)
		skip();
	snprintf(path, sizeof(path), "%s/data.mdb", directory);
	wfs_trust_closed(directory, "1", &mark);

	assert_int_equal(chown(path, 65534, 65534), 0);

	assert_false(wfs_trust_has_written(directory, "1", &mark));
}

static void another_world_forgets_what_was_agreed_to(void **state)
{
	const struct wfs_hash host = {{1}};

	(void)state;
	assert_int_equal(wfs_trust_give(directory, "1", &host, NULL), 0);

	assert_int_equal(wfs_trust_forget_other(directory, "1", NULL), 0);
	assert_int_equal(wfs_trust_check(directory, &host, NULL), 0);

	assert_int_equal(wfs_trust_forget_other(directory, "2", NULL), 0);
	assert_int_equal(wfs_trust_check(directory, &host, NULL), -EACCES);
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLACED(a_store_is_known_by_what_it_was_closed_with),
		PLACED(a_store_of_another_user_may_have_been_written_to),
		PLACED(another_world_forgets_what_was_agreed_to),
	};

	return cmocka_run_group_tests_name("trust", tests, NULL, NULL);
}
