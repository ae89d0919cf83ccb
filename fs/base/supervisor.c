/* SPDX-License-Identifier: Apache-2.0 */
/* What a service tells systemd, by libsystemd. */
#include "fs/base/supervisor.h"

#include <stdlib.h>
#include <systemd/sd-daemon.h>

enum { USEC_PER_MSEC = 1000 };

void wfs_supervisor_tell(const char *assignments)
{
	(void)sd_notify(0, assignments);
}

uint64_t wfs_supervisor_pause_ms(void)
{
	uint64_t allowed_us = 0;

	if (!secure_getenv("NOTIFY_SOCKET"))
		return 0;
	if (sd_watchdog_enabled(0, &allowed_us) <= 0)
		return WFS_SUPERVISOR_PAUSE_MS;

	const uint64_t pause_ms = allowed_us / 2 / USEC_PER_MSEC;

	if (pause_ms > WFS_SUPERVISOR_PAUSE_MS)
		return WFS_SUPERVISOR_PAUSE_MS;
	return pause_ms ? pause_ms : 1;
}
