/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/agents/: `step --again`. */
#pragma once

#include "fs/command/frame/run.h"

/** wfs_again_run() - ask a model what the turn run->arguments[0] was asked, and print the answers
 *  then and now side by side. Return: 0, or -errno with run->error. */
int wfs_again_run(struct wfs_run *run);
