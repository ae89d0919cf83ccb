/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of an agent's configuration as artifacts. */
#include "fs/command/agents/migration.h"

#include <string.h>

#include "kernel/base/buffer.h"
#include "kernel/base/json.h"
#include "kernel/manifest/grant.h"

#define PERSONALITY "personality_prompt_artifact_id"
#define WORKFLOW "workflow_artifact_id"
#define STATE "acting"
#define DEFAULT_PROMPT "Take your turn." /* as in agents/prepare/setup.c */

enum {
	ID_SIZE = 320,          /* bytes of a made id; longer ones are not valid either */
	TEMPLATE_MAX = 1 << 20, /* bytes; as in kernel/mind/prompt.h */
};

/* A configuration that is being taken apart. */
struct parts {
	const char *agent;
	struct wfs_migration *to;
	struct wfs_error *error;
	bool mind; /* the agent had a mind before, so its prompts are templates */
};

void wfs_migration_done(struct wfs_migration *migration)
{
	json_decref(migration->artifacts);
	json_decref(migration->content);
	json_decref(migration->kept);
}

static int no_memory(const struct parts *parts)
{
	return wfs_error_from_errno(parts->error, -ENOMEM, "migrate an agent");
}

static bool is_there(const json_t *content, const char *member)
{
	const json_t *const value = json_object_get(content, member);

	return value && !json_is_null(value);
}

static bool refers(const json_t *object, const char *member)
{
	return *wfs_json_text(object, member) != '\0';
}

/* Has the agent a mind? See agents_has_mind(): without any of these members, the agent's texts are
 * sent as they are. */
static bool has_mind(const json_t *content)
{
	static const char *const members[] = {PERSONALITY, WORKFLOW, "reflex_artifact_id",
		"working_memory_artifact_id", "longterm_memory_artifact_id", "prompts", "workflow"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++)
		if (is_there(content, members[i]))
			return true;
	return false;
}

/* --- texts as templates --- */

static bool is_name_byte(char byte, bool first)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
		(!first && byte >= '0' && byte <= '9');
}

/* Does a name in braces begin at @text? */
static bool is_variable(const char *text)
{
	size_t size = 1;

	while (text[0] == '{' && is_name_byte(text[size], size == 1))
		size++;
	return size > 1 && text[size] == '}';
}

/* Would a template with this text give another text? */
static bool means_more(const char *text)
{
	for (const char *at = text; *at; at++)
		if (is_variable(at) || (strchr("{}", *at) && at[1] == at[0]))
			return true;
	return false;
}

/* Escapes a text, so that a template gives it unchanged. */
static json_t *escaped(const char *text)
{
	WFS_AUTO_BUFFER struct wfs_buffer buffer = {0};

	if (!means_more(text))
		return json_string(text);
	for (const char *at = text; *at; at++) {
		if (strchr("{}", *at))
			wfs_buffer_append_byte(&buffer, *at);
		wfs_buffer_append_byte(&buffer, *at);
	}
	return wfs_buffer_check(&buffer) ? NULL : json_stringn(buffer.data, buffer.size);
}

/* --- artifacts --- */

/* Adds an artifact. @content: taken; NULL: its caller had no memory */
static int add_artifact(
	const struct parts *parts, const char *id, const char *type, json_t *content)
{
	WFS_AUTO_JSON json_t *owned = content;

	if (!wfs_grant_name_valid(id))
		return wfs_error_set(parts->error, WFS_E_INVALID_ARGUMENT,
			"'%.160s' cannot be the name of an artifact: expected " WFS_GRANT_NAME_FORM,
			id);
	return !owned ||
			json_array_append_new(parts->to->artifacts,
				json_pack("{s:s, s:O, s:s}", "artifact_id", id, "content", owned,
					"type", type)) < 0
		? no_memory(parts)
		: 0;
}

/* Adds a prompt. @what: where the text was; @text: taken; NULL: its caller had no memory */
static int add_prompt(const struct parts *parts, const char *id, const char *what, json_t *text)
{
	WFS_AUTO_JSON json_t *owned = text;

	if (!owned)
		return no_memory(parts);
	if (strlen(json_string_value(owned)) != json_string_length(owned))
		return wfs_error_set(parts->error, WFS_E_INVALID_ARGUMENT,
			"'%.80s': expected a text without NUL characters", what);
	if (json_string_length(owned) > TEMPLATE_MAX)
		return wfs_error_set(parts->error, WFS_E_TOO_LARGE,
			"'%.80s': as a prompt it has %zu bytes, expected at most %d", what,
			json_string_length(owned), TEMPLATE_MAX);
	return add_artifact(
		parts, id, "prompt", json_pack("{s:O, s:[]}", "template", owned, "variables"));
}

/* Replaces an inline member by the name of an artifact. */
static int replace(
	const struct parts *parts, const char *member, const char *reference, const char *id)
{
	(void)json_object_del(parts->to->content, member);
	return json_object_set_new(parts->to->content, reference, json_string(id)) < 0
		? no_memory(parts)
		: 0;
}

/* Finds a text in the content. @ret_text: NULL: none; borrowed */
static int find_text(const struct parts *parts, const char *member, json_t **ret_text)
{
	json_t *const value = json_object_get(parts->to->content, member);

	*ret_text = json_is_string(value) ? value : NULL;
	if (value && !json_is_null(value) && !*ret_text)
		return wfs_error_set(
			parts->error, WFS_E_INVALID_ARGUMENT, "'%s': expected a text", member);
	return 0;
}

/* --- the system's prompt --- */

/* Escapes a text for a template. A text with NUL characters is kept as it is, so that the check
 * for these finds them: an escaped copy would end at the first. */
static json_t *literal(const json_t *text)
{
	return strlen(json_string_value(text)) == json_string_length(text)
		? escaped(json_string_value(text))
		: json_incref((json_t *)(uintptr_t)text);
}

/* Makes an artifact of the system's prompt, unless it is empty. */
static int migrate_system_prompt(const struct parts *parts)
{
	json_t *text;
	char id[ID_SIZE];
	int r = find_text(parts, "system_prompt", &text);

	if (r || json_string_length(text) == 0 || refers(parts->to->content, PERSONALITY))
		return r;
	snprintf(id, sizeof(id), "%.160s_personality", parts->agent);
	r = add_prompt(parts, id, "system_prompt", literal(text));
	return r ? r : replace(parts, "system_prompt", PERSONALITY, id);
}

/* --- a workflow --- */

/* Finds the step of a state; NULL: none. */
static json_t *step_of(const json_t *workflow, const char *state)
{
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(workflow, "steps"), i, step) {
		if (strcmp(wfs_json_text(step, "state"), state) == 0)
			return step;
	}
	return NULL;
}

/* Takes the prompt of a state: that of its step, otherwise that in `prompts`, where it is removed.
 * @ret_text: NULL: none; caller owns it */
static void take_text(const struct parts *parts, const char *state, json_t *step, json_t **ret_text)
{
	json_t *const prompts = json_object_get(parts->to->content, "prompts");
	json_t *const own = json_object_get(step, "prompt_inline");
	json_t *const other = json_object_get(prompts, state);

	*ret_text = NULL;
	if (json_is_string(own)) {
		*ret_text = json_incref(own);
		(void)json_object_del(step, "prompt_inline");
	} else if (json_is_string(other)) {
		*ret_text = json_incref(other);
		(void)json_object_del(prompts, state);
	}
}

static int migrate_state(const struct parts *parts, json_t *workflow, const char *state)
{
	json_t *step = step_of(workflow, state);
	WFS_AUTO_JSON json_t *text = NULL;
	char id[ID_SIZE];

	if (!refers(step, "prompt_artifact_id"))
		take_text(parts, state, step, &text);
	if (!text)
		return 0;
	snprintf(id, sizeof(id), "%.140s_%.140s_prompt", parts->agent, state);
	int r = add_prompt(parts, id, state, json_incref(text));
	if (r)
		return r;
	/* A state without a step is like one whose step has no prompt. */
	if (!step) {
		step = json_pack("{s:s}", "state", state);
		if (json_array_append_new(json_object_get(workflow, "steps"), step) < 0)
			return no_memory(parts);
	}
	return json_object_set_new(step, "prompt_artifact_id", json_string(id)) < 0
		? no_memory(parts)
		: 0;
}

static int check_workflow(const struct parts *parts, const json_t *workflow)
{
	const json_t *const states = json_object_get(workflow, "states");
	const json_t *state;
	size_t i;

	if (!json_is_array(states) || !json_is_array(json_object_get(workflow, "steps")))
		return wfs_error_set(parts->error, WFS_E_INVALID_ARGUMENT,
			"'workflow': expected an object with the arrays 'states' and 'steps'");
	json_array_foreach(states, i, state) {
		if (!json_is_string(state))
			return wfs_error_set(parts->error, WFS_E_INVALID_ARGUMENT,
				"'workflow': 'states[%zu]': expected a name", i);
	}
	return 0;
}

static int migrate_workflow(const struct parts *parts)
{
	json_t *const content = parts->to->content;
	json_t *const workflow = json_object_get(content, "workflow");
	char id[ID_SIZE];
	json_t *state;
	size_t i;

	if (refers(content, WORKFLOW) || !json_is_object(workflow))
		return 0;
	int r = check_workflow(parts, workflow);
	json_array_foreach(json_object_get(workflow, "states"), i, state) {
		if (!r)
			r = migrate_state(parts, workflow, json_string_value(state));
	}
	if (json_is_object(json_object_get(content, "prompts")) &&
		json_object_size(json_object_get(content, "prompts")) == 0)
		(void)json_object_del(content, "prompts");
	snprintf(id, sizeof(id), "%.160s_workflow", parts->agent);
	if (!r)
		r = add_artifact(parts, id, "workflow", json_incref(workflow));
	return r ? r : replace(parts, "workflow", WORKFLOW, id);
}

/* --- one prompt without a workflow --- */

/* Has the text variables that a workflow would replace? */
static bool asks_for_state(const char *text)
{
	return strstr(text, "{current_state}") || strstr(text, "{available_states}") ||
		strstr(text, "{same_state_for}");
}

/* Finds the prompt for an agent without a workflow; NULL: nothing changes. New reference. */
static int find_prompt(const struct parts *parts, json_t **ret_text)
{
	json_t *text;
	int r = find_text(parts, "prompt", &text);

	*ret_text = NULL;
	if (r)
		return r;
	if (parts->mind) {
		*ret_text =
			text && !asks_for_state(json_string_value(text)) ? json_incref(text) : NULL;
		return 0;
	}
	/* An agent that gets a mind without a prompt would get another default. */
	if (!text && json_array_size(parts->to->artifacts) == 0)
		return 0;
	*ret_text = text ? literal(text) : json_string(DEFAULT_PROMPT);
	return *ret_text ? 0 : no_memory(parts);
}

/* Makes a prompt and a workflow, because only a workflow can name a prompt. */
static int migrate_prompt(const struct parts *parts)
{
	json_t *const content = parts->to->content;
	WFS_AUTO_JSON json_t *text = NULL;
	char id[ID_SIZE];

	if (refers(content, WORKFLOW) || json_is_object(json_object_get(content, "workflow")))
		return 0;
	int r = find_prompt(parts, &text);
	if (r || !text)
		return r;
	snprintf(id, sizeof(id), "%.160s_" STATE "_prompt", parts->agent);
	r = add_prompt(parts, id, "prompt", json_incref(text));
	if (r)
		return r;
	json_t *const workflow = json_pack("{s:s, s:[s], s:[{s:s, s:s}]}", "initial_state", STATE,
		"states", STATE, "steps", "prompt_artifact_id", id, "state", STATE);
	snprintf(id, sizeof(id), "%.160s_workflow", parts->agent);
	r = add_artifact(parts, id, "workflow", workflow);
	return r ? r : replace(parts, "prompt", WORKFLOW, id);
}

/* --- the model --- */

static int rename_model(const struct parts *parts)
{
	json_t *const model = json_object_get(parts->to->content, "llm_model");

	if (!model || json_object_get(parts->to->content, "model"))
		return 0;
	return json_object_set(parts->to->content, "model", model) < 0 ||
			json_object_del(parts->to->content, "llm_model") < 0
		? no_memory(parts)
		: 0;
}

/* --- the whole configuration --- */

static int list_kept(const struct parts *parts)
{
	static const char *const members[] = {"prompt", "prompts", "system_prompt", "workflow"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++)
		if (is_there(parts->to->content, members[i]) &&
			json_array_append_new(parts->to->kept, json_string(members[i])) < 0)
			return no_memory(parts);
	return 0;
}

int wfs_migration_make(const char *agent, const json_t *content,
	struct wfs_migration *ret_migration, struct wfs_error *error)
{
	WFS_AUTO_MIGRATION struct wfs_migration made = {.artifacts = json_array(),
		.content = json_deep_copy(content),
		.kept = json_array()};
	const struct parts parts = {
		.agent = agent, .to = &made, .error = error, .mind = has_mind(content)};

	if (!made.artifacts || !made.content || !made.kept)
		return no_memory(&parts);
	if (!json_is_object(content))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"the content of the agent '%.140s': expected an object", agent);
	int r = migrate_system_prompt(&parts);
	if (!r)
		r = migrate_prompt(&parts);
	if (!r)
		r = migrate_workflow(&parts);
	if (!r)
		r = rename_model(&parts);
	if (!r)
		r = list_kept(&parts);
	if (r)
		return wfs_trace(r);
	made.changes = !json_equal(made.content, content);
	*ret_migration = made;
	made = (struct wfs_migration){.artifacts = NULL};
	return 0;
}
