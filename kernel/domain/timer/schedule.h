/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a timer is due: multiples of a period, counted from the time when it was made; times by the
 * fields of cron; or one time. Due times follow from the timer's document alone. Times are in
 * nanoseconds since 1970; results are set on success only.
 * Thread: any.
 */
#pragma once

#include "kernel/manifest/document.h"

/** wfs_schedule_next() - find the first due time of a timer after @after_ns
 *  Return: 0, -ENOENT (no due time follows, or the first is later than `until_ns`), -EIO (the
 *  document is damaged). */
int wfs_schedule_next(
	const struct wfs_document_timer *timer, int64_t after_ns, int64_t *ret_due_ns);

/** wfs_schedule_last() - find the latest due time of a timer from its `next_ns` to @until_ns, both
 *  included; `next_ns` must not be after @until_ns. Return: 0, -EIO (the document is damaged). */
int wfs_schedule_last(
	const struct wfs_document_timer *timer, int64_t until_ns, int64_t *ret_due_ns);

/** wfs_schedule_after() - Return: the time @after_ms milliseconds after @now_ns, in nanoseconds
 *  since 1970, but at most INT64_MAX. @after_ms: not negative */
int64_t wfs_schedule_after(int64_t now_ns, int64_t after_ms);

/** wfs_schedule_time() - read a time as RFC 3339 has it, such as 2026-11-27T08:00:00.5+01:00
 *  Return: 0, or -EINVAL (@text has another form, or is a time before 1970 or in a year after
 *  2261). */
int wfs_schedule_time(const char *text, int64_t *ret_ns);
