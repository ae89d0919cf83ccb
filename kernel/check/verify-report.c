/* SPDX-License-Identifier: Apache-2.0 */
/* Reporting what is wrong, and going on with a fresh view. */
#include "kernel/check/verify-impl.h"

#include "kernel/base/encode.h"

void verify_wrong(struct verify *verify, enum wfs_table table, uint64_t row, const char *reason)
{
	struct wfs_row_name name;

	wfs_row_name_number(verify->view.txn, table, row, &name);
	wfs_problems_add(verify->problems, name.text, NULL, "%s", reason);
}

void verify_wrong_blob(struct verify *verify, const struct wfs_hash *hash, const char *reason)
{
	struct wfs_row_name name;

	wfs_row_name(
		verify->view.txn, WFS_TABLE_BLOB, WFS_BYTES(hash->bytes, WFS_HASH_SIZE), &name);
	wfs_problems_add(verify->problems, name.text, NULL, "%s", reason);
}

void verify_damaged_name(struct verify *verify, const struct wfs_row_name *name)
{
	const struct wfs_buffer *const lines = &verify->problems->lines;
	char line[sizeof(*name) + 32];

	const int size = snprintf(line, sizeof(line), "%s: is damaged\n", name->text);
	wfs_line_clean(line, (size_t)size - 1);
	if (verify->problems->count == 0 || !memmem(lines->data, lines->size, line, (size_t)size))
		wfs_problems_add(verify->problems, name->text, NULL, "is damaged");
}

void verify_damaged(struct verify *verify, enum wfs_table table, uint64_t row)
{
	struct wfs_row_name name;

	wfs_row_name_number(verify->view.txn, table, row, &name);
	verify_damaged_name(verify, &name);
}

uint64_t verify_incomplete_height(const struct verify *verify)
{
	return verify->first > 1 ? verify->first : 0;
}

int verify_open_view(struct verify *verify, uint64_t height)
{
	int r = wfs_view_open(verify->world, height, &verify->view, verify->error);

	if (r)
		return r;
	r = wfs_first_height_get(verify->view.txn, &verify->first);
	return r ? wfs_error_from_errno(verify->error, r, "read the first height") : 0;
}

bool verify_is_wrong(struct verify *verify, int r)
{
	switch (r) {
	case -ENOMEM:
	case -EAGAIN:
	case -EMFILE:
	case -ENFILE:
	case -EACCES:
	case -EPERM:
		verify->failure = r;
		return false;
	default:
		return r != 0;
	}
}

int verify_look(struct verify *verify, const char *what, uint64_t done, uint64_t total)
{
	verify->file_read = false;
	if (!verify->progress || verify->progress(verify->context, what, done, total))
		return 0;
	return wfs_error_set(
		verify->error, WFS_E_CANCELLED, "interrupted: not all of the world was checked");
}

int verify_step(struct verify *verify, const char *what, uint64_t done, uint64_t total)
{
	if (done % VERIFY_RENEW_COUNT != 0 && done != total && !verify->file_read)
		return 0;
	int r = verify_look(verify, what, done, total);
	if (r)
		return r;
	wfs_view_close(&verify->view);
	return verify_open_view(verify, verify->height);
}

int verify_check_file(struct verify *verify, const struct wfs_blob *file)
{
	char hex[WFS_HASH_HEX_SIZE + 1];
	const int r = wfs_blob_file_check(wfs_world_store(verify->world), file);

	verify->file_read = true;
	wfs_hash_hex(&file->hash, hex);
	if (r == -EACCES || r == -EPERM)
		snprintf(verify->forbidden, sizeof(verify->forbidden), "blobs/%.2s/%s", hex,
			hex + 2);
	return r;
}

int verify_failed(struct verify *verify, int r, const char *what)
{
	return wfs_error_from_errno(verify->error, r, "read %s", what);
}
