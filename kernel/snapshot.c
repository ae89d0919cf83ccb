/* SPDX-License-Identifier: Apache-2.0 */
/* Writing snapshot documents into a hash. */
#include "kernel/snapshot.h"

#include <inttypes.h>

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

enum { RENEW_COUNT = 4096 }; /* cells between two renewals of the view */

/* One pass over the world. */
struct pass {
	struct wfs_world *world;
	struct wfs_view view;
	struct wfs_hasher *hasher;
	struct wfs_buffer line;
	struct wfs_buffer key;  /* of the last cell, kept over a renewal */
	struct wfs_buffer name; /* of the reducer */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;
	uint64_t done;
	uint64_t total;
};

void wfs_snapshot_header(struct wfs_buffer *buffer, const struct wfs_hash *manifest_hash)
{
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(manifest_hash, text);
	wfs_buffer_printf(buffer, "{\"manifest_hash\":\"%s\",\"world_version\":1}\n", text);
}

void wfs_snapshot_body(struct wfs_buffer *buffer, uint64_t height, const struct wfs_hash *hash)
{
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(hash, text);
	wfs_buffer_printf(
		buffer, "{\"height\":%" PRIu64 ",\"snapshot_hash\":\"%s\"}", height, text);
}

static int renew(struct pass *pass, struct wfs_error *error)
{
	uint64_t height = pass->view.height;

	wfs_view_close(&pass->view);
	return wfs_view_open(pass->world, height, &pass->view, error);
}

static int add_cell(struct pass *pass, const struct wfs_version *version)
{
	char text[WFS_HASH_TEXT_SIZE];

	wfs_buffer_reset(&pass->line);
	wfs_buffer_append_text(&pass->line, "{\"key_b64\":\"");
	wfs_base64_append(&pass->line, pass->key.data, pass->key.size);
	wfs_buffer_append_text(&pass->line, "\",\"reducer\":");
	wfs_json_write_string(&pass->line, pass->name.data, pass->name.size);
	wfs_hash_text(&version->hash, text);
	wfs_buffer_printf(&pass->line, ",\"state_hash\":\"%s\"}\n", text);
	wfs_hasher_add(pass->hasher, pass->line.data, pass->line.size);
	return wfs_buffer_check(&pass->line);
}

static int add_reducer(
	struct pass *pass, const struct wfs_reducer *reducer, struct wfs_error *error)
{
	const struct wfs_bytes *after = NULL;
	struct wfs_bytes last;

	for (;;) {
		struct wfs_version version;
		struct wfs_bytes key;
		int r = wfs_view_next_key(&pass->view, reducer->reducer_id, after, &key, &version);

		if (r == -ENOENT)
			return 0;
		if (r)
			return wfs_error_from_errno(error, r, "read a cell");
		wfs_buffer_reset(&pass->key);
		wfs_buffer_append(&pass->key, key.data, key.size);
		last = wfs_buffer_bytes(&pass->key);
		after = &last;
		if (wfs_buffer_check(&pass->key) || add_cell(pass, &version))
			return wfs_error_from_errno(error, -ENOMEM, "write a snapshot");
		if (++pass->done % RENEW_COUNT == 0) {
			if (pass->progress)
				pass->progress(pass->context, pass->done, pass->total);
			r = renew(pass, error);
			if (r)
				return wfs_trace(r);
		}
	}
}

static int add_all(struct pass *pass, struct wfs_error *error)
{
	struct wfs_reducer reducer;
	struct wfs_bytes name;
	int r;

	for (uint32_t id = 0; wfs_view_reducer_next(&pass->view, id, &name, &reducer) == 0;
		id = reducer.reducer_id)
		pass->total += reducer.live_count;
	while ((r = wfs_view_reducer_next_name(
			&pass->view, wfs_buffer_bytes(&pass->name), &name, &reducer)) == 0) {
		wfs_buffer_reset(&pass->name);
		wfs_buffer_append(&pass->name, name.data, name.size);
		if (wfs_buffer_check(&pass->name))
			return wfs_error_from_errno(error, -ENOMEM, "write a snapshot");
		r = add_reducer(pass, &reducer, error);
		if (r)
			return wfs_trace(r);
	}
	return r == -ENOENT ? 0 : wfs_error_from_errno(error, r, "read the reducers");
}

static void pass_done(struct pass *pass)
{
	wfs_view_close(&pass->view);
	wfs_hasher_free(pass->hasher);
	wfs_buffer_done(&pass->line);
	wfs_buffer_done(&pass->key);
	wfs_buffer_done(&pass->name);
}

int wfs_snapshot_hash(struct wfs_world *world, uint64_t height,
	void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
	struct wfs_hash *ret_hash, struct wfs_error *error)
{
	WFS_CLEANUP(pass_done)
	struct pass pass = {.world = world, .progress = progress, .context = context};
	struct wfs_version manifest;
	int r = wfs_view_open(world, height, &pass.view, error);

	if (r)
		return wfs_trace(r);
	r = wfs_hasher_new(&pass.hasher);
	if (!r)
		r = wfs_view_manifest(&pass.view, &manifest);
	if (r)
		return wfs_error_from_errno(error, r, "write a snapshot");
	wfs_snapshot_header(&pass.line, &manifest.hash);
	r = wfs_buffer_check(&pass.line);
	if (r)
		return wfs_error_from_errno(error, r, "write a snapshot");
	wfs_hasher_add(pass.hasher, pass.line.data, pass.line.size);
	r = add_all(&pass, error);
	if (r)
		return wfs_trace(r);
	*ret_hash = wfs_hasher_end(pass.hasher);
	return 0;
}
