/* SPDX-License-Identifier: Apache-2.0 */
/* Private to fs/tool/: the tasks of the table's rows. */
#pragma once

#include "fs/tool/tool.h"

/* fs/tool/tool-list.c: fs_ls */
int wfs_tool_list_start(struct wfs_task *task);
int wfs_tool_list_answered(struct wfs_task *task, const json_t *result);

/* fs/tool/tool-action.c: invoke, query, step and chat, and the schemas of their objects (new
 * reference, NULL without memory) */
int wfs_tool_invoke_start(struct wfs_task *task);
int wfs_tool_query_start(struct wfs_task *task);
json_t *wfs_tool_invoke_action(const json_t *arguments);
json_t *wfs_tool_query_action(const json_t *arguments);
int wfs_tool_step_start(struct wfs_task *task);
int wfs_tool_step_answered(struct wfs_task *task, const json_t *result);
void wfs_tool_step_failed(struct wfs_task *task, const json_t *details);
int wfs_tool_chat_start(struct wfs_task *task);
int wfs_tool_chat_answered(struct wfs_task *task, const json_t *result);
void wfs_tool_chat_failed(struct wfs_task *task, const json_t *details);
json_t *wfs_tool_action_schema(bool strict);
json_t *wfs_tool_query_type_schema(bool strict);
json_t *wfs_tool_messages_schema(bool strict);
json_t *wfs_tool_names_schema(bool strict);
json_t *wfs_tool_query_schema(bool strict);

/* fs/tool/tool-read.c: tools that read, except fs_ls */
int wfs_tool_manifest_start(struct wfs_task *task);
int wfs_tool_manifest_answered(struct wfs_task *task, const json_t *result);
int wfs_tool_reducer_start(struct wfs_task *task);
int wfs_tool_reducer_answered(struct wfs_task *task, const json_t *result);
int wfs_tool_stat_start(struct wfs_task *task);
int wfs_tool_read_start(struct wfs_task *task);
int wfs_tool_read_answered(struct wfs_task *task, const json_t *result);
/* Makes the verb's result, and its meta, those of the task. */
int wfs_tool_plain_answered(struct wfs_task *task, const json_t *result);
