/* SPDX-License-Identifier: Apache-2.0 */
/* Judges on the kernel's thread. What a judgement shows is valid until it is released. */
#include "caps/judge.h"

#include "caps/sight.h"
#include "kernel/base/clock.h"
#include "kernel/world/world.h"

/* Listing the cells of a reducer may be refused although the reducer is seen. */
static struct wfs_verdict judge_intent(const struct wfs_sight *sight,
	const struct wfs_intent *intent, struct wfs_question *question)
{
	const char *const name = json_string_value(json_object_get(intent->params, "reducer"));
	struct wfs_verdict verdict = wfs_rights_judge(sight->rights, question);

	if (verdict.code == WFS_OK && intent->effect == WFS_EFFECT_INTROSPECT_LIST_CELLS && name &&
		wfs_sight_reducer(sight, wfs_bytes_text(name)))
		verdict = wfs_sight_listing(sight, wfs_bytes_text(name), question);
	return verdict;
}

static int judge(struct wfs_judge *judge, const struct wfs_intent *intent,
	struct wfs_judgement *ret_judgement)
{
	struct wfs_authority *const authority = ((struct wfs_authority_judge *)judge)->authority;
	struct wfs_question question = {
		.effect = intent->effect,
		.origin = WFS_ORIGIN_REDUCER,
		.now_ns = wfs_clock_realtime_ns(),
		.of_any = intent->effect != WFS_EFFECT_MINT_SCORE,
		.artifact = json_string_value(json_object_get(intent->params, "artifact_id")),
	};
	struct wfs_sight *const sight = calloc(1, sizeof(*sight));
	struct wfs_rights *const rights =
		sight ? wfs_authority_rights_of(authority, intent->principal) : NULL;

	ret_judgement->context = sight;
	if (!rights)
		return wfs_error_from_errno(
			&ret_judgement->error, -ENOMEM, "judge what a reducer asks for");
	wfs_sight_init(sight, rights, question.origin, question.now_ns);
	const struct wfs_verdict verdict = judge_intent(sight, intent, &question);
	if (verdict.code == WFS_OK) {
		ret_judgement->filter = wfs_sight_filter(sight);
		return 0;
	}
	ret_judgement->decision = wfs_verdict_decision(&verdict, &question);
	(void)wfs_rights_explain(rights, &question, &verdict, &ret_judgement->error);
	return -EACCES;
}

static void release(struct wfs_judge *judge, struct wfs_judgement *judgement)
{
	struct wfs_sight *const sight = judgement->context;

	(void)judge;
	if (sight)
		wfs_sight_done(sight);
	free(sight);
}

void wfs_authority_judge_init(struct wfs_authority_judge *self, struct wfs_authority *authority)
{
	*self = (struct wfs_authority_judge){{judge, release}, authority};
	wfs_world_judge(wfs_authority_world(authority), &self->judge);
}

void wfs_authority_judge_done(struct wfs_authority_judge *self)
{
	if (self->authority)
		wfs_world_judge(wfs_authority_world(self->authority), NULL);
}
