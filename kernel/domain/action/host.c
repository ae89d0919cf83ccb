/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What running code can ask for. All its actions are done as its artifact; it cannot act as
 * anybody else.
 */
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/domain/action/invoke.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/query/query.h"

/*
 * X(constant, table or NULL, name, function below, arguments, help)
 * `require` gives source, which the sandbox runs. The actions come after these bindings, under
 * their own names.
 */
#define STATE "kernel_state"
#define ACTIONS "kernel_actions"
#define HOST_FUNCTIONS(X)                                                                         \
	X(GET_BALANCE, STATE, "get_balance", get_balance, "id",                                   \
		"scrip of a principal or an artifact")                                            \
	X(GET_RESOURCE, STATE, "get_resource", get_resource, "id, name",                          \
		"what a principal uses of disk, journal, llm_budget or llm_tokens")               \
	X(GET_QUOTA, STATE, "get_quota", get_quota, "id, name",                                   \
		"how much of one it may use; nil when nobody has set that")                       \
	X(GET_ARTIFACT_METADATA, STATE, "get_artifact_metadata", get_metadata, "id",              \
		"the row of an artifact, and its metadata; nil when there is none")               \
	X(STATE_READ_ARTIFACT, STATE, "read_artifact", read_content, "id",                        \
		"content as text; nil when there is none, or reading is not allowed or not free") \
	X(LIST_BY_OWNER, STATE, "list_artifacts_by_owner", list_by_owner, "id",                   \
		"ids of what somebody owns, in order of creation")                                \
	X(QUERY, STATE, "query", query, "type, params",                                           \
		"answers a query, of the world as it was before this record")                     \
	X(PAY, NULL, "pay", transfer_scrip, "to, amount",                                         \
		"gives scrip of the artifact's own; a result, as of an action")                   \
	X(OWN_BALANCE, NULL, "get_balance", own_balance, "", "the scrip that the artifact has")   \
	X(INVOKE, NULL, "invoke", invoke, "id, ...",                                              \
		"runs another artifact: {ok, result, error, price_paid}, error nil when ok")      \
	X(REQUIRE, NULL, "require", read_library, "id",                                           \
		"what the code of a library returns: one of `depends_on`, by the same author")    \
	X(TRANSFER_SCRIP, ACTIONS, "transfer_scrip", transfer_scrip, "to, amount",                \
		"the same as transfer")                                                           \
	X(SUBMIT_FOR_MINT, ACTIONS, "submit_for_mint", submit_for_mint, "artifact_id, bid",       \
		"the same as submit_to_mint")

enum host_function {
#define HOST_ENUM(constant, ...) HOST_##constant,
	HOST_FUNCTIONS(HOST_ENUM)
#undef HOST_ENUM
		HOST_ACTION, /* the first action */
};

/* One call from code. */
struct asked {
	struct invocation *self;
	struct wfs_fold *fold;
	const json_t *arguments;
	struct wfs_error *error;
};

static int no_memory(const struct asked *asked)
{
	return fold_no_memory(asked->error);
}

/* Does an error end the invocation? Errors of the call itself are raised in Lua, or returned. */
static bool ends(const struct asked *asked, const struct wfs_error *error)
{
	return invoke_fails_all(error) || asked->self->stopped;
}

/* Makes an act of the artifact whose code runs. */
static struct act act_of_self(const struct asked *asked)
{
	return (struct act){
		.fold = asked->fold,
		.actor = asked->self->id,
		.payer = asked->self->act->payer,
		.nest = asked->self->act->nest,
		.within = asked->self,
	};
}

static int text_argument(const struct asked *asked, size_t index, const char **ret_text)
{
	const json_t *const argument = json_array_get(asked->arguments, index);
	const char *const text = json_string_value(argument);

	if (text && strlen(text) == json_string_length(argument)) {
		*ret_text = text;
		return 0;
	}
	return wfs_error_set(
		asked->error, WFS_E_INVALID_ARGUMENT, "argument %zu: expected a text", index + 1);
}

/* --- what is asked --- */

static int balance_of(const struct asked *asked, const char *id, json_t **ret_value)
{
	int64_t scrip = 0;
	int r = wfs_grant_name_valid(id)
		? author_sees(asked->self, WFS_QUERY_PART_PRINCIPAL, id, asked->error)
		: 0;

	if (r > 0)
		r = account_scrip(asked->fold, id, &scrip, asked->error);
	if (r)
		return r;
	*ret_value = json_integer(scrip);
	return *ret_value ? 0 : no_memory(asked);
}

static int get_balance(const struct asked *asked, json_t **ret_value)
{
	const char *id = NULL;
	int r = text_argument(asked, 0, &id);

	return r ? r : balance_of(asked, id, ret_value);
}

static int own_balance(const struct asked *asked, json_t **ret_value)
{
	return balance_of(asked, asked->self->id, ret_value);
}

/* Reads `used` or `quota` (@member) of a resource; a quota that is not set is nil. */
static int resource_member(const struct asked *asked, const char *member, json_t **ret_value)
{
	WFS_AUTO_JSON json_t *document = NULL;
	const char *name = NULL;
	const char *id = NULL;
	size_t cell;
	int r = text_argument(asked, 0, &id);

	if (!r)
		r = text_argument(asked, 1, &name);
	if (r)
		return r;
	if (account_resource_find(name) == ACCOUNT_RESOURCE_COUNT)
		return wfs_error_set(asked->error, WFS_E_NOT_FOUND,
			"Resource '%.80s' not found. Available: disk, journal, llm_budget, "
			"llm_tokens",
			name);
	if (wfs_grant_name_valid(id))
		r = author_sees(asked->self, WFS_QUERY_PART_RESOURCE, id, asked->error);
	if (r > 0)
		r = fold_load(
			asked->fold, WFS_BUILTIN_RESOURCE, id, &cell, &document, asked->error);
	*ret_value = json_incref(json_object_get(json_object_get(document, name), member));
	return r;
}

static int get_resource(const struct asked *asked, json_t **ret_value)
{
	int r = resource_member(asked, "used", ret_value);

	if (!r && !*ret_value)
		*ret_value = json_integer(0);
	return !r && !*ret_value ? no_memory(asked) : r;
}

static int get_quota(const struct asked *asked, json_t **ret_value)
{
	return resource_member(asked, "quota", ret_value);
}

/* Finds the artifact named by the first argument. Return: 0, 1 (absent, or not seen), or -errno. */
static int find_artifact(const struct asked *asked, struct wfs_document_artifact *ret_artifact)
{
	const char *id = NULL;
	int r = text_argument(asked, 0, &id);

	if (!r)
		r = author_sees(asked->self, WFS_QUERY_PART_ARTIFACT, id, asked->error);
	if (r <= 0)
		return r ? r : 1;
	r = artifact_get(asked->fold, id, ret_artifact, asked->error);
	return r == -ENOENT ? 1 : r;
}

static int get_metadata(const struct asked *asked, json_t **ret_value)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	int r = find_artifact(asked, &artifact);

	if (r)
		return r > 0 ? 0 : r; /* nil */
	WFS_AUTO_JSON json_t *row = wfs_artifact_row(artifact.own.json);
	if (!row || json_object_set(row, "metadata", artifact.metadata) < 0)
		return no_memory(asked);
	*ret_value = WFS_STEAL(row);
	return 0;
}

/* Reads content as its file shows it; nil if reading is not allowed or has a price. */
static int read_content(const struct asked *asked, json_t **ret_value)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	struct act self = act_of_self(asked);
	struct wfs_bytes bytes;
	int r = find_artifact(asked, &artifact);

	if (r)
		return r > 0 ? 0 : r;
	r = author_reads(asked->self, artifact.id, asked->error);
	if (r <= 0)
		return r;
	r = artifact_permit(&self, &artifact, ARTIFACT_USE_READ, asked->error);
	if (r == -EACCES || (!r && artifact_read_price(&self, &artifact) > 0))
		return 0;
	if (!r)
		r = artifact_text(
			asked->fold, WFS_BUILTIN_CONTENT, artifact.id, &bytes, asked->error);
	if (r)
		return r;
	if (!wfs_utf8_valid(bytes.data, bytes.size))
		return 0; /* nil: not a text */
	*ret_value = json_stringn_nocheck(bytes.data, bytes.size);
	return *ret_value ? 0 : no_memory(asked);
}

/* Checks that @asker, the artifact that runs or one of its libraries, lists the library as a
 * dependency. */
static int check_depends(const struct asked *asked, const char *asker, const char *id)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	const json_t *one;
	size_t i;
	int r = artifact_get(asked->fold, asker, &artifact, asked->error);

	if (r)
		return r;
	json_array_foreach(artifact.depends_on, i, one) {
		if (strcmp(json_string_value(one), id) == 0)
			return 0;
	}
	return wfs_error_set(asked->error, WFS_E_INVALID_ARGUMENT,
		"'%.80s' must be in 'depends_on' of '%s'", id, asker);
}

/* A library runs with the rights of the code that requires it, in a process of that code's author.
 * So both must have one author; to use a library by another author, its user has to write a copy
 * first. */
static int check_library(const struct asked *asked, const struct wfs_document_artifact *artifact)
{
	const int shown = strcmp(author_of(artifact), asked->self->author) == 0
		? 1
		: author_sees(asked->self, WFS_QUERY_PART_ARTIFACT, artifact->id, asked->error);

	if (shown < 0)
		return wfs_trace(shown);
	if (!shown) /* the refusal tells neither its type nor its author */
		return wfs_error_set(asked->error, WFS_E_NOT_AUTHORIZED,
			"'%s' is not a library of '%s', who wrote what requires it", artifact->id,
			asked->self->author);
	if (strcmp(artifact->type, "library") != 0)
		return wfs_error_set(asked->error, WFS_E_INVALID_TYPE,
			"'%s' has the type %s, expected library", artifact->id, artifact->type);
	if (artifact->code_size <= 0)
		return wfs_error_set(
			asked->error, WFS_E_INVALID_TYPE, "library '%s' has no code", artifact->id);
	if (artifact->code_size > WFS_LUA_SOURCE_MAX)
		return wfs_error_set(asked->error, WFS_E_INVALID_TYPE,
			"library '%s' has more than %d bytes of code", artifact->id,
			(int)WFS_LUA_SOURCE_MAX);
	if (strcmp(author_of(artifact), asked->self->author) != 0)
		return wfs_error_set(asked->error, WFS_E_NOT_AUTHORIZED,
			"'%s' wrote the code of library '%s', expected '%s', who wrote what "
			"requires it",
			author_of(artifact), artifact->id, asked->self->author);
	return 0;
}

/* Reads the source of a library. @arguments: its id, and the id of the requiring library, if a
 * library requires it */
static int read_library(const struct asked *asked, json_t **ret_value)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	const char *asker = asked->self->id;
	const char *id = "";
	struct wfs_bytes code;
	int r = text_argument(asked, 0, &id);

	if (!r && json_array_size(asked->arguments) > 1)
		r = text_argument(asked, 1, &asker);
	if (!r)
		r = check_depends(asked, asker, id);
	if (!r)
		r = artifact_get(asked->fold, id, &artifact, asked->error);
	if (!r)
		r = check_library(asked, &artifact);
	if (!r)
		r = artifact_text(asked->fold, WFS_BUILTIN_CODE, id, &code, asked->error);
	if (r)
		return r;
	*ret_value = json_stringn(code.data, code.size);
	return *ret_value ? 0
			  : wfs_error_set(asked->error, WFS_E_INVALID_TYPE,
				    "the code of library '%s' is not UTF-8 text", id);
}

static int ask(
	const struct asked *asked, const char *type, const json_t *params, json_t **ret_value)
{
	struct act self = act_of_self(asked);

	return act_query(&self, type, params, ret_value, asked->error);
}

static int query(const struct asked *asked, json_t **ret_value)
{
	const char *type = NULL;
	int r = text_argument(asked, 0, &type);

	return r ? r : ask(asked, type, json_array_get(asked->arguments, 1), ret_value);
}

/* Lists ids in order of creation, as many as one query gives. */
static int list_by_owner(const struct asked *asked, json_t **ret_value)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	WFS_AUTO_JSON json_t *ids = json_array();
	const json_t *row;
	const char *owner = NULL;
	size_t i;
	int r = text_argument(asked, 0, &owner);

	if (r)
		return r;
	WFS_AUTO_JSON json_t *params =
		json_pack("{s:s, s:i}", "owner", owner, "limit", WFS_QUERY_LIMIT_MAX);
	r = params ? ask(asked, "artifacts", params, &answer) : no_memory(asked);
	if (r)
		return r;
	json_array_foreach(json_object_get(answer, "results"), i, row) {
		if (json_array_append(ids, json_object_get(row, "id")) < 0)
			return no_memory(asked);
	}
	*ret_value = WFS_STEAL(ids);
	return 0;
}

/* --- what is done --- */

/* The result of an action as a Lua value. A member that is null in JSON is absent, because null is
 * true in Lua.
 * Return: new reference, or NULL. */
static json_t *result_of(
	const struct act *act, const json_t *action, const struct wfs_error *failure)
{
	const bool ok = failure->code == WFS_OK;
	const struct wfs_error_info *const info = wfs_error_info(failure->code);
	json_t *const error = ok
		? NULL
		: json_pack("{s:s, s:s, s:O*, s:s, s:b}", "category", info->category, "code",
			  info->name, "details", act->details, "message", failure->message,
			  "retriable", info->retriable);

	if (!ok && !error)
		return NULL;
	return json_pack("{s:O, s:O*, s:o*, s:s, s:b}", "action_type",
		json_object_get(action, "action_type"), "data", ok ? act->data : NULL, "error",
		error, "message", ok ? act->message : failure->message, "ok", ok);
}

/* Code that has deleted its own artifact runs to its end, but may not act: it has no owner to
 * pay. */
static int check_may_act(const struct asked *asked, struct wfs_error *error)
{
	const struct invocation *const self = asked->self;

	if (self->read_only)
		return wfs_error_set(error, WFS_E_READ_ONLY, "a contract only looks");
	int r = artifact_exists(asked->fold, self->id, error);
	if (r <= 0)
		return r ? wfs_trace(r)
			 : wfs_error_set(error, WFS_E_DELETED,
				   "'%s' was deleted: its code acts no more", self->id);
	if (self->act->nest->action_count++ >= INVOKE_ACTION_COUNT_MAX)
		return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
			"more than %d actions in one invocation", INVOKE_ACTION_COUNT_MAX);
	return 0;
}

/* Takes an action as the artifact that runs. A failure is returned to the code, not raised. */
static int act_as_self(const struct asked *asked, const json_t *action, json_t **ret_value)
{
	struct wfs_error failure = {0};
	ACT_AUTO struct act act = act_of_self(asked);
	int r = check_may_act(asked, &failure);

	if (!r)
		r = author_may(asked->self, wfs_action_effect(action), wfs_action_artifact(action),
			&failure);
	if (!r)
		r = act.nest->run(&act, action, &failure);
	if (r && ends(asked, &failure)) {
		*asked->error = failure;
		return r;
	}
	*ret_value = result_of(&act, action, &failure);
	return *ret_value ? 0 : no_memory(asked);
}

/* Copies the members of an argument table, except `action_type`, to the action. */
static int take_members(const struct asked *asked, json_t *table, json_t *action)
{
	const char *name;
	json_t *value;

	json_object_foreach(table, name, value) {
		if (strcmp(name, "action_type") != 0 && json_object_set(action, name, value) < 0)
			return no_memory(asked);
	}
	return 0;
}

/* Makes the params of an action from arguments in order, or from one table of them. */
static int params_of(const struct asked *asked, enum wfs_effect effect, json_t *action)
{
	const struct wfs_field *member = wfs_effect_params(effect)->fields;
	const size_t count = json_array_size(asked->arguments);
	json_t *const first = json_array_get(asked->arguments, 0);

	if (count == 1 && json_is_object(first))
		return take_members(asked, first, action);
	for (size_t i = 0; i < count; i++, member++) {
		json_t *const argument = json_array_get(asked->arguments, i);

		if (!member->name)
			return wfs_error_set(asked->error, WFS_E_INVALID_ARGUMENT,
				"%s takes at most %zu arguments", wfs_effect_kind(effect), i);
		if (!json_is_null(argument) && json_object_set(action, member->name, argument) < 0)
			return no_memory(asked);
	}
	return 0;
}

static int take_action(const struct asked *asked, enum wfs_effect effect, json_t **ret_value)
{
	WFS_AUTO_JSON json_t *action = json_pack("{s:s}", "action_type", wfs_effect_action(effect));
	int r = action ? params_of(asked, effect, action) : no_memory(asked);

	return r ? r : act_as_self(asked, action, ret_value);
}

static int transfer_scrip(const struct asked *asked, json_t **ret_value)
{
	return take_action(asked, WFS_EFFECT_ACTION_TRANSFER, ret_value);
}

static int submit_for_mint(const struct asked *asked, json_t **ret_value)
{
	return take_action(asked, WFS_EFFECT_ACTION_SUBMIT_TO_MINT, ret_value);
}

/* Makes {ok, result, error, price_paid} from the result of `invoke_artifact`. */
static json_t *invoked_document(const json_t *result)
{
	json_t *const data = json_object_get(result, "data");
	json_t *const error = json_object_get(result, "error");
	json_t *const price = json_object_get(data, "price_paid");
	json_t *const value = json_object_get(data, "result");

	return json_pack("{s:O*, s:O, s:o, s:O*}", "error", error, "ok",
		json_object_get(result, "ok"), "price_paid",
		price ? json_incref(price) : json_integer(0), "result",
		json_is_null(value) ? NULL : value);
}

static int invoke(const struct asked *asked, json_t **ret_value)
{
	WFS_AUTO_JSON json_t *args = json_array();
	WFS_AUTO_JSON json_t *result = NULL;
	const char *id = NULL;
	int r = text_argument(asked, 0, &id);

	if (r)
		return r;
	for (size_t i = 1; i < json_array_size(asked->arguments); i++)
		if (json_array_append(args, json_array_get(asked->arguments, i)) < 0)
			return no_memory(asked);
	WFS_AUTO_JSON json_t *action = json_pack("{s:s, s:s, s:O}", "action_type",
		"invoke_artifact", "artifact_id", id, "args", args);
	if (!action)
		return no_memory(asked);
	r = act_as_self(asked, action, &result);
	if (r)
		return r;
	*ret_value = invoked_document(result);
	return *ret_value ? 0 : no_memory(asked);
}

/* --- the table --- */

const struct wfs_lua_binding host_bindings[] = {
#define HOST_BINDING(constant, table, name, ...) \
	{(table), (name), .gives_module = HOST_##constant == HOST_REQUIRE},
	HOST_FUNCTIONS(HOST_BINDING)
#undef HOST_BINDING
#define ACTION_BINDING(constant, member, ...) \
	{.table = ACTIONS, .name = &#member[sizeof("action_") - 1]},
		WFS_ACTIONS(ACTION_BINDING)
#undef ACTION_BINDING
};
const size_t host_binding_count = WFS_ARRAY_COUNT(host_bindings);

const struct host_help host_helps[] = {
#define HOST_HELP(constant, table, name, function, arguments, help) {(arguments), (help)},
	HOST_FUNCTIONS(HOST_HELP)
#undef HOST_HELP
};
const size_t host_help_count = WFS_ARRAY_COUNT(host_helps);

static int (*const functions[])(const struct asked *asked, json_t **ret_value) = {
#define HOST_FUNCTION(constant, table, name, function, ...) [HOST_##constant] = (function),
	HOST_FUNCTIONS(HOST_FUNCTION)
#undef HOST_FUNCTION
};

static const enum wfs_effect action_effects[] = {
#define ACTION_EFFECT(constant, ...) WFS_EFFECT_##constant,
	WFS_ACTIONS(ACTION_EFFECT)
#undef ACTION_EFFECT
};

int host_call(struct wfs_code_host *host, size_t binding_index, const json_t *arguments,
	json_t **ret_value, struct wfs_error *error)
{
	struct invocation *const self = (struct invocation *)host;
	const struct asked asked = {
		.self = self, .fold = self->act->fold, .arguments = arguments, .error = error};
	int r = nest_check_time(self->act, self->id, error);

	if (r) {
		self->stopped = true;
		return wfs_trace(r);
	}
	r = binding_index < HOST_ACTION
		? functions[binding_index](&asked, ret_value)
		: take_action(&asked, action_effects[binding_index - HOST_ACTION], ret_value);
	return r && !ends(&asked, error) ? 1 : r;
}
