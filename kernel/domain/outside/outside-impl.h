/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/domain/outside/: see the functions of the same kinds in
 * kernel/fold/fold-domain.h. */
#pragma once

#include "kernel/domain/outside/outside.h"
#include "kernel/fold/intent.h"

extern const struct wfs_form outside_call_form, outside_resolve_form;

int outside_fold_call(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int outside_fold_resolve(
	struct wfs_fold *fold, const json_t *action, json_t **ret_answer, struct wfs_error *error);
int outside_fold_receipt(struct wfs_fold *fold, const struct wfs_document_intent *intent,
	const struct wfs_body_receipt *receipt, struct wfs_error *error);
