/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of grants, and of principals with their accounts; those that the manifest declares and
 * those that actions make have the same form. kernel/domain/principal/grants.h checks what depends
 * on the state of a world.
 * Source: docs/design.md §9.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/base/error.h"

struct wfs_document_grant;
struct wfs_hash;
struct wfs_manifest;

enum {
	WFS_PRINCIPALS_MAX = 65536, /* principals of a world */
	WFS_GRANTS_MAX = 65536,     /* live grants of a world */
	WFS_PRINCIPAL_AGENTS_MAX =
		4096, /* principals that are agents, for whose bytes one principal pays */
	WFS_PRINCIPAL_PASSED_ON_MAX = 4096, /* grants that one principal has delegated */
	/* calls of outside tools by one principal that are not answered yet, or whose answer was
	 * lost */
	WFS_PRINCIPAL_OUTSIDE_MAX = 1024,
	WFS_GRANT_CHAIN_MAX = 16,        /* delegations of a grant, each of the one before */
	WFS_GRANT_NAME_MAX = 128,        /* bytes; for ids of principals, too */
	WFS_GRANT_PARAMS_MAX = 16 << 10, /* bytes of the params' canonical text */
};

/* For messages. */
#define WFS_GRANT_NAME_FORM \
	"a name of letters, digits and ._#@:-, a letter or digit first, at most 128 bytes"

/** wfs_grant_name_valid() - does a name of a grant, or an id of a principal, match
 *  `[A-Za-z0-9][A-Za-z0-9._#@:-]{0,127}`? */
bool wfs_grant_name_valid(const char *text);

#define WFS_GENESIS_PREFIX "genesis_" /* begins the ids of the kernel's own artifacts */

/** wfs_id_internal() - is @id that of one of the kernel's own principals, `mint` or `genesis`? */
bool wfs_id_internal(const char *id);

/** wfs_id_reserved() - is @id reserved for the kernel, so that users may not give it to a principal
 *  or an artifact: the name of an action, `mint`, `genesis`, or an id that begins with
 *  `genesis_`? */
bool wfs_id_reserved(const char *id);

/** wfs_grant_member() - Return: the name of member @index of a grant, static; NULL after the
 *  last. */
const char *wfs_grant_member(size_t index);

/** wfs_grant_check_member() - check member @index (as for wfs_grant_member()) of a grant
 *  @manifest: has the capabilities. @grant: an object; `name` may be missing
 *  Return: 0 (also without an optional member), -EINVAL (missing_argument: a required member is
 *  missing; invalid_argument: a wrong value; schema_violation: `params` do not fit the schema of
 *  the capability), -ENOENT (not_found: `cap` names a capability that @manifest does not have),
 *  -EFBIG (too_large: `params` have more than WFS_GRANT_PARAMS_MAX bytes), -ENOMEM. The message
 *  does not name the member. */
int wfs_grant_check_member(const struct wfs_manifest *manifest, const json_t *grant, size_t index,
	struct wfs_error *error);

/* Bound of the scrip and quotas that a principal begins with, so that sums do not overflow. */
#define WFS_ACCOUNT_START_MAX (INT64_C(1) << 53)

/** wfs_account_member() - Return: the JSON pointer, without its first slash, of member @index of a
 *  principal's account, such as `quotas/disk`, static; NULL after the last. All members are
 *  optional. */
const char *wfs_account_member(size_t index);

/** wfs_account_check_member() - check member @index (as for wfs_account_member()) of a principal's
 *  account. @account: an object with `scrip` and `quotas`, both optional
 *  Return: 0 (also without the member), -EINVAL (invalid_argument: a wrong value). The message does
 *  not name the member. */
int wfs_account_check_member(const json_t *account, size_t index, struct wfs_error *error);

/** wfs_grant_is_spent() - are the calls, or the tokens, of a grant's own budget used up? False for
 *  a grant without a budget. */
bool wfs_grant_is_spent(const struct wfs_document_grant *grant);

/** wfs_grant_mark() - compute a mark that distinguishes a grant from a later one of the same name
 *  The mark is a hash of the grant's document @grant without the member `used`, which changes with
 *  every charge. Thread: any. Return: 0, -ENOMEM. */
int wfs_grant_mark(const json_t *grant, struct wfs_hash *ret_mark);
