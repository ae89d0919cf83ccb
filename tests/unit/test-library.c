/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts of the type library: code that other code of their author requires. */
#include "tests/unit/action-fixture.h"

#define LIBRARY(id, code) \
	WRITE("'artifact_id':'" id "','type':'library','executable':false,'code':'" code "'")
#define PROGRAM(depends, code)                                             \
	WRITE("'artifact_id':'x','access':'public','depends_on':[" depends \
	      "],'code':'function run() " code " end'")

/* alice's program x, which bob may invoke, gives this. */
static void assert_gives(struct world_fixture *fixture, const char *result)
{
	WFS_AUTO_BUFFER struct wfs_buffer data = {0};

	wfs_buffer_printf(&data, "{'price_paid':0,'result':%s}", result);
	assert_data(fixture, "bob", INVOKE("'artifact_id':'x'"), wfs_buffer_text(&data));
}

static void assert_raises(struct world_fixture *fixture, const char *message)
{
	assert_fails(fixture, "bob", INVOKE("'artifact_id':'x'"), WFS_E_RUNTIME_ERROR, message);
}

static void code_requires_a_library_of_its_author(void **state)
{
	assert_done(*state, "alice",
		LIBRARY("text", "return {shout = function(s) return s:upper() .. \\'!\\' end}"));
	assert_done(*state, "alice",
		PROGRAM("'text'", "return require(\\'text\\').shout(\\'bread\\')"));

	assert_gives(*state, "'BREAD!'");
}

static void a_library_that_is_written_anew_is_another_one_from_then_on(void **state)
{
	assert_done(*state, "alice", LIBRARY("text", "return 1"));
	assert_done(*state, "alice", PROGRAM("'text'", "return require(\\'text\\')"));
	assert_gives(*state, "1");
	assert_done(*state, "alice", LIBRARY("text", "return 2"));

	assert_gives(*state, "2");
}

static void a_library_requires_what_it_depends_on_itself(void **state)
{
	assert_done(*state, "alice", LIBRARY("deep", "return 7"));
	assert_done(*state, "alice", LIBRARY("text", "return require(\\'deep\\')"));
	assert_done(*state, "alice", PROGRAM("'text'", "return require(\\'text\\')"));
	assert_raises(*state, "text:1: require: 'deep' must be in 'depends_on' of 'text'");
	assert_done(*state, "alice",
		ACTION("write_artifact", "'artifact_id':'text','depends_on':['deep']"));

	assert_gives(*state, "7");
}

static void what_code_requires_is_one_of_its_dependencies(void **state)
{
	assert_done(*state, "alice", LIBRARY("text", "return 1"));
	assert_done(*state, "alice", PROGRAM("", "return require(\\'text\\')"));

	assert_raises(*state, "x:1: require: 'text' must be in 'depends_on' of 'x'");
}

static void code_of_another_author_is_not_run_as_a_library(void **state)
{
	assert_done(*state, "bob",
		WRITE("'artifact_id':'text','type':'library','access':'public','executable':false,"
		      "'code':'return 1'"));
	assert_done(*state, "alice", PROGRAM("'text'", "return require(\\'text\\')"));
	assert_raises(*state,
		"'bob' wrote the code of library 'text', expected 'alice', who wrote what requires "
		"it");

	/* The owner of it is not its author either. */
	assert_done(
		*state, "bob", ACTION("transfer_ownership", "'to':'alice','artifact_id':'text'"));
	assert_raises(*state, "'bob' wrote the code of library 'text'");
}

static void only_a_library_with_code_is_required(void **state)
{
	assert_done(*state, "alice", WRITE("'artifact_id':'note','content':'a'"));
	assert_done(*state, "alice", WRITE("'artifact_id':'empty','type':'library','content':'a'"));
	assert_done(*state, "alice", PROGRAM("'note'", "return require(\\'note\\')"));
	assert_raises(*state, "require: 'note' has the type data, expected library");
	assert_done(*state, "alice", PROGRAM("'empty'", "return require(\\'empty\\')"));

	assert_raises(*state, "require: library 'empty' has no code");
}

static void what_is_hidden_tells_neither_its_type_nor_its_author(void **state)
{
	assert_done(*state, "tester", "{'action_type':'principal','id':'eve'}");
	assert_done(*state, "tester",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'eve'}");
	assert_done(*state, "bob", WRITE("'artifact_id':'spy','access':'public','content':'a'"));
	assert_done(*state, "eve",
		WRITE("'artifact_id':'y','depends_on':['spy'],'code':'function run() "
		      "return require(\\'spy\\') end'"));

	assert_fails(*state, "eve", INVOKE("'artifact_id':'y'"), WFS_E_RUNTIME_ERROR,
		"y:1: require: 'spy' is not a library of 'eve', who wrote what requires it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(code_requires_a_library_of_its_author),
		TEST(a_library_that_is_written_anew_is_another_one_from_then_on),
		TEST(a_library_requires_what_it_depends_on_itself),
		TEST(what_code_requires_is_one_of_its_dependencies),
		TEST(code_of_another_author_is_not_run_as_a_library),
		TEST(only_a_library_with_code_is_required),
		TEST(what_is_hidden_tells_neither_its_type_nor_its_author),
	};

	return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
