/* SPDX-License-Identifier: Apache-2.0 */
/* The services that a world begins with: ledger, escrow, memory, and libraries. Each array has the
 * methods of one (kernel/domain/action/service.h); the last has no name. */
#pragma once

#include "kernel/domain/action/service.h"

extern const struct wfs_domain wfs_service_domain;

extern const struct service_method ledger_methods[];
extern const struct service_method escrow_methods[];
extern const struct service_method embedder_methods[];
extern const struct service_method memory_methods[];
extern const struct service_method memory_search_methods[];
extern const struct service_method memory_add_methods[];
extern const struct service_method prompt_library_methods[];
extern const struct service_method workflow_template_methods[];
