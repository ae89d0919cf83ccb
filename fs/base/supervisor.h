/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service tells systemd about itself, by the socket that NOTIFY_SOCKET names. A process
 * that systemd has not started as a service of Type=notify tells nothing, and neither does a
 * program that was built without libsystemd.
 * Source: sd_notify(3), sd_watchdog_enabled(3).
 */
#pragma once

#include <stdint.h>

/** wfs_supervisor_tell() - send assignments, one a line, as `READY=1`; a failure is ignored. Waits
 *  while systemd leaves 10 datagrams unread, which Linux keeps.
 *  Thread: any. */
void wfs_supervisor_tell(const char *assignments);

enum { WFS_SUPERVISOR_PAUSE_MS = 5000 }; /* of a service that is not watched */

/** wfs_supervisor_pause_ms() - get how often the service should send STATUS and `WATCHDOG=1`
 *  Return: milliseconds, at most half of what WATCHDOG_USEC allows and WFS_SUPERVISOR_PAUSE_MS; 0:
 *  never, because systemd does not wait for messages of this process. */
uint64_t wfs_supervisor_pause_ms(void);
