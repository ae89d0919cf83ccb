/* SPDX-License-Identifier: Apache-2.0 */
/* A call of a service, from its arguments to its result. */
#include "kernel/domain/action/service.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/manifest/grant.h"

const struct service *service_find(const struct wfs_domain *const *domains, const char *artifact_id)
{
	for (; *domains; domains++)
		for (const struct service *service = (*domains)->services; service && service->id;
			service++)
			if (strcmp(service->id, artifact_id) == 0)
				return service;
	return NULL;
}

static const struct service_method *find_method(const struct service *service, const char *name)
{
	const struct service_method *method = service->methods;

	while (method->name && strcmp(method->name, name) != 0)
		method++;
	return method->name ? method : NULL;
}

/* Second names of arguments. */
static const struct {
	const char *name;
	const char *param;
} other_names[] = {
	{"memory_artifact_id", "memory"},
};

static const struct wfs_field *find_param(const struct service_method *method, const char *name)
{
	const struct wfs_field *param = method->params;

	while (param->name && strcmp(param->name, name) != 0)
		param++;
	return param->name ? param : NULL;
}

/* --- arguments --- */

void service_call_done(struct service_call *call)
{
	json_decref(call->args);
	json_decref(call->result);
}

/* Takes the name of the method from the arguments of `run`. @ret_rest: the other arguments; caller
 * owns it */
static int name_method(const struct service *service, const json_t *args, const char **ret_name,
	json_t **ret_rest, struct wfs_error *error)
{
	const json_t *const first = json_array_get(args, 0);
	WFS_AUTO_JSON json_t *rest = json_deep_copy(args);
	const char *const name = json_is_object(first)
		? json_string_value(json_object_get(first, "method"))
		: json_string_value(first);

	if (!name)
		return wfs_error_set(error, WFS_E_MISSING_ARGUMENT,
			"run of '%s' requires the name of a method as its first argument, or as "
			"'method'",
			service->id);
	if (!rest)
		return fold_no_memory(error);
	if (json_is_object(first))
		(void)json_object_del(json_array_get(rest, 0), "method");
	else
		(void)json_array_remove(rest, 0);
	*ret_name = name;
	*ret_rest = WFS_STEAL(rest);
	return 0;
}

/* Names arguments that come in order. Null arguments are absent. */
static int name_arguments(const struct service_method *method, const json_t *args, json_t *named,
	struct wfs_error *error)
{
	const struct wfs_field *param = method->params;

	for (size_t i = 0; i < json_array_size(args); i++, param++) {
		json_t *const value = json_array_get(args, i);

		if (!param->name)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s takes at most %zu arguments, got %zu", method->name, i,
				json_array_size(args));
		if (!json_is_null(value) && json_object_set(named, param->name, value) < 0)
			return fold_no_memory(error);
	}
	return 0;
}

/* Finds a param by one of its names. Return: the name in the method's table. */
static const char *param_name(const struct service_method *method, const char *name)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(other_names); i++)
		if (strcmp(other_names[i].name, name) == 0 &&
			find_param(method, other_names[i].param))
			return other_names[i].param;
	return name;
}

/* Takes named arguments. Null arguments are absent. */
static int take_members(
	const struct service_method *method, json_t *object, json_t *named, struct wfs_error *error)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		const char *const param = param_name(method, name);

		if (json_is_null(value))
			continue;
		if (json_object_get(named, param))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"%s: '%s' is given twice, under two names", method->name, param);
		if (json_object_set(named, param, value) < 0)
			return fold_no_memory(error);
	}
	return 0;
}

static int check_arguments(
	const struct service_method *method, const json_t *named, struct wfs_error *error)
{
	const struct wfs_form shape = {.kind = WFS_FORM_RECORD, .fields = method->params};
	struct wfs_error reason = {0};

	for (const struct wfs_field *param = method->params; param->name; param++)
		if (!param->optional && !json_object_get(named, param->name))
			return wfs_error_set(error, WFS_E_MISSING_ARGUMENT, "%s requires '%s': %s",
				method->name, param->name, param->help);
	int r = wfs_form_check(&shape, named, &reason);
	if (r == -EINVAL)
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "%s: %.400s", method->name, reason.message);
	return r ? fold_no_memory(error) : 0;
}

/* Do the arguments of `run` name the method? A single text does not, if the service has a default
 * method. */
static bool names_method(const struct service *service, const json_t *args)
{
	const json_t *const first = json_array_get(args, 0);
	const char *const name = json_string_value(first);

	if (service->run != SERVICE_RUN_EITHER)
		return service->run == SERVICE_RUN_NAMED;
	return json_object_get(first, "method") != NULL ||
		(json_array_size(args) > 1 && name && find_method(service, name));
}

int service_parse(const struct service *service, const char *method, const json_t *args,
	struct service_call *ret_call, struct wfs_error *error)
{
	const char *name = method;
	WFS_AUTO_JSON json_t *rest = NULL;
	int r = 0;

	ret_call->service = service;
	if (strcmp(name, "run") == 0 && names_method(service, args))
		r = name_method(service, args, &name, &rest, error);
	else if (strcmp(name, "run") == 0)
		name = service->methods[0].name;
	if (r)
		return wfs_trace(r);
	const json_t *const given = rest ? rest : args;
	json_t *const only = json_array_get(given, 0);
	ret_call->method = find_method(service, name);
	if (!ret_call->method) {
		WFS_AUTO_BUFFER struct wfs_buffer names = {0};

		for (const struct service_method *one = service->methods; one->name; one++)
			wfs_buffer_printf(&names, "%s%s", names.size ? ", " : "", one->name);
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%s' has no method '%.64s', it has: %s", service->id, name,
			wfs_buffer_text(&names));
	}
	ret_call->args = json_object();
	if (!ret_call->args)
		return fold_no_memory(error);
	r = json_array_size(given) == 1 && json_is_object(only)
		? take_members(ret_call->method, only, ret_call->args, error)
		: name_arguments(ret_call->method, given, ret_call->args, error);
	return wfs_trace(r ? r : check_arguments(ret_call->method, ret_call->args, error));
}

/* --- the call --- */

int service_run(struct service_call *call, json_t **ret_result, struct wfs_error *error)
{
	struct invocation self = {
		.act = call->act,
		.id = call->service->id,
		.author = author_now(call->act),
		.depth = call->act->within ? call->act->within->depth + 1 : 0,
	};

	call->self = &self;
	int r = call->method->run(call, error);
	call->self = NULL;
	call->stopped |= self.stopped;
	if (r)
		return wfs_trace(r);
	*ret_result = call->result ? WFS_STEAL(call->result) : json_null();
	return 0;
}

const char *service_text(const struct service_call *call, const char *name)
{
	const char *const text = json_string_value(json_object_get(call->args, name));

	return text ? text : "";
}

int64_t service_number(const struct service_call *call, const char *name, int64_t otherwise)
{
	const json_t *const value = json_object_get(call->args, name);

	return value ? json_integer_value(value) : otherwise;
}

int service_act(struct service_call *call, const char *actor, json_t *action, json_t **ret_data,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *owned = action;
	ACT_AUTO struct act act = {
		.fold = call->act->fold,
		.actor = actor,
		.payer = call->act->payer,
		.nest = call->act->nest,
		.within = call->self,
	};

	if (!owned)
		return fold_no_memory(error);
	int r = act.nest->run(&act, owned, error);
	if (!r && ret_data)
		*ret_data = WFS_STEAL(act.data);
	return wfs_trace(r);
}

int service_work(struct service_call *call, uint64_t instructions, struct wfs_error *error)
{
	struct wfs_lua_budget *const budget = &call->act->fold->budget;

	budget->used += instructions;
	if (budget->used <= budget->instructions)
		return 0;
	call->stopped = true;
	return wfs_error_set(error, WFS_E_RUNTIME_ERROR,
		"'%s' would take more than the %" PRIu64 " instructions that one record may",
		call->service->id, budget->instructions);
}

int service_may(const struct service_call *call, enum wfs_effect effect, const char *artifact,
	struct wfs_error *error)
{
	return wfs_trace(author_may(call->self, effect, artifact, error));
}

/* --- the artifacts --- */

static int forget_required(json_t *schema, const char *name)
{
	json_t *const required = json_object_get(schema, "required");
	const json_t *item;
	size_t i;

	json_array_foreach(required, i, item) {
		if (strcmp(json_string_value(item), name) == 0)
			return json_array_remove(required, i);
	}
	return 0;
}

/* A parameter with two names is not marked as required under either: the JSON Schema that servers
 * of models accept cannot say `one of the two`. A call without both is refused. */
static int add_other_names(const struct service_method *method, json_t *schema)
{
	json_t *const properties = json_object_get(schema, "properties");
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(other_names); i++) {
		if (!find_param(method, other_names[i].param))
			continue;
		r = json_object_set_new(properties, other_names[i].name,
			json_pack("{s:o, s:s}", "description",
				json_sprintf("another name of `%s`", other_names[i].param), "type",
				"string"));
		r = r ? r : forget_required(schema, other_names[i].param);
	}
	return r ? -ENOMEM : 0;
}

/* Makes the schema of a method's only argument. NULL without memory. */
static json_t *method_schema(const struct service_method *method)
{
	const struct wfs_form shape = {.kind = WFS_FORM_RECORD, .fields = method->params};
	WFS_AUTO_JSON json_t *schema = wfs_form_schema(&shape, false);

	return schema && !add_other_names(method, schema) ? WFS_STEAL(schema) : NULL;
}

static json_t *method_document(const struct service_method *method, const char *name)
{
	return json_pack("{s:s, s:o, s:s, s:I}", "description", method->help, "input",
		method_schema(method), "name", name, "price", (json_int_t)method->price);
}

/* Adds a param to a schema. If two methods describe a param of one name differently, it gets no
 * description. Return: 0, or -ENOMEM. */
static int add_param(json_t *properties, const char *name, json_t *schema)
{
	json_t *const before = json_object_get(properties, name);

	if (!before)
		return json_object_set(properties, name, schema) < 0 ? -ENOMEM : 0;
	if (!json_equal(before, schema))
		(void)json_object_del(before, "description");
	return 0;
}

static int add_params(json_t *properties, const struct service_method *method)
{
	WFS_AUTO_JSON json_t *schema = method_schema(method);
	const char *name;
	json_t *param;
	int r = schema ? 0 : -ENOMEM;

	json_object_foreach(json_object_get(schema, "properties"), name, param) {
		if (!r)
			r = add_param(properties, name, param);
	}
	return r;
}

/* Appends e.g. `add(memory, text, tags?): adds …; costs 1 scrip`. */
static void describe_method(const struct service_method *method, struct wfs_buffer *text)
{
	wfs_buffer_printf(text, "\n- %s(", method->name);
	for (const struct wfs_field *param = method->params; param->name; param++)
		wfs_buffer_printf(text, "%s%s%s", param == method->params ? "" : ", ", param->name,
			param->optional ? "?" : "");
	wfs_buffer_printf(text, "): %s", method->help);
	if (method->price > 0)
		wfs_buffer_printf(text, "; costs %" PRId64 " scrip", method->price);
}

/* Describes `run` of a service with several methods. Models get it as a tool, so it tells what
 * each method takes. */
static json_t *run_document(const struct service *service)
{
	WFS_AUTO_JSON json_t *names = json_array();
	WFS_AUTO_JSON json_t *properties = json_object();
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text, "%s. Its methods:", service->help);
	for (const struct service_method *method = service->methods; method->name; method++) {
		describe_method(method, &text);
		if (json_array_append_new(names, json_string(method->name)) < 0 ||
			add_params(properties, method))
			return NULL;
	}
	if (wfs_buffer_check(&text) ||
		json_object_set_new(properties, "method",
			json_pack("{s:s, s:O, s:s}", "description", "which one is called", "enum",
				names, "type", "string")) < 0)
		return NULL;
	return json_pack("{s:s, s:{s:b, s:O, s:[s], s:s}, s:s}", "description",
		wfs_buffer_text(&text), "input", "additionalProperties", 0, "properties",
		properties, "required", "method", "type", "object", "name", "run");
}

static json_t *interface_document(const struct service *service)
{
	WFS_AUTO_JSON json_t *methods = json_array();

	if (json_array_append_new(methods,
		    service->run == SERVICE_RUN_NAMED
			    ? run_document(service)
			    : method_document(service->methods, "run")) < 0)
		return NULL;
	for (const struct service_method *method = service->methods; method->name; method++)
		if (json_array_append_new(methods, method_document(method, method->name)) < 0)
			return NULL;
	return json_pack("{s:s, s:O}", "description", service->help, "methods", methods);
}

static json_t *artifact_document(const struct service *service)
{
	const int64_t price = service->run == SERVICE_RUN_NAMED ? 0 : service->methods[0].price;
	json_t *const action = json_pack("{s:s, s:s, s:s, s:b, s:I, s:o}", "action_type",
		"write_artifact", "artifact_id", service->id, "type", service->type, "executable",
		1, "price", (json_int_t)price, "interface", interface_document(service));

	if (action && service->content &&
		json_object_set_new(action, "content", json_string(service->content())) < 0) {
		json_decref(action);
		return NULL;
	}
	return json_pack("{s:o, s:s, s:s}", "action", action, "created_by", WFS_PRINCIPAL_GENESIS,
		"id", service->id);
}

json_t *wfs_service_artifacts(const struct wfs_domain *const *domains)
{
	WFS_AUTO_JSON json_t *artifacts = json_array();

	for (; *domains; domains++)
		for (const struct service *service = (*domains)->services; service && service->id;
			service++)
			if (json_array_append_new(artifacts, artifact_document(service)) < 0)
				return NULL;
	return WFS_STEAL(artifacts);
}
