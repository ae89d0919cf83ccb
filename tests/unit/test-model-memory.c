/* SPDX-License-Identifier: Apache-2.0 */
/* The client of models without memory, and after its end. Each of our allocations fails once,
 * and one of each kind of curl's. */
#include <curl/curl.h>

#include "agents/model/answer.h"
#include "agents/model/embedding.h"
#include "tests/fixture/model.h"

static unsigned int until_failure; /* number of the allocation that fails; 0: none fails */
static unsigned int curl_until_failure;
static CURLM *cleaned; /* the last multi handle that was freed */

static bool fails(unsigned int *until)
{
	return *until > 0 && --*until == 0;
}

/* NOLINTBEGIN(readability-identifier-naming): the linker's names, see ld(1), --wrap */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
CURL *__real_curl_easy_init(void);
CURLM *__real_curl_multi_init(void);
CURLMcode __real_curl_multi_cleanup(CURLM *multi);
CURLMsg *__real_curl_multi_info_read(CURLM *multi, int *left);
CURLMcode __real_curl_multi_add_handle(CURLM *multi, CURL *easy);
struct curl_slist *__real_curl_slist_append(struct curl_slist *list, const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
CURL *__wrap_curl_easy_init(void);
CURLM *__wrap_curl_multi_init(void);
CURLMcode __wrap_curl_multi_cleanup(CURLM *multi);
CURLMsg *__wrap_curl_multi_info_read(CURLM *multi, int *left);
CURLMcode __wrap_curl_multi_add_handle(CURLM *multi, CURL *easy);
struct curl_slist *__wrap_curl_slist_append(struct curl_slist *list, const char *text);

void *__wrap_malloc(size_t size)
{
	return fails(&until_failure) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(&until_failure) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
	return fails(&until_failure) ? NULL : __real_realloc(block, size);
}

CURL *__wrap_curl_easy_init(void)
{
	return fails(&curl_until_failure) ? NULL : __real_curl_easy_init();
}

CURLM *__wrap_curl_multi_init(void)
{
	cleaned = NULL; /* the memory of that handle may be used again */
	return fails(&curl_until_failure) ? NULL : __real_curl_multi_init();
}

CURLMcode __wrap_curl_multi_add_handle(CURLM *multi, CURL *easy)
{
	return fails(&curl_until_failure) ? CURLM_OUT_OF_MEMORY
					  : __real_curl_multi_add_handle(multi, easy);
}

struct curl_slist *__wrap_curl_slist_append(struct curl_slist *list, const char *text)
{
	return fails(&curl_until_failure) ? NULL : __real_curl_slist_append(list, text);
}

CURLMcode __wrap_curl_multi_cleanup(CURLM *multi)
{
	cleaned = multi;
	return __real_curl_multi_cleanup(multi);
}

CURLMsg *__wrap_curl_multi_info_read(CURLM *multi, int *left)
{
	assert_ptr_not_equal(multi, cleaned);
	return __real_curl_multi_info_read(multi, left);
}
/* NOLINTEND(readability-identifier-naming) */

/* --- answers --- */

/* Return: as wfs_model_answer_finish(). */
static int read_answer(const char *body, json_t **ret_completion)
{
	WFS_AUTO_MODEL_ANSWER struct wfs_model_answer *answer = NULL;
	struct wfs_model_failure failure = {.status = 200};
	int r = wfs_model_answer_new(WFS_MODEL_CHAT, &answer);

	if (r == 0)
		r = wfs_model_answer_feed(answer, 200, body, strlen(body), &failure);
	if (r == 0)
		r = wfs_model_answer_finish(answer, ret_completion, &failure);
	return r;
}

static void expect_survived(const char *body_text)
{
	WFS_AUTO_FREE char *body = json_text(body_text);
	WFS_AUTO_JSON json_t *expected = NULL;
	WFS_AUTO_JSON json_t *completion = NULL;
	unsigned int failed_count = 0;

	assert_int_equal(read_answer(body, &expected), 0);
	do {
		until_failure = ++failed_count;
		const int r = read_answer(body, &completion);
		const bool failed = until_failure == 0;

		until_failure = 0;
		assert_int_equal(r, failed ? -ENOMEM : 0);
	} while (!completion);
	assert_true(json_equal(completion, expected));
	assert_true(failed_count > 20);
}

TEST(a_document_needs_all_its_memory)
{
	expect_survived("{'model':'m','choices':[{'message':{'content':[{'text':'a'}],'tool_calls':"
			"[{'id':'c','function':{'name':'f','arguments':{'a':1}}}]},"
			"'finish_reason':'stop'}],'usage':{'prompt_tokens':1}}");
	expect_survived("{'choices':[{'message':{'refusal':'no'}}]}");
}

TEST(a_stream_needs_all_its_memory)
{
	expect_survived("data: {'model':'m','choices':[{'delta':{'content':'a','tool_calls':"
			"[{'id':'c','function':{'name':'f','arguments':'{}'}}]}}]}\n\n"
			"data: {'choices':[{'delta':{},'finish_reason':'stop'}],"
			"'usage':{'prompt_tokens':1}}\n\n");
}

TEST(a_failure_is_told_without_memory_for_its_text)
{
	struct wfs_model_failure failure = {.status = 500, .secret = "x"};

	until_failure = 1;
	wfs_model_failure_set(&failure, WFS_MODEL_FAILURE_ANSWER, "code", "text");
	assert_int_equal(until_failure, 0);
	assert_string_equal(failure.code, "code");
	assert_string_equal(failure.message, "");
}

/* --- embeddings --- */

#define EMBEDDER                                                             \
	"{'provider':'openai','base_url':'http://127.0.0.1/v1','model':'m'," \
	"'dimensions':2,'extra_body':{'user':'u'}}"

TEST(a_request_for_an_embedding_needs_all_its_memory)
{
	WFS_AUTO_JSON json_t *entry = json_of(EMBEDDER);
	WFS_AUTO_JSON json_t *body = NULL;
	unsigned int failed_count = 0;
	int r;

	do {
		until_failure = ++failed_count;
		r = wfs_embedding_request(entry, "text", &body, NULL);
	} while (r == -ENOMEM);
	until_failure = 0;
	assert_int_equal(r, 0);
	assert_true(failed_count > 5);
	assert_json_is(json_incref(body),
		"{'dimensions':2,'encoding_format':'float','input':['text'],'model':'m',"
		"'user':'u'}");
}

/* Return: the number of allocations. */
static unsigned int expect_embedding_survived(const char *answer_text)
{
	WFS_AUTO_JSON json_t *entry = json_of(EMBEDDER);
	WFS_AUTO_JSON json_t *answer = json_of(answer_text);
	WFS_AUTO_EMBEDDING struct wfs_embedding embedding = {0};
	struct wfs_model_failure failure = {.status = 200};
	unsigned int failed_count = 0;
	int r;

	do {
		until_failure = ++failed_count;
		r = wfs_embedding_read(answer, entry, &embedding, &failure);
	} while (r == -ENOMEM);
	until_failure = 0;
	assert_int_equal(r, 0);
	assert_int_equal(embedding.count, 2);
	return failed_count - 1;
}

TEST(an_embedding_needs_all_its_memory)
{
	assert_int_equal(expect_embedding_survived("{'data':[{'embedding':[1,2]}]}"), 1);
	assert_int_equal(expect_embedding_survived("{'data':[{'embedding':'AACAPwAAAL8='}]}"), 2);
}

/* --- the client --- */

WITH_MODEL(a_client_needs_all_its_memory)
{
	struct wfs_model_client *client = NULL;

	until_failure = 1;
	assert_int_equal(wfs_model_client_new(&fixture->loop, &client), -ENOMEM);
	curl_until_failure = 1;
	assert_int_equal(wfs_model_client_new(&fixture->loop, &client), -ENOMEM);
	assert_null(client);
}

WITH_MODEL(a_call_begins_with_all_its_memory_or_not_at_all)
{
	AUTO_OUTCOME struct outcome outcome = {0};
	unsigned int failed_count = 0;
	unsigned int curl_failed_count = 0;
	int r;

	model_server_plan(fixture->server, "{}");
	do {
		until_failure = ++failed_count;
		r = try_start(fixture, "{}", &outcome, NULL);
	} while (r == -ENOMEM);
	until_failure = 0;
	assert_int_equal(r, 0);
	assert_true(failed_count > 3);
	wfs_model_call_cancel(outcome.call);
	do {
		curl_until_failure = ++curl_failed_count;
		r = try_start(fixture, "{}", &outcome, NULL);
	} while (r == -ENOMEM);
	curl_until_failure = 0;
	assert_int_equal(r, 0);
	assert_int_equal(curl_failed_count, 7); /* a handle and five headers */
	run_until_done(fixture, &outcome);
	expect_content(&outcome, "ok");
}

WITH_MODEL(an_attempt_without_memory_is_made_again)
{
	AUTO_OUTCOME struct outcome outcome = {0};
	AUTO_OUTCOME struct outcome failed = {0};

	model_server_plan(fixture->server, "{}");
	start(fixture, "{}", &outcome);
	curl_until_failure = 1;
	run_until_done(fixture, &outcome);
	expect_content(&outcome, "ok");
	assert_int_equal(outcome.attempts, 2);

	fixture->endpoint.attempts = 1;
	start(fixture, "{}", &failed);
	curl_until_failure = 1;
	run_until_done(fixture, &failed);
	expect_failure(&failed, WFS_MODEL_FAILURE_TRANSPORT, "out_of_memory");
}

static void no_end(void *context, const struct wfs_model_result *result)
{
	(void)context;
	(void)result;
	fail_msg("it was cancelled");
}

static int begin_embedding(struct model_fixture *fixture, const json_t *entry,
	struct wfs_buffer *body, struct wfs_model_call **ret_call)
{
	WFS_AUTO_JSON json_t *json = NULL;
	int r = wfs_embedding_request(entry, "text", &json, NULL);

	if (r)
		return r;
	wfs_json_write(json, body);
	r = wfs_buffer_check(body);
	if (r)
		return r;
	const struct wfs_model_request request = {.endpoint = &fixture->endpoint,
		.service = WFS_MODEL_EMBEDDINGS,
		.body = wfs_buffer_bytes(body),
		.idempotency_key = "k",
		.done = no_end};
	return wfs_model_call_start(fixture->client, &request, ret_call, NULL);
}

WITH_MODEL(a_call_for_an_embedding_begins_with_all_its_memory)
{
	WFS_AUTO_JSON json_t *entry = json_of(EMBEDDER);
	WFS_AUTO_BUFFER struct wfs_buffer body = {0};
	struct wfs_model_call *call = NULL;
	unsigned int failed_count = 0;
	int r;

	do {
		wfs_buffer_done(&body);
		until_failure = ++failed_count;
		r = begin_embedding(fixture, entry, &body, &call);
	} while (r == -ENOMEM);
	until_failure = 0;
	assert_int_equal(r, 0);
	assert_true(failed_count > 8);
	wfs_model_call_cancel(call);
}

WITH_MODEL(a_vector_without_memory_is_a_failure)
{
	WFS_AUTO_JSON json_t *entry = json_of(EMBEDDER);
	WFS_AUTO_JSON json_t *answer = json_of("{'data':[{'embedding':[1,2]}]}");
	const struct wfs_model_result result = {.completion = answer};
	struct wfs_embedding embedding = {0};
	struct wfs_model_failure failure;

	until_failure = 1;
	assert_int_equal(
		wfs_embedding_result(&result, &fixture->endpoint, entry, &embedding, &failure),
		-EBADMSG);
	assert_int_equal(failure.kind, WFS_MODEL_FAILURE_TRANSPORT);
	assert_string_equal(failure.code, "out_of_memory");
	assert_null(embedding.values);
}

static void free_client(void *context, const struct wfs_model_result *result)
{
	struct model_fixture *const fixture = context;

	(void)result;
	wfs_model_client_free(WFS_STEAL(fixture->client));
}

/* Both calls end in one round of the loop: the end of the second is not reported any more. */
WITH_MODEL(a_client_may_go_at_the_end_of_a_call)
{
	const struct wfs_model_request request = {
		.endpoint = &fixture->endpoint,
		.idempotency_key = "k",
		.context = fixture,
		.done = free_client,
	};
	struct wfs_model_call *calls[2] = {NULL};

	fixture->endpoint.base_url = "http://127.0.0.1:1/v1";
	fixture->endpoint.attempts = 1;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(calls); i++)
		assert_int_equal(
			wfs_model_call_start(fixture->client, &request, &calls[i], NULL), 0);

	uv_run(&fixture->loop, UV_RUN_DEFAULT);

	assert_null(fixture->client);
}

TEST_GROUP(model_group_setup, model_group_teardown)
