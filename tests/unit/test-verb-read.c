/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that read state, journal and blobs: each with a valid call, and with errors in its
 * payload. */
#include "tests/fixture/builtin.h"
#include "tests/fixture/tamper.h"
#include "tests/fixture/verb.h"

#include <fcntl.h>
#include <sys/mman.h>

/* --- reading --- */

IN_WORLD(manifest_read_gives_document_and_meta_twice)
{
	AUTO_ASKED struct asked asked;

	ask_verb(fixture, "manifest-read", "{'consistency':' HEAD '}", &asked);

	assert_string_equal(
		json_string_value(json_object_get(result_of(&asked, "manifest"), "name")),
		"fixture");
	assert_int_equal(integer_of(&asked, "journal_height"), height_of(fixture));
	assert_meta(&asked, height_of(fixture));
}

IN_WORLD(query_state_gives_the_exact_bytes)
{
	AUTO_ASKED struct asked asked;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	ask_verb(fixture, "query-state", "{'reducer':'cell','key_b64':'YQ=='}", &asked);

	assert_bytes(&asked, "state_b64", "{\"n\":5}\n");
	assert_meta(&asked, height_of(fixture));
}

IN_WORLD(optional_members_that_are_null_are_as_if_absent)
{
	AUTO_ASKED struct asked cells;
	AUTO_ASKED struct asked none;
	AUTO_ASKED struct asked turns;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	ask_verb(fixture, "list-cells",
		"{'reducer':'cell','limit':null,'cursor':null,'consistency':null}", &cells);
	ask_verb(fixture, "query-state", "{'reducer':'cell','key_b64':null}", &none);
	ask_verb(fixture, "turns", "{'agent':null,'limit':null,'cursor':null}", &turns);

	assert_int_equal(json_array_size(result_of(&cells, "cells")), 1);
	assert_null(result_of(&none, "state_b64"));
	assert_int_equal(json_array_size(result_of(&turns, "turns")), 0);
	assert_verb_refused(fixture, "list-cells", "{'reducer':null}", WFS_E_INVALID_ARGUMENT,
		"'reducer': expected a string, got null");
}

/* Checks that @value fits the schema @name of the manifest that the world gives. */
static void assert_is_a(struct world_fixture *fixture, const char *name, const json_t *value)
{
	AUTO_ASKED struct asked asked;
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	struct wfs_error error = {0};
	const json_t *definition;
	size_t i;

	ask_verb(fixture, "manifest-read", "{}", &asked);
	json_array_foreach(
		json_object_get(result_of(&asked, "manifest"), "schemas"), i, definition) {
		if (strcmp(json_string_value(json_object_get(definition, "name")), name) == 0)
			assert_int_equal(wfs_schema_new(json_object_get(definition, "schema"), NULL,
						 "", &problems, &schema),
				0);
	}
	assert_non_null(schema);
	if (wfs_schema_check(schema, value, &error) != 0)
		fail_msg("%s: %s", name, error.message);
}

IN_WORLD(answers_fit_the_schemas_that_definitions_refer_to)
{
	AUTO_ASKED struct asked manifest;
	AUTO_ASKED struct asked journal;
	const json_t *records;
	const json_t *record;
	size_t i;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	ask_verb(fixture, "manifest-read", "{}", &manifest);
	ask_verb(fixture, "journal-read", "{'from':0}", &journal);
	records = result_of(&journal, "records");

	assert_is_a(fixture, "sys/Manifest@1", result_of(&manifest, "manifest"));
	assert_true(json_array_size(records) > 2);
	json_array_foreach(records, i, record)
		assert_is_a(fixture, "sys/Record@1", record);
}

IN_WORLD(no_event_is_of_a_built_in_schema)
{
	assert_verb_refused(fixture, "send-event", "{'schema':'sys/Object@1','value':{}}",
		WFS_E_NOT_FOUND, "sys/Object@1");
}

IN_WORLD(query_state_at_an_exact_height_gives_the_state_of_then)
{
	AUTO_ASKED struct asked asked;
	char payload[100];
	uint64_t height;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	height = height_of(fixture);
	tell(fixture, "{'key':'a','op':'set','n':6}");
	snprintf(payload, sizeof(payload),
		"{'reducer':'cell','key_b64':'YQ==','consistency':'exact:%d'}", (int)height);
	ask_verb(fixture, "query-state", payload, &asked);

	assert_bytes(&asked, "state_b64", "{\"n\":5}\n");
	assert_meta(&asked, height);
}

IN_WORLD(query_state_of_a_missing_key_is_ok_without_state)
{
	AUTO_ASKED struct asked asked;

	ask_verb(fixture, "query-state", "{'reducer':'cell','key_b64':'YQ=='}", &asked);

	assert_null(result_of(&asked, "state_b64"));
	assert_meta(&asked, height_of(fixture));
}

/* --- damage --- */

/* Flips a bit at each occurrence of @bytes in a file. */
static void flip(const char *path, const char *bytes)
{
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	size_t count = 0;

	assert_int_equal(fstat(fd, &st), 0);
	const size_t size = (size_t)st.st_size;
	char *const data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(data != MAP_FAILED);
	for (char *at = data; (at = memmem(at, size - (size_t)(at - data), bytes, strlen(bytes)));
		count++)
		*at ^= 1;
	assert_true(count > 0);
	assert_int_equal(munmap(data, size), 0);
}

/* Gives cell `a` a value that is kept in a file, and flips a bit of that file. */
static void damage_large_cell(struct world_fixture *fixture)
{
	AUTO_ASKED struct asked asked;
	struct wfs_hash hash;
	char path[256];

	tell(fixture, "{'key':'a','op':'grow','n':100000}");
	ask_verb(fixture, "list-cells", "{'reducer':'cell'}", &asked);
	const char *const text = json_string_value(
		json_object_get(json_array_get(result_of(&asked, "cells"), 0), "state_hash"));
	assert_int_equal(wfs_hash_parse(text, strlen(text), &hash, NULL), 0);
	blob_file_path(fixture, &hash, path);
	flip(path, "{");
}

IN_WORLD(a_damaged_file_of_a_cell_is_hash_mismatch)
{
	damage_large_cell(fixture);

	assert_verb_refused(fixture, "query-state", "{'reducer':'cell','key_b64':'YQ=='}",
		WFS_E_HASH_MISMATCH, "sha256:");
	assert_verb_refused(fixture, "send-event",
		"{'schema':'test/Do@1','value':{'key':'a','op':'same'}}", WFS_E_HASH_MISMATCH,
		"sha256:");
}

IN_WORLD(a_damaged_row_is_hash_mismatch)
{
	char path[256];

	tell(fixture, "{'key':'a','op':'set','n':987654321}");
	tell(fixture, "{'key':'b','op':'set'}"); /* opening the world reads this row */
	world_fixture_close(fixture);
	snprintf(path, sizeof(path), "%s/data.mdb", fixture->directory);
	flip(path, "{\"n\":987654321}");
	assert_int_equal(world_fixture_open(fixture), 0);

	assert_verb_refused(fixture, "query-state", "{'reducer':'cell','key_b64':'YQ=='}",
		WFS_E_HASH_MISMATCH, "reducer 'cell', key 'a' at height ");
}

IN_WORLD(a_damaged_file_of_a_blob_is_hash_mismatch)
{
	const char bytes[100000] = "damaged here";
	struct wfs_hash hash;
	char hex[WFS_HASH_HEX_SIZE + 1];
	char payload[100];
	char path[256];

	assert_int_equal(put_blob(fixture, bytes, sizeof(bytes), &hash), 0);
	blob_file_path(fixture, &hash, path);
	flip(path, "damaged here");
	wfs_hash_hex(&hash, hex);
	snprintf(payload, sizeof(payload), "{'hash_hex':'%s'}", hex);

	assert_verb_refused(fixture, "blob-get", payload, WFS_E_HASH_MISMATCH, "damaged");
}

IN_WORLD(query_state_of_an_unknown_reducer_names_those_there_are)
{
	assert_verb_refused(fixture, "query-state", "{'reducer':'nope'}", WFS_E_REDUCER_MISSING,
		"(there are: cell total deep sys.*)");
}

IN_WORLD(query_state_refuses_what_is_not_base64)
{
	assert_verb_refused(fixture, "query-state", "{'reducer':'cell','key_b64':'YQ'}",
		WFS_E_INVALID_ARGUMENT, "key_b64");
}

IN_WORLD(reads_refuse_bad_consistency_and_heights_not_reached)
{
	assert_verb_refused(fixture, "manifest-read", "{'consistency':'newest'}",
		WFS_E_INVALID_CONSISTENCY, "newest");
	assert_verb_refused(fixture, "manifest-read", "{'consistency':'exact:99'}",
		WFS_E_HEIGHT_UNAVAILABLE, "99");
	assert_verb_refused(fixture, "manifest-read", "{'consistency':'exact:0'}",
		WFS_E_HEIGHT_UNAVAILABLE, "0");
	assert_verb_refused(fixture, "manifest-read", "{'consistency':'at_least:99'}",
		WFS_E_HEIGHT_UNAVAILABLE, "99");
	assert_verb_refused(fixture, "manifest-read", "{'consistency':7}", WFS_E_INVALID_ARGUMENT,
		"consistency");
}

IN_WORLD(list_cells_gives_hash_size_and_activity)
{
	AUTO_ASKED struct asked asked;
	const json_t *cell;

	tell(fixture, "{'key':'a','op':'set','n':5}");
	ask_verb(fixture, "list-cells", "{'reducer':'cell'}", &asked);

	assert_int_equal(json_array_size(result_of(&asked, "cells")), 1);
	cell = json_array_get(result_of(&asked, "cells"), 0);
	assert_string_equal(json_string_value(json_object_get(cell, "key_b64")), "YQ==");
	assert_int_equal(json_integer_value(json_object_get(cell, "size")), 8);
	assert_int_equal(json_integer_value(json_object_get(cell, "last_active_height")),
		height_of(fixture));
	assert_true(json_integer_value(json_object_get(cell, "last_active_ns")) > 0);
	assert_string_equal(json_string_value(json_object_get(cell, "state_hash")),
		"sha256:3d0392053cca651a45e1d75353c2e684f162f40b823f57171aa3109183fc3c88");
	assert_null(result_of(&asked, "next_cursor"));
}

IN_WORLD(list_cells_goes_on_behind_its_cursor)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked second;
	char payload[100];

	tell(fixture, "{'key':'a','op':'set'}");
	tell(fixture, "{'key':'b','op':'set'}");
	tell(fixture, "{'key':'c','op':'set'}");
	ask_verb(fixture, "list-cells", "{'reducer':'cell','limit':2}", &first);
	snprintf(payload, sizeof(payload), "{'reducer':'cell','limit':2,'cursor':'%s'}",
		text_of(&first, "next_cursor"));
	ask_verb(fixture, "list-cells", payload, &second);

	assert_int_equal(json_array_size(result_of(&first, "cells")), 2);
	assert_int_equal(json_array_size(result_of(&second, "cells")), 1);
	assert_null(result_of(&second, "next_cursor"));
}

IN_WORLD(list_cells_refuses_limits_and_cursors_out_of_bounds)
{
	assert_verb_refused(fixture, "list-cells", "{'reducer':'cell','limit':0}",
		WFS_E_INVALID_ARGUMENT, "from 1 to 1000");
	assert_verb_refused(fixture, "list-cells", "{'reducer':'cell','limit':1001}",
		WFS_E_INVALID_ARGUMENT, "from 1 to 1000");
	assert_verb_refused(fixture, "list-cells", "{'reducer':'cell','cursor':'x'}",
		WFS_E_INVALID_ARGUMENT, "cursor");
	assert_verb_refused(fixture, "list-cells", "{'reducer':'cell','cursor':'5'}",
		WFS_E_INVALID_ARGUMENT, "another reducer");
}

IN_WORLD(journal_head_gives_meta_twice)
{
	AUTO_ASKED struct asked asked;

	ask_verb(fixture, "journal-head", NULL, &asked);

	assert_int_equal(integer_of(&asked, "journal_height"), height_of(fixture));
	assert_meta(&asked, height_of(fixture));
}

IN_WORLD(journal_read_gives_records_and_where_to_go_on)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked behind;
	const json_t *record;

	tell(fixture, "{'key':'a','op':'set'}");
	ask_verb(fixture, "journal-read", "{'from':0,'limit':1}", &first);
	ask_verb(fixture, "journal-read", "{'from':99}", &behind);

	record = json_array_get(result_of(&first, "records"), 0);
	assert_string_equal(json_string_value(json_object_get(record, "kind")), "genesis");
	assert_int_equal(integer_of(&first, "next_from"), 1);
	assert_int_equal(json_array_size(result_of(&behind, "records")), 0);
	assert_null(result_of(&behind, "next_from"));
}

IN_WORLD(journal_read_passes_over_what_is_out_of_scope)
{
	AUTO_ASKED struct asked asked;
	const json_t *records;

	make_alice(
		fixture, "'cap':'sys/query@1','params':{'scope':['journal/1.json','journal/3*']}");
	ask_as(fixture, "alice", "journal-read", "{'from':0}", &asked);

	records = result_of(&asked, "records");
	assert_int_equal(json_array_size(records), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(records, 0), "seq")), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(records, 1), "seq")), 3);
	assert_null(result_of(&asked, "next_from"));
}

/* It has the entropy of record 0. */
IN_WORLD(the_baseline_of_a_cut_is_hidden_from_those_who_do_not_see_record_0)
{
	AUTO_ASKED struct asked cut;
	AUTO_ASKED struct asked limited;
	AUTO_ASKED struct asked whole;
	const json_t *records;

	make_alice(fixture,
		"'cap':'sys/query@1','params':{'scope':['journal/3.json','journal/4.json']}");
	tell(fixture, "{'key':'a','op':'set'}");
	ask_verb(fixture, "gc", "{'since':4,'journal':true}", &cut);
	ask_as(fixture, "alice", "journal-read", "{'from':0}", &limited);
	ask_verb(fixture, "journal-read", "{'from':0}", &whole);

	assert_int_equal(integer_of(&cut, "first_height"), 4);
	records = result_of(&limited, "records");
	assert_int_equal(json_array_size(records), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(records, 0), "seq")), 4);
	records = result_of(&whole, "records");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(records, 0), "seq")), 3);
}

IN_WORLD(journal_read_refuses_a_negative_beginning)
{
	assert_verb_refused(
		fixture, "journal-read", "{'from':-1}", WFS_E_INVALID_ARGUMENT, "'from'");
}

/* --- blobs --- */

#define HASH_OF_HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

IN_WORLD(blob_that_was_put_can_be_got_and_looked_at)
{
	AUTO_ASKED struct asked put;
	AUTO_ASKED struct asked get;
	AUTO_ASKED struct asked stat;

	ask_verb(fixture, "put-blob", "{'data_b64':'aGVsbG8='}", &put);
	ask_verb(fixture, "blob-get", "{'hash_hex':'" HASH_OF_HELLO "'}", &get);
	ask_verb(fixture, "blob-stat", "{'hash_hex':'sha256:" HASH_OF_HELLO "'}", &stat);

	assert_string_equal(text_of(&put, "hash"), "sha256:" HASH_OF_HELLO);
	assert_bytes(&get, "data_b64", "hello");
	assert_int_equal(integer_of(&stat, "size"), 5);
	assert_int_equal(integer_of(&stat, "height"), height_of(fixture));
}

IN_WORLD(blob_put_refuses_what_is_not_base64_and_changes_nothing)
{
	const uint64_t height = height_of(fixture);

	assert_verb_refused(
		fixture, "put-blob", "{'data_b64':'aGVsbG8'}", WFS_E_INVALID_ARGUMENT, "data_b64");
	assert_int_equal(height_of(fixture), height);
}

IN_WORLD(blob_get_refuses_unknown_and_malformed_hashes)
{
	assert_verb_refused(fixture, "blob-get", "{'hash_hex':'" HASH_OF_HELLO "'}",
		WFS_E_NOT_FOUND, HASH_OF_HELLO);
	assert_verb_refused(
		fixture, "blob-get", "{'hash_hex':'2CF2'}", WFS_E_INVALID_ARGUMENT, "2CF2");
}

IN_WORLD(blob_get_refuses_more_than_its_bound)
{
	const size_t size = WFS_VERB_BLOB_MAX + 1;
	WFS_AUTO_FREE char *bytes = calloc(1, size);
	char payload[120] = "{'hash_hex':'";
	struct wfs_hash hash;

	assert_int_equal(put_blob(fixture, bytes, size, &hash), 0);
	wfs_hash_hex(&hash, payload + strlen(payload));
	memcpy(payload + strlen(payload), "'}", 3);
	assert_verb_refused(fixture, "blob-get", payload, WFS_E_TOO_LARGE, "fs-read");
}
