/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that read the tree without a mount. */
#include "tests/fixture/verb.h"

IN_WORLD(fs_list_gives_names_types_and_sizes)
{
	AUTO_ASKED struct asked asked;
	const json_t *entry;

	tell(fixture, "{'key':'a/b','op':'set','n':5}");
	ask_verb(fixture, "fs-list", "{'path':'reducers/cell'}", &asked);

	assert_int_equal(json_array_size(result_of(&asked, "entries")), 1);
	entry = json_array_get(result_of(&asked, "entries"), 0);
	assert_string_equal(json_string_value(json_object_get(entry, "name")), "a%2Fb");
	assert_string_equal(json_string_value(json_object_get(entry, "type")), "file");
	assert_int_equal(json_integer_value(json_object_get(entry, "size")), 8);
	assert_meta(&asked, height_of(fixture));
}

IN_WORLD(fs_list_goes_on_behind_its_cursor)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked second;
	char payload[100];

	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");
	ask_verb(fixture, "fs-list", "{'path':'/reducers/cell/','limit':1}", &first);
	snprintf(payload, sizeof(payload), "{'path':'reducers/cell','limit':1,'cursor':'%s'}",
		text_of(&first, "next_cursor"));
	ask_verb(fixture, "fs-list", payload, &second);

	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(result_of(&second, "entries"), 0), "name")),
		"b");
	assert_null(result_of(&second, "next_cursor"));
}

IN_WORLD(fs_list_ends_a_page_when_many_names_were_out_of_sight)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked second;
	char text[100];

	make_alice(fixture, "'cap':'sys/query@1','params':{'scope':['reducers/cell/a']}");
	for (int i = 0; i * 1000 < WFS_VERB_SCAN_MAX; i++) {
		snprintf(text, sizeof(text), "{'key':'b%d','op':'emit','n':1000}", i);
		tell(fixture, text);
	}
	tell(fixture, "{'key':'a','op':'set'}");
	ask_as(fixture, "alice", "fs-list", "{'path':'reducers/cell'}", &first);
	snprintf(text, sizeof(text), "{'path':'reducers/cell','cursor':'%s'}",
		text_of(&first, "next_cursor"));
	ask_as(fixture, "alice", "fs-list", text, &second);

	assert_int_equal(json_array_size(result_of(&first, "entries")), 0);
	assert_int_equal(json_array_size(result_of(&second, "entries")), 1);
	assert_null(result_of(&second, "next_cursor"));
}

IN_WORLD(fs_list_of_an_older_height_shows_the_names_of_then)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked below_at;
	char payload[100];
	const int height = (int)height_of(fixture);

	tell(fixture, "{'key':'a','op':'set'}");
	snprintf(payload, sizeof(payload), "{'path':'reducers/cell','at':'exact:%d'}", height);
	ask_verb(fixture, "fs-list", payload, &asked);
	snprintf(payload, sizeof(payload), "{'path':'at/%d/reducers/cell'}", height);
	ask_verb(fixture, "fs-list", payload, &below_at);

	assert_int_equal(json_array_size(result_of(&asked, "entries")), 0);
	assert_int_equal(json_array_size(result_of(&below_at, "entries")), 0);
}

static void assert_meta_of(
	struct world_fixture *fixture, const char *verb, int at, const char *rest)
{
	AUTO_ASKED struct asked asked;
	char payload[100];

	print_message("%s at/%d/%s\n", verb, at, rest);
	snprintf(payload, sizeof(payload), "{'path':'/at/%d/%s'}", at, rest);
	ask_verb(fixture, verb, payload, &asked);
	assert_int_equal(
		json_integer_value(json_object_get(asked.call.meta, "journal_height")), at);
}

IN_WORLD(fs_verbs_tell_the_height_that_a_path_below_at_names)
{
	AUTO_ASKED struct asked head;
	const int height = (int)height_of(fixture);

	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");

	assert_meta_of(fixture, "fs-list", height + 1, "reducers/cell");
	assert_meta_of(fixture, "fs-stat", height + 1, "");
	assert_meta_of(fixture, "fs-stat", height + 1, "reducers/cell/a");
	assert_meta_of(fixture, "fs-read", height + 1, "reducers/cell/a");
	assert_meta_of(fixture, "fs-read", 1, "manifest");
	/* Also for paths that do not exist. */
	assert_meta_of(fixture, "fs-read", height, "reducers/cell/a");
	assert_meta_of(fixture, "fs-list", height, "manifest");
	ask_verb(fixture, "fs-read", "{'path':'at/head/reducers/cell/b'}", &head);
	assert_meta(&head, height_of(fixture));
}

IN_WORLD(fs_stat_gives_attributes_and_xattrs)
{
	AUTO_ASKED struct asked asked;
	const json_t *xattrs;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	ask_verb(fixture, "fs-stat", "{'path':'reducers/cell/a'}", &asked);

	assert_int_equal(integer_of(&asked, "mode"), 0444);
	assert_int_equal(integer_of(&asked, "size"), 8);
	assert_string_equal(text_of(&asked, "type"), "file");
	xattrs = result_of(&asked, "xattrs");
	assert_string_equal(
		json_string_value(json_object_get(xattrs, "user.worldfs.reducer")), "cell");
	assert_string_equal(
		json_string_value(json_object_get(xattrs, "user.worldfs.key_b64")), "YQ==");
}

IN_WORLD(fs_read_gives_parts_and_says_when_the_end_is_reached)
{
	AUTO_ASKED struct asked part;
	AUTO_ASKED struct asked rest;
	AUTO_ASKED struct asked behind;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	ask_verb(fixture, "fs-read", "{'path':'reducers/cell/a','limit':3}", &part);
	ask_verb(fixture, "fs-read", "{'path':'reducers/cell/a','offset':3}", &rest);
	ask_verb(fixture, "fs-read", "{'path':'reducers/cell/a','offset':99}", &behind);

	assert_bytes(&part, "data_b64", "{\"n");
	assert_true(json_is_false(result_of(&part, "eof")));
	assert_bytes(&rest, "data_b64", "\":5}\n");
	assert_true(json_is_true(result_of(&rest, "eof")));
	assert_bytes(&behind, "data_b64", "");
	assert_true(json_is_true(result_of(&behind, "eof")));
	assert_int_equal(integer_of(&behind, "size"), 8);
}

IN_WORLD(fs_read_gives_a_large_blob_from_its_file)
{
	const size_t size = (size_t)3 * WFS_BLOB_FILE_MIN;
	WFS_AUTO_FREE char *bytes = malloc(size);
	AUTO_ASKED struct asked asked;
	char hex[WFS_HASH_HEX_SIZE + 1];
	char payload[160];
	struct wfs_hash hash;

	memset(bytes, 'x', size);
	assert_int_equal(put_blob(fixture, bytes, size, &hash), 0);
	wfs_hash_hex(&hash, hex);
	snprintf(payload, sizeof(payload), "{'path':'blob/%s','offset':%d}", hex, (int)size - 4);
	ask_verb(fixture, "fs-read", payload, &asked);

	assert_bytes(&asked, "data_b64", "xxxx");
	assert_true(json_is_true(result_of(&asked, "eof")));
}

IN_WORLD(fs_verbs_refuse_paths_that_are_not_there_or_of_another_type)
{
	assert_verb_refused(fixture, "fs-list", "{'path':'nope'}", WFS_E_NOT_FOUND, "nope");
	assert_verb_refused(fixture, "fs-stat", "{'path':'reducers/cell/a'}", WFS_E_NOT_FOUND,
		"reducers/cell/a");
	assert_verb_refused(
		fixture, "fs-read", "{'path':'reducers'}", WFS_E_INVALID_ARGUMENT, "directory");
	assert_verb_refused(fixture, "fs-list", "{'path':'manifest'}", WFS_E_INVALID_ARGUMENT,
		"not a directory");
	assert_verb_refused(
		fixture, "fs-read", "{'path':'at/head'}", WFS_E_INVALID_ARGUMENT, "directory");
	assert_verb_refused(fixture, "fs-read", "{'path':'manifest','at':'exact:99'}",
		WFS_E_HEIGHT_UNAVAILABLE, "99");
}

IN_WORLD(fs_verbs_refuse_limits_out_of_bounds)
{
	assert_verb_refused(
		fixture, "fs-list", "{'path':'/','limit':1001}", WFS_E_INVALID_ARGUMENT, "1000");
	assert_verb_refused(fixture, "fs-read", "{'path':'manifest','limit':1048577}",
		WFS_E_INVALID_ARGUMENT, "1048576");
	assert_verb_refused(fixture, "fs-read", "{'path':'manifest','offset':-1}",
		WFS_E_INVALID_ARGUMENT, "offset");
}

static void assert_says(struct world_fixture *fixture, const char *verb, const char *path,
	enum wfs_error_code code, const char *says)
{
	AUTO_ASKED struct asked asked;
	char payload[100];

	snprintf(payload, sizeof(payload), "{'path':'%s'}", path);
	ask_as(fixture, "alice", verb, payload, &asked);
	assert_string_equal(
		wfs_error_info(asked.call.error.code)->name, wfs_error_info(code)->name);
	if (!strstr(asked.call.error.message, says))
		fail_msg("'%s' does not say '%s'", asked.call.error.message, says);
}

IN_WORLD(a_refusal_says_why)
{
	/* Later than the clock of the world's fixture, but long ago by the host's clock. */
	make_alice(fixture, "'cap':'sys/query@1','expires_at_ns':1700000001000000000");

	assert_says(fixture, "fs-stat", "manifest", WFS_E_EXPIRED, "'alice.query.1'");
	assert_says(fixture, "fs-list", "reducers", WFS_E_EXPIRED, "2023-11-14T22:13:21Z");
	assert_says(fixture, "fs-read", "at/1/README", WFS_E_EXPIRED, "'alice.query.1'");
	assert_says(fixture, "fs-stat", "blob", WFS_E_NOT_AUTHORIZED, "blob.get");
	assert_says(fixture, "fs-stat", "nowhere", WFS_E_NOT_FOUND, "'nowhere'");
}
