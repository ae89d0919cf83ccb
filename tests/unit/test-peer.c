/* SPDX-License-Identifier: Apache-2.0 */
/* Which principal a user is: the entries of host.json, and errors in them. */
#include "tests/fixture/world.h"

#include "fs/verb/peer.h"

struct placed {
	char directory[64];
};

static int setup(void **state)
{
	struct placed *const placed = calloc(1, sizeof(*placed));

	*state = placed;
	snprintf(placed->directory, sizeof(placed->directory), "/tmp/wfs-peer-XXXXXX");
	return mkdtemp(placed->directory) ? 0 : -1;
}

static int teardown(void **state)
{
	struct placed *const placed = *state;

	wfs_directory_remove(placed->directory);
	free(placed);
	return 0;
}

/* Has the user this principal? NULL: none. */
static bool is(struct wfs_peers *peers, uid_t uid, const char *expected)
{
	char principal[WFS_GRANT_NAME_MAX + 1] = "untouched";
	const bool found = wfs_peers_principal(peers, uid, principal);

	return found ? expected && strcmp(principal, expected) == 0
		     : !expected && strcmp(principal, "untouched") == 0;
}

#define PLACED(name) TEST_WITH(name, struct placed *placed, setup, teardown)

PLACED(users_are_the_principals_that_host_json_names)
{
	struct wfs_peers *peers = NULL;

	put_file(placed->directory, "host.json",
		"{\"uids\":{\"54321\":\"alice\",\"0\":\"bob\"},\"models\":{}}");
	put_file(placed->directory, "data.mdb", "");
	assert_int_equal(trust_host(placed->directory, "1"), 0);

	assert_int_equal(wfs_peers_new(placed->directory, &peers, NULL), 0);
	assert_true(wfs_peers_any(peers));
	assert_true(is(peers, 54321, "alice"));
	assert_true(is(peers, 0, "operator"));
	assert_true(is(peers, geteuid(), "operator"));
	assert_true(is(peers, 54322, NULL));
	wfs_peers_free(peers);
}

PLACED(a_host_json_that_is_not_trusted_names_nobody)
{
	struct wfs_peers *peers = NULL;

	put_file(placed->directory, "host.json", "{\"uids\":{\"54321\":\"alice\"}}");
	put_file(placed->directory, "data.mdb", "");

	assert_int_equal(wfs_peers_new(placed->directory, &peers, NULL), 0);
	assert_false(wfs_peers_any(peers));
	assert_true(is(peers, 54321, NULL));
	wfs_peers_free(peers);
}

PLACED(without_host_json_there_is_the_operator)
{
	struct wfs_peers *peers = NULL;

	assert_int_equal(wfs_peers_new(placed->directory, &peers, NULL), 0);
	assert_false(wfs_peers_any(peers));
	assert_true(is(peers, geteuid(), "operator"));
	assert_true(is(peers, 54321, NULL));
	wfs_peers_free(peers);
}

PLACED(a_host_json_that_is_read_again_replaces_the_users)
{
	struct wfs_peers *peers = NULL;
	struct wfs_error error = {.code = WFS_OK};

	put_file(placed->directory, "host.json", "{\"uids\":{\"54321\":\"alice\"}}");
	put_file(placed->directory, "data.mdb", "");
	assert_int_equal(trust_host(placed->directory, "1"), 0);
	assert_int_equal(wfs_peers_new(placed->directory, &peers, NULL), 0);

	put_file(placed->directory, "host.json", "{");
	assert_int_equal(wfs_peers_reload(peers, placed->directory, &error), -EINVAL);
	assert_true(is(peers, 54321, "alice"));

	put_file(placed->directory, "host.json", "{\"uids\":{\"54322\":\"bob\"}}");
	assert_int_equal(trust_host(placed->directory, "1"), 0);
	assert_int_equal(wfs_peers_reload(peers, placed->directory, NULL), 0);
	assert_true(is(peers, 54321, NULL));
	assert_true(is(peers, 54322, "bob"));
	wfs_peers_free(peers);
}

PLACED(an_id_that_no_principal_can_have_is_refused)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_peers *peers = NULL;

	wfs_buffer_printf(&text, "{\"uids\":{\"7\":\"%0*d\"}}", WFS_GRANT_NAME_MAX + 1, 0);
	put_file(placed->directory, "host.json", wfs_buffer_text(&text));
	put_file(placed->directory, "data.mdb", "");
	assert_int_equal(trust_host(placed->directory, "1"), 0);

	assert_int_equal(wfs_peers_new(placed->directory, &peers, &error), -EINVAL);
	assert_non_null(strstr(error.message, "/uids/7: expected the id"));
}

static const struct {
	const char *text;
	enum wfs_error_code code;
	const char *says;
} refusals[] = {
	{"{", WFS_E_INVALID_JSON, "host.json: "},
	{"{\"uids\":[]}", WFS_E_INVALID_ARGUMENT, "/uids: expected an object"},
	{"{\"uids\":{\"alice\":\"alice\"}}", WFS_E_INVALID_ARGUMENT, "a user's number"},
	{"{\"uids\":{\"007\":\"alice\"}}", WFS_E_INVALID_ARGUMENT, "a user's number"},
	{"{\"uids\":{\"4294967296\":\"alice\"}}", WFS_E_INVALID_ARGUMENT, "a user's number"},
	{"{\"uids\":{\"7\":7}}", WFS_E_INVALID_ARGUMENT, "/uids/7: expected text"},
	{"{\"uids\":{},\"models\":[]}", WFS_E_INVALID_ARGUMENT, "/models: expected an object"},
};

PLACED(what_is_wrong_in_host_json_is_told)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(refusals); i++) {
		struct wfs_error error = {.code = WFS_OK};
		struct wfs_peers *peers = NULL;

		print_message("%s\n", refusals[i].text);
		put_file(placed->directory, "host.json", refusals[i].text);
		put_file(placed->directory, "data.mdb", "");
		(void)trust_host(placed->directory, "1"); /* the file may be unreadable */
		assert_int_equal(wfs_peers_new(placed->directory, &peers, &error), -EINVAL);
		assert_int_equal(error.code, refusals[i].code);
		assert_non_null(strstr(error.message, refusals[i].says));
		assert_null(peers);
	}
}

PLACED(a_large_host_json_is_refused)
{
	WFS_AUTO_FREE char *text = malloc(WFS_HOST_FILE_MAX + 2);
	struct wfs_error error = {.code = WFS_OK};
	struct wfs_peers *peers = NULL;

	assert_non_null(text);
	memset(text, ' ', WFS_HOST_FILE_MAX + 1);
	text[WFS_HOST_FILE_MAX + 1] = '\0';
	put_file(placed->directory, "host.json", text);

	assert_int_equal(wfs_peers_new(placed->directory, &peers, &error), -EFBIG);
	assert_int_equal(error.code, WFS_E_TOO_LARGE);
	wfs_peers_free(NULL);
}
