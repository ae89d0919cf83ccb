/* SPDX-License-Identifier: Apache-2.0 */
/* Makes bodies of requests. */
#include "agents/adapter/format.h"

#include <errno.h>
#include <string.h>

#include "agents/adapter/adapter.h"
#include "kernel/base/json.h"

/* --- messages --- */

static bool is_name_byte(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
		(byte >= 'A' && byte <= 'Z') || byte == '_' || byte == '-';
}

bool wfs_format_is_name(const char *name)
{
	const size_t size = name ? strlen(name) : 0;

	for (size_t i = 0; i < size; i++)
		if (!is_name_byte(name[i]))
			return false;
	return size > 0 && size <= WFS_FORMAT_NAME_MAX;
}

/*
 * Replaces a name that a model made up and that no tool could have: servers refuse a history with
 * such a name, and the turn would end there although the model has got an error.
 */
static json_t *wire_name(const json_t *call)
{
	const char *const name = json_string_value(json_object_get(call, "name"));
	char text[WFS_FORMAT_NAME_MAX];
	size_t size = 0;

	if (!name || !*name)
		return json_string("unnamed");
	memset(text, '_', sizeof(text));
	for (; size < sizeof(text) && name[size]; size++)
		if (is_name_byte(name[size]))
			text[size] = name[size];
	return json_stringn(text, size);
}

/* Return: a member that is a non-empty text, otherwise @otherwise. */
static json_t *text_or(const json_t *object, const char *member, const char *otherwise)
{
	json_t *const text = json_object_get(object, member);

	return json_string_length(text) > 0 ? json_incref(text) : json_string(otherwise);
}

static json_t *wire_calls(const json_t *calls)
{
	WFS_AUTO_JSON json_t *wire = json_array();
	size_t index;
	json_t *call;

	json_array_foreach(calls, index, call) {
		json_t *const one = json_pack("{s:o, s:s, s:{s:o, s:o}}", "id",
			text_or(call, "id", ""), "type", "function", "function", "name",
			wire_name(call), "arguments", text_or(call, "arguments", "{}"));

		if (json_array_append_new(wire, one) < 0)
			return NULL;
	}
	return WFS_STEAL(wire);
}

/* Content is never absent: null beside calls, "" otherwise, as llama.cpp needs it. */
static json_t *wire_message(const json_t *message)
{
	const json_t *const calls = json_object_get(message, "tool_calls");
	json_t *const call_id = json_object_get(message, "tool_call_id");
	const bool calling = json_array_size(calls) > 0;
	json_t *const content =
		calling && json_string_length(json_object_get(message, "content")) == 0
		? json_null()
		: text_or(message, "content", "");
	WFS_AUTO_JSON json_t *wire = json_pack(
		"{s:O, s:o}", "role", json_object_get(message, "role"), "content", content);

	if (!wire || (calling && json_object_set_new(wire, "tool_calls", wire_calls(calls)) < 0) ||
		(call_id && json_object_set(wire, "tool_call_id", call_id) < 0))
		return NULL;
	return WFS_STEAL(wire);
}

int wfs_format_messages(const json_t *messages, json_t **ret_messages)
{
	WFS_AUTO_JSON json_t *wire = json_array();
	size_t index;
	json_t *message;

	if (!wire)
		return -ENOMEM;
	json_array_foreach(messages, index, message)
		if (json_array_append_new(wire, wire_message(message)) < 0)
			return -ENOMEM;
	*ret_messages = WFS_STEAL(wire);
	return 0;
}

/* --- tools --- */

/* Indexes tools by their names. */
static int name_tools(const json_t *tools, json_t *named, struct wfs_error *error)
{
	size_t index;
	json_t *tool;

	json_array_foreach(tools, index, tool) {
		const char *const name = json_string_value(json_object_get(tool, "name"));

		if (!wfs_format_is_name(name))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"the name of a tool: expected 1 to %d of a-z A-Z 0-9 _ -, got "
				"'%.100s'",
				WFS_FORMAT_NAME_MAX, name ? name : "");
		if (json_object_get(named, name))
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"two tools have the name '%s'", name);
		if (json_object_set(named, name, tool) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_offered(
	const json_t *offered, json_t *named, json_t *tools, struct wfs_error *error)
{
	size_t index;
	json_t *item;

	json_array_foreach(offered, index, item) {
		const char *const name = json_string_value(item);
		json_t *const tool = name ? json_object_get(named, name) : NULL;

		if (!tool)
			return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
				"'%.100s' is offered, expected each name once and of a tool that "
				"the agent has",
				name ? name : "");
		if (json_array_append(tools, tool) < 0)
			return -ENOMEM;
		json_object_del(named, name);
	}
	return 0;
}

int wfs_format_offered(const json_t *setup, json_t **ret_tools, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *named = json_object();
	WFS_AUTO_JSON json_t *tools = json_array();
	int r;

	if (!named || !tools)
		return -ENOMEM;
	r = name_tools(json_object_get(setup, "tools"), named, error);
	if (r == 0)
		r = take_offered(json_object_get(setup, "offered"), named, tools, error);
	if (r < 0)
		return r;
	*ret_tools = WFS_STEAL(tools);
	return 0;
}

static json_t *wire_tool(const json_t *tool)
{
	static const char *const members[] = {"name", "description", "parameters"};
	WFS_AUTO_JSON json_t *function = json_object();

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const value = json_object_get(tool, members[i]);

		if (value && json_object_set(function, members[i], value) < 0)
			return NULL;
	}
	return json_pack("{s:s, s:O}", "type", "function", "function", function);
}

int wfs_format_tools(const json_t *tools, json_t **ret_tools)
{
	WFS_AUTO_JSON json_t *wire = json_array();
	size_t index;
	json_t *tool;

	if (!wire)
		return -ENOMEM;
	json_array_foreach(tools, index, tool)
		if (json_array_append_new(wire, wire_tool(tool)) < 0)
			return -ENOMEM;
	*ret_tools = WFS_STEAL(wire);
	return 0;
}

/* --- bodies --- */

static bool is_set(const json_t *value)
{
	return value && !json_is_null(value);
}

static int set_tools(const struct wfs_adapter *adapter, const json_t *tools, json_t *body)
{
	WFS_AUTO_JSON json_t *wire = NULL;

	if (json_array_size(tools) == 0)
		return 0;
	if (adapter->format_tools(tools, &wire) < 0 || json_object_set(body, "tools", wire) < 0)
		return -ENOMEM;
	return 0;
}

static int set_settings(const json_t *settings, const json_t *entry, json_t *body)
{
	const char *const count_name = json_string_value(json_object_get(entry, "max_tokens_name"));
	const struct {
		const char *setting;
		const char *member;
	} members[] = {
		{"tool_choice", "tool_choice"},
		{"max_tokens", count_name ? count_name : "max_tokens"},
		{"temperature", "temperature"},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(members); i++) {
		json_t *const value = json_object_get(settings, members[i].setting);

		if (is_set(value) && json_object_set(body, members[i].member, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int set_stream(json_t *body)
{
	if (json_object_set_new(body, "stream", json_true()) < 0 ||
		json_object_set_new(
			body, "stream_options", json_pack("{s:b}", "include_usage", true)) < 0)
		return -ENOMEM;
	return 0;
}

/* Replaces standard members by those of both extra bodies, the stronger last. */
static int set_extras(const struct wfs_adapter *adapter, const json_t *settings,
	const json_t *entry, const json_t *tools, json_t *body)
{
	json_t *const of_entry = json_object_get(entry, "extra_body");
	json_t *const of_agent = json_object_get(settings, "extra_body");
	const json_t *const constraint = json_object_get(settings, "constraint");

	if ((is_set(of_entry) && json_object_update(body, of_entry) < 0) ||
		(is_set(of_agent) && json_object_update(body, of_agent) < 0))
		return -ENOMEM;
	/* Without tools these mean nothing, and servers refuse them. */
	if (json_array_size(tools) == 0) {
		(void)json_object_del(body, "tool_choice");
		(void)json_object_del(body, "parallel_tool_calls");
	}
	if (!is_set(constraint) || !adapter->grammar_builder)
		return 0;
	return adapter->grammar_builder(adapter->grammar_config, constraint, tools, body);
}

int wfs_format_request(const json_t *setup, const json_t *entry, const json_t *messages,
	bool stream, json_t **ret_body, struct wfs_error *error)
{
	const json_t *const settings = json_object_get(setup, "settings");
	json_t *model = json_object_get(entry, "model");
	const struct wfs_adapter *adapter = NULL;
	WFS_AUTO_JSON json_t *tools = NULL;
	WFS_AUTO_JSON json_t *wire = NULL;
	WFS_AUTO_JSON json_t *body = NULL;
	int r = wfs_adapter_get(entry, &adapter, error);

	if (r == 0)
		r = wfs_format_offered(setup, &tools, error);
	if (r == 0)
		r = adapter->format_messages(messages, &wire);
	if (r < 0)
		return r;
	if (!model)
		model = json_object_get(setup, "model");
	body = json_pack("{s:O*, s:O}", "model", model, "messages", wire);
	if (!body || set_settings(settings, entry, body) < 0 || (stream && set_stream(body) < 0) ||
		set_extras(adapter, settings, entry, tools, body) < 0 ||
		set_tools(adapter, tools, body) < 0)
		return -ENOMEM;
	*ret_body = WFS_STEAL(body);
	return 0;
}
