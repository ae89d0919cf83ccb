/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the 13 types of query_kernel from the cells of built-in reducers.
 *
 * A query changes nothing. It uses the index (kernel/read/index.h), which knows only the head, so
 * it answers at the head of its view's transaction, and at no older height. No answer contains
 * content or code: the cells of sys.content and sys.code are never opened here.
 * Thread: the thread that owns the view.
 */
#pragma once

#include <jansson.h>

#include "kernel/manifest/document.h"
#include "kernel/query/query.h"
#include "kernel/read/view.h"
#include "kernel/rights/rights.h"

enum {
	WFS_QUERY_EVENTS_BYTES_MAX = 4
		<< 20,               /* of records in one answer, which always has the newest */
	WFS_QUERY_WORK_STEP = 10000, /* instructions between calls of goes_on() */
};

/*
 * What queries show, beside records of the journal.
 * X(constant, the directory that shows it in the tree, the reducer whose cells are shown)
 */
#define WFS_QUERY_PARTS(X)                  \
	X(ARTIFACT, ARTIFACT, ARTIFACT)     \
	X(DELETED, ARTIFACT, DELETED)       \
	X(INVOCATION, ARTIFACT, INVOCATION) \
	X(BID, ARTIFACT, MINT)              \
	X(PRINCIPAL, PRINCIPAL, LEDGER)     \
	X(RESOURCE, PRINCIPAL, RESOURCE)

enum wfs_query_part {
#define WFS_QUERY_PART_ENUM(constant, directory, reducer) WFS_QUERY_PART_##constant,
	WFS_QUERY_PARTS(WFS_QUERY_PART_ENUM)
#undef WFS_QUERY_PART_ENUM
		WFS_QUERY_PART_JOURNAL
};

/* One thing that an answer would show. Plain value; the name is borrowed. */
struct wfs_query_row {
	enum wfs_query_part part;
	const char *name; /* within the directory: an id, or `log.jsonl` */
	bool listed;      /* true: the query has not named it, and lists or counts all such rows */
};

/*
 * What a principal sees. A row that is not seen is treated as absent: in lists, by name, and in
 * totals, which are then counted one by one. Callbacks, set by the caller of a query.
 */
struct wfs_query_sight {
	/* May the principal see the row? */
	bool (*sees)(void *context, const struct wfs_query_row *row);
	/* May the principal read content and code of an artifact that it sees? Only then the answer
	 * has their hashes, because a short text can be found by its hash.
	 * Return: 1, 0, or -errno. */
	int (*reads)(void *context, const struct wfs_document_artifact *artifact);
	void *context; /* passed to both */
};

/** wfs_query_directory() - get the name of the tree's directory that shows a part, e.g.
 *  "artifacts"; static. @part: one of WFS_QUERY_PARTS or WFS_QUERY_PART_JOURNAL, which gives
 *  "journal" */
const char *wfs_query_directory(enum wfs_query_part part);

/** wfs_query_shows() - may a principal's query show a row? Only if the files of the tree may show
 *  it to the principal, too.
 *  Grants and policy must allow three things: to query; to see the row's path (directory/name); and
 *  to read the journal, if the row is of WFS_QUERY_PART_JOURNAL, or otherwise the cells of the
 *  directory's reducer and of the part's own (and to list both, if the row is listed). @rights: of
 *  the principal
 *  @asks: the question whether the principal may query (WFS_EFFECT_ACTION_QUERY_KERNEL); its time
 *  and origin hold for all three questions, but asks->approved only for this one */
bool wfs_query_shows(const struct wfs_rights *rights, const struct wfs_question *asks,
	const struct wfs_query_row *row);

/* The work of a query, in instructions of code that would take as long. `done` depends only on the
 * query, the sight and the cells. Plain value. */
struct wfs_query_work {
	uint64_t most; /* the query is given up when `done` is more */
	uint64_t done; /* the query adds to it */
	/* Is there another reason to give up the query? Called about every WFS_QUERY_WORK_STEP
	 * instructions, on the thread of the query; NULL: no other reason.
	 * Return: 0, or -errno with @error filled, which gives up the query. */
	int (*goes_on)(const void *context, struct wfs_error *error);
	const void *context;
	bool given_up; /* because of `most` or `goes_on` */
};

/** wfs_query_run() - answer a query
 *  @view: of the head. @query: from wfs_query_check() (kernel/query/query.h)
 *  @sight: NULL: everything is seen
 *  @work: the caller has set `most`, `goes_on` and `context`; the other members are zeros; NULL: no
 *  bound
 *  @ret_result: {success, query_type, …}, with the data that kernel/query/query.h lists for the
 *  type; caller owns it; set only on success
 *  Return: 0, -ENOENT (not_found: what the query names does not exist, or @sight does not show it),
 *  -EINVAL (invalid_pattern: matching name_pattern takes too much work), -EIO (runtime_error: more
 *  work than @work allows; hash_mismatch, …: the store is damaged), the -errno of work->goes_on(),
 *  -ENOMEM. */
int wfs_query_run(struct wfs_view *view, const struct wfs_query *query,
	const struct wfs_query_sight *sight, struct wfs_query_work *work, json_t **ret_result,
	struct wfs_error *error);

/* --- for other readers of principals; @state: of a cell of sys.resource, or NULL --- */

/** wfs_query_quotas() - make {name: {quota, used, available}} of all resources; `quota` and
 *  `available` of a resource without a quota are null. @state: document of sys.resource, borrowed;
 *  NULL: no quotas, and nothing used. Return: new reference, or NULL without memory. */
json_t *wfs_query_quotas(const json_t *state);

/** wfs_query_frozen() - has a principal used up its quota of tokens, so that it cannot ask models?
 *  @state: document of its cell of sys.resource; NULL, or without such a quota: false */
bool wfs_query_frozen(const json_t *state);

/* --- documents of artifacts, for other readers; @state: of a cell of sys.artifact --- */

/** wfs_artifact_row() - make an artifact's row of a list: {content_size, created_at, created_by,
 *  deleted (false), executable, id, invoke_price, owner, read_price, type, updated_at}; members
 *  that @state lacks are null
 *  @state: document of sys.artifact. Return: new reference, or NULL without memory. */
json_t *wfs_artifact_row(const json_t *state);

/** wfs_artifact_document() - make the description of one artifact: the answer of query `artifact`,
 *  and the file `meta.json`. It is a copy of @state, the document of sys.artifact, with `deleted`
 *  (false)
 *  @hashes: false: leave out content_hash and code_hash, by which a reader could find a short text
 *  Return: new reference, or NULL without memory. */
json_t *wfs_artifact_document(const json_t *state, bool hashes);
