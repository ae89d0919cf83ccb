/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of cells: structs that are read and written by the tables of reducers. */
#include "tests/fixture/json.h"

#include "kernel/base/json.h"
#include "kernel/manifest/document.h"

#define STORE "{'added':3,'bytes':90,'count':2,'dims':384,'label':'00000000000000ff','model':'m'"

TEST(a_document_is_read_and_written)
{
	WFS_AUTO_DOCUMENT struct wfs_document_memory_store store;

	assert_int_equal(wfs_document_read_memory_store(json_of(STORE "}"), &store, NULL), 0);
	assert_int_equal(store.added, 3);
	assert_string_equal(store.model, "m");
	assert_int_equal(store.left, -1);
	store.left = 0;
	assert_json_is(wfs_document_write(WFS_BUILTIN_MEMORY_STORE, &store), STORE ",'left':0}");
}

TEST(a_damaged_document_is_refused)
{
	static const char *const damaged[] = {"[]", "{}", STORE ",'x':1}", STORE ",'left':'1'}"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(damaged); i++) {
		struct wfs_document_memory_store store;
		struct wfs_error error = {0};

		print_message("%s\n", damaged[i]);
		assert_int_equal(
			wfs_document_read_memory_store(json_of(damaged[i]), &store, &error), -EIO);
		assert_int_equal(error.code, WFS_E_INTERNAL_ERROR);
		assert_non_null(strstr(error.message, "a document of sys.memory_store is damaged"));
		assert_null(store.own.json);
	}
}

TEST(a_cell_that_is_not_live_gives_zeros)
{
	struct wfs_document_intent intent;

	assert_int_equal(wfs_document_read_intent(NULL, &intent, NULL), 0);
	assert_null(intent.own.json);
	assert_null(intent.principal);
}

#define HASH "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ARTIFACT                                                                  \
	"{'access':'public','charged_to':'a','content_hash':'" HASH               \
	"','content_size':1,'created_at':1,'created_by':'a','depends_on':[],"     \
	"'executable':false,'id':'x','invoke_price':0,'metadata':{},'owner':'a'," \
	"'read_price':0,'type':'data','updated_at':1"

TEST(a_hash_is_read_and_written)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact;

	assert_int_equal(wfs_document_read_artifact(json_of(ARTIFACT "}"), &artifact, NULL), 0);
	assert_int_equal(artifact.content_hash.bytes[1], 0x23);
	assert_int_equal(artifact.code_hash.bytes[1], 0);
	assert_json_is(wfs_document_write(WFS_BUILTIN_ARTIFACT, &artifact), ARTIFACT "}");
	artifact.code_hash = artifact.content_hash;
	assert_json_is(wfs_document_write(WFS_BUILTIN_ARTIFACT, &artifact),
		ARTIFACT ",'code_hash':'" HASH "'}");
}

TEST(a_text_that_is_no_hash_is_refused)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact;

	assert_int_equal(wfs_document_read_artifact(
				 json_of(ARTIFACT ",'code_hash':'sha256:1'}"), &artifact, NULL),
		-EIO);
}
