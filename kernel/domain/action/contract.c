/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contracts: artifacts whose code says who may use other artifacts. `check(caller, action,
 * artifact)` gives {allowed, reason}. It only reads; any other result, and any failure, is a
 * refusal.
 */
#include "kernel/domain/action/invoke.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/query/query-run.h"

static int say(char *reason, const char *text)
{
	snprintf(reason, CONTRACT_REASON_SIZE, "%.*s",
		action_shown(wfs_bytes_text(text), CONTRACT_REASON_SIZE - 1), text);
	return 0;
}

/* Reads the verdict of a contract. @reason: gets its reason */
static bool read_verdict(const json_t *verdict, char *reason)
{
	const json_t *const allowed = json_object_get(verdict, "allowed");
	const char *const why = json_string_value(json_object_get(verdict, "reason"));

	if (!json_is_boolean(allowed)) {
		say(reason, "the contract's check gave no 'allowed', true or false");
		return false;
	}
	say(reason, why ? why : "the contract denies it");
	return json_is_true(allowed);
}

static int run_check(struct act *act, const struct wfs_document_artifact *contract,
	const json_t *arguments, struct wfs_code_call *call, json_t **ret_verdict,
	struct wfs_error *error)
{
	struct invocation invocation = {
		.host = {host_call},
		.act = act,
		.id = contract->id,
		.author = author_of(contract),
		.depth = act->within ? act->within->depth + 1 : 0,
		.read_only = true,
	};
	int r = action_program(act, contract, &invocation.program, error);

	if (r)
		return wfs_trace(r);
	*call = (struct wfs_code_call){
		.function = "check",
		.arguments = arguments,
		.host = &invocation.host,
		.caller = act->actor,
		.origin = act->payer,
		.artifact_id = contract->id,
		.method = "check",
		.seq = act->fold->head->height,
		.at_ns = act->fold->input.at_ns,
		.budget = &act->fold->budget,
	};
	action_seed(act->fold, UINT64_C(1) << 62 | act->nest->check_count, call->seed);
	r = wfs_code_call(invocation.program, call, ret_verdict, error);
	if (invocation.stopped)
		call->failure = WFS_LUA_FAILURE_BOUND;
	return wfs_trace(r);
}

/* Runs a contract. Return: 0 (it ran, or its own doing ended it: see @ret_verdict, @reason), or
 * -errno. */
static int ask(struct act *act, const struct wfs_document_artifact *contract,
	const json_t *arguments, json_t **ret_verdict, char *reason, struct wfs_error *error)
{
	struct nest *const nest = act->nest;
	const size_t own = nest->check_count++;
	struct wfs_code_call call = {.function = NULL};
	struct wfs_error failure = {0};
	char number[24];

	snprintf(number, sizeof(number), "%zu", own);
	/* When a record is folded again, it says which checks a bound has ended. */
	const char *const stopped = json_string_value(
		json_object_get(json_object_get(nest->recorded, "stopped_checks"), number));
	if (stopped)
		return json_object_set_new(nest->stopped_checks, number, json_string(stopped)) < 0
			? fold_no_memory(error)
			: say(reason, stopped);
	/* A contract changes nothing, and cells that it has read must not count: a contract that
	 * was ended by a bound reads nothing when the record is folded again. */
	const struct fold_mark mark = fold_mark(act->fold);
	int r = run_check(act, contract, arguments, &call, ret_verdict, &failure);
	fold_take_back(act->fold, &mark);
	if (!r)
		return 0;
	if (invoke_fails_all(&failure)) {
		*error = failure;
		return -wfs_error_info(failure.code)->number;
	}
	if (call.failure != WFS_LUA_FAILURE_BOUND)
		return say(reason, failure.message);
	nest_forget_checks(nest, own + 1);
	if (json_object_set_new(nest->stopped_checks, number, json_string(failure.message)) < 0)
		return fold_no_memory(error);
	return say(reason, failure.message);
}

int contract_permit(struct act *act, const struct wfs_document_artifact *artifact, const char *use,
	bool *ret_allowed, char *reason, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact contract = {.own.json = NULL};
	WFS_AUTO_JSON json_t *verdict = NULL;
	struct wfs_error missing = {0};
	int r = artifact_get(act->fold, artifact->access, &contract, &missing);

	if (missing.code == WFS_E_NOT_FOUND || missing.code == WFS_E_DELETED) {
		*ret_allowed = strcmp(act->actor, artifact->owner) == 0;
		return say(reason, "there is no such contract");
	}
	if (r) {
		*error = missing;
		return wfs_trace(r);
	}
	*ret_allowed = false;
	if (!contract.executable)
		return say(reason, "the contract is not executable");
	if (act->within && act->within->depth > INVOKE_DEPTH_MAX)
		return say(reason, "contracts within contracts are too deep");
	WFS_AUTO_JSON json_t *arguments =
		json_pack("[s, s, o]", act->actor, use, wfs_artifact_row(artifact->own.json));
	if (!arguments)
		return fold_no_memory(error);
	r = ask(act, &contract, arguments, &verdict, reason, error);
	if (!r && verdict)
		*ret_allowed = read_verdict(verdict, reason);
	return wfs_trace(r);
}
