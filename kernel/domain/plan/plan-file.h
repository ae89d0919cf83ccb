/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans as files: the contents of `/plans/<id>/`.
 *
 * `plan.json`, `status` and `graph.dot` are made from one version of the plan's cell, and cells of
 * its steps at that height; a step's file from one version of its cell, and its result at that
 * height. Every change of a step also changes its plan's cell, so a version of a file never
 * changes.
 * A plan may be long. The size of `plan.json` follows from the plan's cell alone. To read a part
 * of it only the steps in that part are read; others are skipped by their blocks.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include "kernel/domain/plan/plan-read.h"
#include "kernel/manifest/entity-name.h"

enum {
	WFS_PLAN_SCHEMA_VERSION = 1,
	WFS_PLAN_GRAPH_MAX = 2000,     /* steps that are drawn */
	WFS_PLAN_GRAPH_TITLE_MAX = 40, /* characters of a title in the graph; more are cut off */
	WFS_PLAN_RESULT_SHOWN_MAX = 64 << 10, /* bytes of a result that its step's file shows */
};

/*
 * The next three functions each append a file, or a part of one, to @buffer. @view: at the height
 * of a version of the plan's cell; @plan or @state: the document of this version (sys.plan),
 * borrowed during the call. -EIO says that a cell is missing, damaged or inconsistent. After a
 * failure @buffer may have a part of what was wanted.
 */

/** wfs_plan_document() - append a part of the file `plan.json` of a plan to @buffer, schema v1:
 *  {created_utc, cursors{batches, next_ready, session_id}, goal, plan{created_utc, draft?, error?,
 *  final?, goal, in_order?, plan_id, raw?, status, steps[]}, plan_id, schema_version, status,
 *  tool_results_ref{bytes, count}|null, updated_utc}; raw: what the model wrote, if the
 *  plan could not be cut into steps; next_ready: index of the first step of the batch that has not
 *  begun; if all have begun, the number of ended steps. @range: part of the file, in bytes
 *  @ret_size_bytes: of the whole file. Return: 0, -EIO, -ENOMEM. */
int wfs_plan_document(struct wfs_view *view, const struct wfs_document_plan *plan,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);

/** wfs_plan_write_status() - append the file `status` of a plan to @buffer, one line for each of:
 *  status and, while the plan is running, phase; how many steps were done, have failed, and were
 *  skipped; the numbers of batches and tool calls; an error. @view: not used. Return: 0, -EIO,
 *  -ENOMEM. */
int wfs_plan_write_status(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/** wfs_plan_write_graph() - append a plan's steps and dependencies to @buffer, in the language of
 *  Graphviz. Of a plan with more than WFS_PLAN_GRAPH_MAX steps no step is drawn; a comment in the
 *  file says so.
 *  Return: 0, -EIO, -ENOMEM. */
int wfs_plan_write_graph(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/* --- steps --- */

/** wfs_plan_step_at() - find the version of the cell of a plan's step that is current in the view
 *  @index: of the step, from 0. Return: 0, -ENOENT (no such step), … */
int wfs_plan_step_at(struct wfs_view *view, struct wfs_bytes plan_id, int64_t index,
	struct wfs_version *ret_version);

/** wfs_plan_step_name() - append the name of a step's file to @buffer: `<n>-<step_id>.json`
 *  The id is encoded like other keys in names (kernel/base/encode.h), and cut so that the name is
 *  not too long; the number still makes the name unique.
 *  @version: of the step's cell, which has the id; @index: of the step, <n> in the name. Return: 0,
 *  or -errno. */
int wfs_plan_step_name(struct wfs_view *view, const struct wfs_version *version, int64_t index,
	struct wfs_buffer *buffer);

/** wfs_plan_step_file() - append a part of a step's file to @buffer: the step's document with a
 *  member `result`
 *  `result` is null if the step has none, or one of more than WFS_PLAN_RESULT_SHOWN_MAX bytes.
 *  @view: at the height of @version, a version of the step's cell. @range: the part, in bytes; if
 *  its size is 0, only @ret_size_bytes is set
 *  @ret_size_bytes: of the whole file. Return: 0, or -errno. */
int wfs_plan_step_file(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);
