/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates conditions: text that is not a predicate is an expression, and runs in the sandbox.
 *
 * An expression is put into the source of a program, between parentheses. It must not close them
 * and continue as other code, so it is first compiled by itself (kernel/mind/expression.h), where
 * it has no parentheses to close.
 */
#include "agents/mind/condition.h"

#include "agents/mind/mind-impl.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"
#include "kernel/box/box.h"
#include "kernel/mind/workflow.h"

enum {
	TEXT_SHOWN_BYTES = 120, /* of a condition, in messages */
};

/* Follows the expression, which is `condition`. Returns a boolean, or the name of a type. */
static const char driver[] =
	"local G, error, null, pairs, type = _G, error, null, pairs, type\n"
	"local function kind(value) return value == null and 'null' or type(value) end\n"
	"local function check(name, variable, value, n)\n"
	"  if type(n) ~= 'number' then\n"
	"    error(name .. ': expected a number, got ' .. kind(n), 3)\n"
	"  elseif type(value) ~= 'number' then\n"
	"    error(name .. \": expected a number in the variable '\" .. variable .. \"', got \"\n"
	"      .. kind(value), 3)\n"
	"  end\n"
	"end\n"
	"function evaluate(variables, predicates)\n"
	"  local balance, turns = variables.balance, variables.same_state_for\n"
	"  G.ctx, G.deps, G.evaluate = nil, nil, nil\n"
	"  for name, value in pairs(variables) do\n"
	"    if value ~= null then G[name] = value end\n"
	"  end\n"
	"  for name, value in pairs(predicates) do G[name] = value end\n"
	"  G.balance_below = function(n)\n"
	"    check('balance_below', 'balance', balance, n)\n"
	"    return balance < n\n"
	"  end\n"
	"  G.same_state_for = function(n)\n"
	"    check('same_state_for', 'same_state_for', turns, n)\n"
	"    return turns >= n\n"
	"  end\n"
	"  local holds = condition()\n"
	"  if holds == nil or holds == null then return false end\n"
	"  if type(holds) == 'boolean' then return holds end\n"
	"  return type(holds)\n"
	"end\n";

/* A condition that is being evaluated. */
struct condition {
	struct wfs_box *box;   /* in which expressions run */
	struct wfs_bytes text; /* without white space around it */
	const json_t *variables;
	struct wfs_lua_budget *budget; /* may be NULL */
	struct wfs_error *error;
};

#define no_memory(condition) \
	wfs_error_from_errno((condition)->error, -ENOMEM, "look at a condition")

/* --- expressions --- */

/* The arguments of the driver. Return: new reference, NULL without memory */
static json_t *arguments_of(const json_t *variables)
{
	WFS_AUTO_JSON json_t *arguments = json_array();
	json_t *const given = variables ? json_incref((json_t *)variables) : json_object();

	if (json_array_append_new(arguments, given) < 0 ||
		json_array_append_new(arguments, mind_predicates(variables)) < 0)
		return NULL;
	return WFS_STEAL(arguments);
}

/* @ret_value: true, false, or the name of another type */
static int run_expression(const struct condition *condition, json_t **ret_value)
{
	WFS_AUTO_CODE struct wfs_code *program = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer source = {0};
	WFS_AUTO_JSON json_t *arguments = arguments_of(condition->variables);

	wfs_buffer_append_text(&source, "local condition = function() return (");
	wfs_buffer_append(&source, condition->text.data, condition->text.size);
	wfs_buffer_append_text(&source, "\n) end\n"); /* the expression may end with a comment */
	wfs_buffer_append_text(&source, driver);
	if (wfs_buffer_check(&source) || !arguments)
		return no_memory(condition);
	const struct wfs_code_options options = {
		.program = true,
		.limits = &wfs_mind_condition_limits,
		.name = "condition",
		.source = wfs_buffer_bytes(&source),
	};
	struct wfs_code_call call = {
		.function = "evaluate",
		.arguments = arguments,
		.budget = condition->budget,
	};
	const int r = wfs_code_new(condition->box, &options, &program, condition->error);
	return r ? r : wfs_code_call(program, &call, ret_value, condition->error);
}

/* Evaluates an expression. */
static int ask_lua(const struct condition *condition, bool *ret_holds)
{
	const struct wfs_mind_compiler compiler = {.box = condition->box};
	WFS_AUTO_JSON json_t *value = NULL;
	int r = wfs_mind_expression_check(&compiler, condition->text, condition->error);

	if (!r)
		r = run_expression(condition, &value);
	if (r)
		return r;
	if (!json_is_boolean(value))
		return wfs_error_set(condition->error, WFS_E_INVALID_ARGUMENT,
			"expected true, false or nil, got %s", json_string_value(value));
	*ret_holds = json_is_true(value);
	return 0;
}

static int check_size(struct wfs_bytes text, struct wfs_error *error)
{
	if (text.size == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"condition: expected a predicate or an expression, got a blank text");
	if (text.size > WFS_MIND_CONDITION_MAX)
		return wfs_error_set(error, WFS_E_TOO_LARGE,
			"condition: expected at most %d bytes, got %zu", WFS_MIND_CONDITION_MAX,
			text.size);
	return 0;
}

static int ask(const struct condition *condition, bool *ret_holds)
{
	struct wfs_error reason = {0};
	struct condition inner = *condition;
	int r = check_size(condition->text, condition->error);

	if (r)
		return r;
	inner.error = &reason;
	r = mind_predicate(condition->text, condition->variables, ret_holds, &reason);
	if (r > 0)
		r = ask_lua(&inner, ret_holds);
	if (r == -ENOMEM)
		return no_memory(condition);
	if (!r)
		return 0;
	const size_t shown =
		condition->text.size < TEXT_SHOWN_BYTES ? condition->text.size : TEXT_SHOWN_BYTES;
	return wfs_error_set(condition->error, reason.code, "condition '%.*s': %s", (int)shown,
		(const char *)condition->text.data, reason.message);
}

int wfs_mind_condition(
	const char *text, const json_t *variables, bool *ret_holds, struct wfs_error *error)
{
	WFS_AUTO_BOX struct wfs_box *box = NULL;
	struct condition condition = {
		.text = wfs_text_trimmed(wfs_bytes_text(text)),
		.variables = variables,
		.error = error,
	};

	if (wfs_box_new(&box) < 0)
		return no_memory(&condition);
	condition.box = box;
	return wfs_trace(ask(&condition, ret_holds));
}

/* --- the first of many --- */

/* Evaluates a condition; a failure counts as false, and is noted.
 * @given: what all conditions share */
static int ask_noting(
	const json_t *written, const struct condition *given, bool *ret_holds, json_t **notes)
{
	struct wfs_error error = {0};
	const struct condition condition = {
		.box = given->box,
		.text = wfs_text_trimmed(wfs_text_of(json_object_get(written, "condition"))),
		.variables = given->variables,
		.budget = given->budget,
		.error = &error,
	};
	int r = ask(&condition, ret_holds);

	if (r == -ENOMEM)
		return r;
	if (r && !*notes)
		*notes = json_array();
	return r && json_array_append_new(*notes, json_string(error.message)) < 0 ? -ENOMEM : 0;
}

int wfs_mind_conditions_first(
	const json_t *conditions, const json_t *variables, const char **ret_to, json_t **ret_notes)
{
	struct wfs_lua_budget budget = {.instructions = WFS_MIND_CONDITIONS_INSTRUCTIONS};
	WFS_AUTO_BOX struct wfs_box *box = NULL;
	struct condition given = {.variables = variables, .budget = &budget};
	WFS_AUTO_JSON json_t *notes = NULL;
	const char *to = NULL;
	bool holds = false;
	int r = wfs_box_new(&box);

	given.box = box;
	for (size_t i = 0; !r && i < json_array_size(conditions) && !holds; i++) {
		const json_t *const written = json_array_get(conditions, i);

		r = ask_noting(written, &given, &holds, &notes);
		if (!r && holds)
			to = json_string_value(json_object_get(written, "to"));
	}
	if (r)
		return wfs_trace(r);
	*ret_to = to;
	*ret_notes = WFS_STEAL(notes);
	return 0;
}
