/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: the commands of this folder. */
#pragma once

#include "fs/command/frame/run.h"

wfs_command_run wfs_run_agent_migrate, wfs_run_agent_export, wfs_run_agent_import,
	wfs_run_memory_reembed, wfs_run_turns, wfs_run_step, wfs_run_cancel, wfs_run_approve,
	wfs_run_intents_ls, wfs_run_intents_resolve, wfs_run_chat, wfs_run_plan_ls,
	wfs_run_plan_show, wfs_run_plan_watch, wfs_run_plan_resume, wfs_run_plan_cancel,
	wfs_run_plan_export, wfs_run_plan_import, wfs_run_plan_graph, wfs_run_timer_ls,
	wfs_run_timer_show, wfs_run_timer_cancel, wfs_run_tool_call, wfs_run_tools, wfs_run_mcp;
