/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A principal may have an agent take a turn if it may invoke the agent's artifact: rules and
 * contract are asked, and the invoke_price is paid.
 */
#include "kernel/domain/action/invoke.h"

#include "kernel/base/json.h"

static int pay(
	struct act *act, const struct wfs_document_artifact *artifact, struct wfs_error *error)
{
	const int64_t price = artifact_invoke_price(act, artifact);
	char earner[WFS_ARTIFACT_ID_MAX + 1];

	act->price_paid = price;
	if (price == 0)
		return 0;
	int r = artifact_earner(act->fold, artifact, earner, error);
	return wfs_trace(r ? r : account_move(act->fold, act->payer, earner, price, error));
}

int action_pay_run(struct wfs_fold *fold, const char *agent, struct wfs_error *error)
{
	struct wfs_action_recorded *const recorded = fold->input.recorded;
	NEST_AUTO struct nest nest = {.result = NULL};
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	ACT_AUTO struct act act = {
		.fold = fold,
		.actor = fold->input.principal,
		.payer = fold->input.principal,
		.recorded = recorded,
		.nest = &nest,
	};

	/* A contract that ended its process must not run again. */
	if (act_has_crashed(&act)) {
		fold->outcome.result = wfs_json_copy(recorded->result);
		return fold->outcome.result ? wfs_trace(act_refuse_again(&act, error))
					    : fold_no_memory(error);
	}
	int r = artifact_exists(fold, agent, error);
	if (r <= 0) /* a principal without an artifact has no owner */
		return wfs_trace(r);
	fold->budget.instructions = action_instructions(fold);
	fold->outcome.result = json_object();
	if (nest_init(&nest, act_run, recorded ? recorded->result : NULL) || !fold->outcome.result)
		return fold_no_memory(error);
	r = artifact_get(fold, agent, &artifact, error);
	if (!r)
		r = artifact_permit(&act, &artifact, ARTIFACT_USE_INVOKE, error);
	if (!r)
		r = pay(&act, &artifact, error);
	if (act_add_result(&act, fold->outcome.result) < 0)
		return fold_no_memory(error);
	return wfs_trace(r);
}
