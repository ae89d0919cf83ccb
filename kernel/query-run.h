/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries, answered: the 13 types of query_kernel over the cells of built-in reducers.
 *
 * A query reads the store and changes nothing. It reads the index (kernel/index.h), which knows the
 * head alone, so it answers at the head of its view's transaction, and at no older height. No answer
 * has content or code: the cells of sys.content and sys.code are never opened here.
 * Source: spec 4, "query_kernel: 13 types".
 * Thread: the one of the view.
 */
#pragma once

#include <jansson.h>

#include "kernel/query/query.h"
#include "kernel/view.h"

enum {
	WFS_QUERY_EVENTS_BYTES_MAX = 4
		<< 20, /* of records in one answer; the newest is in it always */
};

/*
 * What somebody sees, as paths of the tree. What is not seen is as if it were not there: in lists,
 * in totals, which are then counted and not looked up, and by name.
 *
 * | directory    | name      | what goes by it                                     |
 * |--------------|-----------|-----------------------------------------------------|
 * | `artifacts`  | id        | artifacts; invocations of them; bids for them        |
 * | `principals` | id        | principals, their scrip and resources                |
 * | `journal`    | log.jsonl | events                                               |
 */
struct wfs_query_sight {
	bool (*sees)(void *context, const char *directory, const char *name);
	void *context;
};

/**
 * wfs_query_run() - answer
 * @view: of the head
 * @sight: NULL: everything is seen
 * @ret_result: {success, query_type, …}; caller owns it
 * Return: 0, -ENOENT (not_found), -EINVAL (invalid_pattern: it takes too much work), -EIO
 *         (hash_mismatch, …), -ENOMEM.
 */
int wfs_query_run(struct wfs_view *view, const struct wfs_query *query,
	const struct wfs_query_sight *sight, json_t **ret_result, struct wfs_error *error);

/* --- for those who show principals otherwise; @state: of a cell of sys.resource, or NULL --- */

/** wfs_query_quotas() - {name: {quota, used, available}} of all. Return: new reference, or NULL. */
json_t *wfs_query_quotas(const json_t *state);

/** wfs_query_frozen() - are its tokens used up? */
bool wfs_query_frozen(const json_t *state);
