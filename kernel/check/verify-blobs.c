/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs, their files, and their listing. */
#include "kernel/check/verify-impl.h"

#include "kernel/base/hash-text.h"
#include "kernel/store/rows.h"

static void check_blob(struct verify *verify, const struct wfs_blob *blob)
{
	struct wfs_blob_listing listing;

	if (blob->in_file) {
		if (verify_is_wrong(verify, verify_check_file(verify, blob)))
			verify_wrong_blob(verify, &blob->hash,
				"its file is missing or does not have its hash");
	} else if (!wfs_hash_fits(&blob->hash, blob->bytes)) {
		verify_wrong_blob(verify, &blob->hash, "its bytes do not have its hash");
	}
	if (blob->listed_id &&
		(wfs_blob_listing_get(verify->view.txn, blob->listed_id, &listing) ||
			!wfs_hash_equal(&listing.hash, &blob->hash)))
		verify_wrong_blob(verify, &blob->hash, "its listing does not lead to it");
}

int verify_blobs(struct verify *verify)
{
	struct wfs_blob blob;
	struct wfs_hash last = {0};
	struct wfs_row_name name;
	uint64_t count = 0;
	int r;

	while ((r = wfs_blob_next(verify->view.txn, count ? &last : NULL, &blob)) == 0 ||
		r == -EBADMSG) {
		last = blob.hash;
		count++;
		if (r) {
			wfs_row_name(verify->view.txn, WFS_TABLE_BLOB,
				WFS_BYTES(last.bytes, WFS_HASH_SIZE), &name);
			verify_damaged_name(verify, &name);
		} else {
			check_blob(verify, &blob);
		}
		r = verify_step(verify, "blobs", count, 0);
		if (r)
			return wfs_trace(r);
	}
	if (r == -EIO)
		verify_wrong_blob(verify, &last, "is the last blob that can be reached");
	else if (r != -ENOENT)
		return verify_failed(verify, r, "a blob");
	return 0;
}

/* Checks that each listed blob exists. */
int verify_listings(struct verify *verify)
{
	struct wfs_blob_listing listing;
	struct wfs_blob blob;
	uint64_t last;
	int r = wfs_view_blob_last(&verify->view, &last);

	/* verify_rows() has reported the last row, whose number cannot be read. */
	if (r == -EIO)
		r = wfs_rows_count(verify->view.txn, WFS_TABLE_BLOB_LISTED, &last);
	for (uint64_t id = 1; !r && id <= last; id++) {
		if (wfs_blob_listing_get(verify->view.txn, id, &listing))
			verify_wrong(verify, WFS_TABLE_BLOB_LISTED, id, "is missing or damaged");
		else if (wfs_blob_get(verify->view.txn, &listing.hash, &blob))
			verify_wrong(verify, WFS_TABLE_BLOB_LISTED, id, "does not name a blob");
		r = verify_step(verify, "listings", id, last);
	}
	return r ? verify_failed(verify, r, "the listed blobs") : 0;
}
