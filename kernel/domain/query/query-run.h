/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries, answered: the 13 types of query_kernel over the cells of built-in reducers.
 *
 * A query reads the store and changes nothing. It reads the index (kernel/read/index.h), which knows the
 * head alone, so it answers at the head of its view's transaction, and at no older height. No answer
 * has content or code: the cells of sys.content and sys.code are never opened here.
 * Thread: the one of the view.
 */
#pragma once

#include <jansson.h>

#include "kernel/query/query.h"
#include "kernel/read/view.h"
#include "kernel/rights/rights.h"

enum {
	WFS_QUERY_EVENTS_BYTES_MAX = 4
		<< 20, /* of records in one answer; the newest is in it always */
	WFS_QUERY_WORK_STEP = 10000,
};

/*
 * What queries show, besides records of the journal.
 * X(constant, the directory in which the tree has it, the reducer whose cells are shown)
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
	const char *name; /* in the directory: an id, `log.jsonl` */
	bool listed;      /* the query did not name it: it is one of all that there are */
};

/*
 * What a principal sees. A row that is not seen is as if it were not there: in lists, in totals, which are then
 * counted and not looked up, and by name.
 */
struct wfs_query_sight {
	bool (*sees)(void *context, const struct wfs_query_row *row);
	/* Does the asker read content and code of an artifact that it sees? Its hashes are told only then,
	 * because a short text can be found by its hash. @state: of the artifact's cell
	 * Return: 1, 0, or -errno. */
	int (*reads)(void *context, const json_t *state);
	void *context;
};

/** wfs_query_directory() - the directory of the tree that has a part, e.g. "artifacts". */
const char *wfs_query_directory(enum wfs_query_part part);

/**
 * wfs_query_shows() - may a query show a row? Only if the files of the tree may show it, too.
 * Grants and policy must allow three things: to query; to see the path of the row; and to read the reducer of
 * its directory and that of its cells (and to list both, if the row is listed), or the journal.
 * @asks: the question whether the principal may query; an approval of it counts for nothing else
 */
bool wfs_query_shows(const struct wfs_rights *rights, const struct wfs_question *asks,
	const struct wfs_query_row *row);

/* What a query looks at, in instructions of code that take as long. What it has `done` follows from the query, the
 * sight and the cells alone. Plain value. */
struct wfs_query_work {
	uint64_t most; /* after which the query is given up */
	uint64_t done; /* added to */
	/* Is the query to be given up for another reason? Called each WFS_QUERY_WORK_STEP instructions.
	 * Return: 0, or -errno with the error filled. */
	int (*goes_on)(const void *context, struct wfs_error *error);
	const void *context;
	bool given_up; /* for one of the two */
};

/**
 * wfs_query_run() - answer
 * @view: of the head
 * @sight: NULL: everything is seen
 * @work: NULL: no bound
 * @ret_result: {success, query_type, …}; caller owns it
 * Return: 0, -ENOENT (not_found), -EINVAL (invalid_pattern: it takes too much work), -EIO
 *         (hash_mismatch, …; runtime_error: more than @work allows), what work->goes_on gives, -ENOMEM.
 */
int wfs_query_run(struct wfs_view *view, const struct wfs_query *query,
	const struct wfs_query_sight *sight, struct wfs_query_work *work, json_t **ret_result,
	struct wfs_error *error);

/* --- for those who show principals otherwise; @state: of a cell of sys.resource, or NULL --- */

/** wfs_query_quotas() - {name: {quota, used, available}} of all. Return: new reference, or NULL. */
json_t *wfs_query_quotas(const json_t *state);

/** wfs_query_frozen() - are its tokens used up? */
bool wfs_query_frozen(const json_t *state);

/* --- documents of artifacts, for other readers; @state: of a cell of sys.artifact --- */

/** wfs_artifact_row() - an artifact as one row of a list; members that @state lacks are null.
 *  Return: new reference, or NULL. */
json_t *wfs_artifact_row(const json_t *state);

/**
 * wfs_artifact_document() - an artifact by itself: the answer of query `artifact`, and `meta.json`
 * @hashes: also those of content and code, by which a short text can be found
 * Return: new reference, or NULL.
 */
json_t *wfs_artifact_document(const json_t *state, bool hashes);
