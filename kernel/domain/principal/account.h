/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of principals and artifacts: scrip in sys.ledger; what was used, and its quota, in sys.resource.
 * Thread: the one that folds.
 */
#pragma once

#include "kernel/fold/fold-work.h"

/**
 * account_open() - the account of a new principal
 * @account: object with `scrip` and `quotas`, if there are, which were checked (wfs_account_member)
 */
int account_open(
	struct wfs_fold *fold, const char *id, const json_t *account, struct wfs_error *error);

/** account_exists() - is it a principal, an artifact, or the mint? Return: 1, 0, or -errno. */
int account_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** account_scrip() - 0 for who never held any. */
int account_scrip(
	struct wfs_fold *fold, const char *id, int64_t *ret_scrip, struct wfs_error *error);

/** account_add() - @amount may be negative. Return: 0, -EDQUOT (insufficient_funds, or more than an
 *  account can hold: quota_exceeded), … */
int account_add(struct wfs_fold *fold, const char *id, int64_t amount, struct wfs_error *error);

/** account_move() - from one to the other. Return: as above. */
int account_move(struct wfs_fold *fold, const char *from, const char *to, int64_t amount,
	struct wfs_error *error);

enum account_resource {
#define ACCOUNT_RESOURCE(constant, name) ACCOUNT_##constant,
	WFS_RESOURCES(ACCOUNT_RESOURCE)
#undef ACCOUNT_RESOURCE
		ACCOUNT_RESOURCE_COUNT
};

/** account_resource_find() - by name; ACCOUNT_RESOURCE_COUNT: there is none. */
enum account_resource account_resource_find(const char *name);

/** account_use() - @amount more is used, or less when it is negative. Return: 0, -EDQUOT
 *  (quota_exceeded), … */
int account_use(struct wfs_fold *fold, const char *id, enum account_resource resource,
	int64_t amount, struct wfs_error *error);

/** account_spend() - @amount more has been used, whatever the quota says. */
int account_spend(struct wfs_fold *fold, const char *id, enum account_resource resource,
	int64_t amount, struct wfs_error *error);

/** account_move_quota() - of what is not used. Return: 0, -EDQUOT, -EINVAL (one of them has none). */
int account_move_quota(struct wfs_fold *fold, const char *from, const char *to,
	enum account_resource resource, int64_t amount, struct wfs_error *error);
