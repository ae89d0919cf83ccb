/* SPDX-License-Identifier: Apache-2.0 */
/* Memory stores, for a session that drops cached files. */
#include "caps/caps-impl.h"

#include "caps/unjudged.h"
#include "kernel/domain/memory/memory-file.h"

int wfs_unjudged_is_store(struct wfs_view *view, struct wfs_bytes id)
{
	struct wfs_version version;
	int r = wfs_entity_source(view, WFS_ENTITY_FILE_ENTRIES, id, &version);

	return r == -ENOENT ? 0 : r ? r : 1;
}

int wfs_unjudged_entry_ever(struct wfs_view *view, struct wfs_bytes artifact_id, uint64_t number,
	uint32_t *ret_number, struct wfs_bytes *ret_key)
{
	return wfs_memory_entry_ever(view, artifact_id, number, ret_number, ret_key);
}
