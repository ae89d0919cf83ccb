/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/query-*.c: a query under way.
 */
#pragma once

#include "kernel/base/json.h"
#include "kernel/domain/query/query-run.h"

/* Plain value. */
struct query_run {
	struct wfs_view *view;
	const struct wfs_query *query;
	const struct wfs_query_sight *sight; /* may be NULL */
	json_t *answer;                      /* what is known of it; owned by wfs_query_run */
	struct wfs_error *error;
	struct wfs_query_work *work; /* may be NULL */
};

enum {
	QUERY_WORK_OF_CELL = 200,         /* one that is looked at */
	QUERY_WORK_BYTES = 4,             /* of a document, for one instruction */
	QUERY_WORK_OF_HARD_MATCH = 30000, /* of a pattern and an id */
};

/** query_work() - count what is about to be done. Return: 0, -EIO (runtime_error: it is too much), what work->goes_on gives. */
int query_work(struct query_run *run, uint64_t instructions);

/** query_sees() - may the answer show what the query names? @key: of a cell, or a name in the tree */
bool query_sees(const struct query_run *run, enum wfs_query_part part, struct wfs_bytes key);

/** query_sees_listed() - may the answer have it in a list, or count it? */
bool query_sees_listed(const struct query_run *run, enum wfs_query_part part, struct wfs_bytes key);

/** query_text() - a key, for an answer; `?` for what is not UTF-8 (in a world that was restored from
 *  anything). Return: new reference, NULL without memory. */
json_t *query_text(struct wfs_bytes key);

/** query_set() - a member of the answer. @value: taken; NULL: there was no memory */
int query_set(struct query_run *run, const char *name, json_t *value);

/** query_version_state() - the document of a cell. @ret_state: caller owns it */
int query_version_state(
	struct query_run *run, const struct wfs_version *version, json_t **ret_state);

/** query_state() - the document of one cell that is live; it is no work. Return: 0, or -ENOENT (no error is filled). */
int query_state(struct query_run *run, enum wfs_builtin_reducer reducer, const char *key,
	json_t **ret_state);

/** query_principal() - the ledger's entry of a principal of whom @part is seen.
 *  Return: 0, -ENOENT (not_found), … */
int query_principal(
	struct query_run *run, enum wfs_query_part part, const char *id, json_t **ret_ledger);

/* One cell of many. Return: 0, 1 (that was enough) or -errno. */
typedef int query_cell_fn(struct query_run *run, const struct wfs_entry *entry, void *context);

/** query_each() - the live cells of a part that are seen, in order of creation. */
int query_each(struct query_run *run, enum wfs_query_part part, query_cell_fn *each, void *context);

/** query_entry_state() - the document of a cell that was walked over. */
int query_entry_state(struct query_run *run, const struct wfs_entry *entry, json_t **ret_state);

/** query_copy() - members of a state, for an answer; null for one that it lacks.
 *  @names: NULL-ended. Return: new reference, NULL without memory. */
json_t *query_copy(const json_t *state, const char *const *names);

/** query_ratio() - a part of a whole, 0 of nothing. */
json_t *query_ratio(uint64_t part, uint64_t whole);

int query_artifacts(struct query_run *run);
int query_artifact(struct query_run *run);
int query_libraries(struct query_run *run);
int query_dependencies(struct query_run *run);
int query_principals(struct query_run *run);
int query_principal_info(struct query_run *run);
int query_balances(struct query_run *run);
int query_resources(struct query_run *run);
int query_quotas(struct query_run *run);
int query_frozen(struct query_run *run);
int query_mint(struct query_run *run);
int query_events(struct query_run *run);
int query_invocations(struct query_run *run);
