/* SPDX-License-Identifier: Apache-2.0 */
/* Artifacts of the type library: code that other code of the same author requires. */
#include "tests/fixture/action.h"

#define LIBRARY(id, code) \
	WRITE("'artifact_id':'" id "','type':'library','executable':false,'code':'" code "'")
#define PROGRAM(depends, code)                                             \
	WRITE("'artifact_id':'x','access':'public','depends_on':[" depends \
	      "],'code':'function run() " code " end'")

/* Checks what alice's program x gives, which bob may invoke. */
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

WITH_ACTORS(code_requires_a_library_of_its_author)
{
	assert_done(fixture, "alice",
		LIBRARY("text", "return {shout = function(s) return s:upper() .. \\'!\\' end}"));
	assert_done(fixture, "alice",
		PROGRAM("'text'", "return require(\\'text\\').shout(\\'bread\\')"));

	assert_gives(fixture, "'BREAD!'");
}

WITH_ACTORS(a_library_that_is_written_anew_is_another_one_from_then_on)
{
	assert_done(fixture, "alice", LIBRARY("text", "return 1"));
	assert_done(fixture, "alice", PROGRAM("'text'", "return require(\\'text\\')"));
	assert_gives(fixture, "1");
	assert_done(fixture, "alice", LIBRARY("text", "return 2"));

	assert_gives(fixture, "2");
}

WITH_ACTORS(a_library_requires_what_it_depends_on_itself)
{
	assert_done(fixture, "alice", LIBRARY("deep", "return 7"));
	assert_done(fixture, "alice", LIBRARY("text", "return require(\\'deep\\')"));
	assert_done(fixture, "alice", PROGRAM("'text'", "return require(\\'text\\')"));
	assert_raises(fixture, "text:1: require: 'deep' must be in 'depends_on' of 'text'");
	assert_done(fixture, "alice",
		ACTION("write_artifact", "'artifact_id':'text','depends_on':['deep']"));

	assert_gives(fixture, "7");
}

WITH_ACTORS(what_code_requires_is_one_of_its_dependencies)
{
	assert_done(fixture, "alice", LIBRARY("text", "return 1"));
	assert_done(fixture, "alice", PROGRAM("", "return require(\\'text\\')"));

	assert_raises(fixture, "x:1: require: 'text' must be in 'depends_on' of 'x'");
}

WITH_ACTORS(code_of_another_author_is_not_run_as_a_library)
{
	assert_done(fixture, "bob",
		WRITE("'artifact_id':'text','type':'library','access':'public','executable':false,"
		      "'code':'return 1'"));
	assert_done(fixture, "alice", PROGRAM("'text'", "return require(\\'text\\')"));
	assert_raises(fixture,
		"'bob' wrote the code of library 'text', expected 'alice', who wrote what requires "
		"it");

	/* The owner of the library is not its author either. */
	assert_done(
		fixture, "bob", ACTION("transfer_ownership", "'to':'alice','artifact_id':'text'"));
	assert_raises(fixture, "'bob' wrote the code of library 'text'");
}

WITH_ACTORS(only_a_library_with_code_is_required)
{
	assert_done(fixture, "alice", WRITE("'artifact_id':'note','content':'a'"));
	assert_done(
		fixture, "alice", WRITE("'artifact_id':'empty','type':'library','content':'a'"));
	assert_done(fixture, "alice", PROGRAM("'note'", "return require(\\'note\\')"));
	assert_raises(fixture, "require: 'note' has the type data, expected library");
	assert_done(fixture, "alice", PROGRAM("'empty'", "return require(\\'empty\\')"));

	assert_raises(fixture, "require: library 'empty' has no code");
}

WITH_ACTORS(what_is_hidden_tells_neither_its_type_nor_its_author)
{
	assert_done(fixture, "tester", "{'action_type':'principal','id':'eve'}");
	assert_done(fixture, "tester",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'eve'}");
	assert_done(fixture, "bob", WRITE("'artifact_id':'spy','access':'public','content':'a'"));
	assert_done(fixture, "eve",
		WRITE("'artifact_id':'y','depends_on':['spy'],'code':'function run() "
		      "return require(\\'spy\\') end'"));

	assert_fails(fixture, "eve", INVOKE("'artifact_id':'y'"), WFS_E_RUNTIME_ERROR,
		"y:1: require: 'spy' is not a library of 'eve', who wrote what requires it");
}
