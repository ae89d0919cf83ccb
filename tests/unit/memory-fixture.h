/* SPDX-License-Identifier: Apache-2.0 */
/* A world with the genesis artifacts, and memory stores in it. */
#pragma once

#include "tests/unit/action-fixture.h"

#include "kernel/domain/memory/memory-file.h"

#define MEMORY_ID_TEXT_SIZE (WFS_MEMORY_NAME_SIZE - 5) /* `mem_` and 8 digits, without `.json` */

/* alice and bob can pay for what they do there, and may do everything. */
static inline int memory_world_setup(void **state)
{
	static const char *const first[] = {
		"{'action_type':'principal','id':'alice','scrip':1000}",
		"{'action_type':'principal','id':'bob','scrip':1000}",
		"{'action_type':'grant','cap':'sys/query@1','params':{},'to':'alice'}",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'alice'}",
		"{'action_type':'grant','cap':'sys/query@1','params':{},'to':'bob'}",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'bob'}",
	};

	if (world_fixture_source(state))
		return -1;
	struct world_fixture *const fixture = *state;
	fixture->loaded.genesis = true;
	int r = world_fixture_create(fixture) || world_fixture_open(fixture);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(first); i++) {
		json_t *answer = NULL;

		r = act_as(fixture, "tester", first[i], &answer);
		json_decref(answer);
	}
	return r;
}

/* Calls a genesis artifact, which must succeed. @args: JSON with '. Return: its result; caller owns it. */
static inline json_t *memory_call(struct world_fixture *fixture, const char *principal,
	const char *artifact, const char *method, const char *args)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	char action[1024];

	snprintf(action, sizeof(action),
		"{'action_type':'invoke_artifact','artifact_id':'%s','method':'%s','args':%s}",
		artifact, method, args);
	if (act_as(fixture, principal, action, &answer))
		fail_msg("%s: %s", action, fixture->error.message);
	return json_incref(json_object_get(json_object_get(answer, "data"), "result"));
}

/* A private store of alice's. */
static inline void memory_make(struct world_fixture *fixture, const char *id)
{
	char args[256];

	snprintf(args, sizeof(args), "['%s']", id);
	json_decref(memory_call(fixture, "alice", "genesis_memory", "create", args));
}

/* @ret_id: of the new entry */
static inline void memory_remember(struct world_fixture *fixture, const char *principal,
	const char *store, const char *text, char ret_id[static MEMORY_ID_TEXT_SIZE])
{
	char args[256];

	snprintf(args, sizeof(args), "['%s','%s']", store, text);
	WFS_AUTO_JSON json_t *result =
		memory_call(fixture, principal, "genesis_memory", "add", args);
	assert_true(json_is_false(json_object_get(result, "deduplicated")));
	snprintf(ret_id, MEMORY_ID_TEXT_SIZE, "%s",
		json_string_value(json_object_get(result, "entry_id")));
}

static inline void memory_forget(
	struct world_fixture *fixture, const char *store, const char *entry_id)
{
	char args[256];

	snprintf(args, sizeof(args), "['%s','%s']", store, entry_id);
	json_decref(memory_call(fixture, "alice", "genesis_memory", "delete", args));
}

/* Texts of which no two are alike. */
static const char *const memory_texts[] = {
	"wheat is cheap in spring",
	"the harbour freezes over",
	"bob pays late",
	"never sell tools at a loss",
	"seven lamps burn upstairs",
};

/* All of them in alice's store. @ret_ids: in the order of the ids */
static inline void memory_fill(struct world_fixture *fixture, const char *store,
	char ret_ids[static WFS_ARRAY_COUNT(memory_texts)][MEMORY_ID_TEXT_SIZE])
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(memory_texts); i++)
		memory_remember(fixture, "alice", store, memory_texts[i], ret_ids[i]);
	qsort(ret_ids, WFS_ARRAY_COUNT(memory_texts), MEMORY_ID_TEXT_SIZE,
		(int (*)(const void *, const void *))strcmp);
}

#define WITH_MEMORY(name) \
	TEST_WITH(name, struct world_fixture *fixture, memory_world_setup, world_fixture_teardown)
