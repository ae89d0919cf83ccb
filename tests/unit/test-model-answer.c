/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of answers, cut at every byte. */
#include "tests/fixture/json.h"
#include "tests/fixture/test.h"

#include <errno.h>

#include "agents/model/answer.h"

#define TEXT "na\u00efve \u20ac\U0001f600"

/* Writes the result of reading a body: a completion's JSON, or `kind code message`. */
static void outcome(struct wfs_model_answer *answer, int r, struct wfs_model_failure *failure,
	struct wfs_buffer *ret_outcome)
{
	WFS_AUTO_JSON json_t *completion = NULL;

	if (r == 0)
		r = wfs_model_answer_finish(answer, &completion, failure);
	if (r == 0) {
		wfs_json_write(completion, ret_outcome);
		return;
	}
	assert_int_equal(r, -EBADMSG);
	assert_null(completion);
	wfs_buffer_printf(
		ret_outcome, "%d %s %s", (int)failure->kind, failure->code, failure->message);
}

static void expect_cut(enum wfs_model_service service, int status, struct wfs_bytes body,
	size_t cut, const char *expected)
{
	const char *const text = body.data;
	const size_t step = cut > body.size ? 1 : body.size - cut;
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};
	struct wfs_model_failure failure = {.status = status};
	size_t at = cut > body.size ? 0 : cut;
	int r;

	assert_int_equal(wfs_model_answer_new(service, &answer), 0);
	r = wfs_model_answer_feed(answer, status, text, at, &failure);
	for (; at < body.size && r == 0; at += step)
		r = wfs_model_answer_feed(answer, status, text + at, step, &failure);
	outcome(answer, r, &failure, &came);
	if (strcmp(wfs_buffer_text(&came), expected) != 0)
		fail_msg("cut at %zu: expected '%s', got '%s'", cut, expected,
			wfs_buffer_text(&came));
}

/* Reads the body cut in two at every byte, then byte by byte. Both texts with ' for ". */
static void expect_of(enum wfs_model_service service, int status, const char *body_text,
	const char *expected_text)
{
	WFS_AUTO_FREE char *body = json_text(body_text);
	WFS_AUTO_FREE char *expected = json_text(expected_text);

	for (size_t cut = 0; cut <= strlen(body) + 1; cut++)
		expect_cut(service, status, wfs_bytes_text(body), cut, expected);
}

static void expect(int status, const char *body, const char *expected)
{
	expect_of(WFS_MODEL_CHAT, status, body, expected);
}

static void expect_embeddings(int status, const char *body, const char *expected)
{
	expect_of(WFS_MODEL_EMBEDDINGS, status, body, expected);
}

/* Cases 106, 114. */
TEST(a_stream_may_be_cut_anywhere)
{
	expect(200,
		"\xef\xbb\xbf: processing\r\n\r\n"
		"data: "
		"{'model':'m','choices':[{'delta':{'role':'assistant','content':''}}]}\r\n\r\n"
		"data: {'choices':[{'delta':{'content':'" TEXT "'}}]}\r\n\r\n"
		"data: {'choices':[{'delta':{'content':'" TEXT "'}}]}\n\n"
		"data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'c1','function':"
		"{'name':'add','arguments':''}}]}}]}\n\n"
		"data:{'choices':[{'delta':{'tool_calls':[{'index':0,'function':\n"
		"data:{'arguments':'{\\'x\\':'}}]}}]}\n\n"
		"data: {'choices':[{'delta':{'tool_calls':[{'index':0,'function':"
		"{'arguments':'\\'" TEXT "\\'}'}}]}}]}\r\r"
		"data: {'choices':[{'delta':{},'finish_reason':'tool_calls'}]}\n\n"
		"data: {'choices':[],'usage':{'prompt_tokens':1,'completion_tokens':2}}\n\n"
		"data: [DONE]\n\n",
		"{'content':'" TEXT TEXT "','finish_reason':'tool_calls','model':'m',"
		"'tool_calls':[{'arguments':'{\\'x\\':\\'" TEXT "\\'}','id':'c1','name':'add'}],"
		"'usage':{'completion_tokens':2,'prompt_tokens':1,'total_tokens':3}}");
}

TEST(a_document_may_be_cut_anywhere)
{
	expect(200, "\xef\xbb\xbf\n {'choices':[{'message':{'content':'" TEXT "'}}]}\n",
		"{'content':'" TEXT "','finish_reason':null,'tool_calls':[],'usage':null}");
}

/* Case 113. */
TEST(a_stream_needs_no_done)
{
	expect(200, "data: {'choices':[{'delta':{'content':'a'},'finish_reason':'stop'}]}\n",
		"{'content':'a','finish_reason':'stop','tool_calls':[],'usage':null}");
	expect(200, "data: {'choices':[{'delta':{'content':'a'}}]}\n\n",
		"3 incomplete_answer expected a finish_reason, got the end of the stream after 1 "
		"bytes "
		"of text");
}

TEST(an_error_between_events_is_found)
{
	expect(200,
		"data: {'choices':[{'delta':{'content':'a'}}]}\n\n{'error':{'message':'gone',"
		"'type':'api_error','param':null,'code':null}}\n",
		"3  gone");
	expect(200, "data: {'choices':[{'delta':{'content':'a'}}]}\n\n{'error':'gone'}", "3  gone");
}

/* Cases 98, 99. */
TEST(documents_that_are_no_completion_are_failures)
{
	expect(200, "{'error':'Unexpected endpoint'}", "3  Unexpected endpoint");
	expect(200, "{'choices':[]}",
		"3 no_choices expected a choice in the answer, got an empty list of choices");
	expect(200, "<html>Sign in</html>",
		"3 invalid_answer expected a completion as JSON, got: <html>Sign in</html>");
	expect(200, "", "3 invalid_answer expected a completion, got an empty answer");
	expect(200, "{'choices':[{'message':{'content':'a",
		"3 incomplete_answer expected a completion, got the end of the answer within it, "
		"after "
		"36 bytes");
	expect(200, "{'a':1,'a':2}",
		"3 invalid_answer expected a completion as JSON, got: {'a':1,'a':2}");
}

TEST(another_status_is_never_a_completion)
{
	expect(500, "{'choices':[{'message':{'content':'a'}}]}",
		"2  {'choices':[{'message':{'content':'a'}}]}");
	expect(503, "data: {'error':'x'}\n\n", "2  data: {'error':'x'}  ");
	expect(401, "{'error':'Unauthorized'}", "2  Unauthorized");
}

TEST(the_body_of_an_error_is_bounded)
{
	const size_t size = (size_t)2 * WFS_MODEL_ERROR_BODY_MAX;
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	WFS_AUTO_FREE char *body = malloc(size);
	struct wfs_model_failure failure = {.status = 500};
	json_t *completion = NULL;

	assert_non_null(body);
	memset(body, 'x', size);
	assert_int_equal(wfs_model_answer_new(WFS_MODEL_CHAT, &answer), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			wfs_model_answer_feed(answer, 500, body, (size_t)(i + 1) * 30000, &failure),
			0);

	assert_int_equal(wfs_model_answer_finish(answer, &completion, &failure), -EBADMSG);
	assert_int_equal(strlen(failure.message), 512);
}

TEST(an_event_that_is_too_large_is_told)
{
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	WFS_AUTO_FREE char *body = malloc((4 << 20) + 1);
	struct wfs_model_failure failure = {.status = 200};

	assert_non_null(body);
	memset(body, ':', (4 << 20) + 1);
	assert_int_equal(wfs_model_answer_new(WFS_MODEL_CHAT, &answer), 0);

	assert_int_equal(
		wfs_model_answer_feed(answer, 200, body, (4 << 20) + 1, &failure), -EBADMSG);
	assert_int_equal(failure.kind, WFS_MODEL_FAILURE_TOO_LARGE);
	assert_string_equal(failure.code, "too_large");
}

TEST(text_is_there_as_soon_as_its_event_ends)
{
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	WFS_AUTO_FREE char *event = json_text("data: {'choices':[{'delta':{'content':'a'}}]}\n\n");
	WFS_AUTO_FREE char *finish = json_text(
		"data: {'choices':[{'delta':{},'finish_reason':'stop'}]}\n\ndata: [DONE]\n\n");
	struct wfs_model_failure failure = {.status = 200};

	assert_int_equal(wfs_model_answer_new(WFS_MODEL_CHAT, &answer), 0);
	assert_int_equal(wfs_model_answer_text(answer).size, 0);
	assert_int_equal(wfs_model_answer_feed(answer, 200, event, strlen(event) - 1, &failure), 0);
	assert_int_equal(wfs_model_answer_text(answer).size, 0);
	assert_int_equal(wfs_model_answer_feed(answer, 200, "\n", 1, &failure), 0);
	assert_int_equal(wfs_model_answer_text(answer).size, 1);
	assert_false(wfs_model_answer_complete(answer));
	assert_int_equal(wfs_model_answer_feed(answer, 200, finish, strlen(finish), &failure), 0);
	assert_true(wfs_model_answer_complete(answer));
	assert_true(wfs_model_answer_ended(answer));
}

/* --- embeddings --- */

TEST(embeddings_are_the_document_that_came)
{
	expect_embeddings(200, "{'data':[{'embedding':[0.5,-1]}],'usage':null}",
		"{'data':[{'embedding':[0.5,-1]}],'usage':null}");
	expect_embeddings(200, " []\n", "[]");
}

/* Each would be a stream if it were the answer to a chat. */
TEST(embeddings_are_never_a_stream)
{
	expect_embeddings(200, "data: {'choices':[]}\n\n",
		"3 invalid_answer expected embeddings as JSON, got: data: {'choices':[]}  ");
	expect_embeddings(200, "error: no such model",
		"3 invalid_answer expected embeddings as JSON, got: error: no such model");
}

TEST(what_is_no_document_of_embeddings_is_a_failure)
{
	expect_embeddings(200, "", "3 invalid_answer expected embeddings, got an empty answer");
	expect_embeddings(200, "{'data':[{'embedding':[0.5,",
		"3 incomplete_answer expected embeddings, got the end of the answer within it, "
		"after 27 bytes");
	expect_embeddings(200, "{'data':[{'embedding':[NaN]}]}",
		"3 invalid_answer expected embeddings as JSON, got: "
		"{'data':[{'embedding':[NaN]}]}");
	expect_embeddings(200, "{'error':{'message':'no','code':'c'}}", "3 c no");
	expect_embeddings(404, "{'error':{'message':'no','code':'c'}}", "2 c no");
	expect_embeddings(500, "<html>Oops</html>", "2  <html>Oops</html>");
}
