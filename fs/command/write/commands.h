/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the commands of this folder. */
#pragma once

#include "fs/command/frame/run.h"

wfs_command_run wfs_run_blob_get, wfs_run_blob_put, wfs_run_blob_stat, wfs_run_invoke,
	wfs_run_mint_resolve, wfs_run_event;

bool wfs_invoke_topic(FILE *file, const char *word);
