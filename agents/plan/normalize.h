/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the steps of a plan, in the kernel's form, from what a model wrote.
 *
 * Two forms are accepted: {goal?, steps[]}, and {tool_calls[], final?}, whose calls become steps
 * that run one after the other. An imported text may also be the document of a plan (schema version
 * 1, as in `/plans/<id>.json` and `worldfs plan export`): then what its steps have done is kept.
 *
 * A text always gives the same plan, byte for byte, and normalising that plan changes nothing.
 * Nothing is guessed: a step with an unknown form, a dependency on an unknown step, or a cycle
 * makes the whole plan refused, with the step named. A model's claims about status and results are
 * ignored. Time and memory are linear in steps, dependencies and bytes.
 * Source: docs/design.md §12.
 * Thread: any; nothing is shared.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/base/cleanup.h"
#include "kernel/value/bounds.h"

struct wfs_error;

enum {
	WFS_PLAN_VALUES_MAX = 4000000,     /* values of JSON in a plan's text */
	WFS_PLAN_PART_SIZE = 4 << 20,      /* approximate bytes of the steps of one part */
	WFS_PLAN_PART_VALUES = 200000,     /* approximate values of JSON in these steps */
	WFS_PLAN_STEP_SIZE_MAX = 8 << 20,  /* bytes of one step, its edges and its result */
	WFS_PLAN_STEP_VALUES_MAX = 500000, /* values of JSON in all of these */
	WFS_PLAN_TOOL_NAME_MAX = 256,      /* bytes of a tool's name, and of a method */
	WFS_PLAN_REASON_MAX = 500,         /* characters of the reason why a step was not done */
	WFS_PLAN_FINAL_MAX = 256 << 10,    /* characters of an answer; longer ones are cut */
	WFS_PLAN_DRAFT_MAX = 4000, /* characters of a draft, which is in what each step writes */
	WFS_PLAN_CYCLE_SHOWN_MAX = 100, /* steps of a cycle in the details */
};

/* Where a plan's text comes from. Plain value; borrowed. */
struct wfs_plan_origin {
	const char *chat_id;
	const char *goal; /* for a plan without one; NULL: "" */
	bool imported;
	bool reruns; /* run steps of an imported document again that are done but have no result */
};

/* The size of a step in the payload. Plain value. */
struct wfs_plan_size {
	uint32_t size; /* bytes as JSON */
	uint32_t value_count;
};

/* A plan. Plain value; wfs_plan_made_done. */
struct wfs_plan_made {
	char plan_id[WFS_PLAN_ID_SIZE + 1];
	json_t *goal;  /* a string; owned, like the following */
	json_t *draft; /* what the model wrote before the plan, a string; NULL: nothing */
	bool in_order; /* run one step after the other */
	/* For each step, in plan order: {next?, refs?, result?, step, waiting}. */
	json_t *parts;
	struct wfs_plan_size *sizes; /* of the parts */

	/* Only for an imported document: */
	bool restored;
	const char *status; /* of an ended plan: done, partial, failed; NULL: not ended; static */
	json_t *final;      /* the answer of an ended plan; NULL: none */
	int64_t created_ns;
	size_t done;
	size_t failed;
	size_t skipped;
};

void wfs_plan_made_done(struct wfs_plan_made *plan);
#define WFS_AUTO_PLAN_MADE WFS_CLEANUP(wfs_plan_made_done)

/**
 * wfs_plan_normalize() - make a plan from a text
 * @ret_plan: caller releases it with wfs_plan_made_done(); not set after a failure
 * @ret_details: set if the plan is refused (-EINVAL, -EFBIG): {code, index?, step?, …}, where
 *               `code` says what is wrong in terms of plans, `index` counts the steps as written,
 *               and `step` is an id; caller owns it
 * Return: 0, -EINVAL (invalid_json: not JSON; cycle: steps that depend on one another;
 * invalid_argument, missing_argument: another fault of the plan), -EFBIG (too_large: the text or a
 * step, or too many steps), with a message that says which step is wrong, what was expected and
 * what came; -ENOMEM (no details).
 */
int wfs_plan_normalize(const struct wfs_plan_origin *origin, const char *text, size_t size,
	struct wfs_plan_made *ret_plan, struct wfs_error *error, json_t **ret_details);

/** wfs_plan_failed_id() - compute the id under which a plan that wfs_plan_normalize() has refused
 *  is kept, from its text and origin->chat_id. */
void wfs_plan_failed_id(const struct wfs_plan_origin *origin, const char *text, size_t size,
	char ret_id[static WFS_PLAN_ID_SIZE + 1]);

/**
 * wfs_plan_payload() - make the payload of a receipt of plan.normalize: the next part of the plan
 *
 * It is {goal, offset, plan_id, steps, total, …}, with `steps` from plan->parts. A part has at most
 * WFS_PLAN_PART_MAX steps (kernel/value/bounds.h), and about WFS_PLAN_PART_SIZE bytes; at least one
 * step if any is left. The first part has draft, final, in_order and created_ns of the plan, the
 * last part its status and counts. A plan without steps has one part.
 *
 * @offset: how many steps the parts before have
 * @ret_count: how many steps this part has
 * Return: new reference, or NULL without memory.
 */
json_t *wfs_plan_payload(const struct wfs_plan_made *plan, size_t offset, size_t *ret_count);
