/* SPDX-License-Identifier: Apache-2.0 */
/* The world of tests/data/worlds/asking, whose reducer asks for effects, and a judge of it. */
#pragma once

#include "tests/unit/world-fixture.h"

#include "kernel/fold/effects.h"

#ifndef SOURCE_ROOT /* the build gives it */
#define SOURCE_ROOT "."
#endif

enum { ASKING_HEIGHT = 2 }; /* of a new one */

/* Allows everything, or refuses as `judgement` says. */
struct asking_judge {
	struct wfs_judge judge; /* first: its functions cast back */
	int r;
	struct wfs_judgement judgement;
	int asked;
	int released;
	char last[256]; /* principal, reducer, key and effect that were asked for last */
};

static inline int asking_judge_judge(struct wfs_judge *judge, const struct wfs_intent *intent,
	struct wfs_judgement *ret_judgement)
{
	struct asking_judge *self = (struct asking_judge *)judge;

	self->asked++;
	snprintf(self->last, sizeof(self->last), "%s %s %.*s %s", intent->principal,
		intent->reducer, (int)intent->key.size, (const char *)intent->key.data,
		wfs_effect_kind(intent->effect));
	*ret_judgement = self->judgement;
	return self->r;
}

static inline void asking_judge_release(struct wfs_judge *judge, struct wfs_judgement *judgement)
{
	(void)judgement;
	((struct asking_judge *)judge)->released++;
}

static inline struct asking_judge asking_judge(void)
{
	return (struct asking_judge){
		.judge = {asking_judge_judge, asking_judge_release},
	};
}

/* A new world, open. */
static inline int asking_setup(void **state)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct world_fixture *fixture;

	if (world_fixture_source(state))
		return -1;
	fixture = *state;
	wfs_source_done(&fixture->loaded);
	if (wfs_source_load(
		    SOURCE_ROOT "/tests/data/worlds/asking", NULL, &problems, &fixture->loaded)) {
		print_error("%s", wfs_buffer_text(&problems.lines));
		return -1;
	}
	return world_fixture_create(fixture) || world_fixture_open(fixture);
}

#define ASKING(name) \
	TEST_WITH(name, struct world_fixture *fixture, asking_setup, world_fixture_teardown)

/* Sends an event that makes the cell @key ask. @more: further members of the event, or "". */
static inline int ask_for(
	struct world_fixture *fixture, const char *key, const char *effects, const char *more)
{
	WFS_AUTO_BUFFER struct wfs_buffer value = {0};

	wfs_buffer_printf(&value, "{'key':'%s','effects':%s%s}", key, effects, more);
	return send_event(fixture, "test/Ask@1", wfs_buffer_text(&value));
}

/* All four, in all the ways there are to look at a height, and what can be wrong. */
static const char asking_for_everything[] =
	"[{'effect':'introspect.manifest','params':{'consistency':'head'}},"
	"{'effect':'introspect.reducer_state','params':"
	"{'reducer':'asker','key_b64':'YQ==','consistency':'exact:2'}},"
	"{'effect':'introspect.journal_head'},"
	"{'effect':'introspect.list_cells','params':"
	"{'reducer':'asker','consistency':'at_least:2'}},"
	"{'effect':'introspect.list_cells','params':{'reducer':'nobody'}},"
	"{'effect':'introspect.manifest','params':{'consistency':'newest'}},"
	"{'effect':'introspect.manifest','params':{'consistency':'at_least:999'}}]";
