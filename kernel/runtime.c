/* SPDX-License-Identifier: Apache-2.0 */
/* Lua states per reducer. */
#include "kernel/runtime.h"

#include <inttypes.h>

#include "kernel/blob-read.h"

struct wfs_runtime {
	struct wfs_manifest *manifest;
	struct wfs_lua_limits limits;
	size_t count;
	struct wfs_lua *reducers[]; /* by index in the manifest; NULL until used */
};

int wfs_runtime_new(struct wfs_manifest *manifest, const struct wfs_lua_limits *limits,
	struct wfs_runtime **ret_runtime)
{
	size_t count = wfs_manifest_reducer_count(manifest);
	struct wfs_runtime *runtime =
		calloc(1, sizeof(*runtime) + count * sizeof(struct wfs_lua *));

	if (!runtime)
		return -ENOMEM;
	runtime->manifest = wfs_manifest_ref(manifest);
	runtime->limits = *limits;
	runtime->count = count;
	*ret_runtime = runtime;
	return 0;
}

void wfs_runtime_free(struct wfs_runtime *runtime)
{
	if (!runtime)
		return;
	for (size_t i = 0; i < runtime->count; i++)
		wfs_lua_free(runtime->reducers[i]);
	wfs_manifest_unref(runtime->manifest);
	free(runtime);
}

const struct wfs_lua_limits *wfs_runtime_limits(const struct wfs_runtime *runtime)
{
	return &runtime->limits;
}

struct wfs_manifest *wfs_runtime_manifest(const struct wfs_runtime *runtime)
{
	return runtime->manifest;
}

int wfs_runtime_reducer(struct wfs_runtime *runtime, struct wfs_store *store, struct wfs_txn *txn,
	const struct wfs_reducer_definition *reducer, struct wfs_lua **ret_lua,
	struct wfs_error *error)
{
	struct wfs_lua **slot = &runtime->reducers[reducer->index];

	wfs_require(!reducer->builtin);
	if (!*slot) {
		WFS_AUTO_BUFFER struct wfs_buffer source = {0};
		char chunk[WFS_REDUCER_NAME_MAX + sizeof(".lua")];
		int r = wfs_blob_read(store, txn, &reducer->module, &source, error);

		if (r)
			return wfs_trace(r);
		snprintf(chunk, sizeof(chunk), "%s.lua", reducer->name);
		r = wfs_lua_new(&runtime->limits, chunk, source.data, source.size, slot, error);
		if (r)
			return wfs_trace(r);
	}
	*ret_lua = *slot;
	return 0;
}
