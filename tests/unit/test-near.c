/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for misspelt names: which names are near, which are not, and which of several is
 * chosen. */
#include "tests/fixture/test.h"

#include <string.h>

#include "kernel/base/near.h"

static const char *nearest(const char *asked)
{
	struct wfs_near near = {.asked = asked};

	wfs_near_try(&near, "artifacts");
	wfs_near_try(&near, "artifact");
	wfs_near_try(&near, "artifact_id");
	wfs_near_try(&near, "owner");
	wfs_near_try(&near, "mint");
	return near.name;
}

TEST(a_letter_that_is_missing_added_replaced_or_swapped_is_near)
{
	assert_string_equal(nearest("onwer"), "owner");
	assert_string_equal(nearest("ownr"), "owner");
	assert_string_equal(nearest("ownerr"), "owner");
	assert_string_equal(nearest("mind"), "mint");
	assert_string_equal(nearest("artefacts"), "artifacts");
	assert_string_equal(nearest("Artefact"), "artifact");
}

TEST(the_nearest_wins)
{
	assert_string_equal(nearest("artifact"), "artifact");
	assert_string_equal(nearest("artifactss"), "artifacts");
}

TEST(a_word_of_a_name_is_near)
{
	assert_string_equal(nearest("id"), "artifact_id");
	assert_null(nearest("i"));
	assert_null(nearest("fact"));
}

TEST(what_differs_in_more_is_not_near)
{
	char longest[WFS_NEAR_SIZE_MAX + 2];

	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';

	assert_null(nearest("price"));
	assert_null(nearest("own"));
	assert_null(nearest(""));
	assert_null(nearest(longest));
	struct wfs_near near = {.asked = longest + 1};
	wfs_near_try(&near, longest);
	assert_null(near.name);
	wfs_near_try(&near, longest + 1);
	assert_non_null(near.name);
}
