/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/prepare/setup.h"

#include <string.h>

#include "agents/adapter/adapter.h"
#include "agents/host/models.h"
#include "agents/prepare/tool.h"
#include "caps/authority.h"
#include "caps/driving.h"
#include "caps/seen.h"
#include "caps/session-entity.h"
#include "caps/session-read.h"
#include "caps/session.h"
#include "kernel/base/json.h"
#include "kernel/manifest/document.h"
#include "kernel/mind/agent.h"
#include "kernel/mind/setting.h"
#include "kernel/mind/turn-bounds.h"
#include "kernel/value/bounds.h"

#define DEFAULT_PROMPT "Take your turn."

#define no_memory(error) wfs_error_from_errno(error, -ENOMEM, "make a run")

/* --- the configuration --- */

static int read_agent(const struct wfs_session *asker, struct wfs_view *view, const char *id,
	json_t **ret_content, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact artifact = {.own.json = NULL};
	WFS_AUTO_CONTENT struct wfs_content content = {0};
	struct wfs_error reason = {0};
	int r = wfs_driving_agent(asker, view, id, &artifact, &content, error);

	if (r)
		return wfs_trace(r);
	if (strcmp(artifact.type, WFS_ARTIFACT_TYPE_AGENT) != 0)
		return wfs_error_set(error, WFS_E_INVALID_TYPE,
			"the artifact '%.140s' has the type '%.60s', "
			"expected '" WFS_ARTIFACT_TYPE_AGENT "'",
			id, artifact.type);
	r = wfs_mind_agent_read(content.bytes, ret_content, &reason);
	return r ? wfs_error_set(error, reason.code, "the content of the agent '%s': %s", id,
			   reason.message)
		 : 0;
}

/* --- the parts of a run --- */

static int make_settings(
	const json_t *content, const json_t *params, json_t **ret_settings, struct wfs_error *error)
{
	static const char *const others[] = {
		"constraint", "extra_body", "temperature", "tool_choice"};
	WFS_AUTO_JSON json_t *settings =
		json_pack("{s:f, s:s}", "temperature", 0.1, "tool_choice", "auto");
	int64_t timeout_ms = INT64_MAX;
	int r = settings ? 0 : no_memory(error);

	if (!r)
		r = wfs_json_get_integer(params, "timeout_ms", 1, INT64_MAX, &timeout_ms, error);
	for (const struct wfs_mind_number *number = wfs_mind_numbers; !r && number->name;
		number++) {
		int64_t value = number->otherwise;

		r = wfs_json_get_integer(
			content, number->name, number->minimum, number->maximum, &value, error);
		if (strcmp(number->name, "run_timeout_ms") == 0 && value > timeout_ms)
			value = timeout_ms;
		if (!r && json_object_set_new(settings, number->name, json_integer(value)) < 0)
			r = no_memory(error);
	}
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(others); i++) {
		json_t *const value = json_object_get(content, others[i]);

		if (value && json_object_set(settings, others[i], value) < 0)
			r = no_memory(error);
	}
	if (!r)
		*ret_settings = WFS_STEAL(settings);
	return r;
}

static int add_message(json_t *messages, const char *role, const char *content)
{
	return json_array_append_new(
		messages, json_pack("{s:s, s:s}", "content", content, "role", role));
}

static int optional_text(
	const json_t *object, const char *name, const char **text, struct wfs_error *error)
{
	return json_object_get(object, name) ? wfs_json_get_string(object, name, text, error) : 0;
}

/* Makes the messages of the caller's message, otherwise of the prompt in the agent's
 * configuration. */
static int make_messages(
	const json_t *content, const json_t *params, json_t **ret_messages, struct wfs_error *error)
{
	const char *system = NULL;
	const char *prompt = DEFAULT_PROMPT;
	json_t *const given = json_object_get(params, "messages");
	WFS_AUTO_JSON json_t *messages = json_array();
	int r = optional_text(content, "system_prompt", &system, error);

	if (!r)
		r = optional_text(content, "prompt", &prompt, error);
	if (!r)
		r = optional_text(params, "message", &prompt, error);
	if (!r && given && json_object_get(params, "message"))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'message' and 'messages': expected one of them");
	if (!r && given && json_array_size(given) == 0)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'messages': expected one at least, got an empty array");
	if (r)
		return r;
	if (!messages || (system && !given && add_message(messages, "system", system) < 0) ||
		(given ? json_array_extend(messages, given)
		       : add_message(messages, "user", prompt)) < 0)
		return no_memory(error);
	*ret_messages = WFS_STEAL(messages);
	return 0;
}

/* The agent of a turn, and its caller. Plain value. */
struct asked {
	const struct agents_catalog *catalog; /* of the agent */
	const json_t *params;
	bool reads; /* the caller may read the agent's content, which names its tools */
};

/* All tools of the agent, unless the caller names some. */
static int make_offered(const struct asked *asked, const json_t *tools, json_t **ret_offered,
	struct wfs_error *error)
{
	const json_t *const names = json_object_get(asked->params, "tools");
	WFS_AUTO_JSON json_t *all = json_array();
	WFS_AUTO_BUFFER struct wfs_buffer known = {0};
	size_t i;
	json_t *item;

	json_array_foreach(tools, i, item) {
		json_t *const name = json_object_get(item, "name");

		wfs_buffer_printf(&known, " %s", json_string_value(name));
		if (json_array_append(all, name) < 0)
			return no_memory(error);
	}
	json_array_foreach(names, i, item) {
		if (!wfs_json_has(all, item) && !asked->reads)
			return wfs_error_set(error, WFS_E_NOT_FOUND,
				"'tools': the agent has no tool '%.100s'", json_string_value(item));
		if (!wfs_json_has(all, item))
			return wfs_error_set(error, WFS_E_NOT_FOUND,
				"'tools': the agent has no tool '%.100s' (it has:%s)",
				json_string_value(item), wfs_buffer_text(&known));
	}
	*ret_offered = names ? json_incref((json_t *)names) : WFS_STEAL(all);
	return 0;
}

/* @ret_setup: {model, offered, settings, tools} */
static int make_setup(const struct asked *asked, const json_t *content, json_t **ret_setup,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *settings = NULL;
	WFS_AUTO_JSON json_t *tools = NULL;
	WFS_AUTO_JSON json_t *offered = NULL;
	const char *model = WFS_AGENT_MODEL;
	const json_t *const names = json_object_get(content, "tools");
	const bool twice =
		json_object_get(content, "model") && json_object_get(content, "llm_model");
	int r = optional_text(content, "llm_model", &model, error); /* an older name */

	if (!r)
		r = optional_text(content, "model", &model, error);
	if (!r && twice)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'model' and 'llm_model': expected one of them");
	if (!r && names && !json_is_array(names))
		r = wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'tools': expected an array of names");
	if (!r)
		r = make_settings(content, asked->params, &settings, error);
	if (!r)
		r = agents_tools_make(asked->catalog, names, &tools, error);
	if (!r)
		r = make_offered(asked, tools, &offered, error);
	if (r)
		return r;
	*ret_setup = json_pack("{s:s, s:O, s:O, s:O}", "model", model, "offered", offered,
		"settings", settings, "tools", tools);
	return *ret_setup ? 0 : no_memory(error);
}

/* Would the server accept the setup? Checks it with every member that a tool can have. */
static int check_adapter(const char *directory, const struct wfs_helpers *helpers,
	const char *agent, json_t *setup, struct wfs_error *error)
{
	const char *const model = json_string_value(json_object_get(setup, "model"));
	WFS_AUTO_JSON json_t *entry = NULL;
	WFS_AUTO_JSON json_t *tools = NULL;
	WFS_AUTO_JSON json_t *whole = wfs_json_copy(setup);
	int r = whole ? wfs_models_find(directory, model, &entry, error) : no_memory(error);

	if (!r)
		r = agents_tools_expand(helpers, json_object_get(setup, "tools"), &tools, error);
	if (r)
		return r;
	if (json_object_set(whole, "tools", tools) < 0 ||
		json_object_set_new(whole, "agent", json_string(agent)) < 0)
		return no_memory(error);
	r = wfs_adapter_check(whole, entry, error);
	json_t *const asked = json_object_get(entry, "model"); /* the server's name of the model */
	if (!r && asked && json_object_set(setup, "asked_model", asked) < 0)
		r = no_memory(error);
	return r;
}

/* May the caller read the content of the agent without paying? */
static int may_read(const struct wfs_session *asker, struct wfs_view *view, const char *agent,
	bool *ret_reads, struct wfs_error *error)
{
	const struct wfs_bytes id = wfs_bytes_text(agent);
	struct wfs_seen seen;
	int r = wfs_session_entity_file(asker, view, WFS_ENTITY_FILE_CONTENT, id, &seen);

	if (!r)
		r = wfs_session_reads(asker, view, id);
	if (r < 0 && r != -ENOENT)
		return wfs_error_from_errno(error, r, "read the agent '%s'", agent);
	*ret_reads = r > 0;
	return 0;
}

int agents_setup_names(const struct wfs_session *asker, const json_t *params, json_t **ret_names,
	struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *content = NULL;
	int r = wfs_session_view(asker, WFS_HEIGHT_HEAD, &view, error);

	if (!r)
		r = read_agent(asker, &view, wfs_json_text(params, "agent"), &content, error);
	if (r)
		return r;
	json_t *const names = json_object_get(content, "tools");
	*ret_names = names ? json_incref(names) : json_array();
	return *ret_names ? 0 : no_memory(error);
}

int agents_setup_make(const struct wfs_session *asker, const struct wfs_helpers *helpers,
	const json_t *params, json_t **ret_content, json_t **ret_step, struct wfs_error *error)
{
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	WFS_AUTO_JSON json_t *content = NULL;
	WFS_AUTO_JSON json_t *messages = NULL;
	WFS_AUTO_JSON json_t *setup = NULL;
	WFS_AUTO_SESSION struct wfs_session *session = NULL;
	struct wfs_authority *const authority = wfs_session_authority(asker);
	int64_t max_turns = WFS_TURN_TURNS_DEFAULT;
	const char *agent;
	int r = wfs_json_get_string(params, "agent", &agent, error);

	if (!r)
		r = wfs_session_view(asker, WFS_HEIGHT_HEAD, &view, error);
	if (!r)
		r = read_agent(asker, &view, agent, &content, error);
	if (!r)
		r = wfs_session_new(authority, agent, &session, error);
	if (!r)
		r = wfs_json_get_integer(
			content, "max_turns", 0, WFS_TURN_TURNS_MAX, &max_turns, error);
	if (!r) /* at most what the agent's owner allows */
		r = wfs_json_get_integer(params, "max_turns", 0, max_turns, &max_turns, error);
	if (!r)
		r = make_messages(content, params, &messages, error);
	const struct agents_catalog catalog = {session, &view, helpers};
	struct asked asked = {.catalog = &catalog, .params = params};
	if (!r)
		r = may_read(asker, &view, agent, &asked.reads, error);
	if (!r)
		r = make_setup(&asked, content, &setup, error);
	if (!r)
		r = check_adapter(wfs_authority_directory(authority), helpers, agent, setup, error);
	if (r)
		return r;
	*ret_step = json_pack("{s:s, s:I, s:O, s:O}", "agent", agent, "max_turns",
		(json_int_t)max_turns, "messages", messages, "setup", setup);
	*ret_content = WFS_STEAL(content);
	return *ret_step ? 0 : no_memory(error);
}
