/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of principals and artifacts: sys.ledger has their scrip, sys.resource what they have
 * used and their quotas. Functions that return int return 0, or -errno with @error filled, if their
 * comment does not say otherwise. A failure may leave a part of the changes, which the caller takes
 * back (fold_take_back() in kernel/fold/fold-work.h), or fails the request. @id: of a principal or
 * an artifact.
 * Thread: the thread that folds.
 */
#pragma once

#include "kernel/fold/fold-work.h"

/** account_open() - make the account of a new principal: its cell of sys.ledger and, if @account
 *  has quotas, that of sys.resource
 *  @account: an object; of its members, `scrip` and `quotas` ({resource: quota}) are used, both
 *  optional; wfs_account_check_member() (kernel/manifest/grant.h) has accepted them */
int account_open(
	struct wfs_fold *fold, const char *id, const json_t *account, struct wfs_error *error);

/** account_exists() - is @id that of a principal, an artifact or the mint, so that scrip can be
 *  moved to its account? Return: 1, 0, or -errno. */
int account_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error);

/** account_scrip() - read how much scrip the account of @id has; 0 if @id has no account yet.
 *  @ret_scrip: set on success only */
int account_scrip(
	struct wfs_fold *fold, const char *id, int64_t *ret_scrip, struct wfs_error *error);

/** account_add() - add @amount of scrip, which may be negative, to the account of @id; if @id has
 *  no account yet, the function makes its cell. Return: 0, -EDQUOT (insufficient_funds: less than 0
 *  would be left; quota_exceeded: more than an account can count), … */
int account_add(struct wfs_fold *fold, const char *id, int64_t amount, struct wfs_error *error);

/** account_move() - move @amount of scrip from account @from to account @to. Return: as
 *  account_add(); after a failure the account @from may be changed, and the caller refuses the
 *  action. */
int account_move(struct wfs_fold *fold, const char *from, const char *to, int64_t amount,
	struct wfs_error *error);

enum account_resource {
#define ACCOUNT_RESOURCE(constant, name) ACCOUNT_##constant,
	WFS_RESOURCES(ACCOUNT_RESOURCE)
#undef ACCOUNT_RESOURCE
		ACCOUNT_RESOURCE_COUNT
};

/** account_resource_find() - find a resource, such as "disk", by name. Return:
 *  ACCOUNT_RESOURCE_COUNT if no resource has this name. */
enum account_resource account_resource_find(const char *name);

/** account_use() - add @amount, in the resource's unit (bytes or tokens), to what @id has used of a
 *  resource, if the quota allows it
 *  Without a quota every amount is allowed. A negative amount, which lowers the use, is allowed
 *  with any quota. Return: 0, -EDQUOT (quota_exceeded: more than the quota would be used), -EIO
 *  (hash_mismatch: the use would be negative, so the store is damaged), … */
int account_use(struct wfs_fold *fold, const char *id, enum account_resource resource,
	int64_t amount, struct wfs_error *error);

/** account_spend() - add @amount, 0 or more, to what @id has used of a resource, without checking
 *  the quota; a sum above INT64_MAX becomes INT64_MAX. */
int account_spend(struct wfs_fold *fold, const char *id, enum account_resource resource,
	int64_t amount, struct wfs_error *error);

/** account_move_quota() - move @amount of unused quota from account @from to account @to.
 *  Return: 0, -EDQUOT (quota_exceeded: @from has less unused quota, or @to would have more than can
 *  be counted), -EINVAL (one of the accounts has no quota of @resource), …; after a failure the
 *  quota of @from may be changed, and the caller refuses the action. */
int account_move_quota(struct wfs_fold *fold, const char *from, const char *to,
	enum account_resource resource, int64_t amount, struct wfs_error *error);
