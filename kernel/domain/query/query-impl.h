/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to kernel/domain/query/: a query that is being answered.
 *
 * Functions that return int return 0, or -errno; a function that fails need not fill run->error,
 * because wfs_query_run() does this if it is empty. After a failure results (@ret_…) are to be
 * ignored, and need not be freed.
 */
#pragma once

#include "kernel/base/json.h"
#include "kernel/domain/query/query-run.h"

/* Plain value. */
struct query_run {
	struct wfs_view *view;
	const struct wfs_query *query;
	const struct wfs_query_sight *sight; /* what may be shown; NULL: everything */
	json_t *answer;                      /* the answer so far; owned by wfs_query_run() */
	struct wfs_error *error;
	struct wfs_query_work *work; /* counts and bounds the work; NULL: no bound */
};

enum {
	QUERY_WORK_OF_CELL = 200,         /* instructions that looking at a cell counts as */
	QUERY_WORK_BYTES = 4,             /* bytes of a document whose reading counts as one */
	QUERY_WORK_OF_HARD_MATCH = 30000, /* for matching an id by a pattern that backtracks much */
};

/** query_work() - count @instructions of work before doing it
 *  Return: 0 (also if run->work is NULL), -EIO (runtime_error: more than run->work->most), or the
 *  -errno of run->work->goes_on(). The caller must return such a failure, which ends the query. */
int query_work(struct query_run *run, uint64_t instructions);

/** query_sees() - may the answer show a row of @part that the query names? @key: the row's name
 *  (struct wfs_query_row) */
bool query_sees(const struct query_run *run, enum wfs_query_part part, struct wfs_bytes key);

/** query_sees_listed() - may the answer list or count a row of @part that the query has not named?
 *  @key: the row's name */
bool query_sees_listed(const struct query_run *run, enum wfs_query_part part, struct wfs_bytes key);

/** query_text() - make a JSON text of a key. Bytes that are not UTF-8, which a restored world can
 *  have, become `?`. Return: new reference, NULL without memory. */
json_t *query_text(struct wfs_bytes key);

/** query_set() - set a member of the answer. @value: reference taken, also on failure; NULL: the
 *  caller had no memory. Return: 0, -ENOMEM (also if @value is NULL). */
int query_set(struct query_run *run, const char *name, json_t *value);

/** query_version_state() - read and parse the document of a cell's version, and count the work.
 *  @ret_state: caller owns it */
int query_version_state(
	struct query_run *run, const struct wfs_version *version, json_t **ret_state);

/** query_state() - read and parse the document of the live cell of @reducer with this key, without
 *  counting work. @ret_state: caller owns it. Return: 0, -ENOENT (no live cell has the key
 *  @key), … */
int query_state(struct query_run *run, enum wfs_builtin_reducer reducer, const char *key,
	json_t **ret_state);

/** query_principal() - read the document of sys.ledger of the principal @id, if the answer may show
 *  the row @id of @part
 *  @ret_ledger: caller owns it. Return: 0, -ENOENT (not_found: no such principal, or the answer may
 *  not show it), … */
int query_principal(
	struct query_run *run, enum wfs_query_part part, const char *id, json_t **ret_ledger);

/* Called by query_each() for one cell; @entry is borrowed during the call.
 * Return: 0, 1 to end the walk, or -errno. */
typedef int query_cell_fn(struct query_run *run, const struct wfs_entry *entry, void *context);

/** query_each() - call @each with @context for those live cells of the reducer of @part
 *  (WFS_QUERY_PARTS, query-run.h) that the answer may list, in order of creation
 *  The work of looking at a cell is counted for the reducer's other live cells, too.
 *  Return: 0 (also if @each ended the walk with 1), or the -errno of the walk, of query_work() or
 *  of @each. */
int query_each(struct query_run *run, enum wfs_query_part part, query_cell_fn *each, void *context);

/** query_entry_state() - read and parse the document of a cell that query_each() has found, and
 *  count the work. @ret_state: caller owns it */
int query_entry_state(struct query_run *run, const struct wfs_entry *entry, json_t **ret_state);

/** query_copy() - make an object, for an answer, of the members of @state that @names lists; those
 *  that @state lacks are null. @names: the last is NULL. Return: new reference, NULL without
 *  memory. */
json_t *query_copy(const json_t *state, const char *const *names);

/** query_ratio() - make the JSON number @part / @whole: an integer if there is no remainder,
 *  otherwise a real; 0 if @whole is 0. Return: new reference, NULL without memory. */
json_t *query_ratio(uint64_t part, uint64_t whole);

/* Each answers one type of query by setting members of run->answer. Return: 0, or -errno. */
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
