/* SPDX-License-Identifier: Apache-2.0 */
/* Converts steps from the form that models write to the kernel's form. */
#include "agents/plan/normalize-impl.h"
#include "agents/plan/placeholder.h"

/* Reads a text, or a number as text. @scratch: may hold it. Return: false: neither of them */
static bool read_text(const json_t *value, struct wfs_buffer *scratch, struct wfs_bytes *ret_text)
{
	if (json_is_string(value)) {
		*ret_text = wfs_text_trimmed(wfs_text_of(value));
		return true;
	}
	if (!json_is_number(value))
		return false;
	wfs_buffer_reset(scratch);
	wfs_json_write(value, scratch);
	*ret_text = wfs_buffer_bytes(scratch);
	return true;
}

/* Return: how many bytes of a text a message shows. */
static int cut_for_message(struct wfs_bytes text)
{
	return (int)(text.size < 60 ? text.size : 60);
}

/* --- ids --- */

/* @ret_id: size 0: the step has none */
static int read_id(
	struct normalize *work, size_t index, struct wfs_buffer *scratch, struct wfs_bytes *ret_id)
{
	const json_t *const step = json_array_get(work->written, index);
	const json_t *const written = work->is_calls ? NULL : json_object_get(step, "id");

	*ret_id = WFS_BYTES("", 0);
	if (!json_is_object(step))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, (int64_t)index,
			"expected an object, got %s", wfs_mind_kind(step));
	if (wfs_mind_is_absent(written))
		return 0;
	if (!read_text(written, scratch, ret_id))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, (int64_t)index,
			"'id': expected a text or a number, got %s", wfs_mind_kind(written));
	if (scratch->failed)
		return normalize_no_memory(work);
	if (ret_id->size <= WFS_PLAN_STEP_ID_MAX && !wfs_text_has_control(*ret_id) &&
		!memchr(ret_id->data, '{', ret_id->size) &&
		!memchr(ret_id->data, '}', ret_id->size) &&
		!memchr(ret_id->data, '$', ret_id->size))
		return 0;
	return normalize_refuse(work, NORMALIZE_INVALID_STEP, (int64_t)index,
		"'id': expected at most %d bytes without control characters, '{', '}' and '$', got "
		"'%.*s' (%zu bytes)",
		WFS_PLAN_STEP_ID_MAX, cut_for_message(*ret_id), (const char *)ret_id->data,
		ret_id->size);
}

static bool is_taken(const struct normalize *work, struct wfs_bytes id)
{
	return json_object_getn(work->indices, id.data, id.size) != NULL;
}

static int name_step(struct normalize *work, size_t index, struct wfs_bytes id)
{
	json_t *const text = normalize_string(id);

	if (!text || json_array_set_new(work->ids, index, text) < 0 ||
		json_object_setn_new(
			work->indices, id.data, id.size, json_integer((json_int_t)index)) < 0)
		return normalize_no_memory(work);
	return 0;
}

static int take_id(struct normalize *work, size_t index, struct wfs_buffer *scratch)
{
	struct wfs_bytes id;

	if (json_array_append_new(work->ids, json_null()) < 0)
		return normalize_no_memory(work);
	int r = read_id(work, index, scratch, &id);
	if (r || id.size == 0)
		return r;
	if (!is_taken(work, id))
		return name_step(work, index, id);
	const json_int_t first =
		json_integer_value(json_object_getn(work->indices, id.data, id.size));
	r = normalize_refuse(work, NORMALIZE_DUPLICATE_STEP_ID, (int64_t)index,
		"'id': '%.*s' is the id of %s[%lld] already", (int)id.size, (const char *)id.data,
		work->list, (long long)first);
	return normalize_tell(work, r, "step", normalize_string(id));
}

/* Makes the id `s3`, or the first of `s3-2`, `s3-3` … that no other step has. */
static int make_id(struct normalize *work, size_t index)
{
	char text[64];
	struct wfs_bytes id;
	size_t tried = 1;

	snprintf(text, sizeof(text), "s%zu", index + 1);
	while (is_taken(work, id = wfs_bytes_text(text)))
		snprintf(text, sizeof(text), "s%zu-%zu", index + 1, ++tried);
	return name_step(work, index, id);
}

int normalize_ids(struct normalize *work)
{
	const size_t count = json_array_size(work->written);
	WFS_AUTO_BUFFER struct wfs_buffer scratch = {0};
	int r = 0;

	work->ids = json_array();
	work->indices = json_object();
	if (!work->ids || !work->indices)
		return normalize_no_memory(work);
	for (size_t i = 0; !r && i < count; i++)
		r = take_id(work, i, &scratch);
	for (size_t i = 0; !r && i < count; i++)
		if (json_is_null(json_array_get(work->ids, i)))
			r = make_id(work, i);
	return r;
}

/* --- dependencies --- */

/* Adds the dependency that is written as @item. @list: ids of the dependencies so far */
static int add_dependency(struct normalize *work, size_t index, const json_t *item, json_t *list)
{
	WFS_AUTO_BUFFER struct wfs_buffer scratch = {0};
	struct wfs_bytes id;
	bool is_new;

	if (!read_text(item, &scratch, &id))
		return normalize_refuse(work, NORMALIZE_INVALID_DEPENDENCIES, (int64_t)index,
			"'depends_on': expected ids of steps, got %s", wfs_mind_kind(item));
	if (scratch.failed)
		return normalize_no_memory(work);
	const json_t *const found = json_object_getn(work->indices, id.data, id.size);
	if (!found) {
		int r = normalize_refuse(work, NORMALIZE_UNKNOWN_DEPENDENCY, (int64_t)index,
			"'depends_on': unknown step '%.*s'", cut_for_message(id),
			(const char *)id.data);

		return normalize_tell(work, r, "dependency",
			normalize_string(wfs_text_cut(id, WFS_PLAN_TITLE_MAX)));
	}
	const uint32_t step = (uint32_t)json_integer_value(found);
	if (step == index)
		return normalize_refuse(work, NORMALIZE_SELF_DEPENDENCY, (int64_t)index,
			"'depends_on': it depends on itself: %.*s -> %.*s", (int)id.size,
			(const char *)id.data, (int)id.size, (const char *)id.data);
	if (wfs_graph_depend(&work->graph, step, &is_new) < 0 ||
		(is_new && json_array_append(list, json_array_get(work->ids, step)) < 0))
		return normalize_no_memory(work);
	return 0;
}

static int read_dependencies(
	struct normalize *work, size_t index, const json_t *written, json_t **ret_list)
{
	WFS_AUTO_JSON json_t *list = json_array();
	const bool is_one = json_is_string(written) || json_is_number(written);
	int r = list ? 0 : normalize_no_memory(work);

	if (!r && is_one)
		r = add_dependency(work, index, written, list);
	else if (!r && !wfs_mind_is_absent(written) && !json_is_array(written))
		r = normalize_refuse(work, NORMALIZE_INVALID_DEPENDENCIES, (int64_t)index,
			"'depends_on': expected an array of ids of steps, got %s",
			wfs_mind_kind(written));
	for (size_t i = 0; !r && i < json_array_size(written); i++)
		r = add_dependency(work, index, json_array_get(written, i), list);
	wfs_graph_end_step(&work->graph);
	if (!r)
		*ret_list = WFS_STEAL(list);
	return r;
}

/* --- tools --- */

/* Parses arguments that are JSON in a text, as servers write them. Other texts stay as they are. */
static int parse_arguments(
	struct normalize *work, int64_t index, const json_t *written, json_t **ret_args)
{
	const struct wfs_bytes text = wfs_text_trimmed(wfs_text_of(written));
	WFS_AUTO_JSON json_t *parsed = NULL;
	int r = 0;

	work->value_count += wfs_json_count(text.data, text.size);
	if (work->value_count > WFS_PLAN_VALUES_MAX)
		return normalize_refuse(work, NORMALIZE_TOO_MANY_VALUES, index,
			"with its arguments the plan has more than %d values of JSON",
			WFS_PLAN_VALUES_MAX);
	if (text.size == 0)
		parsed = json_object();
	else
		r = wfs_json_parse_counted(text.data, text.size, &parsed, NULL);
	if (r == -ENOMEM || (!r && !parsed))
		return normalize_no_memory(work);
	*ret_args = json_is_object(parsed) ? WFS_STEAL(parsed) : json_incref((json_t *)written);
	return 0;
}

static bool has_args(const json_t *call)
{
	return !wfs_mind_is_absent(json_object_get(call, "args")) ||
		!wfs_mind_is_absent(json_object_get(call, "arguments"));
}

/* Models also write arguments beside `tool`.
 * @beside: the members that may hold them; may be NULL */
static int read_args(struct normalize *work, int64_t index, const json_t *call,
	const json_t *beside, json_t **ret_args)
{
	const bool inside = has_args(call);
	const json_t *const place = inside ? call : beside;
	json_t *const args = json_object_get(place, "args");
	json_t *const arguments = json_object_get(place, "arguments");
	WFS_AUTO_JSON json_t *given = NULL;
	int r = 0;

	if (inside && has_args(beside))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, index,
			"'args': expected once, got them in 'tool' and beside it");
	if (!wfs_mind_is_absent(args))
		given = json_incref(args);
	else if (json_is_string(arguments))
		r = parse_arguments(work, index, arguments, &given);
	else
		given = wfs_mind_is_absent(arguments) ? json_object() : json_incref(arguments);
	if (r || !given)
		return r ? r : normalize_no_memory(work);
	if (!wfs_placeholder_depth_fits(given, WFS_PLACEHOLDER_DEPTH_MAX))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, index,
			"'args': expected at most %d levels", WFS_PLACEHOLDER_DEPTH_MAX);
	*ret_args = WFS_STEAL(given);
	return 0;
}

/* Reads the name or method of a tool. @ret_name: size 0: absent */
static int read_name(struct normalize *work, int64_t index, const char *member,
	const json_t *written, struct wfs_bytes *ret_name)
{
	const struct wfs_bytes name = wfs_text_trimmed(wfs_text_of(written));

	if (!wfs_mind_is_absent(written) && !json_is_string(written))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, index,
			"'%s' of the tool: expected a text, got %s", member,
			wfs_mind_kind(written));
	if (name.size > WFS_PLAN_TOOL_NAME_MAX || wfs_text_has_control(name))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, index,
			"'%s' of the tool: expected at most %d bytes without control characters, "
			"got '%.*s' (%zu bytes)",
			member, WFS_PLAN_TOOL_NAME_MAX, cut_for_message(name),
			(const char *)name.data, name.size);
	*ret_name = name;
	return 0;
}

/* Reads a tool call: {args, method, name}.
 * @step: the step that has `tool` in it; NULL: a call by itself */
static int read_tool(struct normalize *work, int64_t index, const json_t *written,
	const json_t *step, json_t **ret_tool)
{
	const json_t *const function = json_object_get(written, "function");
	const json_t *const call = json_is_object(function) ? function : written;
	const bool is_name = json_is_string(written);
	WFS_AUTO_JSON json_t *args = NULL;
	struct wfs_bytes name = {0};
	struct wfs_bytes method = {0};

	if (!wfs_mind_is_absent(written) && !is_name && !json_is_object(written))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, index,
			"'tool': expected an object {name, method?, args}, got %s",
			wfs_mind_kind(written));
	int r = read_name(
		work, index, "name", is_name ? written : json_object_get(call, "name"), &name);
	if (!r && name.size == 0)
		r = normalize_refuse(work, NORMALIZE_TOOL_WITHOUT_NAME, index,
			"'tool': expected an object with the tool's name, got %s%s",
			wfs_mind_kind(written), wfs_mind_is_absent(written) ? "" : " without one");
	if (!r)
		r = read_name(work, index, "method",
			json_object_get(json_object_get(call, "method") ? call : step, "method"),
			&method);
	if (!r)
		r = read_args(work, index, call, step, &args);
	if (r)
		return r;
	*ret_tool = json_pack("{s:O, s:s%, s:s%}", "args", args, "method", method.data, method.size,
		"name", name.data, name.size);
	return *ret_tool ? 0 : normalize_no_memory(work);
}

/* --- other members --- */

/* Return: tool, llm, note; NULL: unknown */
static const char *known_type(struct wfs_bytes written)
{
	static const char *const types[] = {"tool", "llm", "note"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(types); i++)
		if (written.size == strlen(types[i]) &&
			strncasecmp(written.data, types[i], written.size) == 0)
			return types[i];
	return NULL;
}

/* A step without work is a note; but a step with unknown members may mean work, and is refused. */
static int check_note(struct normalize *work, size_t index, const json_t *step)
{
	static const char *const known[] = {"attempts", "depends_on", "description", "id",
		"max_attempts", "prompt", "reason", "result", "result_ref", "status", "title",
		"tool", "type"};
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)step, name, value) {
		bool found = wfs_mind_is_absent(value);

		for (size_t i = 0; !found && i < WFS_ARRAY_COUNT(known); i++)
			found = strcmp(known[i], name) == 0;
		if (!found)
			return normalize_refuse(work, NORMALIZE_INVALID_STEP, (int64_t)index,
				"expected 'tool' {name, method?, args} or 'prompt', or 'type' "
				"note, got '%.60s'",
				name);
	}
	return 0;
}

static int read_type(
	struct normalize *work, size_t index, const json_t *step, const char **ret_type)
{
	const json_t *const written = json_object_get(step, "type");
	const struct wfs_bytes text = wfs_text_trimmed(wfs_text_of(written));

	if (work->is_calls ||
		(wfs_mind_is_absent(written) &&
			!wfs_mind_is_absent(json_object_get(step, "tool")))) {
		*ret_type = "tool";
	} else if (wfs_mind_is_absent(written) &&
		!wfs_mind_is_absent(json_object_get(step, "prompt"))) {
		*ret_type = "llm";
	} else if (wfs_mind_is_absent(written)) {
		*ret_type = "note";
		return check_note(work, index, step);
	} else if (!(*ret_type = known_type(text))) {
		return normalize_refuse(work, NORMALIZE_UNKNOWN_STEP_TYPE, (int64_t)index,
			"'type': expected tool, llm or note, got %s%s%.*s%s",
			json_is_string(written) ? "" : wfs_mind_kind(written),
			json_is_string(written) ? "'" : "", cut_for_message(text),
			(const char *)text.data, json_is_string(written) ? "'" : "");
	}
	return 0;
}

/* @tool: of the call */
static int read_title(struct normalize *work, size_t index, const json_t *step, const json_t *tool,
	json_t **ret_title)
{
	WFS_AUTO_BUFFER struct wfs_buffer scratch = {0};
	struct wfs_bytes text = WFS_BYTES("", 0);

	if (work->is_calls) {
		const char *const method = wfs_json_text(tool, "method");

		wfs_buffer_printf(&scratch, "Tool: %s%s%s", wfs_json_text(tool, "name"),
			*method ? "." : "", method);
		text = wfs_buffer_bytes(&scratch);
	} else {
		(void)read_text(json_object_get(step, "title"), &scratch, &text);
	}
	text = wfs_text_fit(text, WFS_PLAN_TITLE_MAX);
	if (text.size == 0 && !scratch.failed) {
		wfs_buffer_printf(&scratch, "step-%zu", index + 1);
		text = wfs_buffer_bytes(&scratch);
	}
	*ret_title = scratch.failed ? NULL : normalize_string(text);
	return *ret_title ? 0 : normalize_no_memory(work);
}

/* @title: the prompt, if the step has no other */
static int read_prompt(struct normalize *work, size_t index, const json_t *step,
	const json_t *title, json_t **ret_prompt)
{
	const json_t *const written = json_object_get(step, "prompt");
	WFS_AUTO_BUFFER struct wfs_buffer scratch = {0};
	struct wfs_bytes text = WFS_BYTES("", 0);

	if (!wfs_mind_is_absent(written) && !read_text(written, &scratch, &text))
		return normalize_refuse(work, NORMALIZE_INVALID_STEP, (int64_t)index,
			"'prompt': expected a text, got %s", wfs_mind_kind(written));
	text = wfs_text_fit(text, WFS_PLAN_PROMPT_MAX);
	*ret_prompt =
		scratch.failed ? NULL : normalize_string(text.size > 0 ? text : wfs_text_of(title));
	return *ret_prompt ? 0 : normalize_no_memory(work);
}

static json_int_t read_max_attempts(const json_t *step)
{
	const json_t *const written = json_object_get(step, "max_attempts");
	const json_int_t attempts = json_is_integer(written) ? json_integer_value(written) : 1;

	if (attempts < 1)
		return 1;
	return attempts < WFS_PLAN_ATTEMPTS_MAX ? attempts : WFS_PLAN_ATTEMPTS_MAX;
}

/* --- documents --- */

/* @ret_tool, @ret_prompt: null for types without them */
static int read_work(struct normalize *work, size_t index, const char *type, json_t **ret_tool,
	json_t **ret_title, json_t **ret_prompt)
{
	const json_t *const step = json_array_get(work->written, index);
	const json_t *const call = work->is_calls ? step : json_object_get(step, "tool");
	const bool is_tool = strcmp(type, "tool") == 0;
	int r = 0;

	*ret_tool = *ret_prompt = json_null();
	if (is_tool)
		r = read_tool(work, (int64_t)index, call, work->is_calls ? NULL : step, ret_tool);
	if (!r)
		r = read_title(work, index, step, *ret_tool, ret_title);
	if (!r && strcmp(type, "llm") == 0)
		r = read_prompt(work, index, step, *ret_title, ret_prompt);
	return r;
}

static int make_document(struct normalize *work, size_t index, json_t **ret_document)
{
	const json_t *const step = json_array_get(work->written, index);
	WFS_AUTO_JSON json_t *depends_on = NULL;
	WFS_AUTO_JSON json_t *tool = NULL;
	WFS_AUTO_JSON json_t *title = NULL;
	WFS_AUTO_JSON json_t *prompt = NULL;
	const char *type = NULL;
	int r = read_type(work, index, step, &type);

	if (!r)
		r = read_work(work, index, type, &tool, &title, &prompt);
	if (!r)
		r = read_dependencies(work, index,
			work->is_calls ? NULL : json_object_get(step, "depends_on"), &depends_on);
	if (r)
		return r;
	*ret_document = json_pack("{s:i, s:O, s:O, s:I, s:O, s:n, s:s, s:O, s:O, s:s}", "attempts",
		0, "depends_on", depends_on, "id", json_array_get(work->ids, index), "max_attempts",
		work->is_calls ? (json_int_t)1 : read_max_attempts(step), "prompt", prompt,
		"result_ref", "status", "pending", "title", title, "tool", tool, "type", type);
	return *ret_document ? 0 : normalize_no_memory(work);
}

int normalize_steps(struct normalize *work)
{
	const size_t count = json_array_size(work->written);
	int r = 0;

	work->documents = json_array();
	if (!work->documents)
		return normalize_no_memory(work);
	for (size_t i = 0; !r && i < count; i++) {
		json_t *document = NULL;

		r = make_document(work, i, &document);
		if (!r && json_array_append_new(work->documents, document) < 0)
			r = normalize_no_memory(work);
		if (!work->is_document) /* not needed any more, and takes memory */
			(void)json_array_set_new(work->written, i, json_null());
	}
	return r;
}
