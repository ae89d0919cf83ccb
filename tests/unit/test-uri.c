/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of paths, and paths from addresses. */
#include "tests/fixture/json.h"

#include "fs/mcp/uri.h"
#include "kernel/base/encode.h"

static void assert_address(const char *path, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer uri = {0};

	wfs_uri_append(&uri, path);
	assert_string_equal(wfs_buffer_text(&uri), expected);
}

static void assert_path(const char *uri, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};

	assert_int_equal(wfs_uri_path(uri, &path), 0);
	assert_string_equal(wfs_buffer_text(&path), expected);
}

static void assert_no_address(const char *uri)
{
	WFS_AUTO_BUFFER struct wfs_buffer path = {0};

	assert_int_equal(wfs_uri_path(uri, &path), -EINVAL);
	assert_int_equal(path.size, 0);
}

TEST(a_path_is_encoded_where_a_uri_wants_that)
{
	assert_address("README", "worldfs:///README");
	assert_address("/", "worldfs:///");
	assert_address("reducers/a b/é\"", "worldfs:///reducers/a%20b/%C3%A9%22");
}

TEST(what_a_name_encodes_itself_stays)
{
	assert_address("reducers/x/key 1%2Fa", "worldfs:///reducers/x/key%201%2Fa");
	assert_path("worldfs:///reducers/x/key%201%2Fa", "reducers/x/key 1%2Fa");
	assert_path("worldfs:///x/100%25%0a%ff", "x/100%25%0A%FF");
	assert_path("worldfs:///x/%2e/%2E./%5f", "x/%2E/%2E./%5F");
}

TEST(everything_else_is_decoded)
{
	assert_path("worldfs:///", "");
	assert_path("worldfs:///%41%42", "AB");
	assert_path("worldfs:///a%5Fb%2Ec/%C3%A9", "a_b.c/é");
	assert_path("worldfs:///a?b#c", "a?b#c");
}

TEST(something_else_is_no_address)
{
	assert_no_address("");
	assert_no_address("README");
	assert_no_address("file:///README");
	assert_no_address("worldfs://host/README");
	assert_no_address("worldfs:///a%");
	assert_no_address("worldfs:///a%2");
	assert_no_address("worldfs:///a%zz");
}

/* Every key, as the tree names it, can be read back. */
TEST(names_of_keys_come_back)
{
	static const char *const keys[] = {"plain", "a/b", "%", "100%25", ".", "..", ".a", "_", "",
		"__", "\x01\x7f", "\xc3\xa9", "\xff\xc3", "a b?#[]", "caf\xc3"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(keys); i++) {
		WFS_AUTO_BUFFER struct wfs_buffer name = {0};
		WFS_AUTO_BUFFER struct wfs_buffer uri = {0};

		wfs_name_append(&name, keys[i], strlen(keys[i]));
		print_message("%s\n", wfs_buffer_text(&name));
		wfs_uri_append(&uri, wfs_buffer_text(&name));
		assert_path(wfs_buffer_text(&uri), wfs_buffer_text(&name));
	}
}
