/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the code of artifacts: permission, payment, and the record of each invocation. */
#include "kernel/domain/action/invoke.h"

#include <endian.h>
#include <inttypes.h>

#include "kernel/base/clock.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/service.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/fold/intent.h"

enum { RESULT_SHOWN_BYTES = 100 };

/* --- before it runs --- */

/* Adds a dependency to those that code is given; of one that its author does not see, only the
 * id. */
static int add_dependency(const struct invocation *self, const struct wfs_document_artifact *one,
	json_t *deps, struct wfs_error *error)
{
	int r = author_sees(self, WFS_QUERY_PART_ARTIFACT, one->id, error);

	if (r < 0)
		return wfs_trace(r);
	return json_object_set_new(deps, one->id,
		       r ? wfs_artifact_row(one->own.json) : json_pack("{s:s}", "id", one->id)) < 0
		? fold_no_memory(error)
		: 0;
}

/* Loads the dependencies of an artifact; a missing one is an error that names it. @ret_deps: {id:
 * row}; caller owns it */
static int load_dependencies(const struct invocation *self,
	const struct wfs_document_artifact *artifact, json_t **ret_deps, struct wfs_error *error)
{
	const json_t *const list = artifact->depends_on;
	WFS_AUTO_JSON json_t *deps = json_object();

	for (size_t i = 0; i < json_array_size(list); i++) {
		WFS_AUTO_DOCUMENT struct wfs_document_artifact one = {.own.json = NULL};
		struct wfs_error reason = {0};
		int r = artifact_get(
			self->act->fold, json_string_value(json_array_get(list, i)), &one, &reason);

		if (r)
			return wfs_error_set(error, reason.code, "'%s' depends on it: %.400s",
				artifact->id, reason.message);
		r = add_dependency(self, &one, deps, error);
		if (r)
			return wfs_trace(r);
	}
	*ret_deps = WFS_STEAL(deps);
	return *ret_deps ? 0 : fold_no_memory(error);
}

/* --- the run --- */

/* An invocation from its beginning to its end. */
struct running {
	const struct wfs_document_artifact *artifact;
	const char *method;
	const json_t *args;
	size_t number;       /* within the nest */
	size_t check_count;  /* of the nest, when it began */
	size_t action_count; /* of the nest, when it began */
	size_t content_count;
	size_t embedding_count;
	bool embedder_told;
	bool trial; /* run by the mint to find a score */
	enum wfs_lua_failure failure;
};

/* Finds the tool call for which an artifact is invoked. Only the called artifact gets it, not
 * those that it invokes.
 * @ret_call: {call_id, run_id, tool_name, turn}; NULL: not a tool call; caller owns it */
static int find_call(const struct act *act, const struct running *running, json_t **ret_call,
	struct wfs_error *error)
{
	const char *const intent_id = act->fold->input.intent_id;

	if (!intent_id || act->within || running->trial)
		return 0;
	return wfs_trace(intent_call_of(act->fold, intent_id, ret_call, error));
}

static int run_code(
	struct act *act, struct running *running, json_t **ret_result, struct wfs_error *error)
{
	struct invocation invocation = {
		.host = {host_call},
		.act = act,
		.id = running->artifact->id,
		.author = author_of(running->artifact),
		.depth = act->within ? act->within->depth + 1 : 0,
	};
	WFS_AUTO_JSON json_t *deps = NULL;
	WFS_AUTO_JSON json_t *called = NULL;
	int r = load_dependencies(&invocation, running->artifact, &deps, error);

	if (!r)
		r = find_call(act, running, &called, error);
	if (!r)
		r = action_program(act, running->artifact, &invocation.program, error);
	if (r)
		return wfs_trace(r);
	struct wfs_code_call call = {
		.function = "run",
		.arguments = running->args,
		.deps = deps,
		.host = &invocation.host,
		.caller = act->actor,
		.origin = act->payer,
		.artifact_id = running->artifact->id,
		.method = running->method,
		.seq = act->fold->head->height,
		.at_ns = act->fold->input.at_ns,
		.call_id = json_string_value(json_object_get(called, "call_id")),
		.tool_name = json_string_value(json_object_get(called, "tool_name")),
		.run_id = json_string_value(json_object_get(called, "run_id")),
		.turn = json_integer_value(json_object_get(called, "turn")),
		.budget = &act->fold->budget,
	};
	action_seed(act->fold, UINT64_C(1) << 63 | running->number, call.seed);
	r = wfs_code_call(invocation.program, &call, ret_result, error);
	running->failure = invocation.stopped ? WFS_LUA_FAILURE_BOUND : call.failure;
	return wfs_trace(r);
}

/* Checks the arguments. Each step counts as an instruction, because code could cause thousands of
 * long checks. */
static int check_arguments(struct act *act, struct running *running, struct wfs_error *error)
{
	struct wfs_lua_budget *const budget = &act->fold->budget;
	uint64_t steps = 0;
	int r = interface_check_call(
		running->artifact, running->method, running->args, &steps, error);

	budget->used += steps;
	if (steps == 0 || budget->used <= budget->instructions)
		return wfs_trace(r);
	running->failure = WFS_LUA_FAILURE_BOUND;
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
		"to check the arguments of '%s' takes more than what is left of the %" PRIu64
		" instructions that one record may",
		running->artifact->id, budget->instructions);
}

static int64_t price_of(const struct act *act, const struct wfs_document_artifact *artifact,
	const struct service_call *call)
{
	if (call->service)
		return artifact_is_free(act, artifact) ? 0 : call->method->price;
	return artifact_invoke_price(act, artifact);
}

/* Runs with a price: it is held while the code runs, and goes to the owner afterwards. */
static int run_paid(
	struct act *act, struct running *running, struct invoked *invoked, struct wfs_error *error)
{
	SERVICE_CALL_AUTO struct service_call call = {.act = act};
	const struct service *const service =
		service_find(act->fold->domains, running->artifact->id);
	int r = service ? service_parse(service, running->method, running->args, &call, error)
			: check_arguments(act, running, error);

	if (r)
		return wfs_trace(r);
	const int64_t price = price_of(act, running->artifact, &call);
	char earner[WFS_ARTIFACT_ID_MAX + 1];
	r = artifact_check_payer(act, running->artifact, price, error);
	if (!r) /* its code may sell it */
		r = artifact_earner(act->fold, running->artifact, earner, error);
	if (!r && price > 0)
		r = account_add(act->fold, act->payer, -price, error);
	if (!r)
		r = call.service ? service_run(&call, &invoked->result, error)
				 : run_code(act, running, &invoked->result, error);
	if (call.stopped)
		running->failure = WFS_LUA_FAILURE_BOUND;
	if (!r && price > 0)
		r = account_add(act->fold, earner, price, error);
	invoked->price_paid = price + call.price_paid;
	return wfs_trace(r);
}

/* --- the record of an invocation --- */

/* Finds what the record that is folded again says of invocation @number. */
static const json_t *recorded_of(const struct act *act, size_t number)
{
	const json_t *const result = act->nest->recorded;

	return number == 0 ? result : json_array_get(json_object_get(result, "nested"), number - 1);
}

static int keep_record(struct act *act, const struct running *running, int64_t duration_ms,
	const char *error_code, struct wfs_error *error)
{
	const int64_t seq = (int64_t)act->fold->head->height;
	char key[48];
	size_t cell;

	snprintf(key, sizeof(key), "%" PRId64 ".%zu", seq, running->number);
	WFS_AUTO_JSON json_t *document = json_pack("{s:s, s:I, s:I, s:s?, s:s, s:s, s:I, s:b}",
		"artifact_id", running->artifact->id, "at_ns", (json_int_t)act->fold->input.at_ns,
		"duration_ms", (json_int_t)duration_ms, "error_code", error_code, "invoker_id",
		act->actor, "method", running->method, "seq", (json_int_t)seq, "success",
		error_code == NULL);
	if (!document)
		return fold_no_memory(error);
	int r = fold_touch(act->fold, fold_builtin(act->fold, WFS_BUILTIN_INVOCATION),
		wfs_bytes_text(key), &cell, error);
	return wfs_trace(r ? r : fold_set_document(act->fold, cell, document, error));
}

/* Forgets the embeddings after the first @count: the code that used them was ended by a bound, and
 * does not run again.
 * @told: was the host's embedder looked at before? */
static void forget_embeddings(struct nest *nest, size_t count, bool told)
{
	while (json_array_size(nest->embeddings) > count)
		(void)json_array_remove(nest->embeddings, json_array_size(nest->embeddings) - 1);
	nest->embedder_told = told;
}

/* Fills the record's row of an invocation. If a bound has ended it, forgets what was begun within
 * it. */
static int note(struct act *act, const struct running *running, int64_t duration_ms,
	const struct wfs_error *failure)
{
	struct nest *const nest = act->nest;
	const bool stopped = running->failure == WFS_LUA_FAILURE_BOUND;
	json_t *const row = running->number == 0
		? nest->result
		: json_array_get(nest->nested, running->number - 1);

	if (stopped) {
		nest->count = running->number + 1;
		nest_forget_checks(nest, running->check_count);
		nest->action_count = running->action_count;
		nest_forget_contents(nest, running->content_count);
		forget_embeddings(nest, running->embedding_count, running->embedder_told);
		while (json_array_size(nest->nested) > running->number)
			(void)json_array_remove(nest->nested, json_array_size(nest->nested) - 1);
	}
	return json_object_set_new(row, "duration_ms", json_integer(duration_ms)) < 0 ||
			(stopped &&
				json_object_set_new(row, "stopped", json_string(failure->message)) <
					0)
		? -ENOMEM
		: 0;
}

static int finish(struct act *act, struct running *running, int64_t duration_ms,
	const struct wfs_error *failure, struct wfs_error *error)
{
	const bool failed = failure->code != WFS_OK;

	if (note(act, running, duration_ms, failure))
		return fold_no_memory(error);
	return wfs_trace(keep_record(act, running, duration_ms,
		failed ? wfs_error_info(failure->code)->name : NULL, error));
}

/* --- one invocation --- */

static int begin(struct act *act, struct running *running, struct wfs_error *error)
{
	struct nest *const nest = act->nest;

	if (nest->count >= INVOKE_COUNT_MAX)
		return wfs_error_set(error, WFS_E_DEPTH_EXCEEDED, "more than %d invocations in one",
			INVOKE_COUNT_MAX);
	running->number = nest->count++;
	running->check_count = nest->check_count;
	running->action_count = nest->action_count;
	running->content_count = nest->content_count;
	running->embedding_count = json_array_size(nest->embeddings);
	running->embedder_told = nest->embedder_told;
	return running->number > 0 && json_array_append_new(nest->nested, json_object()) < 0
		? fold_no_memory(error)
		: 0;
}

/* Runs an invocation, unless the record says that a bound ended it: bounds apply only on the
 * machine that ran it first. */
static int run_or_stop(
	struct act *act, struct running *running, struct invoked *invoked, struct wfs_error *error)
{
	const json_t *const stopped = json_object_get(recorded_of(act, running->number), "stopped");
	int r = stopped
		? wfs_error_set(error, WFS_E_RUNTIME_ERROR, "%s", json_string_value(stopped))
		: nest_check_time(act, running->artifact->id, error);

	if (!r)
		return wfs_trace(run_paid(act, running, invoked, error));
	running->failure = WFS_LUA_FAILURE_BOUND;
	return wfs_trace(r);
}

static int run_artifact(struct act *act, struct running *running, struct invoked *ret_invoked,
	struct wfs_error *error)
{
	struct invoked invoked = {.result = NULL};
	struct wfs_error failure = {0};
	int r = begin(act, running, error);

	if (r)
		return wfs_trace(r);
	const struct fold_mark mark = fold_mark(act->fold);
	const size_t submission_count = act->nest->submission_count;
	const int64_t start = wfs_clock_monotonic_ns();
	int run = run_or_stop(act, running, &invoked, &failure);
	if (running->trial && invoke_crashed(&failure)) {
		/* The mint goes on; the record says that a bound ended the invocation. */
		failure.code = WFS_E_RUNTIME_ERROR;
		running->failure = WFS_LUA_FAILURE_BOUND;
	}
	const json_t *const recorded =
		json_object_get(recorded_of(act, running->number), "duration_ms");
	const int64_t duration_ms = recorded ? json_integer_value(recorded)
					     : (wfs_clock_monotonic_ns() - start) / 1000000;
	if (!run) /* fails if there is no room for its own record */
		run = finish(act, running, duration_ms, &failure, &failure);
	if (run) {
		fold_take_back(act->fold, &mark);
		act->nest->submission_count = submission_count;
	} else {
		fold_keep(act->fold, &mark);
	}
	if (run && !invoke_fails_all(&failure))
		r = finish(act, running, duration_ms, &failure, error);
	if (r || run) {
		json_decref(invoked.result);
		if (!r)
			*error = failure;
		return wfs_trace(r ? r : run);
	}
	*ret_invoked = invoked;
	return 0;
}

int invoke_on_trial(struct act *act, const struct wfs_document_artifact *artifact,
	const char *method, const json_t *args, json_t **ret_result, struct wfs_error *error)
{
	ACT_AUTO struct act trial = {
		.fold = act->fold,
		.actor = WFS_PRINCIPAL_MINT,
		.payer = WFS_PRINCIPAL_MINT,
		.nest = act->nest,
	};
	struct running running = {
		.artifact = artifact, .method = method, .args = args, .trial = true};
	struct invoked invoked = {.result = NULL};
	const struct fold_mark mark = fold_mark(act->fold);
	const size_t submission_count = act->nest->submission_count;
	int r = run_artifact(&trial, &running, &invoked, error);

	fold_take_back(act->fold, &mark);
	act->nest->submission_count = submission_count;
	if (!r)
		*ret_result = invoked.result;
	return wfs_trace(r);
}

int invoke_artifact(struct act *act, const char *id, const char *method, const json_t *args,
	struct invoked *ret_invoked, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = act_artifact(act, id, &artifact, error);

	if (!r)
		r = artifact_permit(act, &artifact, ARTIFACT_USE_INVOKE, error);
	if (r)
		return wfs_trace(r);
	if (strcmp(method, "describe") == 0) {
		act->unrecorded = true;
		ret_invoked->price_paid = 0;
		return wfs_trace(interface_describe(&artifact, &ret_invoked->result, error));
	}
	if (!artifact.executable)
		return wfs_error_set(error, WFS_E_INVALID_TYPE,
			"Artifact '%s' is not executable (its type is %s). Use read_artifact to "
			"read it",
			artifact.id, artifact.type);
	if (act->within && act->within->depth >= INVOKE_DEPTH_MAX)
		return wfs_error_set(error, WFS_E_DEPTH_EXCEEDED, "Max invoke depth (%d) exceeded",
			INVOKE_DEPTH_MAX);
	struct running running = {.artifact = &artifact, .method = method, .args = args};
	return wfs_trace(run_artifact(act, &running, ret_invoked, error));
}

/* --- the action --- */

/* Tells a caller that sends the name of an action as the id of an artifact what to send instead. */
static int check_not_action(const char *id, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *named = json_pack("{s:s}", "action_type", id);

	if (!named || wfs_action_effect(named) == WFS_EFFECT_COUNT)
		return 0;
	return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
		"'%s' is an action, not an artifact: send {\"action_type\":\"%s\",…}", id, id);
}

static int tell(struct act *act, const char *id, const json_t *result, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	char paid[64] = "";

	wfs_json_write(result, &text);
	if (wfs_buffer_check(&text))
		return fold_no_memory(error); /* code may get this message */
	if (act->price_paid > 0)
		snprintf(paid, sizeof(paid), " (paid %" PRId64 " scrip)", act->price_paid);
	const int size = action_shown(wfs_buffer_bytes(&text), RESULT_SHOWN_BYTES);
	snprintf(act->message, sizeof(act->message), "Invoked %s%s. Result: %.*s%s", id, paid, size,
		wfs_buffer_text(&text), (size_t)size < text.size ? "…" : "");
	return 0;
}

int act_action_invoke_artifact(struct act *act, struct wfs_error *error)
{
	const char *const id = act->params.action_invoke_artifact.artifact_id;
	const char *const method = act->params.action_invoke_artifact.method;
	const json_t *const args = act->params.action_invoke_artifact.args;
	WFS_AUTO_JSON json_t *none = json_array();
	struct invoked invoked = {.result = NULL};
	int r = check_not_action(id, error);

	if (!none)
		return fold_no_memory(error);
	if (!r)
		r = invoke_artifact(
			act, id, method ? method : "run", args ? args : none, &invoked, error);
	if (r)
		return wfs_trace(r);
	act->price_paid = invoked.price_paid;
	r = tell(act, id, invoked.result, error);
	if (r) {
		json_decref(invoked.result);
		return wfs_trace(r);
	}
	act->data = json_pack("{s:I, s:o}", "price_paid", (json_int_t)invoked.price_paid, "result",
		invoked.result);
	return act->data ? 0 : fold_no_memory(error);
}
