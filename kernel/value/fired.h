/* SPDX-License-Identifier: Apache-2.0 */
/* Which timer sends a request (kernel/domain/timer/timer.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a request of a timer does to the timer. */
enum wfs_fired_how {
	WFS_FIRED_DUE,  /* it fires; in a decision ("deny"): its action is refused */
	WFS_FIRED_LATE, /* decision "skip": the due time was missed, so the timer does not fire */
	WFS_FIRED_LAST, /* decision "end": nobody pays for the timer's records; it is deleted */
};

/* The timer whose request a record is, and the due time. Plain value; the id is borrowed. */
struct wfs_fired {
	const char *timer; /* id of the timer, among those of its principal; NULL: no timer */
	int64_t due_ns;
	enum wfs_fired_how how;
	/* When the timer was made, by which it differs from a later timer with the same id; 0: not
	 * known, because records do not have it. */
	int64_t created_ns;
};

/** wfs_fired_due_ns() - Return: the value for the member `due_ns` of a record's body; -1: no timer
 *  sends the request, so the body has no such member. */
static inline int64_t wfs_fired_due_ns(const struct wfs_fired *fired)
{
	return fired->timer ? fired->due_ns : -1;
}
