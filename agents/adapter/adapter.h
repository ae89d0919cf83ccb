/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adapters: what stands between the neutral form of a run and what a server speaks.
 *
 * A *setup* is the document that a run is made from (agent, tools, offered names, settings); an
 * *entry* is that of its model in host.json. An adapter is one row of a table, one for each server
 * profile: everything that servers differ in is in its row. All functions of this folder are pure:
 * values in, values out, no clock, no socket, no state.
 *
 * Whatever a server would refuse, or take and ignore, is refused by wfs_adapter_check() when a run
 * is made, before any request: on the wire "ignored" and "enforced" look the same.
 * Source: spec 5, "Model client", Adapters.
 * Thread: any; rows are immutable.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "kernel/base/error.h"

struct wfs_grammar_config;

/* One server profile. Plain value with static lifetime. */
struct wfs_adapter {
	const char *name; /* as the member `profile` of an entry has it */

	/** format_messages() - messages of the neutral form as a body has them
	 *  Return: 0, or -ENOMEM; caller owns @ret_messages. */
	int (*format_messages)(const json_t *messages, json_t **ret_messages);

	/** format_tools() - offered tools (wfs_format_offered) as a body has them; at least one
	 *  Return: 0, or -ENOMEM; caller owns @ret_tools. */
	int (*format_tools)(const json_t *tools, json_t **ret_tools);

	/** response_parser() - find the calls in a completion: wfs_parser_parse() */
	int (*response_parser)(
		const json_t *completion, const json_t *offered, json_t **ret_completion);

	/** grammar_builder() - set the member of @body that asks for @constraint; NULL: nobody is
	 *  asked, the answer is only checked. Return: 0, or -ENOMEM. */
	int (*grammar_builder)(const struct wfs_grammar_config *config, const json_t *constraint,
		const json_t *tools, json_t *body);

	const struct wfs_grammar_config *grammar_config; /* NULL where grammar_builder is */

	bool tool_choice_texts; /* an object as tool_choice would be read as "auto" */
};

/**
 * wfs_adapter_get() - the adapter of a model
 * A server without `profile` is taken for one of the profile openai. A script without one is asked
 * for nothing, so that it takes every constraint.
 * @entry: of host.json
 * Return: 0, or -EINVAL (invalid_argument: there is no such profile).
 */
int wfs_adapter_get(
	const json_t *entry, const struct wfs_adapter **ret_adapter, struct wfs_error *error);

/**
 * wfs_adapter_check() - may a run be made of this?
 * Checks what requests are built from: the offered tools, max_history_messages, max_tokens,
 * temperature, tool_choice, constraint and extra_body of @setup; profile, max_tokens_name and
 * extra_body of @entry; and what these are together.
 * Return: 0, -EINVAL (the message names the agent), -ENOMEM.
 */
int wfs_adapter_check(const json_t *setup, const json_t *entry, struct wfs_error *error);
