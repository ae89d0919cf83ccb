/* SPDX-License-Identifier: Apache-2.0 */
/* Checking a request, on the sender's thread. */
#include "kernel/base/json.h"
#include "kernel/fold/intent.h"
#include "kernel/read/snapshot.h"
#include "kernel/world/apply.h"
#include "kernel/world/domains.h"
#include "kernel/world/writer-impl.h"

int writer_check_event(const struct wfs_manifest *manifest, struct wfs_request *request)
{
	const struct wfs_schema *schema = wfs_manifest_schema(manifest, request->event.schema);

	if (!schema)
		return wfs_error_set(&request->error, WFS_E_NOT_FOUND,
			"the manifest has no schema '%s'", request->event.schema);
	return wfs_trace(wfs_schema_check(schema, request->event.value, &request->error));
}

/* Counts the JSON values in a request's body, and the bytes that they take when parsed. */
static size_t count_values(struct wfs_request *request)
{
	const size_t values = wfs_json_count(request->body.data, request->body.size);

	request->queued_bytes = values * WFS_JSON_VALUE_BYTES;
	return values;
}

static int check_event(struct wfs_world *world, struct wfs_request *request)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(world);
	int r = writer_check_event(manifest, request);

	if (r)
		return wfs_trace(r);
	wfs_body_write_event(&request->body,
		&(const struct wfs_body_event){.dedup = request->event.dedup,
			.due_ns = wfs_fired_due_ns(&request->fired),
			.grant = writer_charge(request),
			.schema = request->event.schema,
			.timer = request->fired.timer,
			.value = (json_t *)request->event.value});
	request->event.checked_by = WFS_STEAL(manifest);
	return wfs_json_check_count(count_values(request), &request->error);
}

static int check_action(struct wfs_world *world, struct wfs_request *request)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(world);
	int r = wfs_action_check(manifest, request->action.document, &request->error);

	if (r)
		return wfs_trace(r);
	wfs_json_write(
		/* only for its size; folding writes the record's */
		request->action.document, &request->body);
	count_values(request);
	return 0;
}

static int check_receipt(struct wfs_request *request)
{
	union wfs_body body;
	int r = wfs_body_read(
		WFS_RECORD_RECEIPT, request->receipt.document, &body, &request->error);

	if (!r)
		r = wfs_intent_check_receipt(&body.receipt, &request->error);
	if (r)
		return wfs_trace(r);
	if (*request->charge)
		body.receipt.grant = request->charge;
	request->receipt.body = body.receipt;
	wfs_body_write_receipt(&request->body, &body.receipt);
	count_values(request);
	for (size_t i = 0; i < request->receipt.raw_count; i++)
		request->queued_bytes += request->receipt.raw[i].size;
	return 0;
}

/* Checks a manifest. Its body is written later, when the manifest that it replaces is known. */
static int check_manifest(struct wfs_world *world, struct wfs_request *request)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *from = wfs_world_manifest(world);
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	request->manifest.compiled = NULL;
	int r = wfs_manifest_new(
		request->manifest.document, &problems, &request->manifest.compiled);

	if (r == -EINVAL)
		return wfs_error_set(&request->error, WFS_E_INVALID_ARGUMENT,
			"the manifest has %zu problem%s: %.400s", problems.count,
			problems.count == 1 ? "" : "s", wfs_buffer_text(&problems.lines));
	if (r)
		return wfs_error_from_errno(&request->error, r, "check a manifest");
	const struct wfs_bytes document = wfs_manifest_document(request->manifest.compiled);
	request->queued_bytes =
		wfs_json_count(document.data, document.size) * WFS_JSON_VALUE_BYTES + document.size;
	if (document.size > WFS_REQUEST_SIZE_MAX)
		return wfs_error_set(&request->error, WFS_E_TOO_LARGE,
			"the manifest has %zu bytes, at most %d are taken", document.size,
			WFS_REQUEST_SIZE_MAX);
	if (request->manifest.reason && strlen(request->manifest.reason) > WFS_REASON_MAX)
		return wfs_error_set(&request->error, WFS_E_TOO_LARGE,
			"the reason has %zu bytes, at most %d are taken",
			strlen(request->manifest.reason), WFS_REASON_MAX);
	return wfs_trace(wfs_apply_check_modules(world->store, from, request->manifest.compiled,
		request->manifest.dry_run, &request->error));
}

int writer_check(struct wfs_world *world, struct wfs_request *request)
{
	int r = 0;

	switch (request->kind) {
	case WFS_REQUEST_EVENT:
		r = check_event(world, request);
		break;
	case WFS_REQUEST_BLOB:
		wfs_body_write_blob(&request->body,
			&(const struct wfs_body_blob){.grant = writer_charge(request),
				.hash = request->blob.hash,
				.size = (int64_t)request->blob.size_bytes});
		break;
	case WFS_REQUEST_SNAPSHOT:
		wfs_body_write_snapshot(&request->body,
			&(const struct wfs_body_snapshot){.grant = writer_charge(request),
				.height = (int64_t)request->snapshot.height,
				.snapshot_hash = request->snapshot.hash});
		break;
	case WFS_REQUEST_ACTION:
		r = check_action(world, request);
		break;
	case WFS_REQUEST_RECEIPT:
		r = check_receipt(request);
		break;
	case WFS_REQUEST_MANIFEST:
		r = check_manifest(world, request);
		break;
	case WFS_REQUEST_DECISION:
		wfs_require(request->error.code != WFS_OK);
		request->decision.counted = false;
		request->decision.refusal.fired = request->fired;
		wfs_record_write_decision_body(&request->body, &request->decision.refusal,
			wfs_error_info(request->error.code)->name);
		break;
	case WFS_REQUEST_GC:
	case WFS_REQUEST_LIFT:
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
