/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the commands of this folder. */
#pragma once

#include "fs/command/frame/run.h"

wfs_command_run wfs_run_mount, wfs_run_umount, wfs_run_serve;
