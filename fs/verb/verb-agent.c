/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about the turns of agents. */
#include "caps/session-read.h"
#include "caps/session-turn.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"

static struct wfs_driver *driver_of(const struct wfs_call *call)
{
	if (call->driver)
		return call->driver;
	return call->host ? call->host->driver : NULL;
}

void wfs_verb_driven(struct wfs_drive *drive)
{
	struct wfs_call *const call = drive->context;
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	int r = drive->status;

	if (r) {
		call->error = drive->error;
		call->error_details = drive->result;
	} else {
		call->result = drive->result;
		r = wfs_verb_view(call, NULL, &view);
	}
	wfs_session_view_close(&view);
	wfs_verb_finish(call, r);
}

int wfs_verb_drive(
	struct wfs_call *call, enum wfs_drive_what what, void (*done)(struct wfs_drive *drive))
{
	struct wfs_driver *const driver = driver_of(call);

	if (!driver)
		return wfs_error_set(&call->error, WFS_E_NOT_ENABLED,
			"this is not enabled: no process runs the agents of this world");
	call->drive = (struct wfs_drive){
		.what = what,
		.session = call->session,
		.params = call->payload,
		.called_by = call->called_by,
		.done = done,
		.context = call,
	};
	driver->begin(driver, &call->drive);
	return WFS_VERB_PENDING;
}

int wfs_verb_step(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_STEP, wfs_verb_driven);
}

int wfs_verb_step_again(struct wfs_call *call)
{
	return wfs_verb_drive(call, WFS_DRIVE_AGAIN, wfs_verb_driven);
}

void wfs_call_abandon(struct wfs_call *call)
{
	struct wfs_driver *const driver = driver_of(call);

	atomic_store(&call->gone, true);
	if (driver && call->drive.ticket)
		driver->abandon(driver, call->drive.ticket);
}

/* --- orders to turns --- */

static void order_answered(struct wfs_request *request)
{
	struct wfs_call *const call = request->context;

	call->result = WFS_STEAL(request->answer);
	call->error = request->error;
	wfs_verb_finish(call, request->result);
}

int wfs_verb_order(struct wfs_call *call,
	int (*give)(const struct wfs_session *, json_t *, struct wfs_request *))
{
	struct wfs_request *const request = &call->request;

	request->done = order_answered;
	request->context = call;
	int r = give(call->session, call->payload, request);
	if (r)
		call->error = request->error;
	return r ? r : WFS_VERB_PENDING;
}

int wfs_verb_cancel(struct wfs_call *call)
{
	return wfs_verb_order(call, wfs_session_cancel);
}

int wfs_verb_wake(struct wfs_call *call)
{
	return wfs_verb_order(call, wfs_session_wake);
}

int wfs_verb_approve(struct wfs_call *call)
{
	return wfs_verb_order(call, wfs_session_approve);
}
