/* SPDX-License-Identifier: Apache-2.0 */
/*
 * genesis_escrow: sales of artifacts. A deposited artifact belongs to the escrow until it is
 * bought or taken back. Each method is one record, so at any time the artifact has exactly one
 * owner, and scrip moves together with it or not at all.
 */
#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/domain/principal/account.h"
#include "kernel/domain/service/service-domain.h"
#include "kernel/manifest/entity-table.h"

#define ESCROW "genesis_escrow"

enum { LIST_DEFAULT = 100, LIST_MAX = 1000 };

static int load_sale(const struct service_call *call, const char *artifact_id,
	struct wfs_document_escrow *ret_sale, struct wfs_error *error)
{
	return wfs_grant_name_valid(artifact_id)
		? wfs_trace(fold_read_escrow(call->act->fold, artifact_id, ret_sale, error))
		: wfs_document_read_escrow(NULL, ret_sale, error);
}

static int give(struct service_call *call, const char *from, const char *artifact_id,
	const char *to, struct wfs_error *error)
{
	return wfs_trace(service_act(call, from,
		json_pack("{s:s, s:s, s:s}", "action_type", "transfer_ownership", "artifact_id",
			artifact_id, "to", to),
		NULL, error));
}

/* --- deposit --- */

static int deposit(struct service_call *call, struct wfs_error *error)
{
	const char *const id = service_text(call, "artifact");
	const int64_t price = service_number(call, "price", 0);

	if (price < 1)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'price': expected 1 or more, got %" PRId64, price);
	int r = service_may(call, WFS_EFFECT_ACTION_TRANSFER_OWNERSHIP, id, error);
	if (!r)
		r = give(call, call->act->actor, id, ESCROW, error);
	const struct wfs_document_escrow sale = {.artifact_id = id,
		.deposited_at = call->act->fold->input.at_ns,
		.price = price,
		.seller = call->act->actor};
	if (!r)
		r = fold_put_escrow(call->act->fold, id, &sale, error);
	if (r)
		return wfs_trace(r);
	call->result = json_pack("{s:s, s:I, s:s}", "artifact_id", id, "price", (json_int_t)price,
		"seller", call->act->actor);
	return call->result ? 0 : fold_no_memory(error);
}

/* --- purchase, cancel --- */

/* An artifact that is being taken out of the escrow. Plain value; taking_done. */
struct taking {
	struct wfs_document_escrow sale;
	struct wfs_document_artifact artifact;
	char seller[WFS_ARTIFACT_ID_MAX + 1]; /* or the replacement for a seller that is gone */
};

static void taking_done(struct taking *taking)
{
	wfs_document_done(&taking->sale);
	wfs_document_done(&taking->artifact);
}
#define TAKING_AUTO WFS_CLEANUP(taking_done)

static int not_for_sale(const char *id, struct wfs_error *error)
{
	return wfs_error_set(error, WFS_E_NOT_FOUND, "'%.140s' is not for sale", id);
}

static int begin_taking(
	const struct service_call *call, struct taking *ret_taking, struct wfs_error *error)
{
	const char *const id = service_text(call, "artifact");
	int r = load_sale(call, id, &ret_taking->sale, error);

	if (!r && !ret_taking->sale.own.json)
		r = not_for_sale(id, error);
	if (!r)
		r = artifact_get(call->act->fold, id, &ret_taking->artifact, error);
	return wfs_trace(r ? r
			   : artifact_earner(call->act->fold, &ret_taking->artifact,
				     ret_taking->seller, error));
}

/* Ends the sale, and gives the artifact to @to. */
static int end_taking(struct service_call *call, const struct taking *taking, const char *to,
	struct wfs_error *error)
{
	int r = give(call, ESCROW, taking->artifact.id, to, error);

	return wfs_trace(r ? r : fold_delete(call->act->fold, taking->sale.own.cell, error));
}

static int purchase(struct service_call *call, struct wfs_error *error)
{
	const char *const buyer = call->act->actor;
	TAKING_AUTO struct taking taking = {.seller = ""};
	int r = service_may(call, WFS_EFFECT_ACTION_TRANSFER, NULL, error);

	if (!r)
		r = begin_taking(call, &taking, error);
	if (!r && strcmp(taking.seller, buyer) == 0)
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'%.140s' sells it himself: 'cancel' gives it back", buyer);
	if (!r)
		r = account_move(call->act->fold, buyer, taking.seller, taking.sale.price, error);
	(void)json_object_del(taking.artifact.metadata, "authorized_writer");
	if (!r)
		r = fold_write_artifact(call->act->fold, &taking.artifact, error);
	if (!r)
		r = end_taking(call, &taking, buyer, error);
	if (r)
		return wfs_trace(r);
	call->result = json_pack("{s:s, s:s, s:I, s:s}", "artifact_id", taking.artifact.id, "buyer",
		buyer, "price", (json_int_t)taking.sale.price, "seller", taking.seller);
	return call->result ? 0 : fold_no_memory(error);
}

static int refuse_cancel(
	const struct service_call *call, const struct taking *taking, struct wfs_error *error)
{
	const char *const id = taking->artifact.id;
	const int knows = act_knows(call->act, WFS_ENTITY_ARTIFACT, id, error);

	if (knows < 0)
		return wfs_trace(knows);
	if (knows == 0)
		return not_for_sale(id, error);
	return wfs_error_set(error, WFS_E_NOT_AUTHORIZED,
		"'%s' may not cancel the sale of '%s': '%s' sells it", call->act->actor, id,
		taking->seller);
}

static int cancel(struct service_call *call, struct wfs_error *error)
{
	TAKING_AUTO struct taking taking = {.seller = ""};
	int r = begin_taking(call, &taking, error);

	if (!r && strcmp(taking.seller, call->act->actor) != 0)
		r = refuse_cancel(call, &taking, error);
	if (!r)
		r = end_taking(call, &taking, taking.seller, error);
	if (r)
		return wfs_trace(r);
	call->result =
		json_pack("{s:s, s:s}", "artifact_id", taking.artifact.id, "owner", taking.seller);
	return call->result ? 0 : fold_no_memory(error);
}

/* --- looking --- */

static int check(struct service_call *call, struct wfs_error *error)
{
	const char *const id = service_text(call, "artifact");
	WFS_AUTO_DOCUMENT struct wfs_document_escrow sale;
	int r = load_sale(call, id, &sale, error);

	if (r)
		return wfs_trace(r);
	call->result = sale.own.json
		? json_pack("{s:s, s:b, s:I, s:s}", "artifact_id", id, "for_sale", 1, "price",
			  (json_int_t)sale.price, "seller", sale.seller)
		: json_pack("{s:s, s:b}", "artifact_id", id, "for_sale", 0);
	return call->result ? 0 : fold_no_memory(error);
}

/* Lists the sales before this record, the oldest first. Return: 0, or -errno. */
static int list_sales(struct service_call *call, json_t *sales, int64_t limit)
{
	struct wfs_view view = fold_view(call->act->fold);
	WFS_AUTO_ENTRY_WALK struct wfs_entry_walk walk = {0};
	struct wfs_reducer reducer;
	struct wfs_entry entry;
	int r = wfs_view_builtin(&view, WFS_BUILTIN_ESCROW, &reducer);

	if (!r)
		r = wfs_entry_walk_init(&walk, &view, reducer.reducer_id, 0);
	while (!r && (int64_t)json_array_size(sales) < limit &&
		(r = wfs_entry_walk_next(&walk, &entry)) > 0) {
		WFS_AUTO_JSON json_t *document = NULL;
		struct wfs_version version;

		r = wfs_view_version(&view, entry.vid, &version);
		if (!r)
			r = wfs_view_state(&view, &version, &document);
		if (!r && json_array_append(sales, document) < 0)
			r = -ENOMEM;
	}
	return wfs_trace(r);
}

static int list_active(struct service_call *call, struct wfs_error *error)
{
	const int64_t limit = service_number(call, "limit", LIST_DEFAULT);
	WFS_AUTO_JSON json_t *sales = json_array();

	if (limit > LIST_MAX)
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'limit': expected at most %d, got %" PRId64, LIST_MAX, limit);
	int r = sales ? list_sales(call, sales, limit) : -ENOMEM;
	if (r)
		return wfs_error_from_errno(error, r, "list what is for sale");
	call->result = json_pack("{s:I, s:O}", "count",
		(json_int_t)fold_live_count(call->act->fold, WFS_BUILTIN_ESCROW), "listings",
		sales);
	return call->result ? 0 : fold_no_memory(error);
}

static const struct wfs_field artifact_params[] = {
	{"artifact", &wfs_form_text, 0, "the id of one that is offered"},
	{NULL},
};

static const struct wfs_field deposit_params[] = {
	{"artifact", &wfs_form_text, 0, "the id of one of yours"},
	{"price", &wfs_form_nat, 0, "scrip, 1 or more"},
	{NULL},
};

static const struct wfs_field list_params[] = {
	{"limit", &wfs_form_nat, WFS_OPTIONAL, "at most so many, 100 when absent"},
	{NULL},
};

const struct service_method escrow_methods[] = {
	{"deposit", 0, deposit, deposit_params,
		"offers an artifact for a price; the escrow owns it"},
	{"purchase", 0, purchase, artifact_params,
		"pays the seller, and makes it the buyer's, who calls"},
	{"cancel", 0, cancel, artifact_params, "gives it back to the seller, who calls"},
	{"check", 0, check, artifact_params, "tells whether it is for sale, and for how much"},
	{"list_active", 0, list_active, list_params, "lists what is for sale"},
	{NULL},
};
