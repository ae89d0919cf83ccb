/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a plan's results the answer of a chat contains, and what it says when there are
 * too many. The test makes up the plan's cells: a bound of 4 MiB would need a plan with that
 * much. */
#include "tests/fixture/json.h"

#include "agents/engine/response.h"

enum { MIB = 1 << 20 };

/* Bytes of the result of each step. */
static const int64_t *sizes;

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
int __wrap_wfs_driving_step(struct wfs_view *view, const char *plan_id, int64_t index,
	struct wfs_document_plan_step *ret_step, struct wfs_error *error);
int __wrap_wfs_driving_step_result(struct wfs_view *view, const char *plan_id, int64_t index,
	json_t **ret_result, struct wfs_error *error);
int __wrap_wfs_driving_plan_file(struct wfs_view *view, const struct wfs_document_plan *plan,
	json_t **ret_document, uint64_t *ret_size, struct wfs_error *error);

int __wrap_wfs_driving_step(struct wfs_view *view, const char *plan_id, int64_t index,
	struct wfs_document_plan_step *ret_step, struct wfs_error *error)
{
	(void)view;
	(void)plan_id;
	(void)error;
	*ret_step = (struct wfs_document_plan_step){.type = "tool"};
	ret_step->own.json = json_pack("{s:I}", "bytes", (json_int_t)sizes[index]);
	ret_step->result_ref = ret_step->own.json;
	return 0;
}

int __wrap_wfs_driving_step_result(struct wfs_view *view, const char *plan_id, int64_t index,
	json_t **ret_result, struct wfs_error *error)
{
	(void)view;
	(void)plan_id;
	(void)error;
	*ret_result = json_integer((json_int_t)index);
	return 0;
}

int __wrap_wfs_driving_plan_file(struct wfs_view *view, const struct wfs_document_plan *plan,
	json_t **ret_document, uint64_t *ret_size, struct wfs_error *error)
{
	(void)view;
	(void)plan;
	(void)error;
	*ret_document = json_pack("{s:{}}", "plan");
	*ret_size = 11;
	return 0;
}
/* NOLINTEND(readability-identifier-naming) */

/* Checks the response of a plan with two steps whose results have these sizes. @failure: of the
 * plan; NULL: it is done */
static void assert_response(
	const int64_t *bytes, const char *failure, const char *results, const char *details)
{
	WFS_AUTO_JSON json_t *error_of = failure ? json_of(failure) : NULL;
	WFS_CLEANUP(response_done)
	struct response response = {.state = {.error = error_of,
					    .plan_id = "p",
					    .status = failure ? "running" : "done",
					    .total = 2}};
	struct wfs_error error = {0};

	sizes = bytes;
	assert_int_equal(response_take_plan(NULL, false, &response, &error), 0);

	assert_json_is(json_incref(response.results), results);
	if (details)
		assert_json_is(json_incref(response.details), details);
	else
		assert_null(response.details);
}

#define DONE NULL
#define FAILED(details) "{'code':'LLM_FAILED','details':" details "}"

TEST(results_up_to_the_bound_are_told)
{
	static const int64_t bytes[] = {3LL * MIB, MIB};

	assert_response(bytes, DONE, "[0,1]", NULL);
	assert_response(bytes, FAILED("{'message':'no'}"), "[0,1]", "{'message':'no'}");
}

TEST(what_is_beyond_the_bound_is_left_out_and_the_details_say_so)
{
	static const int64_t bytes[] = {3LL * MIB, MIB + 1};

	assert_response(bytes, DONE, "[0]",
		"{'message':'the results of all steps are too large for the answer; they are in "
		"the "
		"plan\\u0027s directory','results_omitted':true}");
}

TEST(a_plan_that_has_failed_says_so_too)
{
	static const int64_t bytes[] = {3LL * MIB, MIB + 1};

	assert_response(bytes, FAILED("{'message':'no','retriable':false}"), "[0]",
		"{'message':'no','results_omitted':true,'retriable':false}");
}
