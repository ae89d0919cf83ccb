/* SPDX-License-Identifier: Apache-2.0 */
/* Record 0 and what stands beside it. */
#include "kernel/genesis.h"

#include "kernel/base/encode.h"
#include "kernel/base/json.h"

static int append_record(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	const char *name = wfs_manifest_name(manifest);
	char text[WFS_HASH_TEXT_SIZE];

	wfs_hash_text(wfs_manifest_hash(manifest), text);
	wfs_buffer_append_text(&body, "{\"entropy\":\"");
	wfs_base64_append(&body, genesis->entropy, sizeof(genesis->entropy));
	wfs_buffer_printf(&body, "\",\"manifest_hash\":\"%s\",\"name\":", text);
	wfs_json_write_string(&body, name, strlen(name));
	wfs_buffer_printf(&body, ",\"world_id\":\"%s\"}", genesis->world_id);
	int r = wfs_buffer_check(&body);
	if (r)
		return r;
	struct wfs_record record = {
		.at_ns = genesis->at_ns,
		.kind = WFS_RECORD_GENESIS,
		.principal = "kernel",
		.body = wfs_buffer_bytes(&body),
	};
	return wfs_head_append(head, &record);
}

int wfs_genesis_write(struct wfs_head *head, const struct wfs_genesis *genesis,
	const struct wfs_manifest *manifest)
{
	wfs_require(head->height == 0);
	for (size_t i = 0; i < wfs_manifest_reducer_count(manifest); i++) {
		int r = wfs_head_add_reducer(
			head, wfs_manifest_reducer(manifest, i), genesis->at_ns);

		if (r)
			return wfs_trace(r);
	}
	int r = append_record(head, genesis, manifest);
	if (!r)
		r = wfs_head_set_kernel(head, WFS_KERNEL_CELL_MANIFEST,
			wfs_manifest_document(manifest), head->height, genesis->at_ns);
	return wfs_trace(r);
}

int wfs_genesis_module(
	struct wfs_head *head, const struct wfs_genesis *genesis, struct wfs_bytes module)
{
	WFS_AUTO_BLOB_WRITER struct wfs_blob_writer *writer = NULL;
	struct wfs_blob blob;
	int r = wfs_blob_writer_new(head->store, &writer);

	if (!r)
		r = wfs_blob_writer_add(writer, module.data, module.size);
	if (!r)
		r = wfs_blob_writer_finish(writer, &blob);
	if (!r)
		r = wfs_head_list_blob(head, &blob, 1, genesis->at_ns);
	return wfs_trace(r < 0 ? r : 0); /* two reducers may share a module */
}
