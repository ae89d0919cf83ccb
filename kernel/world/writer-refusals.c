/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting repeated refusals, so that a principal without any right cannot fill the journal.
 *
 * The first refusal of an effect for a principal gets a record at once. Those of the next second
 * are counted, and get one record when the second has ended or the world is closed. If the process
 * is killed, only the count can be lost.
 *
 * A principal may have very many agents. After the first WRITER_REFUSALS_OWNER_MAX of them,
 * refusals of its agents are counted as its own. When all WRITER_REFUSALS_MAX rows are in use,
 * refusals of further principals are counted by effect, as those of the kernel. So each row gives
 * at most two records a second, and the agents of one principal do not hide refusals of others.
 * Source: docs/design.md §9.
 */
#include <assert.h>
#include <string.h>

#include "kernel/base/clock.h"
#include "kernel/world/writer-impl.h"

enum { SECOND_NS = 1000 * 1000 * 1000 };

#define KERNEL "kernel" /* principal of the rows without a principal of their own */

static struct writer_refusal *find(
	struct writer_refusals *refusals, const char *principal, const char *effect)
{
	for (size_t i = 0; i < refusals->count; i++) {
		struct writer_refusal *const row = &refusals->rows[i];

		if (strcmp(row->principal, principal) == 0 && strcmp(row->effect, effect) == 0)
			return row;
	}
	return NULL;
}

static void drop(struct writer_refusals *refusals, struct writer_refusal *row)
{
	free(row->principal);
	free(row->owner);
	*row = refusals->rows[--refusals->count];
}

/* Has the owner as many rows for its agents as it may? @owner: may be NULL */
static bool owner_is_full(const struct writer_refusals *refusals, const char *owner)
{
	size_t count = 0;

	for (size_t i = 0; owner && i < refusals->count; i++)
		count += refusals->rows[i].owner && strcmp(refusals->rows[i].owner, owner) == 0;
	return count >= WRITER_REFUSALS_OWNER_MAX;
}

/* Adds a row for the principal @name, an agent of @owner (NULL: no agent). Does nothing without
 * memory. */
static void add(struct writer_refusals *refusals, const char *name, const char *owner,
	const struct wfs_request *request)
{
	WFS_AUTO_FREE char *principal = strdup(name);
	WFS_AUTO_FREE char *owned_by = owner ? strdup(owner) : NULL;

	if (!principal || (owner && !owned_by))
		return;
	refusals->rows[refusals->count++] = (struct writer_refusal){
		.principal = WFS_STEAL(principal),
		.owner = WFS_STEAL(owned_by),
		.effect = request->decision.refusal.effect,
		.end_ns = wfs_clock_monotonic_ns() + SECOND_NS,
		.begun = true,
	};
}

/* Counts a refusal in its row. A row whose second has ended without a count begins anew.
 * Return: was it counted? */
static bool count_in(struct writer_refusal *row, enum wfs_error_code code)
{
	const int64_t now = wfs_clock_monotonic_ns();

	if (now < row->end_ns || row->more_count > 0) {
		row->more_count++;
		row->code = code;
		return true;
	}
	row->end_ns = now + SECOND_NS;
	row->begun = true;
	return false;
}

/* After WRITER_REFUSALS_MAX rows of principals there is a row for each effect. */
static_assert((int)WFS_EFFECT_COUNT <= WRITER_REFUSALS_REST, "refusals of the rest have room");

bool writer_refusal_counted(
	struct writer_refusals *refusals, const struct wfs_request *request, const char *owner)
{
	const char *const effect = request->decision.refusal.effect;
	struct writer_refusal *row = find(refusals, request->principal, effect);
	const char *name = request->principal;

	if (!row && owner_is_full(refusals, owner)) {
		name = owner;
		owner = NULL;
		row = find(refusals, name, effect);
	}
	if (!row && refusals->count >= WRITER_REFUSALS_MAX) {
		name = KERNEL;
		owner = NULL;
		row = find(refusals, name, effect);
	}
	if (row)
		return count_in(row, request->error.code);
	add(refusals, name, owner, request);
	return false;
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
	row->written = true; /* also if the quota has no room: the count is then dropped */
	r = writer_decide(writer, row->principal, &(struct wfs_fired){0}, wfs_buffer_bytes(&body));
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

/* A count that could not be written, because the disk is full, is written a second later. */
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
