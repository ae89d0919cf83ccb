/* SPDX-License-Identifier: Apache-2.0 */
/* The table of services. */
#include "kernel/domain/service/service-domain.h"

#include "kernel/genesis/texts.h"

static const struct service services[] = {
	{"genesis_ledger", "service", "scrip: give it, and see who has how much", NULL,
		ledger_methods, SERVICE_RUN_NAMED},
	{"genesis_escrow", "service",
		"sales: holds an artifact until somebody has paid its price; a sale is one record",
		NULL, escrow_methods, SERVICE_RUN_NAMED},
	{"genesis_embedder", "service", "turns a text into a vector", NULL, embedder_methods,
		SERVICE_RUN_EITHER},
	{"genesis_memory", "service", "memory stores: make them, add to them, search them", NULL,
		memory_methods, SERVICE_RUN_NAMED},
	{"genesis_memory_search", "service", "finds what in a memory store is like a text", NULL,
		memory_search_methods, SERVICE_RUN_FIRST},
	{"genesis_memory_add", "service", "adds a text to a memory store", NULL, memory_add_methods,
		SERVICE_RUN_FIRST},
	{"genesis_prompt_library", "library", "prompts to begin with: genesis_prompt_library#NAME",
		wfs_genesis_prompt_library, prompt_library_methods, SERVICE_RUN_NAMED},
	{"genesis_workflow_templates", "library", "workflows to begin with",
		wfs_genesis_workflow_templates, workflow_template_methods, SERVICE_RUN_NAMED},
	{NULL},
};

const struct wfs_domain wfs_service_domain = {
	.name = "service",
	.services = services,
};
