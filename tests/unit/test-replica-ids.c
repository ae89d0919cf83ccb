/* SPDX-License-Identifier: Apache-2.0 */
/* The list of ids: the newest are found, and no other. */
#include "tests/fixture/test.h"

#include <stdio.h>

#include "fs/replica/ids.h"

static void add(struct wfs_ids *ids, unsigned int number)
{
	char id[16];

	snprintf(id, sizeof(id), "id-%u", number);
	wfs_ids_add(ids, id, number);
}

static bool has(struct wfs_ids *ids, unsigned int number)
{
	char id[16];
	uint64_t seq = 0;

	snprintf(id, sizeof(id), "id-%u", number);
	if (!wfs_ids_find(ids, id, &seq))
		return false;
	assert_int_equal(seq, number);
	return true;
}

TEST(the_newest_ids_are_kept)
{
	struct wfs_ids *const ids = wfs_ids_new();
	const unsigned int count = 3 * WFS_IDS_MAX + 7;

	for (unsigned int i = 0; i < count; i++) {
		add(ids, i);
		assert_true(has(ids, i));
	}
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(has(ids, i), i >= count - WFS_IDS_MAX);
	wfs_ids_free(ids);
}

TEST(an_id_keeps_its_first_record)
{
	struct wfs_ids *const ids = wfs_ids_new();
	uint64_t seq = 0;

	wfs_ids_add(ids, "a", 1);
	wfs_ids_add(ids, "a", 2);
	assert_true(wfs_ids_find(ids, "a", &seq));
	assert_int_equal(seq, 1);
	assert_false(wfs_ids_find(ids, "b", &seq));
	wfs_ids_free(ids);
}
