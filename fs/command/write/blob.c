/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for blobs: get, put, stat. */
#include <string.h>

#include "fs/command/frame/input.h"
#include "fs/command/frame/walk.h"
#include "fs/command/write/commands.h"
#include "kernel/base/encode.h"
#include "kernel/base/hash.h"

enum { BLOB_PUT_MAX = 11 << 20 }; /* bytes; in base64 they fit one request of 16 MiB */

/* Reads the bytes in parts, as a file, but reports a missing blob as a blob. */
int wfs_run_blob_get(struct wfs_run *run)
{
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_JSON json_t *found = NULL;
	char path[sizeof("blob/") + WFS_HASH_HEX_SIZE] = "blob/";
	struct wfs_hash hash;
	int r;

	if (wfs_hash_parse(run->arguments[0], strlen(run->arguments[0]), &hash, &run->error) < 0)
		return wfs_run_misuse(run, "%s", run->error.message);
	wfs_hash_hex(&hash, path + strlen(path));
	r = wfs_run_call(
		run, "blob-stat", json_pack("{s:s}", "hash_hex", run->arguments[0]), &found);
	if (!r)
		r = wfs_walk_init(&walk, run, path);
	return r ? r : wfs_walk_print(&walk, path);
}

int wfs_run_blob_stat(struct wfs_run *run)
{
	return wfs_run_show(run, "blob-stat", json_pack("{s:s}", "hash_hex", run->arguments[0]),
		wfs_run_print_document);
}

static int print_hash(struct wfs_run *run, const json_t *result)
{
	fprintf(run->out, "%s\n", wfs_json_text(result, "hash"));
	return 0;
}

int wfs_run_blob_put(struct wfs_run *run)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = wfs_input_read(run->arguments[0], BLOB_PUT_MAX, &bytes, &run->error);

	if (r == -EFBIG)
		return wfs_error_set(&run->error, WFS_E_TOO_LARGE,
			"'%.200s': expected at most %d bytes; write larger blobs to ctl/put-blob "
			"of a mount",
			run->arguments[0], BLOB_PUT_MAX);
	if (r)
		return r;
	wfs_base64_append(&text, bytes.data, bytes.size);
	return wfs_run_show(run, "put-blob", json_pack("{s:s}", "data_b64", wfs_buffer_text(&text)),
		print_hash);
}
