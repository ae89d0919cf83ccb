/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world that begins with the genesis artifacts, for the tests of kernel/domain/service/ and
 * kernel/domain/memory/. What an action does to scrip, disk, artifacts, sales and stores is compared as one
 * text, so that a test sees that nothing of it has changed.
 */
#pragma once

#include "tests/unit/action-fixture.h"

#define CALL(id, method, args) \
	INVOKE("'artifact_id':'" id "','method':'" method "','args':[" args "]")
#define CODE(id, body) WRITE("'artifact_id':'" id "','code':'function run(...) " body " end'")

/* A cell, parsed as it is; NULL: there is none. Caller owns it. */
static inline json_t *document_of(
	struct world_fixture *fixture, const char *reducer, const char *key)
{
	WFS_AUTO_FREE char *text = state_at(fixture, WFS_HEIGHT_HEAD, reducer, key);
	json_t *document = NULL;

	if (text)
		assert_int_equal(wfs_json_parse(text, strlen(text), &document, NULL), 0);
	return document;
}

static inline void put_cell(struct wfs_buffer *text, const char *reducer, struct wfs_view *view,
	const struct wfs_cell *cell)
{
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_version version;

	assert_int_equal(wfs_version_get(view->txn, cell->head_vid, &version), 0);
	assert_int_equal(wfs_view_content(view, &version, WFS_RANGE_ALL, &content, NULL), 0);
	wfs_buffer_printf(text, "%s %.*s %.*s", reducer, (int)cell->key.size,
		(const char *)cell->key.data, (int)content.bytes.size,
		(const char *)content.bytes.data);
}

/* All that is owned, sold and stored, line by line. Caller frees. */
static inline char *market_text(struct world_fixture *fixture)
{
	static const enum wfs_builtin_reducer reducers[] = {WFS_BUILTIN_LEDGER,
		WFS_BUILTIN_RESOURCE, WFS_BUILTIN_ARTIFACT, WFS_BUILTIN_ESCROW, WFS_BUILTIN_MEMORY,
		WFS_BUILTIN_MEMORY_STORE, WFS_BUILTIN_MEMORY_HIT};
	WFS_AUTO_VIEW struct wfs_view view = view_at(fixture, WFS_HEIGHT_HEAD);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(reducers); i++) {
		WFS_AUTO_CELL_WALK struct wfs_cell_walk walk = {0};
		struct wfs_reducer reducer;
		struct wfs_cell cell;

		assert_int_equal(wfs_view_builtin(&view, reducers[i], &reducer), 0);
		assert_int_equal(wfs_cell_walk_init(&walk, view.txn, reducer.reducer_id, 0), 0);
		while (wfs_cell_walk_next(&walk, &cell) > 0)
			if (cell.live)
				put_cell(
					&text, wfs_builtin_reducer_name(reducers[i]), &view, &cell);
	}
	return strdup(wfs_buffer_text(&text));
}

/* All the scrip that there is. */
static inline int64_t scrip_sum(struct world_fixture *fixture)
{
	WFS_AUTO_FREE char *text = market_text(fixture);
	static const char member[] = "{\"scrip\":";
	int64_t sum = 0;

	for (const char *at = text; (at = strstr(at, member)); at += sizeof(member))
		sum += strtoll(at + sizeof(member) - 1, NULL, 10);
	return sum;
}

/* Does what must be done, for a price; all scrip is still there. Return: the result; caller owns it. */
static inline json_t *call_for(
	struct world_fixture *fixture, const char *principal, const char *action, int64_t price)
{
	const int64_t sum = scrip_sum(fixture);
	WFS_AUTO_JSON json_t *answer = NULL;

	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	const json_t *const data = json_object_get(answer, "data");
	if (json_integer_value(json_object_get(data, "price_paid")) != price)
		fail_msg("%s: costs %lld", action,
			(long long)json_integer_value(json_object_get(data, "price_paid")));
	assert_int_equal(scrip_sum(fixture), sum);
	return json_incref(json_object_get(data, "result"));
}

static inline void assert_call(struct world_fixture *fixture, const char *principal,
	const char *action, int64_t price, const char *expected)
{
	print_message("%.90s\n", action);
	assert_json_is(call_for(fixture, principal, action, price), expected);
}

/* It fails, says so in these words, and nothing is another than before. */
static inline void assert_refused(struct world_fixture *fixture, const char *principal,
	const char *action, enum wfs_error_code code, const char *message)
{
	WFS_AUTO_FREE char *before = market_text(fixture);

	assert_fails(fixture, principal, action, code, message);
	WFS_AUTO_FREE char *after = market_text(fixture);
	assert_string_equal(before, after);
}

#define GRANT_ALL(id)                                                            \
	"{'action_type':'grant','cap':'sys/query@1','params':{},'to':'" id "'}", \
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'" id "'}"

/* alice with 100 scrip and 100,000 bytes, bob with 50 and 30,000, rich with 1,000 and no bound: all may do
 * everything. poor has no scrip. carol may only invoke, dave may do everything to what begins with `d_`, and invoke services. */
static inline int market_setup(void **state)
{
	static const char *const first[] = {
		"{'action_type':'principal','id':'alice','scrip':100,'quotas':{'disk':100000}}",
		"{'action_type':'principal','id':'bob','scrip':50,'quotas':{'disk':30000}}",
		"{'action_type':'principal','id':'rich','scrip':1000}",
		"{'action_type':'principal','id':'poor'}",
		"{'action_type':'principal','id':'carol','scrip':50}",
		"{'action_type':'principal','id':'dave','scrip':50}",
		GRANT_ALL("alice"),
		GRANT_ALL("bob"),
		GRANT_ALL("rich"),
		GRANT_ALL("poor"),
		"{'action_type':'grant','cap':'sys/act@1','to':'carol','params':"
		"{'actions':['invoke_artifact']}}",
		"{'action_type':'grant','cap':'sys/act@1','to':'dave','params':"
		"{'artifacts':['d_*','genesis_*']}}",
	};
	int r = world_fixture_source(state);

	if (r)
		return r;
	((struct world_fixture *)*state)->loaded.genesis = true;
	r = world_fixture_create(*state);
	if (!r)
		r = world_fixture_open(*state);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(first); i++) {
		json_t *answer = NULL;

		r = act_as(*state, "tester", first[i], &answer);
		json_decref(answer);
	}
	return r;
}

#define IN_MARKET(name) \
	TEST_WITH(name, struct world_fixture *fixture, market_setup, action_fixture_teardown)
