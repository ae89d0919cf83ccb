/* SPDX-License-Identifier: Apache-2.0 */
/* Where a read stood, as text and as JSON. */
#include "kernel/value/meta.h"

#include <inttypes.h>

#include "kernel/base/hash-text.h"
#include "kernel/base/json.h"

void wfs_meta_write(const struct wfs_meta *meta, struct wfs_buffer *buffer)
{
	wfs_buffer_printf(buffer, "{\"journal_height\":%" PRIu64 ",\"manifest_hash\":\"%s\"",
		meta->journal_height, WFS_HASH_TEXT(&meta->manifest_hash));
	if (meta->has_snapshot)
		wfs_buffer_printf(
			buffer, ",\"snapshot_hash\":\"%s\"", WFS_HASH_TEXT(&meta->snapshot_hash));
	wfs_buffer_append_text(buffer, "}\n");
}

json_t *wfs_meta_document(const struct wfs_meta *meta)
{
	WFS_AUTO_JSON json_t *document =
		json_pack("{s:I}", "journal_height", (json_int_t)meta->journal_height);
	int r = document ? 0 : -ENOMEM;

	if (!r)
		r = wfs_json_set_hash(document, "manifest_hash", &meta->manifest_hash);
	if (!r && meta->has_snapshot)
		r = wfs_json_set_hash(document, "snapshot_hash", &meta->snapshot_hash);
	return r ? NULL : WFS_STEAL(document);
}
