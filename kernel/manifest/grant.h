/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of grants and of principals with their accounts, wherever they come from: the manifest declares some, and
 * actions make others. What depends on the state of a world is checked by kernel/grants.h.
 * Source: spec 3, "Capabilities and policy".
 */
#pragma once

#include "kernel/manifest/manifest.h"

enum {
	WFS_PRINCIPALS_MAX = 65536, /* of a world */
	WFS_GRANTS_MAX = 65536,     /* live ones of a world */
	WFS_PRINCIPAL_AGENTS_MAX =
		4096, /* principals that are agents whose bytes one principal pays */
	WFS_PRINCIPAL_PASSED_ON_MAX = 4096, /* grants that one principal has passed on */
	WFS_GRANT_CHAIN_MAX = 16,        /* times that a grant is passed on, one after the other */
	WFS_GRANT_NAME_MAX = 128,        /* bytes; principals' too */
	WFS_GRANT_PARAMS_MAX = 16 << 10, /* bytes of their canonical text */
};

/* For messages. */
#define WFS_GRANT_NAME_FORM \
	"a name of letters, digits and ._#@:-, a letter or digit first, at most 128 bytes"

/** wfs_grant_name_valid() - `[A-Za-z0-9][A-Za-z0-9._#@:-]{0,127}`; ids of principals too. */
bool wfs_grant_name_valid(const char *text);

#define WFS_GENESIS_PREFIX "genesis_" /* begins the ids of the artifacts that the kernel has made */

/** wfs_id_internal() - is it a principal of the kernel's own? */
bool wfs_id_internal(const char *id);

/** wfs_id_reserved() - is it a word of the kernel's own, which no principal and no artifact is named by:
 *  an action, `mint`, `genesis`, or what begins with `genesis_`? */
bool wfs_id_reserved(const char *id);

/** wfs_grant_member() - member @index of a grant whose form is checked; NULL behind the last. */
const char *wfs_grant_member(size_t index);

/**
 * wfs_grant_check_member() - is that member of @grant in order?
 * @grant: an object; `name` may be missing
 * Return: 0, -EINVAL (missing_argument, invalid_argument, schema_violation), -ENOENT (not_found:
 *         a capability that this world does not have), -EFBIG (too_large), -ENOMEM.
 *         The message does not say which member it is about.
 */
int wfs_grant_check_member(const struct wfs_manifest *manifest, const json_t *grant, size_t index,
	struct wfs_error *error);

/* Scrip and quotas that somebody may begin with, so that sums can be counted. */
#define WFS_ACCOUNT_START_MAX (INT64_C(1) << 53)

/** wfs_account_member() - JSON pointer, without its first slash, to member @index of a principal's
 *  account, as `quotas/disk`; NULL behind the last. All of them may be absent. */
const char *wfs_account_member(size_t index);

/**
 * wfs_account_check_member() - is that member of @account in order?
 * @account: object with `scrip` and `quotas`, if there are
 * Return: 0, -EINVAL (invalid_argument). The message does not say which member it is about.
 */
int wfs_account_check_member(const json_t *account, size_t index, struct wfs_error *error);

/**
 * wfs_grant_mark() - compute what tells a grant from a later one of its name
 * The mark is a hash of the grant's document without `used`, which changes with every charge.
 * Thread: any. Return: 0, -ENOMEM.
 */
int wfs_grant_mark(const json_t *grant, struct wfs_hash *ret_mark);
