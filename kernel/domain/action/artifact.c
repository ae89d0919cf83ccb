/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of artifacts, and their prices. */
#include "kernel/domain/action/invoke.h"

#include <inttypes.h>

const struct artifact_holding *artifact_holding(const struct wfs_fold *fold)
{
	const struct wfs_domain *const *domain = fold->domains;

	while (*domain && !(*domain)->holding)
		domain++;
	wfs_require(*domain != NULL);
	return (*domain)->holding;
}

int artifact_exists(struct wfs_fold *fold, const char *id, struct wfs_error *error)
{
	return fold_lives(fold, WFS_BUILTIN_ARTIFACT, id, error);
}

/* Says why an artifact is missing: deleted, or not found. */
static int missing(struct wfs_fold *fold, const char *id, struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_deleted deleted;
	int r = fold_read_deleted(fold, id, &deleted, error);

	if (r)
		return wfs_trace(r);
	if (deleted.own.json)
		return wfs_error_set(error, WFS_E_DELETED, "Artifact '%s' was deleted by '%s'", id,
			deleted.deleted_by);
	return wfs_error_set(error, WFS_E_NOT_FOUND, "Artifact '%s' not found", id);
}

int artifact_get(struct wfs_fold *fold, const char *id, struct wfs_document_artifact *ret_artifact,
	struct wfs_error *error)
{
	if (!wfs_grant_name_valid(id))
		return wfs_error_set(error, WFS_E_NOT_FOUND, "Artifact '%.140s' not found", id);
	int r = fold_read_artifact(fold, id, ret_artifact, error);
	if (r)
		return wfs_trace(r);
	return ret_artifact->own.json ? 0 : missing(fold, id, error);
}

int artifact_size(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	int64_t *ret_size, struct wfs_error *error)
{
	int64_t entries;
	int r = artifact_holding(fold)->bytes(fold, artifact->id, &entries, error);

	*ret_size =
		artifact->content_size + artifact_text_size(artifact, WFS_BUILTIN_CODE) + entries;
	return wfs_trace(r);
}

int artifact_disk_payer(struct wfs_fold *fold, const char *id,
	char ret_id[static WFS_ARTIFACT_ID_MAX + 1], struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_artifact self = {.own.json = NULL};
	int r = fold_lives(fold, WFS_BUILTIN_DELETED, id, error);

	if (r > 0) /* its code may still be running */
		return wfs_trace(missing(fold, id, error));
	if (!r)
		r = artifact_exists(fold, id, error);
	if (r > 0)
		r = artifact_get(fold, id, &self, error);
	if (!r)
		snprintf(ret_id, WFS_ARTIFACT_ID_MAX + 1, "%s",
			self.own.json ? self.charged_to : id);
	return wfs_trace(r);
}

/* --- content and code --- */

bool artifact_is_free(const struct act *act, const struct wfs_document_artifact *artifact)
{
	return strcmp(act->payer, artifact->owner) == 0 ||
		strcmp(act->actor, artifact->owner) == 0 ||
		strcmp(act->actor, WFS_PRINCIPAL_MINT) == 0;
}

int64_t artifact_invoke_price(const struct act *act, const struct wfs_document_artifact *artifact)
{
	return artifact_is_free(act, artifact) ? 0 : artifact->invoke_price;
}

/* Does the owner of the artifact run code by another author? */
static bool is_lent(const struct act *act, const struct wfs_document_artifact *artifact)
{
	return act->within && strcmp(act->payer, artifact->owner) == 0 &&
		strcmp(act->actor, artifact->owner) != 0 &&
		strcmp(author_now(act), artifact->owner) != 0;
}

int64_t artifact_read_price(const struct act *act, const struct wfs_document_artifact *artifact)
{
	return artifact_is_free(act, artifact) && !is_lent(act, artifact) ? 0
									  : artifact->read_price;
}

/* The mint holds bids. Code that it tries must not spend them, nor read for nothing what has a
 * price. */
int artifact_check_payer(const struct act *act, const struct wfs_document_artifact *artifact,
	int64_t price, struct wfs_error *error)
{
	if (price == 0 || strcmp(act->payer, WFS_PRINCIPAL_MINT) != 0)
		return 0;
	return wfs_error_set(error, WFS_E_INSUFFICIENT_FUNDS,
		"'%s' costs %" PRId64 " scrip, and the mint pays for nothing", artifact->id, price);
}

int artifact_earner(struct wfs_fold *fold, const struct wfs_document_artifact *artifact,
	char ret_id[static WFS_ARTIFACT_ID_MAX + 1], struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_escrow sale;
	int r = fold_read_escrow(fold, artifact->id, &sale, error);
	const char *id = sale.seller ? sale.seller : artifact->owner;
	const int there = r || !sale.seller ? 1 : account_exists(fold, id, error);

	if (r || there < 0)
		return wfs_trace(r ? r : there);
	if (!there)
		id = artifact->charged_to;
	snprintf(ret_id, WFS_ARTIFACT_ID_MAX + 1, "%s", id);
	return 0;
}

int artifact_pay_to_read(struct act *act, const struct wfs_document_artifact *artifact,
	int64_t *ret_price, struct wfs_error *error)
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
