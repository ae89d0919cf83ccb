/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights: what one principal may do by its grants and the policy of one moment.
 *
 * Rights never change; new ones are made when a grant or the policy changes. Grants end with time,
 * so every question says when it is asked. A grant and the policy must both allow. A malformed
 * grant grants nothing.
 * Source: docs/design.md §9.
 * Thread: any.
 */
#pragma once

#include "kernel/manifest/effect.h"
#include "kernel/manifest/manifest.h"
#include "kernel/read/record.h"
#include "kernel/rights/scope.h"

/* The principal's relation to the turn or plan that an effect is about, and what it needs. */
enum wfs_claim {
	WFS_CLAIM_OWN,  /* the effect is not about a turn or plan: the capability is enough */
	WFS_CLAIM_MADE, /* the principal began it: the capability or sys/admin is enough */
	/* Another principal began it: sys/admin is enough, or the capability with a param that says
	 * so. */
	WFS_CLAIM_OTHERS,
	WFS_CLAIM_ADMIN, /* only sys/admin is enough */
	WFS_CLAIM_NEVER, /* the effect is always refused */
};

/* A call of an outside tool that a question is about. Plain value; borrowed. */
struct wfs_tool_asked {
	const char *name;   /* its full name, see kernel/value/tool.h */
	unsigned int hints; /* wfs_tool_hints() of its annotations */
	const char *hash; /* of its description and schema; NULL: pinned hashes are not compared */
	const json_t *arguments; /* NULL: any that a grant allows */
};

/* Which part of a call no grant covers. */
enum wfs_tool_lack {
	WFS_TOOL_LACK_NONE,
	WFS_TOOL_LACK_NAME,      /* no grant covers the tool: the error is that of a missing tool */
	WFS_TOOL_LACK_HASH,      /* the tool has changed since it was pinned */
	WFS_TOOL_LACK_ARGUMENTS, /* the schema of the grant refuses the arguments */
};

/* A question: may the principal have this effect? Plain value; texts are borrowed. */
struct wfs_question {
	enum wfs_effect effect;
	enum wfs_origin origin;
	int64_t now_ns; /* nanoseconds since 1970 */
	/* Ask whether the effect could be allowed for any reducer or artifact; `reducer` and
	 * `artifact` are then ignored. */
	bool of_any;
	bool approved;        /* a principal has approved: rules that ask for approval allow it */
	const char *reducer;  /* name of the reducer that the effect is about; NULL: none */
	const char *artifact; /* id of the artifact that the effect is about; NULL: none */
	const struct wfs_tool_asked *tool; /* the call that the effect is; NULL: none */
	enum wfs_claim claim;
	/* Are grants that the principal @giver has made to be ignored? Called while the question is
	 * answered, on the thread that asks, with barred_context, for grants that would cover the
	 * effect. NULL: no grants are ignored. */
	bool (*is_barred)(void *context, const char *giver);
	void *barred_context;
	uint64_t height; /* the rights follow from the grants at this height, or at a later one */
};

/* The answer. Plain value; texts and `mark` are borrowed from the rights, or static. until_ns, mark
 * and charged are 0 unless a grant covers the effect now. kernel/manifest/grant.h has
 * wfs_grant_mark(). */
struct wfs_verdict {
	/* WFS_OK, or not_authorized, expired, policy_denied, quota_exceeded, not_enabled;
	 * not_found, if the principal holds grants of tools and none covers this tool */
	enum wfs_error_code code;
	/* name of the grant that covers the effect, or did until the grant expired, or that
	 * covers the tool, but not this call (`lack`); or NULL */
	const char *grant;
	int64_t until_ns;            /* end of the grant, since 1970; INT64_MAX: it does not end */
	const struct wfs_hash *mark; /* wfs_grant_mark() of the grant; or NULL */
	bool charged;            /* the grant has a budget, or was delegated from one that has */
	const char *policy;      /* name of the policy; NULL: the policy was not asked */
	size_t rule_index;       /* of its rule that decided; SIZE_MAX: no rule fits */
	enum wfs_tool_lack lack; /* of a call of an outside tool */
	bool asks; /* policy_denied by a rule that allows the effect after an approval */
};

struct wfs_rights;

/** wfs_rights_new() - collect the rights of @principal from its grants and the policy
 *  @principal: copied. @manifest: has the policy; borrowed, the rights keep their own reference
 *  @grants: object {name: document of sys.grant} with at least the principal's grants and those
 *  from which these were delegated; others do not matter. The rights keep references to documents,
 *  which must not change. @ret_rights: set on success; caller unrefs it with wfs_rights_unref()
 *  Return: 0, or -ENOMEM. */
int wfs_rights_new(const char *principal, struct wfs_manifest *manifest, json_t *grants,
	struct wfs_rights **ret_rights);
const char *wfs_rights_principal(const struct wfs_rights *rights);
struct wfs_rights *wfs_rights_ref(struct wfs_rights *rights);
void wfs_rights_unref(struct wfs_rights *rights);
WFS_DEFINE_AUTO(rights, struct wfs_rights, wfs_rights_unref)
#define WFS_AUTO_RIGHTS WFS_CLEANUP(wfs_auto_rights)

/** wfs_rights_judge() - answer a question: may the principal have the effect? Return: the answer,
 *  valid as long as @rights. */
struct wfs_verdict wfs_rights_judge(
	const struct wfs_rights *rights, const struct wfs_question *question);

/** wfs_rights_explain() - write the reason of a refusal into @error. @verdict: the answer to
 *  @question by @rights. Return: 0 if verdict->code is WFS_OK (@error is unchanged), or the
 *  negative errno of verdict->code. */
int wfs_rights_explain(const struct wfs_rights *rights, const struct wfs_question *question,
	const struct wfs_verdict *verdict, struct wfs_error *error);

/** wfs_policy_check() - check that the policy alone allows @principal an effect by a grant of the
 *  capability @cap. @manifest: has the policy
 *  @question: its time, claim, height and is_barred, which are about grants, are ignored
 *  Return: 0, -EACCES (policy_denied: a rule denies or asks, or no rule fits), or -EOPNOTSUPP
 *  (not_enabled: the manifest does not have the effect), with the reason in @error. */
int wfs_policy_check(const struct wfs_manifest *manifest, const char *principal,
	const struct wfs_question *question, const char *cap, struct wfs_error *error);

/** wfs_verdict_decision() - make the decision (kernel/read/record.h) for the record of a refusal
 *  @verdict: the refusal, an answer to @question
 *  Return: a decision without intent_id and count; its texts are static, or those that @verdict
 *  borrows from the rights. */
struct wfs_decision wfs_verdict_decision(
	const struct wfs_verdict *verdict, const struct wfs_question *question);

/** wfs_rights_coverage() - get how much of a path of the tree the principal's grants of `query`
 *  cover at @now_ns (since 1970); the policy is not asked. */
enum wfs_coverage wfs_rights_coverage(
	const struct wfs_rights *rights, struct wfs_path path, int64_t now_ns);

/** wfs_rights_hold() - has the principal, at @now_ns (since 1970), a grant of a capability of the
 *  type @cap_type, such as `query` (wfs_effect_cap_type() in kernel/manifest/effect.h)? The policy
 *  is not asked. */
bool wfs_rights_hold(const struct wfs_rights *rights, const char *cap_type, int64_t now_ns);

/** wfs_rights_administer() - has the principal, at @now_ns (since 1970), a grant that makes it an
 *  administrator (a capability of the type `admin`)? The policy is not asked. */
bool wfs_rights_administer(const struct wfs_rights *rights, int64_t now_ns);

/** wfs_rights_see_all() - do grants that never end, and the policy, show the principal the whole
 *  tree but blobs? */
bool wfs_rights_see_all(const struct wfs_rights *rights);

/** wfs_rights_grant_shows() - can adding or removing @grant (document of sys.grant) change which
 *  parts of the tree the principal of @rights sees, if the grant is this principal's? Its holder
 *  (member `to`) is not read. */
bool wfs_rights_grant_shows(const struct wfs_rights *rights, const json_t *grant);

/** wfs_rights_see_the_same() - do rights @a and @b show equal parts of the tree, as long as no
 *  grant ends?
 *  The answer may be false although the parts are equal: if equal grants come in another order (so
 *  that comparing very many takes little time), or if the two rights have different objects of
 *  equal manifests. */
bool wfs_rights_see_the_same(const struct wfs_rights *a, const struct wfs_rights *b);

/** wfs_rights_check_params() - check the patterns (scope, artifacts, agents, tools) and the schema
 *  (arguments) in the member `params` of a grant; other params are not looked at
 *  @params: value of the member; NULL: the grant has none, which is valid
 *  Return: 0, -EINVAL (a pattern or the schema is malformed), -ENOMEM. */
int wfs_rights_check_params(const json_t *params, struct wfs_error *error);

/** wfs_rights_cover() - find a grant of the principal from which a new grant may be delegated
 *  @question: the policy must allow its effect, for the capability of the new grant
 *  @grant: {cap, params?, expires_at_ns?} of the new grant
 *  @ret_verdict: on success it names the grant that covers the new one; on -EACCES it has the
 *  reason; not set after another failure. Its `charged` is never true
 *  @ret_from: on success, name of the grant that covers the new one, borrowed from @rights
 *  Return: 0, -EINVAL (a pattern or the schema in `params` is malformed), -EACCES (not_authorized:
 *  no grant covers the new one; policy_denied), -ENOMEM. */
int wfs_rights_cover(const struct wfs_rights *rights, const struct wfs_question *question,
	const json_t *grant, struct wfs_verdict *ret_verdict, const char **ret_from,
	struct wfs_error *error);
