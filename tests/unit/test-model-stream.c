/* SPDX-License-Identifier: Apache-2.0 */
/* Deltas of a streamed completion. */
#include "tests/fixture/json.h"
#include "tests/fixture/test.h"

#include <errno.h>

#include "agents/model/stream.h"

#define FINISH "{'choices':[{'delta':{},'finish_reason':'stop'}]}"

/* @events: with ' for ", NULL ends them. Return: 0, or the error for the first refused event */
static int feed(
	struct wfs_stream *stream, const char *const *events, struct wfs_model_failure *failure)
{
	int r = 0;

	for (; *events && r == 0; events++) {
		WFS_AUTO_FREE char *text = json_text(*events);

		r = wfs_stream_event(stream, wfs_bytes_text(text), failure);
	}
	return r;
}

static void expect(const char *const *events, const char *completion_text)
{
	WFS_AUTO_STREAM struct wfs_stream *stream = NULL;
	WFS_AUTO_JSON json_t *completion = NULL;
	WFS_AUTO_FREE char *expected = json_text(completion_text);
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};
	struct wfs_model_failure failure = {0};

	assert_int_equal(wfs_stream_new(&stream), 0);
	assert_int_equal(feed(stream, events, &failure), 0);
	assert_int_equal(wfs_stream_finish(stream, &completion, &failure), 0);
	wfs_json_write(completion, &written);
	assert_string_equal(wfs_buffer_text(&written), expected);
}

/* Expects calls from deltas such as `'index':0,'id':'a',…`. */
static void expect_calls(const char *const *deltas, const char *calls)
{
	WFS_AUTO_BUFFER struct wfs_buffer completion = {0};
	const char *events[64] = {NULL};
	size_t count = 0;

	for (; deltas[count]; count++) {
		char *event = NULL;

		assert_true(asprintf(&event, "{'choices':[{'delta':{'tool_calls':[{%s}]}}]}",
				    deltas[count]) > 0);
		events[count] = event;
	}
	events[count] = FINISH;
	wfs_buffer_printf(&completion,
		"{'content':null,'finish_reason':'stop','tool_calls':[%s],'usage':null}", calls);
	expect(events, wfs_buffer_text(&completion));
	for (size_t i = 0; i < count; i++)
		free((char *)events[i]);
}

TEST(texts_are_joined_and_the_last_chunk_has_the_usage)
{
	/* Case 111. */
	const char *const events[] = {
		"{'model':'m','choices':[{'index':0,'delta':{'role':'assistant','content':''},"
		"'finish_reason':null}],'usage':null}",
		"{'choices':[{'delta':{'content':'he','reasoning':'hm','reasoning_content':'hm'}}]"
		"}",
		"{'choices':[{'delta':{'content':'llo'}}]}",
		"{'choices':[{'delta':{},'finish_reason':'stop'}]}",
		"{'choices':[],'usage':{'prompt_tokens':10,'completion_tokens':5,'total_tokens':15}"
		"}",
		"[DONE]",
		"{'error':'nobody reads this'}",
		NULL,
	};

	expect(events,
		"{'content':'hello','finish_reason':'stop','model':'m','tool_calls':[],"
		"'usage':{'completion_tokens':5,'prompt_tokens':10,'total_tokens':15}}");
}

TEST(a_silent_answer_is_an_empty_text)
{
	const char *const events[] = {FINISH, NULL};

	expect(events, "{'content':'','finish_reason':'stop','tool_calls':[],'usage':null}");
}

TEST(a_refusal_is_joined)
{
	const char *const events[] = {
		"{'choices':[{'delta':{'content':'','refusal':'I will '}}]}",
		"{'choices':[{'delta':{'refusal':'not.'}}]}",
		FINISH,
		NULL,
	};

	expect(events,
		"{'content':'I will not.','finish_reason':'content_filter','tool_calls':[],"
		"'usage':null}");
}

/* Case 108. */
TEST(interleaved_arguments_are_told_apart_by_index)
{
	const char *const deltas[] = {
		"'index':0,'id':'a','type':'function','function':{'name':'f','arguments':''}",
		"'index':0,'function':{'arguments':'0'}",
		"'index':0,'function':{'arguments':'1'}",
		"'index':1,'id':'b','function':{'name':'g','arguments':'x'}",
		"'index':0,'function':{'arguments':'2'}",
		"'index':0,'function':{'arguments':'3'}",
		"'index':1,'function':{'arguments':'y'}",
		"'index':0,'function':{'arguments':'4'}",
		"'index':0,'function':{'arguments':'5'}",
		"'index':0,'function':{'arguments':'6'}",
		"'index':1,'function':{'arguments':'z'}",
		"'index':0,'function':{'arguments':'7'}",
		"'index':0,'function':{'arguments':'8'}",
		NULL,
	};

	expect_calls(deltas,
		"{'arguments':'012345678','id':'a','name':'f'},"
		"{'arguments':'xyz','id':'b','name':'g'}");
}

/* Case 109. */
TEST(a_new_id_under_an_old_index_opens_a_call)
{
	const char *const deltas[] = {
		"'index':0,'id':'a','function':{'name':'f','arguments':'1'}",
		"'index':0,'id':'b','function':{'name':'g','arguments':'2'}",
		"'index':0,'function':{'arguments':'3'}",
		"'index':0,'id':'a','function':{'arguments':'4'}",
		NULL,
	};

	expect_calls(deltas,
		"{'arguments':'14','id':'a','name':'f'},{'arguments':'23','id':'b','name':'g'}");
}

/* Case 110. */
TEST(without_index_an_id_opens_and_none_continues)
{
	const char *const deltas[] = {
		"'id':'a','function':{'name':'f','arguments':'1'}",
		"'function':{'arguments':'2'}",
		"'id':'b','function':{'name':'g'}",
		"'function':{'arguments':'3'}",
		"'id':'','function':{'arguments':'4'}",
		NULL,
	};

	expect_calls(deltas,
		"{'arguments':'12','id':'a','name':'f'},{'arguments':'34','id':'b','name':'g'}");
}

TEST(whole_calls_without_index_or_id_stay_apart)
{
	const char *const deltas[] = {
		"'function':{'name':'f','arguments':'1'}",
		"'function':{'name':'f','arguments':'2'}",
		NULL,
	};

	expect_calls(deltas, "{'arguments':'1','name':'f'},{'arguments':'2','name':'f'}");
}

TEST(an_id_is_followed_to_another_index)
{
	const char *const deltas[] = {
		"'index':0,'id':'a','function':{'name':'f','arguments':'1'}",
		"'index':1,'id':'a','function':{'arguments':'2'}",
		"'index':7,'function':{'arguments':'3'}",
		NULL,
	};

	expect_calls(deltas, "{'arguments':'123','id':'a','name':'f'}");
}

TEST(id_and_name_that_are_repeated_count_once)
{
	const char *const deltas[] = {
		"'index':0,'id':'a','function':{'name':'f','arguments':'1'}",
		"'index':0,'id':'a','function':{'name':'f','arguments':'2'}",
		NULL,
	};

	expect_calls(deltas, "{'arguments':'12','id':'a','name':'f'}");
}

TEST(an_id_may_come_after_the_index)
{
	const char *const deltas[] = {
		"'index':0,'function':{'name':'f'}",
		"'index':0,'id':'a','function':{'arguments':'1'}",
		NULL,
	};

	expect_calls(deltas, "{'arguments':'1','id':'a','name':'f'}");
}

TEST(arguments_may_be_an_object_or_never_come)
{
	const char *const deltas[] = {
		"'index':0,'id':'a','function':{'name':'f','arguments':{'b':2,'a':1}}",
		"'index':1,'id':'b','function':{'name':'g','arguments':null}",
		"'index':2,'id':'c'",
		"'index':3,'id':'d','function':{'name':'h','arguments':''}",
		NULL,
	};

	expect_calls(deltas,
		"{'arguments':'{\\'a\\':1,\\'b\\':2}','id':'a','name':'f'},{'id':'b','name':'g'},"
		"{'id':'c'},{'arguments':'','id':'d','name':'h'}");
}

TEST(events_of_odd_shapes_are_survived)
{
	const char *const events[] = {
		"{}",
		"{'choices':null}",
		"{'choices':[null]}",
		"{'choices':[{'delta':null}]}",
		"{'choices':[{'delta':{'content':7,'tool_calls':{}}}]}",
		"{'choices':[{'delta':{'content':null,'tool_calls':null}}]}",
		FINISH,
		NULL,
	};

	expect(events, "{'content':'','finish_reason':'stop','tool_calls':[],'usage':null}");
}

static void expect_failure(const char *const *events, const char *code, const char *message)
{
	WFS_AUTO_STREAM struct wfs_stream *stream = NULL;
	struct wfs_model_failure failure = {.status = 200};

	assert_int_equal(wfs_stream_new(&stream), 0);
	assert_int_equal(feed(stream, events, &failure), -EBADMSG);
	assert_string_equal(failure.code, code);
	assert_string_equal(failure.message, message);
	assert_int_equal(wfs_stream_text(stream).size, 2);
}

/* Case 112. */
TEST(an_error_after_text_is_a_failure_and_the_text_stays)
{
	const char *const events[] = {
		"{'choices':[{'delta':{'content':'he'}}]}",
		"{'error':{'message':'engine died','type':'InternalServerError','code':500}}",
		NULL,
	};

	expect_failure(events, "500", "engine died");
}

TEST(an_event_that_is_no_object_is_a_failure)
{
	const char *const events[] = {
		"{'choices':[{'delta':{'content':'he'}}]}", "{'choices':", NULL};

	expect_failure(events, "invalid_answer",
		"expected a JSON object in an event of the stream, got: {\"choices\":");
}

/* Case 113. */
TEST(an_end_without_a_finish_reason_is_a_failure)
{
	WFS_AUTO_STREAM struct wfs_stream *stream = NULL;
	const char *const events[] = {
		"{'choices':[{'delta':{'content':'he'},'finish_reason':null}]}", "[DONE]", NULL};
	struct wfs_model_failure failure = {0};
	json_t *completion = NULL;

	assert_int_equal(wfs_stream_new(&stream), 0);
	assert_int_equal(feed(stream, events, &failure), 0);

	assert_true(wfs_stream_ended(stream));
	assert_false(wfs_stream_complete(stream));
	assert_int_equal(wfs_stream_finish(stream, &completion, &failure), -EBADMSG);
	assert_string_equal(failure.code, "incomplete_answer");
}

TEST(too_many_calls_are_refused)
{
	WFS_AUTO_STREAM struct wfs_stream *stream = NULL;
	struct wfs_model_failure failure = {0};
	int r = 0;
	int i = 0;

	assert_int_equal(wfs_stream_new(&stream), 0);
	for (; r == 0 && i <= WFS_COMPLETION_CALLS_MAX; i++) {
		WFS_AUTO_BUFFER struct wfs_buffer event = {0};

		wfs_buffer_printf(&event,
			"{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"%d\"}]}}]}", i);
		r = wfs_stream_event(stream, wfs_buffer_bytes(&event), &failure);
	}

	assert_int_equal(r, -EBADMSG);
	assert_int_equal(i, WFS_COMPLETION_CALLS_MAX + 1);
	assert_int_equal(failure.kind, WFS_MODEL_FAILURE_TOO_LARGE);
}
