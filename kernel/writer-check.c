/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a request, on the sender's thread. */
#include "kernel/base/json.h"
#include "kernel/grants.h"
#include "kernel/snapshot.h"
#include "kernel/writer-impl.h"

static int check_event(struct wfs_world *world, struct wfs_request *request)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(world);
	const struct wfs_schema *schema = wfs_manifest_schema(manifest, request->schema);

	if (!schema)
		return wfs_error_set(&request->error, WFS_E_NOT_FOUND,
			"the manifest has no schema '%s'", request->schema);
	int r = wfs_schema_check(schema, request->value, &request->error);
	if (r)
		return wfs_trace(r);
	wfs_fold_write_body(
		&request->body, writer_charge(request), request->schema, request->value);
	request->checked_by = WFS_STEAL(manifest);
	const size_t values = wfs_json_count(request->body.data, request->body.size);
	request->queued_bytes = values * WFS_JSON_VALUE_BYTES;
	return wfs_json_check_count(values, &request->error);
}

static int check_action(struct wfs_world *world, struct wfs_request *request)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(world);
	int r = wfs_action_check(manifest, request->action, &request->error);

	if (!r) /* for its size; folding finds the record's body */
		wfs_json_write(request->action, &request->body);
	return wfs_trace(r);
}

static void check_decision(struct wfs_request *request)
{
	wfs_require(request->error.code != WFS_OK);
	wfs_record_write_decision_body(
		&request->body, &request->decision, wfs_error_info(request->error.code)->name);
}

int writer_check(struct wfs_world *world, struct wfs_request *request)
{
	int r = 0;

	switch (request->kind) {
	case WFS_REQUEST_EVENT:
		r = check_event(world, request);
		break;
	case WFS_REQUEST_BLOB:
		wfs_record_write_blob_body(&request->body, writer_charge(request),
			&request->blob.hash, request->blob.size_bytes);
		break;
	case WFS_REQUEST_SNAPSHOT:
		wfs_snapshot_body(&request->body, writer_charge(request), request->snapshot_height,
			&request->snapshot_hash);
		break;
	case WFS_REQUEST_ACTION:
		r = check_action(world, request);
		break;
	case WFS_REQUEST_DECISION:
		check_decision(request);
		break;
	case WFS_REQUEST_GC:
		break;
	}
	if (r)
		return r;
	r = wfs_buffer_check(&request->body);
	if (r)
		return wfs_error_from_errno(&request->error, r, "queue a request");
	if (request->body.size > WFS_REQUEST_SIZE_MAX)
		return wfs_error_set(&request->error, WFS_E_TOO_LARGE,
			"the request has %zu bytes, at most %d are taken", request->body.size,
			WFS_REQUEST_SIZE_MAX);
	return 0;
}
