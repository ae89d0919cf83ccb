/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contents of those genesis artifacts that consist of text. The texts are the JSON files in
 * this folder; embed.py puts them into the program when it is built, and refuses files that are not
 * JSON, so callers need not handle that.
 */
#pragma once

/** wfs_genesis_prompt_library() - get the content of genesis_prompt_library:
 *  `{"prompts": {name: {description, template, variables, tags}}}`.
 *  Return: JSON with a NUL at the end; static. */
const char *wfs_genesis_prompt_library(void);

/** wfs_genesis_workflow_templates() - get the content of genesis_workflow_templates:
 *  `{"workflows": {name: {description, states, initial_state, steps}}}`, where each value is a
 *  whole workflow.
 *  Return: JSON with a NUL at the end; static. */
const char *wfs_genesis_workflow_templates(void);
