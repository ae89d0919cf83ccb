/* SPDX-License-Identifier: Apache-2.0 */
/* Where JSON values end in texts. */
#include "tests/fixture/json.h"

#include "kernel/base/span.h"

static size_t span(const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);

	return wfs_span_value(wfs_bytes_text(text));
}

/* Checks the members of an object, one a line, and how the list ended. */
static void assert_members(const char *quoted, const char *lines)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_FREE char *expected = json_text(lines);
	WFS_AUTO_BUFFER struct wfs_buffer found = {0};
	struct wfs_span_object object = wfs_span_object(wfs_bytes_text(text));
	int r;

	while ((r = wfs_span_next(&object)) > 0)
		wfs_buffer_printf(&found, "%.*s=%.*s\n", (int)object.name.size,
			(const char *)object.name.data, (int)object.value.size,
			(const char *)object.value.data);
	wfs_buffer_append_text(&found, r == 0 ? "end" : "broken");
	assert_string_equal(wfs_buffer_text(&found), expected);
}

TEST(a_value_ends_where_its_bracket_closes)
{
	assert_int_equal(span("{'a':[1,{'b':2}]} x"), 17);
	assert_int_equal(span("[] x"), 2);
	assert_int_equal(span("'text' x"), 6);
	assert_int_equal(span("-1.5e+3,"), 7);
}

TEST(brackets_quotes_and_tags_in_a_string_do_not_count)
{
	assert_int_equal(span("{'a':'}</x>'}"), 13);
	assert_int_equal(span("{'a':'\\'}'}"), 11);
	assert_int_equal(span("{'a':'\\\\'}"), 10);
}

TEST(a_value_that_does_not_end_has_no_size)
{
	assert_int_equal(span("{'a':[1,2]"), 0);
	assert_int_equal(span("'text"), 0);
	assert_int_equal(span("'text\\"), 0);
	assert_int_equal(span("{'text"), 0);
	assert_int_equal(span(""), 0);
}

TEST(what_json_does_not_have_outside_of_strings_ends_the_search)
{
	assert_int_equal(span("{<}"), 0);
	assert_int_equal(span("{\\'}"), 0);
	assert_int_equal(span("<"), 0);
}

TEST(members_are_given_as_they_stand)
{
	assert_members("{ 'a' : 1.0 ,\n'b':{ 'c':[ ] } }", "'a'=1.0\n'b'={ 'c':[ ] }\nend");
	assert_members("{}", "end");
	assert_members("{ } ", "end");
}

TEST(members_of_what_is_no_object_are_refused)
{
	assert_members("{'a':1,}", "'a'=1\nbroken");
	assert_members("{'a':1 'b':2}", "'a'=1\nbroken");
	assert_members("{'a' 1}", "broken");
	assert_members("{a:1}", "broken");
	assert_members("{'a':}", "broken");
	assert_members("{,}", "broken");
	assert_members("{'a':1", "'a'=1\nbroken");
	assert_members("{'a':1} x", "'a'=1\nbroken");
}
