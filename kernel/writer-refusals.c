/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refusals that come again and again.
 *
 * The first one of a principal and an effect is a record at once. Those of the next second are counted, and
 * become one record when it has ended or the world is closed. Otherwise a principal without any right could
 * fill the journal. The count alone may be lost when the process is killed.
 * Source: spec 14, "Answers that tell too much".
 */
#include <string.h>

#include "kernel/base/clock.h"
#include "kernel/writer-impl.h"

enum { SECOND_NS = 1000 * 1000 * 1000 };

static struct writer_refusal *find(
	struct writer_refusals *refusals, const struct wfs_request *request)
{
	for (size_t i = 0; i < refusals->count; i++) {
		struct writer_refusal *const row = &refusals->rows[i];

		if (strcmp(row->principal, request->principal) == 0 &&
			strcmp(row->effect, request->decision.effect) == 0)
			return row;
	}
	return NULL;
}

static void drop(struct writer_refusals *refusals, struct writer_refusal *row)
{
	free(row->principal);
	*row = refusals->rows[--refusals->count];
}

bool writer_refusal_counted(struct writer_refusals *refusals, const struct wfs_request *request)
{
	const int64_t now = wfs_clock_monotonic_ns();
	struct writer_refusal *const row = find(refusals, request);

	if (row && (now < row->end_ns || row->more_count > 0)) {
		row->more_count++;
		row->code = request->error.code;
		return true;
	}
	return false;
}

void writer_refusal_begin(struct writer_refusals *refusals, const struct wfs_request *request)
{
	struct writer_refusal *row = find(refusals, request);

	if (!row && refusals->count == WRITER_REFUSALS_MAX)
		return; /* each is a record of its own until there is room */
	if (!row) {
		char *const principal = strdup(request->principal);

		if (!principal)
			return;
		row = &refusals->rows[refusals->count++];
		*row = (struct writer_refusal){
			.principal = principal, .effect = request->decision.effect};
	}
	row->end_ns = wfs_clock_monotonic_ns() + SECOND_NS;
	row->begun = true;
}

int64_t writer_refusals_due_ns(const struct writer_refusals *refusals)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < refusals->count; i++)
		if (refusals->rows[i].more_count > 0 && refusals->rows[i].end_ns < due)
			due = refusals->rows[i].end_ns;
	return due;
}

static int write_count(struct wfs_writer *writer, struct writer_refusal *row)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	const struct wfs_decision decision = {.effect = row->effect, .count = row->more_count};

	wfs_record_write_decision_body(&body, &decision, wfs_error_info(row->code)->name);
	int r = wfs_buffer_check(&body);
	if (r)
		return r;
	row->written = true; /* or has no room, and is forgotten */
	r = writer_decide(writer, row->principal, wfs_buffer_bytes(&body));
	return r < 0 ? wfs_trace(r) : 0;
}

int writer_refusals_write(struct writer_refusals *refusals, struct wfs_writer *writer, bool all)
{
	const int64_t now = wfs_clock_monotonic_ns();
	int r = 0;

	for (size_t i = 0; !r && i < refusals->count; i++) {
		struct writer_refusal *const row = &refusals->rows[i];

		if (row->more_count > 0 && (all || now >= row->end_ns))
			r = write_count(writer, row);
	}
	return r;
}

/* A count that could not be written, on a full disk, is tried again a second later. */
void writer_refusals_settle(struct writer_refusals *refusals, bool committed, bool last)
{
	const int64_t now = wfs_clock_monotonic_ns();

	for (size_t i = refusals->count; i-- > 0;) {
		struct writer_refusal *const row = &refusals->rows[i];
		const bool ended = row->more_count == 0 && now >= row->end_ns;

		if (last ||
			(committed ? row->written || ended : row->begun && row->more_count == 0)) {
			drop(refusals, row);
			continue;
		}
		if (!committed && now >= row->end_ns)
			row->end_ns = now + SECOND_NS;
		row->begun = row->written = false;
	}
}

void writer_refusals_done(struct writer_refusals *refusals)
{
	while (refusals->count > 0)
		drop(refusals, &refusals->rows[0]);
}
