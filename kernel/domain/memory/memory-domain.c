/* SPDX-License-Identifier: Apache-2.0 */
/* Memory stores as a domain, with the functions for artifacts of their type. */
#include "kernel/domain/memory/memory.h"

static const struct artifact_holding holding = {
	.check = memory_check,
	.entries = memory_content_entries,
	.take_content = memory_take_content,
	.bytes = memory_bytes,
	.delete_all = memory_delete_all,
};

static void done(void *kept)
{
	memory_mirrors_free(*(struct memory_mirrors **)kept);
}

const struct wfs_domain wfs_memory_domain = {
	.name = "memory",
	.holding = &holding,
	.kept_size = sizeof(struct memory_mirrors *),
	.done = done,
};
