/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of plans, and what comes of them. */
#pragma once

#include "tests/unit/json-helper.h"

#include "agents/plan/normalize.h"

#define CHAT_ID "alice+default.3"

/* What came of a text. Plain value; attempt_done. */
struct attempt {
	int status;
	struct wfs_plan_made plan;
	struct wfs_error error;
	json_t *details;
};

static inline void attempt_done(struct attempt *attempt)
{
	wfs_plan_made_done(&attempt->plan);
	json_decref(attempt->details);
}
#define ATTEMPT_AUTO WFS_CLEANUP(attempt_done)

static inline struct attempt attempt_bytes(
	const struct wfs_plan_origin *origin, struct wfs_bytes text)
{
	struct attempt attempt = {0};

	attempt.status = wfs_plan_normalize(
		origin, text.data, text.size, &attempt.plan, &attempt.error, &attempt.details);
	return attempt;
}

/* @text: with ' for " */
static inline struct attempt attempt_as(const struct wfs_plan_origin *origin, const char *text)
{
	WFS_AUTO_FREE char *quoted = json_text(text);

	return attempt_bytes(origin, wfs_bytes_text(quoted));
}

static inline struct attempt attempt(const char *text)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID, .goal = "look around"};

	return attempt_as(&origin, text);
}

static inline struct attempt attempt_import(const char *text)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID, .imported = true};

	return attempt_as(&origin, text);
}

/* Of one that must be taken. */
static inline struct attempt taken(struct attempt attempt)
{
	if (attempt.status != 0)
		fail_msg("%s", attempt.error.message);
	assert_null(attempt.details);
	return attempt;
}

/* Takes @attempt. @details: with ' for " */
static inline void assert_refusal(
	struct attempt attempt, int status, const char *message, const char *details)
{
	ATTEMPT_AUTO struct attempt owned = attempt;

	if (owned.status == 0)
		fail_msg("it is taken, expected: %s", message);
	assert_string_equal(owned.error.message, message);
	assert_int_equal(owned.status, status);
	assert_json_is(json_incref(owned.details), details);
}

static inline json_t *part_of(const struct attempt *attempt, size_t index)
{
	return json_array_get(attempt->plan.parts, index);
}

/* A member of a step's document. */
static inline json_t *of_step(const struct attempt *attempt, size_t index, const char *member)
{
	return json_object_get(json_object_get(part_of(attempt, index), "step"), member);
}

static inline const char *text_of_step(
	const struct attempt *attempt, size_t index, const char *member)
{
	const char *const text = json_string_value(of_step(attempt, index, member));

	return text ? text : "(none)";
}

/* {goal, steps} of what came, which may be normalised again. Caller owns it. */
static inline json_t *document_of(const struct attempt *attempt)
{
	json_t *const steps = json_array();
	size_t i;
	const json_t *part;

	json_array_foreach(attempt->plan.parts, i, part)
	{
		assert_int_equal(json_array_append(steps, json_object_get(part, "step")), 0);
	}
	return json_pack("{s:O, s:o}", "goal", attempt->plan.goal, "steps", steps);
}

/* Its canonical text. */
static inline void text_of_attempt(const struct attempt *attempt, struct wfs_buffer *text)
{
	WFS_AUTO_JSON json_t *document = document_of(attempt);

	wfs_json_write(document, text);
	assert_int_equal(wfs_buffer_check(text), 0);
}

/* What came of a text stays as it is when it is normalised again. */
static inline void assert_stays(const struct attempt *first, const char *goal)
{
	const struct wfs_plan_origin origin = {.chat_id = CHAT_ID, .goal = goal};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text_again = {0};

	text_of_attempt(first, &text);
	ATTEMPT_AUTO struct attempt again = taken(attempt_bytes(&origin, wfs_buffer_bytes(&text)));
	text_of_attempt(&again, &text_again);
	assert_string_equal(again.plan.plan_id, first->plan.plan_id);
	assert_true(wfs_bytes_equal(wfs_buffer_bytes(&text), wfs_buffer_bytes(&text_again)));
	assert_true(json_equal(again.plan.parts, first->plan.parts));
}
