/* SPDX-License-Identifier: Apache-2.0 */
/* What known.json says about a store. */
#include "tests/fixture/world.h"

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

#define PLACED(name) TEST_WITH(name, void *state, setup, teardown)

PLACED(a_store_is_known_by_what_it_was_closed_with)
{
	const struct wfs_store_mark mark = {.txn = 7, .head = {{1, 2, 3}}};
	const struct wfs_store_mark later = {.txn = 8, .head = {{1, 2, 3}}};
	const struct wfs_store_mark other = {.txn = 7, .head = {{1, 2, 4}}};

	assert_false(wfs_trust_has_written(directory, "1", &mark));

	wfs_trust_closed(directory, "1", &mark);

	assert_true(wfs_trust_has_written(directory, "1", &mark));
	assert_false(wfs_trust_has_written(directory, "2", &mark));
	assert_false(wfs_trust_has_written(directory, "1", &later));
	assert_false(wfs_trust_has_written(directory, "1", &other));
}

PLACED(a_store_of_another_user_may_have_been_written_to)
{
	const struct wfs_store_mark mark = {.txn = 7, .head = {{1, 2, 3}}};
	char path[128];

	if (geteuid() != 0)
		skip();
	snprintf(path, sizeof(path), "%s/data.mdb", directory);
	wfs_trust_closed(directory, "1", &mark);

	assert_int_equal(chown(path, 65534, 65534), 0);

	assert_false(wfs_trust_has_written(directory, "1", &mark));
}

PLACED(another_world_forgets_what_was_agreed_to)
{
	const struct wfs_hash host = {{1}};

	assert_int_equal(wfs_trust_give(directory, "1", &host, NULL), 0);

	assert_int_equal(wfs_trust_forget_other(directory, "1", NULL), 0);
	assert_int_equal(wfs_trust_check(directory, &host, NULL), 0);

	assert_int_equal(wfs_trust_forget_other(directory, "2", NULL), 0);
	assert_int_equal(wfs_trust_check(directory, &host, NULL), -EACCES);
}

PLACED(a_key_goes_in_the_clear_only_to_a_port_that_is_named)
{
	char path[128];
	struct wfs_error error = {.code = WFS_OK};

	/* The only thread. NOLINTNEXTLINE(concurrency-mt-unsafe) */
	assert_int_equal(setenv("XDG_CONFIG_HOME", directory, 1), 0);
	snprintf(path, sizeof(path), "%s/worldfs", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	put_file(path, "keys.json", "{\"KEY\": [\"a.example\", \"b.example:8000\"]}");

	assert_int_equal(wfs_trust_key("KEY", "a.example", "443", false, &error), 0);
	assert_int_equal(wfs_trust_key("KEY", "A.example", "8443", false, &error), 0);
	assert_int_equal(wfs_trust_key("KEY", "a.example", "80", true, &error), -EACCES);
	assert_non_null(strstr(error.message, "[\"a.example:80\"]"));
	assert_int_equal(wfs_trust_key("KEY", "b.example", "8000", true, &error), 0);
	assert_int_equal(wfs_trust_key("KEY", "b.example", "8000", false, &error), 0);
	assert_int_equal(wfs_trust_key("KEY", "b.example", "443", false, &error), -EACCES);
	assert_int_equal(wfs_trust_key("OTHER", "a.example", "443", false, &error), -EACCES);
}

TEST(a_name_that_begins_like_an_address_is_not_loopback)
{
	const char *const here[] = {
		"127.0.0.1", "127.9.9.9", "[::1]", "localhost", "LOCALHOST", "a.localhost"};
	const char *const elsewhere[] = {"127.example.org", "127.0.0.1.example.org", "128.0.0.1",
		"localhost.example.org", "notlocalhost", "[::2]", "10.127.0.1"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(here); i++) {
		print_message("%s\n", here[i]);
		assert_true(wfs_trust_is_loopback(here[i]));
	}
	for (size_t i = 0; i < WFS_ARRAY_COUNT(elsewhere); i++) {
		print_message("%s\n", elsewhere[i]);
		assert_false(wfs_trust_is_loopback(elsewhere[i]));
	}
}
