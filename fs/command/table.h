/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/command/: what the rows of the table run. */
#pragma once

#include "fs/command/frame/run.h"

/* fs/command/world/world.c */
int wfs_run_init(struct wfs_run *run);
int wfs_run_status(struct wfs_run *run);
int wfs_run_snapshot(struct wfs_run *run);

/* fs/command/world/trust.c */
int wfs_run_trust(struct wfs_run *run);
/** wfs_run_tell_trust() - a line for people, if the user does not trust the world */
void wfs_run_tell_trust(struct wfs_run *run, const char *directory);

/* fs/command/world/check.c */
int wfs_run_verify(struct wfs_run *run);
int wfs_run_replay(struct wfs_run *run);

/* fs/command/world/upkeep.c */
int wfs_run_backup(struct wfs_run *run);
int wfs_run_gc(struct wfs_run *run);

/* fs/command/rights/code.c */
int wfs_run_code_lift(struct wfs_run *run);
int wfs_run_code_ls(struct wfs_run *run);

/* fs/command/read/diff.c */
int wfs_run_diff(struct wfs_run *run);

/* fs/command/mount/mount.c */
int wfs_run_mount(struct wfs_run *run);
int wfs_run_umount(struct wfs_run *run);
int wfs_run_serve(struct wfs_run *run);

/* fs/command/read/read.c */
int wfs_run_manifest(struct wfs_run *run);
int wfs_run_state(struct wfs_run *run);
int wfs_run_cells(struct wfs_run *run);
int wfs_run_head(struct wfs_run *run);
int wfs_run_journal(struct wfs_run *run);
int wfs_run_turns(struct wfs_run *run);

/* fs/command/write/blob.c */
int wfs_run_blob_get(struct wfs_run *run);
int wfs_run_blob_put(struct wfs_run *run);
int wfs_run_blob_stat(struct wfs_run *run);

/* fs/command/world/restore.c */
int wfs_run_restore(struct wfs_run *run);

/* fs/command/read/tree.c */
int wfs_run_fs_ls(struct wfs_run *run);
int wfs_run_fs_cat(struct wfs_run *run);
int wfs_run_fs_stat(struct wfs_run *run);
int wfs_run_fs_tree(struct wfs_run *run);

/* fs/command/read/grep.c */
int wfs_run_fs_grep(struct wfs_run *run);

/* fs/command/agents/migrate.c */
int wfs_run_agent_migrate(struct wfs_run *run);

/* fs/command/agents/mind.c */
int wfs_run_agent_export(struct wfs_run *run);
int wfs_run_agent_import(struct wfs_run *run);
int wfs_run_memory_reembed(struct wfs_run *run);

/* fs/command/world/apply.c */
int wfs_run_apply(struct wfs_run *run);

/* fs/command/read/query.c */
int wfs_run_query(struct wfs_run *run);
bool wfs_query_topic(FILE *file, const char *word);

/* fs/command/write/invoke.c */
int wfs_run_invoke(struct wfs_run *run);
bool wfs_invoke_topic(FILE *file, const char *word);
int wfs_run_mint_resolve(struct wfs_run *run);

/* fs/command/rights/grant.c */
int wfs_run_grant(struct wfs_run *run);
int wfs_run_revoke(struct wfs_run *run);
int wfs_run_principal_add(struct wfs_run *run);

/* fs/command/agents/step.c */
int wfs_run_step(struct wfs_run *run);
int wfs_run_cancel(struct wfs_run *run);
int wfs_run_approve(struct wfs_run *run);

/* fs/command/agents/chat.c */
int wfs_run_chat(struct wfs_run *run);

/* fs/command/agents/plan.c */
int wfs_run_plan_ls(struct wfs_run *run);
int wfs_run_plan_show(struct wfs_run *run);
int wfs_run_plan_watch(struct wfs_run *run);
int wfs_run_plan_resume(struct wfs_run *run);
int wfs_run_plan_cancel(struct wfs_run *run);

/* fs/command/agents/plan-file.c */
int wfs_run_plan_export(struct wfs_run *run);
int wfs_run_plan_import(struct wfs_run *run);
int wfs_run_plan_graph(struct wfs_run *run);

/* fs/command/write/event.c */
int wfs_run_event(struct wfs_run *run);

/* fs/command/agents/mcp.c */
int wfs_run_help(struct wfs_run *run);
int wfs_run_tools(struct wfs_run *run);
int wfs_run_mcp(struct wfs_run *run);
