/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of genesis artifacts. See texts.h. */
#include "kernel/genesis/texts.h"

#include "kernel/genesis/texts-data.h"

const char *wfs_genesis_prompt_library(void)
{
	return prompt_library;
}

const char *wfs_genesis_workflow_templates(void)
{
	return workflow_templates;
}
