/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a service tells systemd about itself, by the socket that NOTIFY_SOCKET names. A process
 * that systemd has not started as a service of Type=notify tells nothing, and neither does a
 * program that was built without libsystemd.
 * Source: sd_notify(3), sd_watchdog_enabled(3).
 */
#pragma once

#include <stdint.h>

/** wfs_supervisor_tell() - send @assignments, such as `READY=1`, one on each line, to systemd; a
 *  failure is ignored. Waits while the queue of the socket, which has room for 10 datagrams, is
 *  full.
 *  Thread: any. */
void wfs_supervisor_tell(const char *assignments);

enum { WFS_SUPERVISOR_PAUSE_MS = 5000 }; /* if systemd has no watchdog for the service */

/** wfs_supervisor_pause_ms() - get how often the service should send STATUS and `WATCHDOG=1`
 *  Return: milliseconds between two messages: half of WATCHDOG_USEC, but at most
 *  WFS_SUPERVISOR_PAUSE_MS, and this if systemd has no watchdog for the service; 0: send none,
 *  because systemd has not set NOTIFY_SOCKET. */
uint64_t wfs_supervisor_pause_ms(void);
