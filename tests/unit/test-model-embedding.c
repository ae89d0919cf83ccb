/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for embeddings, and the vectors in answers. */
#include "tests/fixture/json.h"
#include "tests/fixture/test.h"

#include <errno.h>
#include <float.h>
#include <math.h>

#include "agents/model/embedding.h"
#include "kernel/base/encode.h"

#define SERVER "'provider':'openai','base_url':'http://127.0.0.1/v1','model':'m'"

/* --- requests --- */

static void expect_body(const char *entry_text, const char *text, const char *expected)
{
	WFS_AUTO_JSON json_t *entry = json_of(entry_text);
	struct wfs_error error = {0};
	json_t *body = NULL;

	if (wfs_embedding_request(entry, text, &body, &error) != 0)
		fail_msg("%s: %s", entry_text, error.message);
	assert_json_is(body, expected);
}

static void expect_no_body(const char *entry_text, const char *text, const char *message_text)
{
	WFS_AUTO_JSON json_t *entry = json_of(entry_text);
	WFS_AUTO_FREE char *message = json_text(message_text);
	struct wfs_error error = {0};
	json_t *body = NULL;

	print_message("%s\n", entry_text);
	assert_int_equal(wfs_embedding_request(entry, text, &body, &error), -EINVAL);
	assert_null(body);
	/* names in messages are quoted as the entry spells them */
	for (char *at = error.message; (at = strchr(at, '\''));)
		*at = '"';
	assert_string_equal(error.message, message);
}

TEST(a_request_has_text_and_model)
{
	expect_body("{" SERVER "}", "na\u00efve \U0001f600",
		"{'encoding_format':'float','input':['na\u00efve \U0001f600'],'model':'m'}");
}

TEST(a_request_has_the_dimensions_of_its_entry)
{
	expect_body("{" SERVER ",'dimensions':768}", "t",
		"{'dimensions':768,'encoding_format':'float','input':['t'],'model':'m'}");
}

TEST(what_is_for_chats_is_in_no_request)
{
	expect_body("{" SERVER ",'api_key_env':'K','max_tokens_name':'max_tokens','profile':'vllm',"
		    "'stream':true,'total_timeout_ms':1}",
		"t", "{'encoding_format':'float','input':['t'],'model':'m'}");
}

TEST(an_extra_body_is_put_over_a_request)
{
	expect_body("{" SERVER ",'dimensions':8,'extra_body':{'dimensions':null,'encoding_format':"
		    "'base64','user':'u'}}",
		"t",
		"{'dimensions':null,'encoding_format':'base64','input':['t'],'model':'m',"
		"'user':'u'}");
	expect_body("{" SERVER ",'extra_body':null}", "t",
		"{'encoding_format':'float','input':['t'],'model':'m'}");
}

TEST(an_extra_body_replaces_neither_text_nor_model)
{
	expect_no_body("{" SERVER ",'extra_body':{'input':['other']}}", "t",
		"'extra_body' of the model: 'input' cannot be replaced");
	expect_no_body("{" SERVER ",'extra_body':{'model':'other'}}", "t",
		"'extra_body' of the model: 'model' cannot be replaced");
	expect_no_body("{" SERVER ",'extra_body':{'stream':true}}", "t",
		"'extra_body' of the model: 'stream' cannot be replaced");
	expect_no_body("{" SERVER ",'extra_body':[]}", "t",
		"'extra_body' of the model: expected an object");
}

TEST(only_a_server_is_asked)
{
	expect_no_body("{'provider':'script','file':'s.jsonl','model':'m'}", "t",
		"'provider': expected 'openai', got 'script', which gives no embeddings");
	expect_no_body("{'model':'m'}", "t", "'provider' is missing, expected a string");
}

TEST(an_entry_names_its_model)
{
	expect_no_body("{'provider':'openai'}", "t", "'model' is missing, expected a string");
	expect_no_body("{'provider':'openai','model':5}", "t",
		"'model': expected a string, got an integer");
	expect_no_body("{'provider':'openai','model':''}", "t",
		"'model': expected the name of a model, got an empty string");
}

TEST(dimensions_are_bounded)
{
	expect_body("{" SERVER ",'dimensions':4096}", "t",
		"{'dimensions':4096,'encoding_format':'float','input':['t'],'model':'m'}");
	expect_no_body("{" SERVER ",'dimensions':4097}", "t",
		"'dimensions': expected an integer from 1 to 4096, got 4097");
	expect_no_body("{" SERVER ",'dimensions':0}", "t",
		"'dimensions': expected an integer from 1 to 4096, got 0");
}

TEST(a_text_that_is_none_is_refused)
{
	expect_no_body("{" SERVER "}", "", "expected a text to embed, got an empty one");
	expect_no_body(
		"{" SERVER "}", "a\xff", "expected a text to embed, got bytes that are not UTF-8");
}

/* --- answers --- */

#define ENTRY "{" SERVER "}"
#define ENTRY_OF(dimensions) "{" SERVER ",'dimensions':" #dimensions "}"
#define ANSWER(embedding) "{'data':[{'embedding':" embedding "}]}"

/* @entry_text: must stay valid, the model borrows from it */
static int read_into(json_t *answer, const json_t *entry, struct wfs_embedding *ret_embedding,
	struct wfs_model_failure *failure)
{
	WFS_AUTO_JSON json_t *owned = answer;

	return wfs_embedding_read(owned, entry, ret_embedding, failure);
}

static void expect_vector(const char *entry_text, json_t *answer, const float *values, size_t count)
{
	WFS_AUTO_JSON json_t *entry = json_of(entry_text);
	WFS_AUTO_EMBEDDING struct wfs_embedding embedding = {0};
	struct wfs_model_failure failure = {.status = 200};

	if (read_into(answer, entry, &embedding, &failure) != 0)
		fail_msg("%s", failure.message);
	assert_int_equal(embedding.count, count);
	assert_memory_equal(embedding.values, values, count * sizeof(*values));
}

static void expect_none(const char *entry_text, json_t *answer, const char *message_text)
{
	WFS_AUTO_JSON json_t *entry = json_of(entry_text);
	WFS_AUTO_FREE char *message = json_text(message_text);
	struct wfs_embedding embedding = {0};
	struct wfs_model_failure failure = {.status = 200};

	print_message("%s\n", message_text);
	assert_int_equal(read_into(answer, entry, &embedding, &failure), -EBADMSG);
	assert_null(embedding.values);
	assert_int_equal(failure.kind, WFS_MODEL_FAILURE_ANSWER);
	for (char *at = failure.message; (at = strchr(at, '\''));)
		*at = '"';
	assert_string_equal(failure.message, message);
}

/* An answer whose embedding is @count times @value. */
static json_t *answer_of(size_t count, double value)
{
	json_t *const values = json_array();

	for (size_t i = 0; i < count; i++)
		assert_int_equal(json_array_append_new(values, json_real(value)), 0);
	return json_pack("{s:[{s:o}]}", "data", "embedding", values);
}

/* An answer whose embedding is the base64 of bytes. */
static json_t *answer_of_bytes(const void *bytes, size_t size)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_base64_append(&text, bytes, size);
	return json_pack("{s:[{s:s}]}", "data", "embedding", wfs_buffer_text(&text));
}

TEST(numbers_become_floats)
{
	const float values[] = {1.0F, -0.5F, 0.1F, 1e-20F, 0.0F};

	expect_vector(ENTRY, json_of(ANSWER("[1,-0.5,0.1,1e-20,0]")), values, 5);
	expect_vector(ENTRY_OF(5), json_of(ANSWER("[1,-0.5,0.1,1e-20,0]")), values, 5);
}

TEST(what_else_servers_send_does_not_matter)
{
	const float value = 2;

	expect_vector(ENTRY,
		json_of("{'object':'list','error':null,'model':'other','data':[{'index':0,'object':"
			"'embedding','embedding':[2]}]}"),
		&value, 1);
}

TEST(base64_is_taken_as_little_endian)
{
	const unsigned char bytes[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf};
	const float values[] = {1.0F, -0.5F};

	expect_vector(ENTRY, answer_of_bytes(bytes, sizeof(bytes)), values, 2);
	expect_vector(ENTRY_OF(2), json_of(ANSWER("'AACAPwAAAL8='")), values, 2);
}

TEST(a_vector_has_at_most_4096_numbers)
{
	WFS_AUTO_FREE float *values = calloc(4097, sizeof(*values));

	assert_non_null(values);
	for (size_t i = 0; i < 4097; i++)
		values[i] = 0.5F;

	expect_vector(ENTRY, answer_of(4096, 0.5), values, 4096);
	expect_vector(ENTRY, answer_of_bytes(values, 4096 * sizeof(*values)), values, 4096);
	expect_none(ENTRY, answer_of(4097, 0.5),
		"expected an embedding of 1 to 4096 numbers, got 4097");
	expect_none(ENTRY, answer_of_bytes(values, 4097 * sizeof(*values)),
		"expected an embedding of 1 to 4096 numbers, got 4097");
}

TEST(a_vector_has_at_least_one_number)
{
	expect_none(
		ENTRY, json_of(ANSWER("[]")), "expected an embedding of 1 to 4096 numbers, got 0");
	expect_none(
		ENTRY, json_of(ANSWER("''")), "expected an embedding of 1 to 4096 numbers, got 0");
}

TEST(a_vector_of_another_size_is_refused)
{
	expect_none(ENTRY_OF(3), json_of(ANSWER("[1,2]")),
		"expected an embedding of 3 numbers ('dimensions' of the model), got 2");
	expect_none(ENTRY_OF(1), json_of(ANSWER("'AACAPwAAAL8='")),
		"expected an embedding of 1 numbers ('dimensions' of the model), got 2");
}

TEST(a_vector_of_zeros_is_refused)
{
	expect_none(ENTRY, json_of(ANSWER("[0,0.0,-0.0]")),
		"expected an embedding that is not all zeros, got 3 zeros");
	expect_none(ENTRY, json_of(ANSWER("[1e-60]")),
		"expected an embedding that is not all zeros, got 1 zeros");
	expect_none(ENTRY, json_of(ANSWER("'AAAAAAAAAIA='")),
		"expected an embedding that is not all zeros, got 2 zeros");
}

TEST(numbers_beyond_float32_are_refused)
{
	const float values[] = {1, NAN, -INFINITY};
	const float most = FLT_MAX;

	expect_vector(ENTRY, answer_of(1, (double)FLT_MAX), &most, 1);
	expect_none(ENTRY, json_of(ANSWER("[1,1e39]")),
		"expected finite numbers (float32) in the embedding, got inf at index 1");
	expect_none(ENTRY, json_of(ANSWER("[-1e300]")),
		"expected finite numbers (float32) in the embedding, got -inf at index 0");
	expect_none(ENTRY, answer_of_bytes(values, 2 * sizeof(*values)),
		"expected finite numbers (float32) in the embedding, got nan at index 1");
	expect_none(ENTRY, answer_of_bytes(&values[2], sizeof(*values)),
		"expected finite numbers (float32) in the embedding, got -inf at index 0");
}

TEST(what_is_no_number_is_refused)
{
	expect_none(
		ENTRY, json_of(ANSWER("[1,'2']")), "expected numbers in the embedding, got: '2'");
	expect_none(
		ENTRY, json_of(ANSWER("[null]")), "expected numbers in the embedding, got: null");
	expect_none(
		ENTRY, json_of(ANSWER("[[1,2]]")), "expected numbers in the embedding, got: [1,2]");
}

#define NO_VECTOR "expected an array of numbers, or base64 of float32, as embedding, got: "

TEST(what_is_no_vector_is_refused)
{
	expect_none(ENTRY, json_of(ANSWER("5")), NO_VECTOR "5");
	expect_none(ENTRY, json_of(ANSWER("null")), NO_VECTOR "null");
	expect_none(ENTRY, json_of("{'data':[{'vector':[1]}]}"), NO_VECTOR "{'vector':[1]}");
	expect_none(ENTRY, json_of("{'data':[[1,2]]}"), NO_VECTOR "[1,2]");
	expect_none(ENTRY, json_of(ANSWER("'no base64'")), NO_VECTOR "'no base64'");
	expect_none(ENTRY, json_of(ANSWER("'AACAPw'")), NO_VECTOR "'AACAPw'");
	expect_none(ENTRY, json_of(ANSWER("'AACAPwA='")), NO_VECTOR "'AACAPwA='");
}

TEST(an_answer_has_one_embedding)
{
	expect_none(ENTRY, json_of("{'data':[]}"), "expected 'data' with one embedding, got 0");
	expect_none(ENTRY, json_of("{'data':[{'embedding':[1]},{'embedding':[1]}]}"),
		"expected 'data' with one embedding, got 2");
	expect_none(ENTRY, json_of("{'data':{'embedding':[1]}}"),
		"expected 'data' with one embedding, got: {'data':{'embedding':[1]}}");
	expect_none(ENTRY, json_of("{'a':1}"), "expected 'data' with one embedding, got: {'a':1}");
	expect_none(ENTRY, json_of("[1,2]"), "expected 'data' with one embedding, got: [1,2]");
	expect_none(ENTRY, json_of("null"), "expected 'data' with one embedding, got: null");
	expect_none(ENTRY, json_of("{'choices':[{'message':{'content':'ok'}}]}"),
		"expected 'data' with one embedding, got: "
		"{'choices':[{'message':{'content':'ok'}}]}");
}

TEST(an_error_in_the_answer_is_told)
{
	expect_none(ENTRY, json_of("{'error':{'message':'no such model'}}"), "no such model");
	expect_none(ENTRY, json_of("{'error':'busy','data':[{'embedding':[1]}]}"), "busy");
	expect_none(ENTRY, json_of("{'object':'error','message':'broken'}"), "broken");
}

TEST(a_failure_has_no_secret_in_it)
{
	WFS_AUTO_JSON json_t *entry = json_of(ENTRY);
	struct wfs_model_failure failure = {.status = 200, .secret = "sk-1"};
	struct wfs_embedding embedding = {0};

	assert_int_equal(
		read_into(json_of(ANSWER("'sk-1'")), entry, &embedding, &failure), -EBADMSG);
	assert_string_equal(failure.message, NO_VECTOR "\"***\"");
}

TEST(releasing_none_is_allowed)
{
	struct wfs_embedding embedding = {0};

	wfs_embedding_done(&embedding);
	assert_null(embedding.values);
}
