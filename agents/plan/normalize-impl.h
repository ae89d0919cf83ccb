/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/plan/: one plan while it is normalised. */
#pragma once

#include "agents/plan/graph.h"
#include "agents/plan/normalize.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/mind/kind.h"

/* X(what is wrong, as told in `code`; code of the error that goes with it) */
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

/* Plain value; what is owned is released by normalize_done in normalize.c. */
struct normalize {
	const struct wfs_plan_origin *origin;
	struct wfs_error *error;
	json_t *details;    /* of the refusal; owned */
	json_t *root;       /* the text's value; owned */
	size_t value_count; /* of JSON that was read so far */
	const char *list;   /* name of the array of steps, for messages */
	json_t *written;    /* the array; owned */
	bool is_calls;      /* its items are calls */
	bool is_document;   /* the text is one of a plan that has begun */
	json_t *ids;        /* array of strings; null: not known so far; owned */
	json_t *indices;    /* of steps, by their ids; owned */
	json_t *documents;  /* array of the steps; owned */
	struct wfs_graph graph;
	uint8_t *statuses; /* of steps, of enum normalize_status; owned */
	json_t *results;   /* of steps, by their ids; owned; NULL: there are none */
	size_t lost_count; /* steps that are done, and whose results are not there */
	size_t lost_index; /* the first of them, as they are ordered */
};

enum { NORMALIZE_NO_STEP = -1 };

int normalize_no_memory(struct normalize *work);

/** normalize_refuse() - @index: of the step that is wrong, or NORMALIZE_NO_STEP. Return: -errno */
int normalize_refuse(struct normalize *work, enum normalize_code code, int64_t index,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/** normalize_tell() - one more member of the details. @value: taken. Return: @r, or -ENOMEM. */
int normalize_tell(struct normalize *work, int r, const char *name, json_t *value);

/** normalize_string() - a JSON string. Return: NULL: no memory */
json_t *normalize_string(struct wfs_bytes text);

/** normalize_text() - at most @max characters of a text. @ret_text: stays as it is, if nothing was written */
int normalize_text(struct normalize *work, const json_t *written, size_t max, json_t **ret_text);

/* --- steps: normalize-step.c --- */

/** normalize_ids() - ids of all steps, and which step has which. */
int normalize_ids(struct normalize *work);

/** normalize_steps() - their documents; their dependencies become edges. */
int normalize_steps(struct normalize *work);

/* --- documents of plans: normalize-import.c --- */

/** normalize_is_document() - or is it a plan that has not begun? */
bool normalize_is_document(const json_t *root);

/** normalize_check_document() - has it what it must have? */
int normalize_check_document(struct normalize *work);

/** normalize_restore() - what the document says of its steps, and of the plan as a whole. */
int normalize_restore(struct normalize *work, struct wfs_plan_made *plan);
