/* SPDX-License-Identifier: Apache-2.0 */
/* A program without libsystemd, which tells systemd nothing. */
#include "fs/base/supervisor.h"

void wfs_supervisor_tell(const char *assignments)
{
	(void)assignments;
}

uint64_t wfs_supervisor_pause_ms(void)
{
	return 0;
}
