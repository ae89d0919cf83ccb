/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of small processes that stay: keys of models may stand in it, and /proc/PID/environ and a core show it
 * to every process of the user.
 */
#pragma once

/** wfs_environment_forget() - wipe every variable of this process but PATH; for a child, before it has threads */
void wfs_environment_forget(void);
