/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of errors in the forms that servers send, and texts from which the key was removed. */
#include "tests/fixture/json.h"
#include "tests/fixture/test.h"

#include <errno.h>

#include "agents/model/failure.h"
#include "kernel/base/encode.h"

#define KEY "sk-very-secret"

/* @body: with ' for ". */
static struct wfs_model_failure read_body(int status, const char *body)
{
	WFS_AUTO_FREE char *text = json_text(body);
	struct wfs_model_failure failure = {.status = status, .secret = KEY};

	assert_int_equal(wfs_model_failure_read(&failure, wfs_bytes_text(text)), -EBADMSG);
	assert_int_equal(failure.kind, WFS_MODEL_FAILURE_HTTP);
	assert_null(strstr(failure.message, KEY));
	return failure;
}

static void expect(const struct wfs_model_failure *failure, const char *message, const char *code,
	const char *type)
{
	assert_string_equal(failure->message, message);
	assert_string_equal(failure->code, code);
	assert_string_equal(failure->type, type);
}

#define FAILS_WITH(name, status, body, message, code, type)                       \
	TEST(name)                                                                \
	{                                                                         \
		const struct wfs_model_failure failure = read_body(status, body); \
		expect(&failure, message, code, type);                            \
	}

FAILS_WITH(an_error_object_gives_message_code_and_type, 429,
	"{'error':{'message':'Slow down','type':'requests','param':null,"
	"'code':'rate_limit_exceeded'}}",
	"Slow down", "rate_limit_exceeded", "requests")

/* Case 96. */
FAILS_WITH(a_code_that_is_a_number_becomes_text, 404,
	"{'error':{'message':'The model `x` does not exist.','type':'NotFoundError',"
	"'param':'model','code':404}}",
	"The model `x` does not exist.", "404", "NotFoundError")

/* Case 95. */
FAILS_WITH(an_error_may_be_a_text, 401, "{'error':'Unauthorized'}", "Unauthorized", "", "")
FAILS_WITH(an_error_may_be_the_whole_body, 400,
	"{'object':'error','message':'bad','type':'BadRequestError','param':null,'code':"
	"400}",
	"bad", "400", "BadRequestError")
FAILS_WITH(an_error_may_stand_in_a_list, 400,
	"[{'error':{'code':400,'message':'no','status':'INVALID_ARGUMENT'}}]", "no", "400",
	"INVALID_ARGUMENT")

TEST(a_detail_is_the_message)
{
	const struct wfs_model_failure text = read_body(404, "{'detail':'Not Found'}");
	const struct wfs_model_failure list =
		read_body(422, "{'detail':[{'loc':['body'],'msg':'x'}]}");
	const struct wfs_model_failure plain = read_body(400, "{'message':'top'}");

	expect(&text, "Not Found", "", "");
	expect(&list, "[{\"loc\":[\"body\"],\"msg\":\"x\"}]", "", "");
	expect(&plain, "top", "", "");
}

/* Case 97. */
TEST(a_page_of_a_proxy_is_quoted_from_its_beginning)
{
	const struct wfs_model_failure failure =
		read_body(502, "<html>\r\n<h1>502 Bad Gateway</h1>\x01</html>");

	expect(&failure, "<html>  <h1>502 Bad Gateway</h1>?</html>", "", "");
	assert_int_equal(failure.status, 502);
}

TEST(a_body_that_says_nothing_leaves_the_status)
{
	const struct wfs_model_failure empty = read_body(503, "");
	const struct wfs_model_failure object = read_body(503, "{'error':{}}");

	expect(&empty, "HTTP status 503 without a reason", "", "");
	expect(&object, "HTTP status 503 without a reason", "", "");
}

FAILS_WITH(a_redirect_says_that_it_is_not_followed, 307, "<html>elsewhere</html>",
	"HTTP status 307: redirects are not followed", "", "")

TEST(members_of_other_types_do_no_harm)
{
	const struct wfs_model_failure odd =
		read_body(500, "{'error':{'message':['a',1],'code':{},'type':7}}");
	const struct wfs_model_failure odder = read_body(500, "{'error':17}");
	const struct wfs_model_failure list = read_body(500, "[]");

	expect(&odd, "[\"a\",1]", "{}", "7");
	expect(&odder, "17", "", "");
	expect(&list, "[]", "", "");
}

TEST(a_request_beyond_the_context_has_one_code)
{
	const char *const bodies[] = {
		"{'error':{'message':'m','type':'invalid_request_error','code':'context_length_"
		"exceeded'}}",
		"{'error':{'code':400,'message':'the request exceeds the available context size, "
		"try "
		"increasing it','type':'exceed_context_size_error','n_ctx':4096}}",
		"{'error':{'message':'This model\\u0027s maximum context length is 4096 tokens. "
		"However, "
		"you requested 5000 tokens','type':'BadRequestError','code':400}}",
		"{'object':'error','message':'The input (9 tokens) is longer than the "
		"model\\u0027s context length (8 tokens).','code':400}",
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(bodies); i++) {
		const struct wfs_model_failure failure = read_body(400, bodies[i]);

		print_message("%s\n", bodies[i]);
		assert_string_equal(failure.code, "context_length_exceeded");
	}
}

TEST(other_requests_keep_their_code)
{
	const struct wfs_model_failure failure = read_body(
		400, "{'error':{'message':'context is not a known parameter','code':'bad'}}");

	assert_string_equal(failure.code, "bad");
}

/* Case 98. */
TEST(an_answer_with_an_error_in_it_is_found)
{
	WFS_AUTO_JSON json_t *answer = json_of("{'error':'Unexpected endpoint'}");
	struct wfs_model_failure failure = {.status = 200};

	assert_int_equal(wfs_model_failure_find(&failure, answer), -EBADMSG);
	assert_int_equal(failure.kind, WFS_MODEL_FAILURE_ANSWER);
	expect(&failure, "Unexpected endpoint", "", "");
}

TEST(an_answer_without_an_error_is_none)
{
	const char *const answers[] = {"{'choices':[]}", "{'error':null}", "{'error':false}", "[]",
		"{'message':'m'}", "{'detail':'m'}", "17"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(answers); i++) {
		WFS_AUTO_JSON json_t *answer = json_of(answers[i]);
		struct wfs_model_failure failure = {0};

		print_message("%s\n", answers[i]);
		assert_int_equal(wfs_model_failure_find(&failure, answer), 0);
		assert_string_equal(failure.message, "");
	}
}

/* Case 102. */
FAILS_WITH(the_key_is_masked_wherever_it_is_echoed, 401,
	"{'error':{'message':'Incorrect API key: " KEY " (" KEY ")','code':'" KEY "','type':'x" KEY
	"'}}",
	"Incorrect API key: *** (***)", "***", "x***")

/* Case 102. */
TEST(a_key_at_the_cut_is_masked_before_it_is_cut)
{
	for (size_t before = 490; before < 520; before++) {
		WFS_AUTO_BUFFER struct wfs_buffer body = {0};
		struct wfs_model_failure failure = {.status = 500, .secret = KEY};

		for (size_t i = 0; i < before; i++)
			wfs_buffer_append_byte(&body, '.');
		wfs_buffer_append_text(&body, KEY KEY);
		wfs_model_failure_read(&failure, wfs_buffer_bytes(&body));
		assert_null(strstr(failure.message, "sk-"));
		assert_null(strchr(failure.message, 's'));
	}
}

TEST(a_message_is_cut_at_a_character)
{
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	struct wfs_model_failure failure = {.status = 500};

	for (int i = 0; i < 300; i++)
		wfs_buffer_append_text(&body, "\u20ac");
	wfs_model_failure_read(&failure, wfs_buffer_bytes(&body));

	assert_int_equal(strlen(failure.message), 510);
	assert_true(wfs_utf8_valid(failure.message, 510));
	assert_null(strchr(failure.message, '?'));
}

TEST(bytes_that_are_no_text_become_question_marks)
{
	struct wfs_model_failure failure = {.status = 500};

	wfs_model_failure_read(&failure, WFS_BYTES("a\xff\0b\xc3", 5));

	assert_string_equal(failure.message, "a??b?");
}

TEST(a_message_of_our_own_quotes_what_came)
{
	struct wfs_model_failure failure = {.status = 200, .secret = KEY};

	assert_int_equal(
		wfs_model_failure_quote(&failure, WFS_MODEL_FAILURE_ANSWER, WFS_MODEL_CODE_INVALID,
			"expected JSON", wfs_bytes_text("<p>" KEY "</p>")),
		-EBADMSG);
	expect(&failure, "expected JSON, got: <p>***</p>", "invalid_answer", "");
}

TEST(beginning_anew_keeps_only_the_secret)
{
	struct wfs_model_failure failure = read_body(500, "{'error':'x'}");

	wfs_model_failure_begin(&failure);

	expect(&failure, "", "", "");
	assert_int_equal(failure.status, 0);
	assert_string_equal(failure.secret, KEY);
}
