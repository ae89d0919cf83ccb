/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of reducers. */
#include "kernel/fold/runtime.h"

#include <inttypes.h>

#include "kernel/read/blob-read.h"

struct wfs_runtime {
	struct wfs_manifest *manifest;
	struct wfs_lua_limits limits;
	size_t count;
	struct wfs_code *reducers[]; /* by index in the manifest; NULL until used */
};

int wfs_runtime_new(struct wfs_manifest *manifest, const struct wfs_lua_limits *limits,
	struct wfs_runtime **ret_runtime)
{
	size_t count = wfs_manifest_reducer_count(manifest);
	struct wfs_runtime *runtime =
		calloc(1, sizeof(*runtime) + count * sizeof(struct wfs_code *));

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
		wfs_code_free(runtime->reducers[i]);
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

static int load(const struct wfs_runtime *runtime, const struct wfs_runtime_place *place,
	const struct wfs_reducer_definition *reducer, struct wfs_code **ret_code,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	char chunk[WFS_REDUCER_NAME_MAX + sizeof(".lua")];
	int r = wfs_blob_read(place->store, place->txn, &reducer->module, &source, error);

	if (r)
		return wfs_trace(r);
	snprintf(chunk, sizeof(chunk), "%s.lua", reducer->name);
	return wfs_trace(wfs_code_new(place->box,
		&(struct wfs_code_options){
			.limits = &runtime->limits,
			.name = chunk,
			.source = wfs_buffer_bytes(&source),
		},
		ret_code, error));
}

int wfs_runtime_reducer(struct wfs_runtime *runtime, const struct wfs_runtime_place *place,
	const struct wfs_reducer_definition *reducer, struct wfs_code **ret_code,
	struct wfs_error *error)
{
	struct wfs_code **slot = &runtime->reducers[reducer->index];

	wfs_require(!reducer->builtin);
	if (!*slot) {
		int r = load(runtime, place, reducer, slot, error);

		if (r)
			return wfs_trace(r);
	}
	*ret_code = *slot;
	return 0;
}
