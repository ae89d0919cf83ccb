/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of records: what is written is canonical, and is read back as the struct that it was. */
#include "tests/fixture/json.h"

#include "kernel/base/json.h"
#include "kernel/read/record.h"

#define HASH \
	"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" /* of hello */

/* --- what each kind has --- */

static const struct {
	enum wfs_record_kind kind;
	const char *all;      /* every member */
	const char *required; /* without those that may be absent */
} bodies[] = {
	{WFS_RECORD_GENESIS,
		"{'entropy':'YQ==','manifest_hash':'" HASH "','name':'n','world_id':'w'}",
		"{'entropy':'YQ==','manifest_hash':'" HASH "','name':'n','world_id':'w'}"},
	{WFS_RECORD_BASELINE, "{'from_height':7,'from_world_id':'w','snapshot_hash':'" HASH "'}",
		"{'from_height':null,'from_world_id':null,'snapshot_hash':'" HASH "'}"},
	{WFS_RECORD_EPOCH, "{'fold_from':1,'fold_to':2,'snapshot_hash':'" HASH "'}",
		"{'fold_from':0,'fold_to':0,'snapshot_hash':'" HASH "'}"},
	{WFS_RECORD_MANIFEST,
		"{'base_manifest_hash':'" HASH "','grant':'g','manifest_hash':'" HASH
		"','reason':'because'}",
		"{'base_manifest_hash':'" HASH "','manifest_hash':'" HASH "','reason':null}"},
	{WFS_RECORD_EVENT, "{'grant':'g','schema':'t/Do@1','value':[1]}",
		"{'schema':'t/Do@1','value':null}"},
	{WFS_RECORD_ACTION,
		"{'action':{'action_type':'step'},'grant':'g','intent_id':'i','result':{'ok':true}"
		"}",
		"{'action':{},'result':{}}"},
	{WFS_RECORD_BLOB, "{'grant':'g','hash':'" HASH "','size':1099511627776}",
		"{'hash':'" HASH "','size':0}"},
	{WFS_RECORD_INTENT,
		"{'cap':'c','effect':'e','intent_id':'i','origin':{'key':'k\\u0000'},'params':{}}",
		"{'cap':'c','effect':'e','intent_id':'i','origin':{},'params':{}}"},
	{WFS_RECORD_RECEIPT,
		"{'adapter_id':'a','cost':1,'grant':'g','intent_id':'i','payload':{},'status':'ok'"
		"}",
		"{'adapter_id':'a','intent_id':'i','payload':null,'status':'cancelled'}"},
	{WFS_RECORD_DECISION,
		"{'code':'c','count':2,'decision':'deny','effect':'e','grant':'g','intent_id':'i',"
		"'policy':'p','rule_index':0}",
		"{'code':'c','decision':'deny','effect':'e'}"},
	{WFS_RECORD_SNAPSHOT, "{'grant':'g','height':9,'snapshot_hash':'" HASH "'}",
		"{'height':9,'snapshot_hash':'" HASH "'}"},
};

/* --- comparing structs member by member --- */

static void equal_TEXT(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void equal_NAT(int64_t a, int64_t b)
{
	assert_int_equal(a, b);
}

static void equal_HASH(struct wfs_hash a, struct wfs_hash b)
{
	assert_memory_equal(a.bytes, b.bytes, sizeof(a.bytes));
}

static void equal_VALUE(const json_t *a, const json_t *b)
{
	assert_true(a == b || json_equal(a, b));
}

#define EQUAL_MEMBER(body, type, member, absent) equal_##type(a->body.member, b->body.member);
#define EQUAL_BODY(constant, name)                      \
	if (kind == WFS_RECORD_##constant) {            \
		WFS_BODY_##constant(EQUAL_MEMBER, name) \
	}

static void assert_equal(
	enum wfs_record_kind kind, const union wfs_body *a, const union wfs_body *b)
{
	WFS_RECORD_KINDS(EQUAL_BODY)
}

/* --- tests --- */

static void assert_written(enum wfs_record_kind kind, const char *quoted)
{
	WFS_AUTO_FREE char *text = json_text(quoted);
	WFS_AUTO_JSON json_t *json = json_of(quoted);
	WFS_AUTO_JSON json_t *again = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};
	union wfs_body given;
	union wfs_body found;

	print_message("%s\n", quoted);
	assert_int_equal(wfs_body_read(kind, json, &given, NULL), 0);
	wfs_body_write(&written, kind, &given);
	assert_string_equal(wfs_buffer_text(&written), text);
	assert_int_equal(wfs_json_parse(written.data, written.size, &again, NULL), 0);
	assert_int_equal(wfs_body_read(kind, again, &found, NULL), 0);
	assert_equal(kind, &given, &found);
}

TEST(what_is_written_is_canonical_and_is_read_back)
{
	assert_int_equal(WFS_ARRAY_COUNT(bodies), WFS_RECORD_KIND_COUNT);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(bodies); i++) {
		assert_int_equal(bodies[i].kind, i);
		assert_written(bodies[i].kind, bodies[i].all);
		assert_written(bodies[i].kind, bodies[i].required);
	}
}

TEST(a_struct_has_what_the_text_has)
{
	WFS_AUTO_JSON json_t *blob = json_of("{'grant':'g','hash':'" HASH "','size':5}");
	WFS_AUTO_JSON json_t *event = json_of("{'schema':'t/Do@1','value':3}");
	const struct wfs_hash hello = wfs_hash_of("hello", 5);
	union wfs_body body;

	assert_int_equal(wfs_body_read(WFS_RECORD_BLOB, blob, &body, NULL), 0);
	assert_string_equal(body.blob.grant, "g");
	assert_true(wfs_hash_equal(&body.blob.hash, &hello));
	assert_int_equal(body.blob.size, 5);
	assert_int_equal(wfs_body_read(WFS_RECORD_EVENT, event, &body, NULL), 0);
	assert_null(body.event.grant);
	assert_string_equal(body.event.schema, "t/Do@1");
	assert_int_equal(json_integer_value(body.event.value), 3);
}

/* Every required member is missed, and no kind takes members of others. */
TEST(a_body_of_another_form_is_refused)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(bodies); i++) {
		WFS_AUTO_JSON json_t *body = json_of(bodies[i].required);
		WFS_AUTO_JSON json_t *more = json_copy(body);
		union wfs_body ignored;
		const char *name;
		json_t *value;

		json_object_set_new(more, "more", json_true());
		assert_int_equal(wfs_body_read(bodies[i].kind, more, &ignored, NULL), -EINVAL);
		json_object_foreach(body, name, value) {
			WFS_AUTO_JSON json_t *less = json_copy(body);

			if (json_is_null(value))
				continue;
			print_message("%s without %s\n", bodies[i].required, name);
			json_object_del(less, name);
			assert_int_equal(
				wfs_body_read(bodies[i].kind, less, &ignored, NULL), -EINVAL);
		}
	}
}

TEST(a_required_member_that_is_null_fails_the_buffer)
{
	WFS_AUTO_BUFFER struct wfs_buffer written = {0};
	const union wfs_body body = {.event = {.schema = "t/Do@1"}};

	wfs_body_write(&written, WFS_RECORD_EVENT, &body);

	assert_int_equal(wfs_buffer_check(&written), -ENOMEM);
}

/* --- refusals --- */

TEST(a_refusal_is_written_with_what_is_known)
{
	WFS_AUTO_BUFFER struct wfs_buffer one = {0};
	WFS_AUTO_BUFFER struct wfs_buffer many = {0};
	const struct wfs_decision first = {
		.effect = "e", .grant = "g", .policy = "p", .rule_known = true};
	const struct wfs_decision sum = {.effect = "e", .count = 99};

	wfs_record_write_decision_body(&one, &first, "policy_denied");
	wfs_record_write_decision_body(&many, &sum, "overloaded");

	assert_string_equal(wfs_buffer_text(&one),
		"{\"code\":\"policy_denied\",\"decision\":\"deny\",\"effect\":\"e\",\"grant\":"
		"\"g\","
		"\"policy\":\"p\",\"rule_index\":0}");
	assert_string_equal(wfs_buffer_text(&many),
		"{\"code\":\"overloaded\",\"count\":99,\"decision\":\"deny\",\"effect\":\"e\"}");
}
