/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of small processes that stay for long. It may have keys of models, and
 * /proc/PID/environ and core files show it to every process of the user.
 */
#pragma once

/** wfs_environment_forget() - overwrite and remove every environment variable of this process but
 *  PATH; for a child process, before it has threads. */
void wfs_environment_forget(void);
