/* SPDX-License-Identifier: Apache-2.0 */
/* One action, from its JSON to its outcome. */
#include "kernel/domain/action/invoke.h"

#include "kernel/base/json.h"

static int (*const runs[])(struct act *act, struct wfs_error *error) = {
#define ACTION_RUN(constant, member, ...) [WFS_EFFECT_##constant] = act_##member,
	WFS_ACTIONS(ACTION_RUN)
#undef ACTION_RUN
};

json_t *wfs_action_told(const json_t *action, const json_t *answer)
{
	json_t *const data = json_object_get(answer, "data");

	return wfs_action_effect(action) == WFS_EFFECT_ACTION_INVOKE_ARTIFACT
		? json_object_get(data, "result")
		: data;
}

void wfs_action_types(struct wfs_buffer *buffer)
{
	const size_t before = buffer->size;

	for (int i = 0; i < WFS_EFFECT_COUNT; i++)
		if (wfs_effect_action((enum wfs_effect)i))
			wfs_buffer_printf(buffer, "%s%s", buffer->size > before ? ", " : "",
				wfs_effect_action((enum wfs_effect)i));
}

/* --- content and code --- */

/* Takes a sent member: text as it is, other JSON as a document. */
static int take_sent(const json_t *value, struct act_text *text)
{
	if (json_is_string(value))
		wfs_buffer_append(
			&text->bytes, json_string_value(value), json_string_length(value));
	else
		wfs_json_write_document(value, &text->bytes);
	text->hash = wfs_hash_of(text->bytes.data, text->bytes.size);
	return wfs_buffer_check(&text->bytes);
}

/* The texts of a refused action are not stored, so it cannot be done again to find the reason. */
int act_refuse_again(struct act *act, struct wfs_error *error)
{
	const char *const code =
		json_string_value(json_object_get(act->recorded->result, "error_code"));

	act->refused_again = true;
	return wfs_error_set(error, wfs_error_find(code ? code : ""), "refused, as it was before");
}

static int take_recorded(struct act *act, const json_t *action, const json_t *value, bool code,
	struct act_text *text, struct wfs_error *error)
{
	const json_t *const hash = json_object_get(value, "hash");
	const struct wfs_hash empty = wfs_hash_of("", 0);
	struct wfs_action_text wanted = {.artifact_id = wfs_action_artifact(action), .code = code};
	int r = wanted.artifact_id && json_is_string(hash)
		? wfs_hash_parse(
			  json_string_value(hash), json_string_length(hash), &wanted.hash, error)
		: wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "'%s': expected {hash, size}",
			  code ? "code" : "content");

	/* Empty code has no cell. */
	if (!r && !wfs_hash_equal(&wanted.hash, &empty))
		r = act->recorded->text(act->recorded, &wanted, &text->bytes, error);
	if (r && !invoke_fails_all(error))
		error->code = WFS_E_INTERNAL_ERROR; /* not the reason of the refusal */
	text->hash = wanted.hash;
	return wfs_trace(r);
}

/* Moves content or code from the params to the act. @record: gets its hash and size instead */
static int take_text(
	struct act *act, json_t *params, json_t *record, bool code, struct wfs_error *error)
{
	const char *const name = code ? "code" : "content";
	struct act_text *const text = code ? &act->code : &act->content;
	const json_t *const value = json_object_get(params, name);
	int r;

	if (!value)
		return 0;
	text->given = true;
	r = act->recorded ? take_recorded(act, params, value, code, text, error)
			  : take_sent(value, text);
	if (!r && !act->recorded) {
		json_t *const stand_in = json_pack("{s:I}", "size", (json_int_t)text->bytes.size);

		if (!stand_in || wfs_json_set_hash(stand_in, "hash", &text->hash) < 0 ||
			json_object_set_new(record, name, stand_in) < 0)
			r = -ENOMEM;
	}
	if (r)
		return r == -ENOMEM ? fold_no_memory(error) : wfs_trace(r);
	(void)json_object_del(params, name);
	return 0;
}

/* --- an action --- */

static int run_with(struct act *act, const json_t *action, json_t *params, json_t *record,
	struct wfs_error *error)
{
	const enum wfs_effect effect = wfs_action_effect(action);
	int r = 0;

	/* A query may have been refused for the time it took, which folding again would not see;
	 * and the rules for contents may have changed. */
	if (act->recorded && json_is_false(json_object_get(act->recorded->result, "ok")) &&
		(effect == WFS_EFFECT_ACTION_WRITE_ARTIFACT ||
			effect == WFS_EFFECT_ACTION_EDIT_ARTIFACT ||
			effect == WFS_EFFECT_ACTION_QUERY_KERNEL || act_has_crashed(act)))
		return act_refuse_again(act, error);
	if (effect == WFS_EFFECT_ACTION_WRITE_ARTIFACT) {
		r = take_text(act, params, record, false, error);
		if (!r)
			r = take_text(act, params, record, true, error);
	}
	act->sent = params;
	if (!r)
		r = wfs_effect_decode(effect, params, &act->params, error);
	return wfs_trace(r ? r : runs[effect](act, error));
}

/* Runs an action. @record: an object; becomes the action as a record has it */
static int run(struct act *act, const json_t *action, json_t *record, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *params = wfs_action_params(action);
	const struct fold_mark mark = fold_mark(act->fold);

	act->price_paid = -1;
	if (!params || !record || json_object_update(record, (json_t *)action) < 0)
		return fold_no_memory(error);
	int r = run_with(act, action, params, record, error);
	act->params = (struct wfs_params){.effect = act->params.effect}; /* borrowed */
	act->sent = NULL;
	/* A failed invocation has taken back all changes but its own record, unless it crashed. */
	if (r &&
		(wfs_action_effect(action) != WFS_EFFECT_ACTION_INVOKE_ARTIFACT ||
			invoke_crashed(error)))
		fold_take_back(act->fold, &mark);
	else
		fold_keep(act->fold, &mark);
	return wfs_trace(r);
}

int act_run(struct act *act, const json_t *action, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *record = json_object();

	return wfs_trace(run(act, action, record, error));
}

/* --- for the fold --- */

static int add_embeddings(const struct act *act, json_t *result)
{
	const struct nest *const nest = act->nest;
	json_t *const recorded = json_object_get(nest->recorded, "embedder");

	if (nest->embedder_told &&
		json_object_set_new(result, "embedder",
			recorded ? json_incref(recorded) : json_string(act->fold->input.embedder)) <
			0)
		return -ENOMEM;
	return json_array_size(nest->embeddings) > 0
		? json_object_set(result, "embeddings", nest->embeddings)
		: 0;
}

/* Adds to the result what the record has about the nest. */
static int add_nest(const struct act *act, json_t *result)
{
	const struct nest *const nest = act->nest;
	const json_t *const recorded = json_object_get(nest->recorded, "instructions");
	const json_int_t instructions =
		recorded ? json_integer_value(recorded) : (json_int_t)act->fold->budget.used;

	if (json_object_size(nest->stopped_checks) > 0 &&
		json_object_set(result, "stopped_checks", nest->stopped_checks) < 0)
		return -ENOMEM;
	if (json_array_size(nest->refused_contents) > 0 &&
		json_object_set(result, "refused_contents", nest->refused_contents) < 0)
		return -ENOMEM;
	if (add_embeddings(act, result) < 0)
		return -ENOMEM;
	if (nest->count == 0)
		return 0;
	if (json_object_update(result, nest->result) < 0 ||
		json_object_set_new(result, "instructions", json_integer(instructions)) < 0)
		return -ENOMEM;
	return json_array_size(nest->nested) > 0 ? json_object_set(result, "nested", nest->nested)
						 : 0;
}

int act_add_result(const struct act *act, json_t *result)
{
	if (add_nest(act, result) < 0)
		return -ENOMEM;
	if (act->zone && json_object_set(result, "zone", act->zone) < 0)
		return -ENOMEM;
	return act->price_paid > 0
		? json_object_set_new(result, "price_paid", json_integer(act->price_paid))
		: 0;
}

/* Hides embeddings in the result: vectors reveal their texts. Code that invokes something else may
 * take these texts from anywhere, and then only the sender may see the vectors. */
static int hide_embeddings(struct act *act, struct fold_outcome *outcome, struct wfs_error *error)
{
	const json_t *const embeddings = json_object_get(outcome->result, "embeddings");
	WFS_AUTO_JSON json_t *nobody = json_array();
	const json_t *of = outcome->said_of ? outcome->said_of : outcome->of;
	json_t *stand_in = NULL;

	if (!embeddings)
		return 0;
	if (!nobody)
		return fold_no_memory(error);
	if (act->nest->count > 1)
		of = nobody;
	if (act->recorded)
		stand_in = json_incref(json_object_get(act->recorded->result, "embeddings"));
	else if (of && wfs_text_hide(&act->fold->texts, of, embeddings, &stand_in))
		return fold_no_memory(error);
	return stand_in && json_object_set_new(outcome->result, "embeddings", stand_in) < 0
		? fold_no_memory(error)
		: 0;
}

static int set_outcome(struct act *act, int r, struct wfs_error *error)
{
	struct fold_outcome *const outcome = &act->fold->outcome;

	if (act->refused_again) {
		outcome->result = wfs_json_copy(act->recorded->result);
		return outcome->result ? wfs_trace(r) : fold_no_memory(error);
	}

	if (r && invoke_crashed(error)) {
		outcome->result = json_pack("{s:s}", "stopped", error->message);
		return outcome->result ? wfs_trace(r) : fold_no_memory(error);
	}
	outcome->unrecorded = act->unrecorded;
	outcome->details = WFS_STEAL(act->details);
	outcome->result = json_object();
	if (!outcome->result || act_add_result(act, outcome->result) < 0)
		return fold_no_memory(error);
	if (hide_embeddings(act, outcome, error))
		return -ENOMEM;
	if (r)
		return wfs_trace(r);
	outcome->answer = json_pack("{s:O?, s:s}", "data", act->data, "message", act->message);
	return outcome->answer ? 0 : fold_no_memory(error);
}

/* Restores the action as it was sent, and the result as it was before texts were hidden. */
static int uncover(const struct wfs_fold *fold, json_t **ret_action, json_t **ret_result,
	struct wfs_error *error)
{
	struct wfs_action_recorded *const recorded = fold->input.recorded;
	WFS_AUTO_JSON json_t *result = wfs_json_copy(recorded->result);
	const json_t *const hidden = json_object_get(result, "embeddings");
	json_t *embeddings = NULL;
	int r = result ? 0 : fold_no_memory(error);

	if (!r && hidden)
		r = act_reveal(recorded, hidden, &embeddings, error);
	if (!r && embeddings && json_object_set_new(result, "embeddings", embeddings) < 0)
		r = fold_no_memory(error);
	if (!r)
		r = act_reveal(recorded, fold->input.action, ret_action, error);
	if (!r)
		*ret_result = WFS_STEAL(result);
	return wfs_trace(r);
}

/* Makes the record's form of an action from a client, with private texts hidden. */
static int cover(
	struct act *act, const json_t *action, struct act_hiding *hiding, struct wfs_error *error)
{
	const struct wfs_privacy *const privacy = &hiding->privacy;
	struct fold_outcome *const outcome = &act->fold->outcome;

	hiding->act = act;
	int r = act_hide(hiding, action, error);
	if (r)
		return wfs_trace(r);
	if ((json_array_size(privacy->of) > 0 || act->fold->input.of) && !privacy->writes)
		outcome->of = json_incref(privacy->of);
	if (!wfs_privacy_hides(privacy, action))
		return 0;
	outcome->said_of = wfs_privacy_said(privacy);
	return outcome->said_of ? 0 : fold_no_memory(error);
}

int action_fold(struct wfs_fold *fold, struct wfs_error *error)
{
	struct wfs_action_recorded *const recorded = fold->input.recorded;
	ACT_HIDING_AUTO struct act_hiding hiding = {.act = NULL};
	WFS_AUTO_JSON json_t *action = NULL;
	WFS_AUTO_JSON json_t *result = NULL;
	NEST_AUTO struct nest nest = {.result = NULL};
	ACT_AUTO struct act act = {
		.fold = fold,
		.actor = fold->input.principal,
		.payer = fold->input.principal,
		.recorded = recorded,
		.nest = &nest,
	};

	fold->budget.instructions = action_instructions(fold);
	fold->outcome.action = json_object();
	int r = recorded ? uncover(fold, &action, &result, error)
			 : cover(&act, fold->input.action, &hiding, error);
	if (!r && nest_init(&nest, act_run, result))
		r = fold_no_memory(error);
	if (r)
		return wfs_trace(r);
	act.kept = recorded ? fold->input.action : hiding.members;
	r = run(&act, recorded ? action : fold->input.action, fold->outcome.action, error);
	if (json_object_update(fold->outcome.action,
		    recorded ? (json_t *)(uintptr_t)fold->input.action : hiding.members) < 0)
		return fold_no_memory(error);
	return wfs_trace(set_outcome(&act, r, error));
}

/* --- actions about nothing --- */

int act_action_noop(struct act *act, struct wfs_error *error)
{
	(void)error;
	act->unrecorded = true;
	snprintf(act->message, sizeof(act->message), "nothing was done");
	return 0;
}
