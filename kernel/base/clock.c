/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. */
#include "kernel/base/clock.h"

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
