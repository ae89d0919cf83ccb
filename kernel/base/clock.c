/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. */
#include "kernel/base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "kernel/base/error.h"

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	wfs_require(clock_gettime(clock, &now) == 0);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t wfs_clock_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

int64_t wfs_clock_monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t wfs_clock_boottime_ns(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

int64_t wfs_clock_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void wfs_clock_utc(int64_t time_ns, char ret_text[static WFS_UTC_SIZE])
{
	const bool valid = time_ns >= 0; /* 2262 is the last year of 64 bits */
	const time_t seconds = valid ? time_ns / 1000000000 : 0;
	const int ms = valid ? (int)(time_ns / 1000000 % 1000) : 0;
	char text[sizeof("2026-11-21T20:46:37")] = "";
	struct tm parts = {0};

	wfs_require(gmtime_r(&seconds, &parts) != NULL);
	(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(ret_text, WFS_UTC_SIZE, "%s.%03d+00:00", text, ms);
}
