/* SPDX-License-Identifier: Apache-2.0 */
/* Translating numbers of inodes and offsets. */
#include "fs/data/numbers.h"

#include "caps/session.h"

enum {
	FIRST_INO = 2, /* 0 means none, and 1 is the root: FUSE_ROOT_ID */
	INO_BITS = 64,
	OFFSET_BITS = 62, /* no offset is negative; cookies have 57 at most */
};

int wfs_numbers_init(struct wfs_numbers *numbers, const struct wfs_session *session)
{
	struct wfs_numbers made = {.permuted = !wfs_session_sees_all(session)};
	int r = wfs_session_permutation(session, "inodes", FIRST_INO, INO_BITS, &made.inos);

	if (!r)
		r = wfs_session_permutation(
			session, "offsets", WFS_NUMBERS_OFFSET_FIRST, OFFSET_BITS, &made.offsets);
	if (!r)
		*numbers = made;
	return r;
}

uint64_t wfs_numbers_ino(const struct wfs_numbers *numbers, uint64_t ino)
{
	return numbers->permuted ? wfs_permute(&numbers->inos, 0, ino) : ino;
}

uint64_t wfs_numbers_our_ino(const struct wfs_numbers *numbers, uint64_t ino)
{
	return numbers->permuted ? wfs_unpermute(&numbers->inos, 0, ino) : ino;
}

off_t wfs_numbers_offset(const struct wfs_numbers *numbers, uint64_t directory, uint64_t offset)
{
	return (off_t)(numbers->permuted ? wfs_permute(&numbers->offsets, directory, offset)
					 : offset);
}

uint64_t wfs_numbers_our_offset(const struct wfs_numbers *numbers, uint64_t directory, off_t offset)
{
	if (offset < 0)
		return 0;
	return numbers->permuted ? wfs_unpermute(&numbers->offsets, directory, (uint64_t)offset)
				 : (uint64_t)offset;
}
