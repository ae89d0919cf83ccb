/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the commands of this folder. */
#pragma once

#include "fs/command/frame/run.h"

wfs_command_run wfs_run_diff, wfs_run_manifest, wfs_run_state, wfs_run_cells, wfs_run_head,
	wfs_run_journal, wfs_run_fs_ls, wfs_run_fs_cat, wfs_run_fs_stat, wfs_run_fs_tree,
	wfs_run_fs_grep, wfs_run_query;

bool wfs_query_topic(FILE *file, const char *word);
