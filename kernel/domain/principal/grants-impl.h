/* SPDX-License-Identifier: Apache-2.0 */
/* Private to kernel/grants*.c: cells of principals and grants, made and removed by record 0 of a
 * fold. */
#pragma once

#include "kernel/fold/fold-work.h"

/** grants_check_id() - may a principal be called so, as far as artifacts and the mint go?
 *  Return: 0, -EEXIST (already_exists), … */
int grants_check_id(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_principal() - its cells, those of its account among them, which are not live yet.
 *  @principal: an action, or one of a manifest */
int grants_make_principal(struct wfs_fold *fold, const json_t *principal, struct wfs_error *error);

/* What a principal's cell counts. */
enum grants_count {
	GRANTS_COUNT_AGENTS,
	GRANTS_COUNT_PASSED_ON,
};

/** grants_count() - @amount more, or less. Return: 0, -EDQUOT (quota_exceeded), … */
int grants_count(struct wfs_fold *fold, const char *principal, enum grants_count what, int amount,
	struct wfs_error *error);

/** grants_check_agent() - one that grants to another's agent says so. @grant: an action.
 *  Return: 0, -ESTALE (conflict), -EINVAL, … */
int grants_check_agent(struct wfs_fold *fold, const json_t *grant, struct wfs_error *error);

/** grants_check_declared() - may a manifest declare this principal, which an action made? An agent is declared only by
 *  its owner: others would give grants to it for its name. Return: 0, -ESTALE (conflict), … */
int grants_check_declared(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** grants_make_grant() - the same. @from: an action, or a grant of a manifest */
int grants_make_grant(
	struct wfs_fold *fold, const char *name, const json_t *from, struct wfs_error *error);

/**
 * grants_passed_on() - what was passed on from each grant, before the fold
 * @ret_children: {from: {name: true}}, borrowed until the fold is applied
 */
int grants_passed_on(struct wfs_fold *fold, const json_t **ret_children, struct wfs_error *error);

/**
 * grants_remove() - remove grants and all that was passed on from them
 * @names: an array; grows by what was passed on
 * @ret_count: how many they were
 */
int grants_remove(struct wfs_fold *fold, json_t *names, size_t *ret_count, struct wfs_error *error);
