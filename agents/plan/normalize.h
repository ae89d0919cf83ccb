/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what a model wrote to the steps of a plan, in the form that the kernel takes them in.
 *
 * Two forms are taken: {goal?, steps[]}, and {tool_calls[], final?}, whose calls become steps that run one
 * after the other. What somebody imports may also be a document of a plan (schema version 1, as
 * `/plans/<id>.json` and `worldfs plan export` have it): then what its steps have done is kept.
 *
 * The same text gives the same plan, byte for byte, and normalising what came of it changes nothing. Nothing
 * is guessed: a step that is not understood, a dependency on nothing, a cycle refuse the plan as a whole,
 * and tell which step it was. What a model says about status and results is not taken from it.
 * Time and memory are linear in steps, dependencies and bytes.
 * Source: spec 6, "Planner", "PlanStateStore".
 * Thread: any; nothing is shared.
 */
#pragma once

#include "caps/session.h"

enum {
	WFS_PLAN_VALUES_MAX = 4000000,     /* values of JSON in a plan's text */
	WFS_PLAN_PART_SIZE = 4 << 20,      /* bytes of the steps of one part, about */
	WFS_PLAN_PART_VALUES = 200000,     /* values of JSON in them, about */
	WFS_PLAN_STEP_SIZE_MAX = 8 << 20,  /* bytes of one step, its edges and its result */
	WFS_PLAN_STEP_VALUES_MAX = 500000, /* values of JSON in it */
	WFS_PLAN_TOOL_NAME_MAX = 256,      /* bytes; of a method, too */
	WFS_PLAN_REASON_MAX = 500,         /* characters of why a step was not done */
	WFS_PLAN_FINAL_MAX =
		256 << 10,         /* characters of an answer; more are cut off, as of the next */
	WFS_PLAN_DRAFT_MAX = 4000, /* of a draft, which stands in what each step writes */
	WFS_PLAN_CYCLE_SHOWN_MAX = 100, /* steps of a cycle that are told */
};

/* What a text is a plan of. Plain value; borrowed. */
struct wfs_plan_origin {
	const char *chat_id;
	const char *goal; /* of a plan that says none; NULL: "" */
	bool imported;
	bool reruns; /* of an imported document, steps that are done and have no results are run again */
};

/* A part of a plan's payload. Plain value. */
struct wfs_plan_size {
	uint32_t size; /* bytes as JSON */
	uint32_t value_count;
};

/* A plan. Plain value; wfs_plan_made_done. */
struct wfs_plan_made {
	char plan_id[WFS_PLAN_ID_SIZE + 1];
	json_t *goal;  /* a string; owned, as those that follow */
	json_t *draft; /* what the model said beforehand, a string; NULL: nothing */
	bool in_order; /* one step after the other */
	/* Of each step, in plan order: {next?, refs?, result?, step, waiting}. */
	json_t *parts;
	struct wfs_plan_size *sizes; /* of the parts */

	/* Of an imported document. */
	bool restored;
	const char *status; /* done, partial, failed: all has ended; NULL: it goes on; static */
	json_t *final;      /* what has been answered then; NULL: nothing */
	int64_t created_ns;
	size_t done;
	size_t failed;
	size_t skipped;
};

void wfs_plan_made_done(struct wfs_plan_made *plan);
#define WFS_AUTO_PLAN_MADE WFS_CLEANUP(wfs_plan_made_done)

/**
 * wfs_plan_normalize() - the plan that a text is
 * @ret_details: set when it is refused: {code, index?, step?, …}, where `code` says what is wrong in the
 *               field's own terms, `index` is of the step as it was written, and `step` its id; caller owns it
 * Return: 0, -EINVAL (invalid_json, invalid_argument, missing_argument, cycle), -EFBIG (too_large), with a
 * message that says which step it is, what was expected and what came; -ENOMEM (no details).
 */
int wfs_plan_normalize(const struct wfs_plan_origin *origin, const char *text, size_t size,
	struct wfs_plan_made *ret_plan, struct wfs_error *error, json_t **ret_details);

/** wfs_plan_failed_id() - the id of a plan that was refused: it follows from its text. */
void wfs_plan_failed_id(const struct wfs_plan_origin *origin, const char *text, size_t size,
	char ret_id[static WFS_PLAN_ID_SIZE + 1]);

/**
 * wfs_plan_payload() - what a receipt of plan.normalize says of the steps from @offset on
 *
 * At most WFS_PLAN_PART_MAX of them, and about WFS_PLAN_PART_SIZE bytes; always one, if there is one. What
 * the plan begins with (draft, final, in_order, created_ns) stands in the first part, what it ends with
 * (status, counts) in the last. A plan without steps has one part.
 *
 * @ret_count: how many steps
 * Return: new reference, or NULL (no memory).
 */
json_t *wfs_plan_payload(const struct wfs_plan_made *plan, size_t offset, size_t *ret_count);
