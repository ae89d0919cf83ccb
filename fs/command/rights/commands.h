/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the commands of this folder. */
#pragma once

#include "fs/command/frame/run.h"

wfs_command_run wfs_run_code_lift, wfs_run_code_ls, wfs_run_grant, wfs_run_revoke,
	wfs_run_principal_add;
