/* SPDX-License-Identifier: Apache-2.0 */
/* genesis_ledger: scrip. */
#include "kernel/base/json.h"
#include "kernel/domain/principal/account.h"
#include "kernel/domain/service/service-domain.h"

static int transfer(struct service_call *call, struct wfs_error *error)
{
	const char *const to = service_text(call, "to");
	int r = service_may(call, WFS_EFFECT_ACTION_TRANSFER, NULL, error);

	if (r)
		return wfs_trace(r);
	return wfs_trace(service_act(call, call->act->actor,
		json_pack("{s:s, s:s, s:I}", "action_type", "transfer", "to", to, "amount",
			(json_int_t)service_number(call, "amount", 0)),
		&call->result, error));
}

/* The balance of a principal that the caller does not see is 0. */
static int balance(struct service_call *call, struct wfs_error *error)
{
	const json_t *const given = json_object_get(call->args, "id");
	const char *const id = given ? json_string_value(given) : call->act->actor;
	int64_t scrip = 0;
	int r = strcmp(id, call->act->actor) == 0
		? 1
		: author_sees(call->self, WFS_QUERY_PART_PRINCIPAL, id, error);

	if (r > 0)
		r = account_scrip(call->act->fold, id, &scrip, error);
	if (r)
		return wfs_trace(r);
	call->result = json_pack("{s:s, s:I}", "id", id, "scrip", (json_int_t)scrip);
	return call->result ? 0 : fold_no_memory(error);
}

static const struct wfs_field transfer_params[] = {
	{"to", &wfs_form_text, 0, "principal or artifact"},
	{"amount", &wfs_form_nat, 0, "scrip, 1 or more"},
	{NULL},
};

static const struct wfs_field balance_params[] = {
	{"id", &wfs_form_text, WFS_OPTIONAL, "principal or artifact; who calls when absent"},
	{NULL},
};

const struct service_method ledger_methods[] = {
	{"transfer", 0, transfer, transfer_params, "gives scrip of who calls to somebody"},
	{"balance", 0, balance, balance_params, "tells how much scrip somebody has"},
	{NULL},
};
