/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interfaces: {description?, methods: [{name, description?, input?}], tests?}. `input` is a schema
 * of the list of arguments or, if its type is object, of the only argument. Without methods every
 * call is allowed.
 */
#include "kernel/domain/action/invoke.h"

#include "kernel/base/json.h"
#include "kernel/base/problems.h"
#include "kernel/schema/schema.h"

/* Compiles a method's `input`. @reason: the first of its problems. Return: 0, -EINVAL with
 * @reason, or -ENOMEM. */
static int make_schema(json_t *input, struct wfs_schema **ret_schema, struct wfs_error *reason)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	int r = wfs_schema_new(input, NULL, "", &problems, ret_schema);

	if (r != -EINVAL)
		return wfs_trace(r);
	const char *const lines = wfs_buffer_text(&problems.lines);
	return wfs_error_set(
		reason, WFS_E_INVALID_ARGUMENT, "%.*s", (int)strcspn(lines, "\n"), lines);
}

static int check_method(const json_t *method, size_t index, struct wfs_error *error)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	const json_t *const name = json_object_get(method, "name");
	json_t *const input = json_object_get(method, "input");
	struct wfs_error reason = {0};

	if (!json_is_string(name) || json_string_length(name) == 0)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'interface': methods/%zu: expected an object with a name", index);
	int r = input ? make_schema(input, &schema, &reason) : 0;
	if (r == -EINVAL)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'interface': methods/%zu/input: %.400s", index, reason.message);
	return r ? fold_no_memory(error) : 0;
}

static int check_count(
	const json_t *interface, const char *name, size_t maximum, struct wfs_error *error)
{
	const size_t count = json_array_size(json_object_get(interface, name));

	return count <= maximum ? 0
				: wfs_error_set(error, WFS_E_TOO_LARGE,
					  "'interface': %s: %zu of them, at most %zu are taken",
					  name, count, maximum);
}

int interface_check(const json_t *interface, struct wfs_error *error)
{
	const json_t *const methods = json_object_get(interface, "methods");
	const json_t *method;
	size_t i;
	int r = 0;

	if (methods && !json_is_array(methods))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'interface': methods: expected a list of {name, description?, input?}");
	r = check_count(interface, "methods", WFS_ARTIFACT_METHODS_MAX, error);
	if (!r)
		r = check_count(interface, "tests", WFS_ARTIFACT_TESTS_MAX, error);
	if (r)
		return wfs_trace(r);
	json_array_foreach(methods, i, method) {
		r = check_method(method, i, error);
		if (r)
			break;
	}
	return wfs_trace(r);
}

static const json_t *find_method(const json_t *methods, const char *name)
{
	size_t i;
	const json_t *method;

	json_array_foreach(methods, i, method) {
		const char *const own = json_string_value(json_object_get(method, "name"));

		if (own && strcmp(own, name) == 0)
			return method;
	}
	return NULL;
}

static int check_one(const struct wfs_schema *schema, const json_t *args, uint64_t *steps,
	struct wfs_error *reason)
{
	if (json_array_size(args) != 1)
		return wfs_error_set(reason, WFS_E_INVALID_ARGUMENT,
			"expected one argument, an object, got %zu", json_array_size(args));
	return wfs_schema_check_counted(schema, json_array_get(args, 0), steps, reason);
}

int interface_check_call(const struct wfs_document_artifact *artifact, const char *method,
	const json_t *args, uint64_t *steps, struct wfs_error *error)
{
	const json_t *const methods = json_object_get(artifact->interface, "methods");
	const json_t *const known = find_method(methods, method);
	json_t *const input = json_object_get(known, "input");
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	struct wfs_error reason = {0};

	if (json_is_array(methods) && !known)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"artifact '%s' has no method '%.64s': 'describe' tells which it has",
			artifact->id, method);
	if (!input)
		return 0;
	int r = make_schema(input, &schema, &reason);
	if (!r && strcmp(wfs_json_text(input, "type"), "object") == 0) /* not the list */
		r = check_one(schema, args, steps, &reason);
	else if (!r)
		r = wfs_schema_check_counted(schema, args, steps, &reason);
	if (r == -ENOMEM)
		return fold_no_memory(error);
	return r ? wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			   "the arguments do not fit the interface of '%s': %s", artifact->id,
			   reason.message)
		 : 0;
}

/* Has the schema `"secret": true` anywhere? It is not matched with the arguments: one mark hides
 * all of them. */
static bool marks_secret(const json_t *schema)
{
	const char *name;
	json_t *member;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)schema, name, member) {
		if ((strcmp(name, "secret") == 0 && json_is_true(member)) || marks_secret(member))
			return true;
	}
	json_array_foreach(schema, i, member) {
		if (marks_secret(member))
			return true;
	}
	return false;
}

bool interface_has_secrets(const json_t *interface, const char *method)
{
	const json_t *const methods = json_object_get(interface, "methods");
	const json_t *const known = find_method(methods, method);

	return marks_secret(known ? json_object_get(known, "input") : methods);
}

int interface_describe(
	const struct wfs_document_artifact *artifact, json_t **ret_result, struct wfs_error *error)
{
	json_t *const methods = json_object_get(artifact->interface, "methods");

	*ret_result = json_pack("{s:s, s:s, s:O?, s:b, s:o, s:s}", "artifact_id", artifact->id,
		"created_by", artifact->created_by, "description",
		json_object_get(artifact->interface, "description"), "executable",
		artifact->executable, "methods", methods ? json_incref(methods) : json_array(),
		"type", artifact->type);
	return *ret_result ? 0 : fold_no_memory(error);
}
