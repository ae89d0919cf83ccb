/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/plan/: the state of normalising one plan. Functions that return int return 0,
 * or -errno with work->error. */
#pragma once

#include "agents/plan/graph.h"
#include "agents/plan/normalize.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/mind/kind.h"

/* X(value of `code` in the details, code of the error) */
#define NORMALIZE_CODES(X)                              \
	X(INVALID_JSON, INVALID_JSON)                   \
	X(TOO_MANY_VALUES, TOO_LARGE)                   \
	X(UNSUPPORTED_PLAN_FORMAT, INVALID_ARGUMENT)    \
	X(INVALID_STEPS, INVALID_ARGUMENT)              \
	X(INVALID_STEP, INVALID_ARGUMENT)               \
	X(TOO_MANY_STEPS, TOO_LARGE)                    \
	X(TOO_LARGE_STEP, TOO_LARGE)                    \
	X(DUPLICATE_STEP_ID, INVALID_ARGUMENT)          \
	X(UNKNOWN_DEPENDENCY, INVALID_ARGUMENT)         \
	X(SELF_DEPENDENCY, CYCLE)                       \
	X(CYCLE, CYCLE)                                 \
	X(UNKNOWN_STEP_TYPE, INVALID_ARGUMENT)          \
	X(TOOL_WITHOUT_NAME, MISSING_ARGUMENT)          \
	X(INVALID_DEPENDENCIES, INVALID_ARGUMENT)       \
	X(UNSUPPORTED_SCHEMA_VERSION, INVALID_ARGUMENT) \
	X(MISSING_KEY, MISSING_ARGUMENT)                \
	X(INVALID_KEY, INVALID_ARGUMENT)                \
	X(PLAN_ID_DIFFERS, INVALID_ARGUMENT)            \
	X(WRONG_DIGEST, INVALID_ARGUMENT)               \
	X(MISSING_RESULTS, INVALID_ARGUMENT)

enum normalize_code {
#define NORMALIZE_ENUM(name, code) NORMALIZE_##name,
	NORMALIZE_CODES(NORMALIZE_ENUM)
#undef NORMALIZE_ENUM
};

enum normalize_status {
	NORMALIZE_PENDING,
	NORMALIZE_DONE,
	NORMALIZE_FAILED,
	NORMALIZE_SKIPPED,
};

/* Plain value; normalize_done in normalize.c releases what is owned. */
struct normalize {
	const struct wfs_plan_origin *origin;
	struct wfs_error *error;
	json_t *details;    /* of the refusal; owned */
	json_t *root;       /* the text's value; owned */
	size_t value_count; /* of JSON values read so far */
	const char *list;   /* name of the array of steps, for messages */
	json_t *written;    /* the array; owned */
	bool is_calls;      /* its items are calls */
	bool is_document;   /* the text is the document of a plan that has begun */
	json_t *ids;        /* array of strings; null: not known yet; owned */
	json_t *indices;    /* of steps, by their ids; owned */
	json_t *documents;  /* array of the steps; owned */
	struct wfs_graph graph;
	uint8_t *statuses; /* of steps, of enum normalize_status; owned */
	json_t *results;   /* of steps, by their ids; owned; NULL: none */
	size_t lost_count; /* steps that are done but have no result */
	size_t lost_index; /* the first of them in the order */
};

enum { NORMALIZE_NO_STEP = -1 };

int normalize_no_memory(struct normalize *work);

/** normalize_refuse() - refuse the plan: fill work->error, and make work->details.
 *  @index: number of the wrong step, or NORMALIZE_NO_STEP; @format: the message. Return: -errno */
int normalize_refuse(struct normalize *work, enum normalize_code code, int64_t index,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/** normalize_tell() - add a member to work->details, after normalize_refuse(). @r: what
 *  normalize_refuse() has returned; @value: taken. Return: @r, or -ENOMEM. */
int normalize_tell(struct normalize *work, int r, const char *name, json_t *value);

/** normalize_string() - make a JSON string of @text. Return: new reference, NULL without memory. */
json_t *normalize_string(struct wfs_bytes text);

/** normalize_text() - make a string of at most the first @max characters of @written.
 *  @ret_text: unchanged if @written is not a text or is empty; caller owns it */
int normalize_text(struct normalize *work, const json_t *written, size_t max, json_t **ret_text);

/* --- steps: normalize-step.c --- */

/** normalize_ids() - read or make the ids of all steps in work->written, and set work->ids and
 *  work->indices. */
int normalize_ids(struct normalize *work);

/** normalize_steps() - make work->documents from work->written, and add the dependencies of the
 *  steps to work->graph; the caller then sorts the graph, and refuses cycles
 *  The caller has called normalize_ids() and wfs_graph_init() (graph.h). Unless work->is_document,
 *  each item of work->written becomes null. */
int normalize_steps(struct normalize *work);

/* --- documents of plans: normalize-import.c --- */

/** normalize_is_document() - is @root the document of a plan that has begun, such as
 *  `plans/ID.json`? */
bool normalize_is_document(const json_t *root);

/** normalize_check_document() - check the members of work->root, the document of a plan. */
int normalize_check_document(struct normalize *work);

/** normalize_restore() - set, from work->root, those members of @plan that only an imported
 *  document has (struct wfs_plan_made), and the statuses and results of its steps in @work. */
int normalize_restore(struct normalize *work, struct wfs_plan_made *plan);
