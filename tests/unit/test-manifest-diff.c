/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two manifests. */
#include "tests/fixture/manifest.h"

#include "kernel/manifest/manifest-diff.h"

/* Checks the differences between the good manifest and @document. */
static void assert_diff(json_t *document, const char *expected)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *from = manifest_good();
	WFS_AUTO_MANIFEST struct wfs_manifest *to = manifest_of(document);
	WFS_AUTO_FREE char *wanted = json_text(expected);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *diff = NULL;

	assert_int_equal(wfs_manifest_diff(from, to, &diff), 0);
	wfs_json_write(diff, &text);
	assert_string_equal(wfs_buffer_text(&text), wanted);
}

TEST(the_same_manifest_changes_nothing)
{
	WFS_AUTO_JSON json_t *document = good_document();

	assert_diff(document, "{'added':[],'changed':[],'removed':[]}");
}

TEST(members_of_the_manifest_are_named)
{
	WFS_AUTO_JSON json_t *document = edited("", "{'name':'other'}");

	assert_diff(document, "{'added':[],'changed':[{'list':'','name':'name'}],'removed':[]}");
}

TEST(definitions_are_added_changed_and_removed)
{
	WFS_AUTO_JSON json_t *document = edited("schemas/0", "{'schema':{'type':'array'}}");

	json_array_append_new(json_object_get(document, "schemas"),
		json_of("{'$kind':'defschema','name':'dpkg/New@1','schema':true}"));
	assert_int_equal(
		json_array_remove(json_object_get(document, "effects"), WFS_EFFECT_BLOB_PUT), 0);

	assert_diff(document,
		"{'added':[{'list':'schemas','name':'dpkg/New@1'}],"
		"'changed':[{'list':'schemas','name':'dpkg/Change@1'}],"
		"'removed':[{'list':'effects','name':'blob.put'}]}");
}

TEST(rows_principals_and_grants_are_told_apart)
{
	WFS_AUTO_JSON json_t *document = edited("grants/0", "{'params':{}}");

	json_array_append_new(json_object_get(document, "principals"), json_of("{'id':'bob'}"));
	assert_int_equal(json_array_remove(json_object_get(document, "routing"), 1), 0);
	json_object_set_new(value_at(document, "routing/1"), "key_field", json_string("other"));

	assert_diff(document,
		"{'added':[{'list':'principals','name':'bob'}],"
		"'changed':[{'list':'routing','name':'dpkg/Change@1 -> package'},"
		"{'list':'grants','name':'alice.query.1'}],"
		"'removed':[{'list':'routing','name':'dpkg/Alert@2 -> total'}]}");
}
