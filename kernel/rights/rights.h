/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights: what one principal may do, as its grants and the policy say at one moment.
 *
 * They are made anew when a grant or the policy changes, and never change themselves; only time
 * goes on, so every question says when it is asked. A grant and the policy must both allow. What
 * is no well-formed grant grants nothing.
 * Source: docs/design.md §9.
 * Thread: any.
 */
#pragma once

#include "kernel/manifest/effect.h"
#include "kernel/manifest/manifest.h"
#include "kernel/read/record.h"
#include "kernel/rights/scope.h"

/* What the principal has to do with the turn or plan that an effect is about, and what it needs. */
enum wfs_claim {
	WFS_CLAIM_OWN,  /* the effect is about none of them: the capability is enough */
	WFS_CLAIM_MADE, /* the principal began it: the capability or sys/admin is enough */
	/* Another principal began it: sys/admin is enough, or the capability with a param that says so. */
	WFS_CLAIM_OTHERS,
	WFS_CLAIM_ADMIN, /* only sys/admin is enough */
	WFS_CLAIM_NEVER, /* nothing is enough */
};

/* What is asked. Plain value; texts are borrowed. */
struct wfs_question {
	enum wfs_effect effect;
	enum wfs_origin origin;
	int64_t now_ns;
	/* Could it be allowed for some reducer or artifact? Those below are not looked at. */
	bool of_any;
	bool approved;        /* somebody has approved of it: rules that ask for that allow it */
	const char *reducer;  /* that it is about; NULL: about none */
	const char *artifact; /* the same */
	enum wfs_claim claim;
	/* Grants that come from a principal of which this says so do not count; NULL: all do. */
	bool (*is_barred)(void *context, const char *giver);
	void *barred_context;
	uint64_t height; /* the rights follow from the grants at this height, or at a later one */
};

/* The answer. Plain value; texts are borrowed from the rights, or static. */
struct wfs_verdict {
	/* WFS_OK, or not_authorized, expired, policy_denied, quota_exceeded, not_enabled */
	enum wfs_error_code code;
	const char *grant;           /* that covers it, or has expired; NULL: none */
	int64_t until_ns;            /* the grant's end; INT64_MAX: it has none */
	const struct wfs_hash *mark; /* of that grant, see wfs_grant_mark(); NULL: none */
	bool charged;       /* the grant, or one that it was passed on from, has a budget */
	const char *policy; /* that denies; NULL: it was not asked */
	size_t rule_index;  /* of it; SIZE_MAX: no rule matched */
	bool asks;          /* policy_denied by a rule that allows it once somebody has approved */
};

struct wfs_rights;

/**
 * wfs_rights_new() - what @principal may do
 * @manifest: kept (a reference); its policy is in force
 * @grants: object of all grants of the world by name, documents of sys.grant; borrowed for the call
 * Return: 0, or -ENOMEM.
 */
int wfs_rights_new(const char *principal, struct wfs_manifest *manifest, json_t *grants,
	struct wfs_rights **ret_rights);
const char *wfs_rights_principal(const struct wfs_rights *rights);
struct wfs_rights *wfs_rights_ref(struct wfs_rights *rights);
void wfs_rights_unref(struct wfs_rights *rights);
WFS_DEFINE_AUTO(rights, struct wfs_rights, wfs_rights_unref)
#define WFS_AUTO_RIGHTS WFS_CLEANUP(wfs_auto_rights)

/** wfs_rights_judge() - one question. */
struct wfs_verdict wfs_rights_judge(
	const struct wfs_rights *rights, const struct wfs_question *question);

/** wfs_rights_explain() - say why. Return: 0, or the negative errno of the verdict's code. */
int wfs_rights_explain(const struct wfs_rights *rights, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_error *error);

/**
 * wfs_policy_check() - does the policy of @manifest allow what @principal asks by a grant of the capability @cap?
 * @question: its height and its claim are not looked at
 * Return: 0, -EACCES (policy_denied), or -EOPNOTSUPP (not_enabled), with the reason in @error.
 */
int wfs_policy_check(const struct wfs_manifest *manifest, const char *principal,
	const struct wfs_question *question, const char *cap, struct wfs_error *error);

/** wfs_verdict_decision() - what the record of a refusal tells; borrows from both. */
struct wfs_decision wfs_verdict_decision(
	const struct wfs_verdict *verdict, const struct wfs_question *question);

/** wfs_rights_coverage() - how much of a path the live query grants cover, whatever the policy
 *  says. */
enum wfs_coverage wfs_rights_coverage(
	const struct wfs_rights *rights, struct wfs_path path, int64_t now_ns);

/** wfs_rights_hold() - is there a live grant of a capability of this type? Whatever the policy says. */
bool wfs_rights_hold(const struct wfs_rights *rights, const char *cap_type, int64_t now_ns);

/** wfs_rights_administer() - is there a live grant of an administrator? */
bool wfs_rights_administer(const struct wfs_rights *rights, int64_t now_ns);

/** wfs_rights_see_all() - is nothing in the tree, blobs left aside, hidden, now and for good? */
bool wfs_rights_see_all(const struct wfs_rights *rights);

/** wfs_rights_grant_shows() - can this grant of the principal make a difference to what it sees? */
bool wfs_rights_grant_shows(const struct wfs_rights *rights, const json_t *grant);

/** wfs_rights_see_the_same() - do both show the same, as long as nothing expires?
 *  No when the same grants come in another order, so that very many are compared in a moment. */
bool wfs_rights_see_the_same(const struct wfs_rights *a, const struct wfs_rights *b);

/** wfs_rights_check_params() - can they grant anything?
 *  Return: 0, -EINVAL (a malformed pattern), -ENOMEM. */
int wfs_rights_check_params(const json_t *params, struct wfs_error *error);

/**
 * wfs_rights_cover() - the grant of which a part is to be passed on
 * @question: whose effect is to be allowed by the policy, for the new grant's capability
 * @grant: {cap, params?, expires_at_ns?} of the new one
 * @ret_verdict: which grant covers it, never `charged`, as nothing is charged; on -EACCES, why
 * @ret_from: its name, borrowed
 * Return: 0, -EINVAL (the scope is malformed), -EACCES (not_authorized, policy_denied), -ENOMEM.
 */
int wfs_rights_cover(const struct wfs_rights *rights, const struct wfs_question *question,
	const json_t *grant, struct wfs_verdict *ret_verdict, const char **ret_from,
	struct wfs_error *error);
