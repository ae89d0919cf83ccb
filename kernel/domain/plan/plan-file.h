/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans as files: what is in `/plans/<id>/`.
 *
 * `plan.json`, `status` and `graph.dot` are made from one version of the plan's cell, and cells of its steps
 * as they were then; a step's file from one version of its cell, and the result that it had then. Whatever
 * changes a step changes its plan's cell, too, so nothing of a file changes.
 * A plan may be long. The size of `plan.json` is known from the plan's cell alone; of a part of it only
 * the steps in it are read, and the others are passed over by their blocks.
 * Source: worldfs-tree(5).
 * Thread: any.
 */
#pragma once

#include "kernel/domain/plan/plan-read.h"

enum {
	WFS_PLAN_SCHEMA_VERSION = 1,
	WFS_PLAN_GRAPH_MAX = 2000,            /* steps of a plan that is drawn */
	WFS_PLAN_GRAPH_TITLE_MAX = 40,        /* characters of a title in it; more are cut off */
	WFS_PLAN_RESULT_SHOWN_MAX = 64 << 10, /* bytes of a result that stands in its step's file */
};

/*
 * Each appends a file. @view: of the height of the version; @state: document of the plan's cell.
 * Return: 0, -EIO (a cell is missing, or is not what others say of it), -ENOMEM.
 */

/**
 * wfs_plan_document() - a part of the document of a plan, schema v1
 * {created_utc, cursors{batches, next_ready, session_id}, goal, plan{created_utc, draft?, error?, final?,
 * goal, in_order?, plan_id, raw?, status, steps[]}, plan_id, schema_version, status, tool_results_ref{bytes, count}|null,
 * updated_utc}; raw: of a plan that could not be cut into steps, what the model wrote.
 * @ret_size_bytes: of the whole
 */
int wfs_plan_document(struct wfs_view *view, const json_t *state, struct wfs_range range,
	struct wfs_buffer *buffer, uint64_t *ret_size_bytes);

/** wfs_plan_write_status() - its status and, while it is running, its phase; how many steps have ended,
 *  and how; batches and tool calls; the error if there is one: a line each. */
int wfs_plan_write_status(const json_t *state, struct wfs_buffer *buffer);

/** wfs_plan_write_graph() - its steps and their dependencies in the language of Graphviz. More than
 *  WFS_PLAN_GRAPH_MAX are not drawn, and a comment says so. */
int wfs_plan_write_graph(struct wfs_view *view, const json_t *state, struct wfs_buffer *buffer);

/* --- steps --- */

/** wfs_plan_step_at() - the version of step @index in the view. Return: 0, -ENOENT, … */
int wfs_plan_step_at(struct wfs_view *view, struct wfs_bytes plan_id, int64_t index,
	struct wfs_version *ret_version);

/** wfs_plan_step_key() - whose step a key is, and which. @ret_plan_id: borrowed from @key. Return: false:
 *  it is the key of none. */
bool wfs_plan_step_key(struct wfs_bytes key, struct wfs_bytes *ret_plan_id, int64_t *ret_index);

/**
 * wfs_plan_step_name() - append the name of a step's file: `<n>-<step_id>.json`
 * The id is written as keys are in names (kernel/base/encode.h). What would make the name longer than a name
 * may be is cut off the id; the number in front still tells one from all others.
 * @version: of the step
 */
int wfs_plan_step_name(struct wfs_view *view, const struct wfs_version *version, int64_t index,
	struct wfs_buffer *buffer);

/** wfs_plan_step_number() - the number that a name of a step's file begins with. */
bool wfs_plan_step_number(const char *name, int64_t *ret_index);

/**
 * wfs_plan_step_file() - a part of the file of a step: its document and `result`, what it gave
 * The latter is null when there is none, or when it has more than WFS_PLAN_RESULT_SHOWN_MAX bytes.
 * @view: of the height of @version, that of the step
 * @ret_size_bytes: of the whole
 */
int wfs_plan_step_file(struct wfs_view *view, const struct wfs_version *version,
	struct wfs_range range, struct wfs_buffer *buffer, uint64_t *ret_size_bytes);
