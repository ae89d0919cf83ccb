/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the genesis artifacts that are nothing but text say. The texts are the JSON files beside this
 * one; embed.py puts them into the program when it is built, and refuses what is not JSON, so readers
 * of them need no way out.
 */
#pragma once

/** wfs_genesis_prompt_library() - the content of genesis_prompt_library
 *  `{"prompts": {name: {description, template, variables, tags}}}`.
 *  Return: JSON, ended by a NUL; static. */
const char *wfs_genesis_prompt_library(void);

/** wfs_genesis_workflow_templates() - the content of genesis_workflow_templates
 *  `{"workflows": {name: {description, states, initial_state, steps}}}`, each a whole workflow.
 *  Return: JSON, ended by a NUL; static. */
const char *wfs_genesis_workflow_templates(void);
