/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters: translate between the neutral form of a turn and the form that a server takes.
 *
 * A *setup* is the document from which a turn is made (agent, tools, offered names, settings); an
 * *entry* is that of its model in host.json. An adapter is one row of a table, one for each server
 * profile, with everything in which servers differ. The functions of this folder have no side
 * effects, and use no clock, socket or state.
 *
 * wfs_adapter_check() refuses whatever a server would refuse, or accept and ignore. It is called
 * when a turn is made, before any request, because answers do not show whether a setting was
 * ignored or enforced.
 * Source: docs/design.md §11.
 * Thread: any; rows are immutable.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

struct wfs_grammar_config;

/* One server profile. Plain value with static lifetime. */
struct wfs_adapter {
	const char *name; /* value of the member `profile` of an entry */

	/** format_messages() - convert messages from the neutral form, {content, role, tool_calls?,
	 *  …} as a turn keeps them, to that of the server's API
	 *  Return: 0, or -ENOMEM; caller owns @ret_messages. */
	int (*format_messages)(const json_t *messages, json_t **ret_messages);

	/** format_tools() - convert the offered tools, from wfs_format_offered() (format.h), to the
	 *  form of the server's API. @tools: at least one. Return: 0, or -ENOMEM; caller owns
	 *  @ret_tools. */
	int (*format_tools)(const json_t *tools, json_t **ret_tools);

	/** response_parser() - find the tool calls in a completion, as wfs_parser_parse() does
	 *  (parser.h), which says what @ret_completion has
	 *  @offered: array of the names of the request's tools; NULL or []: only the calls that the
	 *  server found are taken
	 *  Return: 0, or -ENOMEM; caller owns @ret_completion. */
	int (*response_parser)(
		const json_t *completion, const json_t *offered, json_t **ret_completion);

	/** grammar_builder() - set the member of @body, the body of a request, that asks for
	 *  @constraint. The pointer is NULL for a script, which is not asked: its answers are only
	 *  checked (wfs_constraint_check_answer()). @constraint, @tools: accepted by
	 *  wfs_constraint_check() (constraint.h). Return: 0, or -ENOMEM. */
	int (*grammar_builder)(const struct wfs_grammar_config *config, const json_t *constraint,
		const json_t *tools, json_t *body);

	const struct wfs_grammar_config *grammar_config; /* NULL if grammar_builder is NULL */

	bool tool_choice_texts; /* the server reads an object in tool_choice as "auto" */
};

/** wfs_adapter_get() - get the adapter of a model
 *  An entry of a server without `profile` has the profile openai. The entry of a script
 *  (agents/host/script.h) without `profile` has an adapter that accepts every constraint.
 *  @entry: of the model in host.json
 *  @ret_adapter: static
 *  Return: 0, or -EINVAL (invalid_argument: unknown profile). */
int wfs_adapter_get(
	const json_t *entry, const struct wfs_adapter **ret_adapter, struct wfs_error *error);

/** wfs_adapter_check() - check what the requests of a turn will be built from
 *  These are the offered tools, max_history_messages, max_tokens, temperature, tool_choice,
 *  constraint and extra_body of @setup; profile, max_tokens_name and extra_body of @entry; and the
 *  combination of these.
 *  Return: 0, -EINVAL (the server would refuse one of these, or ignore it; the message names the
 *  agent), -ENOMEM. */
int wfs_adapter_check(const json_t *setup, const json_t *entry, struct wfs_error *error);
