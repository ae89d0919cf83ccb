/* SPDX-License-Identifier: Apache-2.0 */
/* genesis_prompt_library, genesis_workflow_templates: look up items of their contents by name. */
#include "kernel/base/json.h"
#include "kernel/domain/service/service-domain.h"

/* Loads the items, which are in the content's @member by name. @ret_document: has the items;
 * caller owns it */
static int load(struct service_call *call, const char *member, json_t **ret_document,
	const json_t **ret_items, struct wfs_error *error)
{
	struct wfs_bytes content;
	int r = artifact_text(
		call->act->fold, WFS_BUILTIN_CONTENT, call->service->id, &content, error);

	if (!r)
		r = wfs_json_parse(content.data, content.size, ret_document, error);
	if (r)
		return wfs_trace(r);
	*ret_items = json_object_get(*ret_document, member);
	return 0;
}

static int find(const struct service_call *call, const json_t *items, const json_t **ret_item,
	struct wfs_error *error)
{
	const char *const id = service_text(call, "id");
	WFS_AUTO_BUFFER struct wfs_buffer available = {0};
	const char *name;
	json_t *item;

	*ret_item = json_object_get(items, id);
	if (*ret_item)
		return 0;
	json_object_foreach((json_t *)(uintptr_t)items, name, item)
		wfs_buffer_printf(&available, "%s%s", available.size ? ", " : "", name);
	return wfs_error_set(error, WFS_E_NOT_FOUND, "'%s' has no '%.80s', it has: %s",
		call->service->id, id, wfs_buffer_text(&available));
}

static bool has_tag(const json_t *item, const char *tag)
{
	const json_t *own;
	size_t i;

	json_array_foreach(json_object_get(item, "tags"), i, own) {
		if (strcmp(json_string_value(own) ? json_string_value(own) : "", tag) == 0)
			return true;
	}
	return false;
}

/* An item as a row of a list: without its text. */
static json_t *listed(const char *name, const json_t *item)
{
	static const char *const members[] = {"description", "tags", "variables"};
	WFS_AUTO_JSON json_t *row = json_pack("{s:s}", "id", name);

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const member = json_object_get(item, members[i]);

		if (member && json_object_set(row, members[i], member) < 0)
			return NULL;
	}
	return WFS_STEAL(row);
}

static int list_items(struct service_call *call, const char *member, struct wfs_error *error)
{
	const json_t *const tag = json_object_get(call->args, "tag");
	WFS_AUTO_JSON json_t *document = NULL;
	WFS_AUTO_JSON json_t *rows = json_array();
	const json_t *items = NULL;
	const char *name;
	json_t *item;
	int r = load(call, member, &document, &items, error);

	if (r)
		return wfs_trace(r);
	json_object_foreach((json_t *)(uintptr_t)items, name, item) {
		if (tag && !has_tag(item, json_string_value(tag)))
			continue;
		if (json_array_append_new(rows, listed(name, item)) < 0)
			return fold_no_memory(error);
	}
	call->result =
		json_pack("{s:I, s:O}", "count", (json_int_t)json_array_size(rows), member, rows);
	return call->result ? 0 : fold_no_memory(error);
}

static int get_item(struct service_call *call, const char *member, const char *id_member,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *document = NULL;
	const json_t *items = NULL;
	const json_t *item = NULL;
	int r = load(call, member, &document, &items, error);

	if (!r)
		r = find(call, items, &item, error);
	if (r)
		return wfs_trace(r);
	call->result = wfs_json_copy(item);
	return call->result &&
			json_object_set_new(
				call->result, id_member, json_string(service_text(call, "id"))) == 0
		? 0
		: fold_no_memory(error);
}

static int list_prompts(struct service_call *call, struct wfs_error *error)
{
	return wfs_trace(list_items(call, "prompts", error));
}

static int get_prompt(struct service_call *call, struct wfs_error *error)
{
	return wfs_trace(get_item(call, "prompts", "prompt_id", error));
}

static int list_workflows(struct service_call *call, struct wfs_error *error)
{
	return wfs_trace(list_items(call, "workflows", error));
}

static int get_workflow(struct service_call *call, struct wfs_error *error)
{
	return wfs_trace(get_item(call, "workflows", "workflow_id", error));
}

static const struct wfs_field list_params[] = {
	{"tag", &wfs_form_text, WFS_OPTIONAL, "only those that have it"},
	{NULL},
};
static const struct wfs_field no_params[] = {{NULL}};
static const struct wfs_field id_params[] = {
	{"id", &wfs_form_text, 0, "its name"},
	{NULL},
};

const struct service_method prompt_library_methods[] = {
	{"list", 0, list_prompts, list_params, "tells which prompts there are"},
	{"get", 0, get_prompt, id_params, "gives one of them, with its template"},
	{NULL},
};
const struct service_method workflow_template_methods[] = {
	{"list", 0, list_workflows, no_params, "tells which workflows there are"},
	{"get", 0, get_workflow, id_params, "gives one of them, as the content of an artifact"},
	{NULL},
};
