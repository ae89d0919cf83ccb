/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver reads of plans and chats. */
#include "tests/fixture/plan-tree.h"

#include "caps/driving.h"

WITH_ACTORS(documents_are_read_by_their_ids)
{
	const struct planned planned = planned_begin(fixture, PLANNED_ID, PLANNED_SMALL);

	planned_gives(&planned, 0, "one");
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_DOCUMENT struct wfs_document_plan plan;
	WFS_AUTO_DOCUMENT struct wfs_document_plan_step step;
	WFS_AUTO_JSON json_t *result = NULL;
	WFS_AUTO_DOCUMENT struct wfs_document_chat_message message;

	assert_int_equal(wfs_driving_plan(&view, PLANNED_ID, &plan, NULL), 0);
	assert_int_equal(wfs_driving_step(&view, PLANNED_ID, 2, &step, NULL), 0);
	assert_int_equal(wfs_driving_step_result(&view, PLANNED_ID, 0, &result, NULL), 0);
	assert_int_equal(wfs_driving_message(&view, planned.chat_id, &message, NULL), 0);
	assert_string_equal(plan.plan_id, PLANNED_ID);
	assert_string_equal(step.id, "n");
	assert_string_equal(wfs_json_text(result, "result"), "one");
	assert_string_equal(json_string_value(message.content), "do it");
}

WITH_ACTORS(what_is_not_there_is_named)
{
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	struct wfs_error error = {0};
	struct wfs_document_plan_step step;
	struct wfs_document_plan plan;
	struct wfs_document_chat_message message;
	json_t *document = NULL;

	assert_int_equal(wfs_driving_plan(&view, "p", &plan, &error), -ENOENT);
	assert_string_equal(error.message, "Plan 'p' not found");
	assert_null(plan.own.json);
	assert_int_equal(wfs_driving_step(&view, "p", 7, &step, &error), -ENOENT);
	assert_string_equal(error.message, "Plan 'p' has no step 7");
	assert_null(step.own.json);
	assert_int_equal(wfs_driving_step_result(&view, "p", 7, &document, &error), -ENOENT);
	assert_string_equal(error.message, "Step 7 of plan 'p' has no result");
	assert_int_equal(wfs_driving_message(&view, "a+s.0", &message, &error), -ENOENT);
	assert_string_equal(error.message, "Chat 'a+s.0' not found");
	assert_int_equal(error.code, WFS_E_NOT_FOUND);
	assert_null(document);
	assert_null(message.own.json);
}
