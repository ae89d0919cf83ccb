/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Manifests for the tests of what applies them: the one in force, edited.
 */
#pragma once

#include "tests/unit/world-fixture.h"

/* The document of the manifest in force, for editing. */
static inline json_t *manifest_now(struct world_fixture *fixture)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = wfs_world_manifest(fixture->world);
	const struct wfs_bytes text = wfs_manifest_document(manifest);
	json_t *document = NULL;

	assert_int_equal(wfs_json_parse(text.data, text.size, &document, NULL), 0);
	return document;
}

/* Puts an item in front of a list. */
static inline void declare(json_t *document, const char *list, const char *item)
{
	assert_int_equal(
		json_array_insert_new(json_object_get(document, list), 0, json_of(item)), 0);
}

/* Takes the item with that member out of a list. */
static inline void undeclare(
	json_t *document, const char *list, const char *member, const char *value)
{
	json_t *items = json_object_get(document, list);

	for (size_t i = json_array_size(items); i-- > 0;)
		if (strcmp(json_string_value(json_object_get(json_array_get(items, i), member)),
			    value) == 0)
			assert_int_equal(json_array_remove(items, i), 0);
}

/* Sends a manifest. @answer: caller owns it; may be NULL. Return: as wfs_world_call. */
static inline int apply_as(struct world_fixture *fixture, json_t *document,
	const struct wfs_hash *base, bool dry_run, json_t **answer)
{
	struct wfs_request request = {
		.kind = WFS_REQUEST_MANIFEST,
		.principal = "tester",
		.document = document,
		.based = base != NULL,
		.reason = "a test",
		.dry_run = dry_run,
	};

	if (base)
		request.base = *base;
	int r = wfs_world_call(fixture->world, &request);
	fixture->error = request.error;
	assert_true(r == 0 || !request.answer);
	assert_true((request.seq == UINT64_MAX) == (r != 0 || dry_run));
	if (answer)
		*answer = request.answer;
	else
		json_decref(request.answer);
	return r;
}

static inline void assert_applied(struct world_fixture *fixture, json_t *document)
{
	if (apply_as(fixture, document, NULL, false, NULL))
		fail_msg("%s", fixture->error.message);
}

/*
 * Two manifests behind the first: alice comes with a grant, which she passes on, and a reducer
 * `extra`; then her grant goes, bob comes with one, and `extra`, which has no cells any more, goes.
 */
static inline json_t *manifest_of_alice(struct world_fixture *fixture)
{
	json_t *document = manifest_now(fixture);
	json_t *extra = json_deep_copy(
		json_array_get(json_object_get(document, "reducers"), 0)); /* `cell` */

	json_object_set_new(extra, "name", json_string("extra"));
	json_array_insert_new(json_object_get(document, "reducers"), 0, extra);
	declare(document, "schemas",
		"{'$kind':'defschema','name':'test/Extra@1','schema':{'type':'object'}}");
	declare(document, "routing",
		"{'event':'test/Extra@1','reducer':'extra','key_field':'key'}");
	declare(document, "principals", "{'id':'alice'}");
	declare(document, "grants",
		"{'name':'alice.query.1','cap':'sys/query@1','to':'alice','params':{}}");
	return document;
}

static inline json_t *manifest_of_bob(struct world_fixture *fixture)
{
	json_t *document = manifest_now(fixture);

	undeclare(document, "grants", "name", "alice.query.1");
	declare(document, "principals", "{'id':'bob'}");
	declare(document, "grants",
		"{'name':'bob.blob.1','cap':'sys/blob@1','to':'bob','params':{}}");
	undeclare(document, "routing", "reducer", "extra");
	undeclare(document, "reducers", "name", "extra");
	return document;
}

/* @act: sends an action that must be done */
static inline void live_with_manifests(
	struct world_fixture *fixture, void (*act)(struct world_fixture *, const char *))
{
	WFS_AUTO_JSON json_t *alice = manifest_of_alice(fixture);

	tell(fixture, "{'key':'a','op':'set','n':1}");
	assert_applied(fixture, alice);
	act(fixture, "{'action_type':'principal','id':'carol'}");
	act(fixture,
		"{'action_type':'grant','cap':'sys/query@1','to':'carol','params':{},"
		"'from':'alice.query.1'}");
	assert_int_equal(send_event(fixture, "test/Extra@1", "{'key':'x','op':'set','n':2}"), 0);
	tell(fixture, "{'key':'b','op':'set','n':2}");
	assert_int_equal(send_event(fixture, "test/Extra@1", "{'key':'x','op':'delete'}"), 0);
	WFS_AUTO_JSON json_t *bob = manifest_of_bob(fixture);
	assert_applied(fixture, bob);
	tell(fixture, "{'key':'c','op':'set','n':3}");
}

static inline void act_for_manifests(struct world_fixture *fixture, const char *action)
{
	WFS_AUTO_JSON json_t *json = json_of(action);
	struct wfs_request request = {
		.kind = WFS_REQUEST_ACTION, .principal = "tester", .action = json};

	if (wfs_world_call(fixture->world, &request))
		fail_msg("%s: %s", action, request.error.message);
	json_decref(request.answer);
}
