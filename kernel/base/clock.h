/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. Host time enters the world only through a record's at_ns. */
#pragma once

#include <stdint.h>

/** wfs_clock_realtime_ns() - nanoseconds since 1970. */
int64_t wfs_clock_realtime_ns(void);

/** wfs_clock_monotonic_ns() - nanoseconds since some point; for intervals. */
int64_t wfs_clock_monotonic_ns(void);
