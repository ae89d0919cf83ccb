/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of artifacts, and the rules that say who may use them. */
#include "kernel/domain/action/invoke.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/action/service.h"

const struct artifact_holding *artifact_holding(const struct wfs_fold *fold)
{
	const struct wfs_domain *const *domain = fold->domains;

	while (*domain && !(*domain)->holding)
		domain++;
	wfs_require(*domain != NULL);
	return (*domain)->holding;
}

void artifact_done(struct artifact *artifact)
{
	json_decref(artifact->document);
	artifact->document = NULL;
}

int artifact_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error)
{
	return fold_lives(fold, WFS_BUILTIN_ARTIFACT, id, error);
}

/* Why there is none. */
static int missing(struct wfs_fold *fold, const char *id, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *deleted = NULL;
	size_t cell;
	int r = fold_load(fold, WFS_BUILTIN_DELETED, id, &cell, &deleted, error);

	if (r)
		return wfs_trace(r);
	if (deleted)
		return wfs_error_set(error, WFS_E_DELETED, "Artifact '%s' was deleted by '%s'", id,
			wfs_json_text(deleted, "deleted_by"));
	return wfs_error_set(error, WFS_E_NOT_FOUND, "Artifact '%s' not found", id);
}

struct artifact artifact_of(json_t *document, size_t cell)
{
	return (struct artifact){
		.document = document,
		.cell = cell,
		.id = wfs_json_text(document, "id"),
		.owner = wfs_json_text(document, "owner"),
		.access = wfs_json_text(document, "access"),
		.executable = json_is_true(json_object_get(document, "executable")),
	};
}

int artifact_get(struct wfs_fold *fold, const char *id, struct artifact *ret_artifact,
	struct wfs_error *error)
{
	json_t *document;
	size_t cell;

	if (!wfs_grant_name_valid(id))
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Artifact '%.140s' not found", id);
	int r = fold_load(fold, WFS_BUILTIN_ARTIFACT, id, &cell, &document, error);
	if (r)
		return wfs_trace(r);
	if (!document)
		return missing(fold, id, error);
	*ret_artifact = artifact_of(document, cell);
	return 0;
}

int artifact_put(struct wfs_fold *fold, const struct artifact *artifact, struct wfs_error *error)
{
	return wfs_trace(fold_set_document(fold, artifact->cell, artifact->document, error));
}

int artifact_take_writer_out(struct artifact *artifact, struct wfs_error *error)
{
	json_t *const metadata = json_object_get(artifact->document, "metadata");

	if (!json_object_get(metadata, "authorized_writer"))
		return 0;
	WFS_AUTO_JSON json_t *without = wfs_json_copy(metadata);
	if (!without)
		return fold_no_memory(error);
	(void)json_object_del(without, "authorized_writer");
	return json_object_set(artifact->document, "metadata", without) < 0 ? fold_no_memory(error)
									    : 0;
}

int64_t artifact_number(const struct artifact *artifact, const char *member)
{
	return json_integer_value(json_object_get(artifact->document, member));
}

int artifact_size(struct wfs_fold *fold, const struct artifact *artifact, int64_t *ret_size,
	struct wfs_error *error)
{
	int64_t entries;
	int r = artifact_holding(fold)->bytes(fold, artifact->id, &entries, error);

	*ret_size = artifact_number(artifact, "content_size") +
		artifact_number(artifact, "code_size") + entries;
	return wfs_trace(r);
}

const char *artifact_charged_to(const struct artifact *artifact)
{
	return wfs_json_text(artifact->document, "charged_to");
}

int artifact_disk_payer(struct wfs_fold *fold, const char *id, const char **ret_payer,
	json_t **ret_keep, struct wfs_error *error)
{
	struct artifact self = {.document = NULL};
	int r = fold_lives(fold, WFS_BUILTIN_DELETED, id, error);

	*ret_payer = id;
	*ret_keep = NULL;
	if (r > 0) /* its code may still run */
		return wfs_trace(missing(fold, id, error));
	if (!r)
		r = artifact_exists(fold, id, error);
	if (r > 0)
		r = artifact_get(fold, id, &self, error);
	if (r || !self.document)
		return wfs_trace(r);
	*ret_payer = artifact_charged_to(&self);
	*ret_keep = self.document;
	return 0;
}

/* --- content and code --- */

bool artifact_is_free(const struct act *act, const struct artifact *artifact)
{
	return strcmp(act->payer, artifact->owner) == 0 ||
		strcmp(act->actor, artifact->owner) == 0 ||
		strcmp(act->actor, WFS_PRINCIPAL_MINT) == 0;
}

int64_t artifact_price(const struct act *act, const struct artifact *artifact, const char *member)
{
	return artifact_is_free(act, artifact) ? 0 : artifact_number(artifact, member);
}

/* Does the owner of the artifact run code that somebody else has written? */
static bool is_lent(const struct act *act, const struct artifact *artifact)
{
	return act->within && strcmp(act->payer, artifact->owner) == 0 &&
		strcmp(act->actor, artifact->owner) != 0 &&
		strcmp(author_now(act), artifact->owner) != 0;
}

int64_t artifact_read_price(const struct act *act, const struct artifact *artifact)
{
	return is_lent(act, artifact) ? artifact_number(artifact, "read_price")
				      : artifact_price(act, artifact, "read_price");
}

/* What the mint holds are bids. Code that it tries must not spend them, nor learn for nothing what costs. */
int artifact_check_payer(const struct act *act, const struct artifact *artifact, int64_t price,
	struct wfs_error *error)
{
	if (price == 0 || strcmp(act->payer, WFS_PRINCIPAL_MINT) != 0)
		return 0;
	return wfs_error_set(error, WFS_E_INSUFFICIENT_FUNDS,
		"'%s' costs %" PRId64 " scrip, and the mint pays for nothing", artifact->id, price);
}

int artifact_earner(struct wfs_fold *fold, const struct artifact *artifact,
	char ret_id[static WFS_ARTIFACT_ID_MAX + 1], struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *sale = NULL;
	size_t cell;
	int r = fold_load(fold, WFS_BUILTIN_ESCROW, artifact->id, &cell, &sale, error);
	const char *id = sale ? wfs_json_text(sale, "seller") : artifact->owner;
	const int there = r || !sale ? 1 : account_exists(fold, id, error);

	if (r || there < 0)
		return wfs_trace(r ? r : there);
	if (!there)
		id = artifact_charged_to(artifact);
	snprintf(ret_id, WFS_ARTIFACT_ID_MAX + 1, "%s", id);
	return 0;
}

int artifact_pay_to_read(struct act *act, const struct artifact *artifact, int64_t *ret_price,
	struct wfs_error *error)
{
	const int64_t price = artifact_read_price(act, artifact);
	char earner[WFS_ARTIFACT_ID_MAX + 1];

	*ret_price = 0;
	if (price == 0)
		return 0;
	if (is_lent(act, artifact))
		return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
			"reading '%s' costs scrip, and its owner would pay itself: code of "
			"another author may not read it for the owner",
			artifact->id);
	int r = artifact_check_payer(act, artifact, price, error);
	if (!r)
		r = artifact_earner(act->fold, artifact, earner, error);
	if (!r)
		r = account_move(act->fold, act->payer, earner, price, error);
	if (r)
		return wfs_trace(r);
	*ret_price = price;
	return 0;
}

int artifact_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes *ret_bytes, struct wfs_error *error)
{
	size_t cell;
	int r = fold_touch(fold, fold_builtin(fold, reducer), wfs_bytes_text(id), &cell, error);

	if (!r)
		*ret_bytes = fold_cell_at(fold, cell)->live
			? fold_bytes(fold, fold_cell_at(fold, cell)->state)
			: WFS_BYTES("", 0);
	return wfs_trace(r);
}

int artifact_set_text(struct wfs_fold *fold, enum wfs_builtin_reducer reducer, const char *id,
	struct wfs_bytes bytes, struct wfs_error *error)
{
	size_t cell;
	int r = fold_touch(fold, fold_builtin(fold, reducer), wfs_bytes_text(id), &cell, error);

	if (r)
		return wfs_trace(r);
	return wfs_trace(bytes.size == 0 && reducer == WFS_BUILTIN_CODE
			? fold_delete(fold, cell, error)
			: fold_set(fold, cell, bytes, error));
}

/* --- who may --- */

static const char *const use_names[] = {
#define ARTIFACT_USE_NAME(constant, name) [ARTIFACT_USE_##constant] = (name),
	ARTIFACT_USES(ARTIFACT_USE_NAME)
#undef ARTIFACT_USE_NAME
};

static bool is_owner(const char *actor, const struct artifact *artifact)
{
	return strcmp(actor, artifact->owner) == 0;
}

static bool is_open(enum artifact_use use)
{
	return use == ARTIFACT_USE_READ || use == ARTIFACT_USE_INVOKE;
}

static bool by_public(const char *actor, const struct artifact *artifact, enum artifact_use use)
{
	(void)actor;
	(void)artifact;
	(void)use;
	return true;
}

static bool by_freeware(const char *actor, const struct artifact *artifact, enum artifact_use use)
{
	return is_open(use) || is_owner(actor, artifact);
}

/* A writer that is named there changes it instead of the owner, who pays for what is in it and can delete it. */
static bool by_transferable_freeware(
	const char *actor, const struct artifact *artifact, enum artifact_use use)
{
	const char *const writer = json_string_value(json_object_get(
		json_object_get(artifact->document, "metadata"), "authorized_writer"));

	return is_open(use) || (writer && strcmp(actor, writer) == 0) ||
		((!writer || use == ARTIFACT_USE_DELETE) && is_owner(actor, artifact));
}

static bool by_self_owned(const char *actor, const struct artifact *artifact, enum artifact_use use)
{
	(void)use;
	return is_owner(actor, artifact) || strcmp(actor, artifact->id) == 0;
}

static bool by_private(const char *actor, const struct artifact *artifact, enum artifact_use use)
{
	(void)use;
	return is_owner(actor, artifact);
}

static const struct rule {
	const char *name;
	bool (*allows)(const char *actor, const struct artifact *artifact, enum artifact_use);
	const char *reason; /* of a refusal */
} rules[] = {
	{"freeware", by_freeware, "only the owner changes it"},
	{"transferable_freeware", by_transferable_freeware,
		"only the authorized writer, or else the owner, changes it"},
	{"self_owned", by_self_owned, "it is for the owner and itself"},
	{"private", by_private, "it is for the owner"},
	{"public", by_public, ""},
};

static const struct rule *find_rule(const char *name)
{
	for (size_t i = 0; i < WFS_ARRAY_COUNT(rules); i++)
		if (strcmp(rules[i].name, name) == 0)
			return &rules[i];
	return NULL;
}

bool artifact_is_rule(const char *access)
{
	return find_rule(access) != NULL;
}

static int deny(const struct act *act, const struct artifact *artifact, enum artifact_use use,
	const char *reason, struct wfs_error *error)
{
	wfs_error_set(error, WFS_E_NOT_AUTHORIZED, "'%s' may not %s '%s' (%s: %.200s)", act->actor,
		use_names[use], artifact->id, artifact->access, reason);
	if (use == ARTIFACT_USE_WRITE)
		return act_refuse_id(act, WFS_ENTITY_ARTIFACT, artifact->id, error);
	return act_refuse_artifact(act, artifact, error);
}

int artifact_permit(struct act *act, const struct artifact *artifact, enum artifact_use use,
	struct wfs_error *error)
{
	const struct rule *const rule = find_rule(artifact->access);
	char reason[CONTRACT_REASON_SIZE] = "";
	bool allowed;

	if (!is_open(use) && service_find(act->fold->domains, artifact->owner) &&
		!is_owner(act->actor, artifact))
		return deny(act, artifact, use, "it is for sale", error);
	if (rule)
		return rule->allows(act->actor, artifact, use)
			? 0
			: deny(act, artifact, use, rule->reason, error);
	int r = contract_permit(act, artifact, use_names[use], &allowed, reason, error);
	if (r || allowed)
		return wfs_trace(r);
	return deny(act, artifact, use, reason, error);
}

/* Whether a contract would let somebody read is asked when he reads by an action, which may run it. */
bool wfs_artifact_reads(const json_t *state, const char *principal)
{
	/* Borrowed: the rules only look at it. */
	const struct artifact artifact = artifact_of((json_t *)(uintptr_t)state, SIZE_MAX);
	const struct rule *const rule = find_rule(artifact.access);

	if (is_owner(principal, &artifact))
		return true;
	return artifact_number(&artifact, "read_price") == 0 && rule &&
		rule->allows(principal, &artifact, ARTIFACT_USE_READ);
}

enum wfs_artifact_answer wfs_artifact_invokes(const json_t *state, const char *principal)
{
	const struct artifact artifact = artifact_of((json_t *)(uintptr_t)state, SIZE_MAX);
	const struct rule *const rule = find_rule(artifact.access);

	if (is_owner(principal, &artifact))
		return WFS_ARTIFACT_YES;
	if (!rule)
		return WFS_ARTIFACT_CONTRACT;
	return rule->allows(principal, &artifact, ARTIFACT_USE_INVOKE) ? WFS_ARTIFACT_YES
								       : WFS_ARTIFACT_NO;
}
