/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. Host time enters the world only through a record's at_ns. */
#pragma once

#include <stdint.h>

/** wfs_clock_realtime_ns() - get the time of day: nanoseconds since 1970. */
int64_t wfs_clock_realtime_ns(void);

/** wfs_clock_monotonic_ns() - get nanoseconds since an arbitrary point, to measure intervals. */
int64_t wfs_clock_monotonic_ns(void);

/** wfs_clock_boottime_ns() - get nanoseconds since an arbitrary point, also counting the time in
 *  which the machine sleeps, as wfs_clock_monotonic_ns() does not. */
int64_t wfs_clock_boottime_ns(void);

/** wfs_clock_thread_ns() - get the processor time that the calling thread has used, in
 *  nanoseconds. */
int64_t wfs_clock_thread_ns(void);

enum { WFS_UTC_SIZE = sizeof("2026-11-21T20:46:37.000+00:00") };

/** wfs_clock_utc() - write a time, in nanoseconds since 1970, as ISO 8601 with milliseconds.
 *  Times before 1970 are written as the beginning of 1970. */
void wfs_clock_utc(int64_t time_ns, char ret_text[static WFS_UTC_SIZE]);
