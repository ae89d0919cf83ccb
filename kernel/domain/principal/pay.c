/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the records of a request add to the journal against the quota of the principal that
 * pays for them. */
#include "kernel/base/json.h"
#include "kernel/domain/principal/account.h"
#include "kernel/domain/principal/principal-impl.h"

static struct wfs_payer *payer_of(const struct wfs_fold *fold)
{
	return &principal_kept(fold)->payer;
}

/* After a lost text, results of earlier actions are unknown, and so is what a principal had
 * left. */
static bool is_counted(const struct wfs_fold *fold)
{
	return fold->input.kind != WFS_RECORD_GENESIS && !fold->input.partial;
}

/* Actions that end something are stored even when the quota is spent, because they cannot be
 * repeated endlessly. So are the end of a timer, and answers from outside, which may have been paid
 * for. */
static bool is_always_stored(const struct wfs_fold *fold)
{
	const struct wfs_action_type *type;

	if (fold->input.kind == WFS_RECORD_RECEIPT || fold->input.fired.how == WFS_FIRED_LAST)
		return true;
	if (fold->input.kind != WFS_RECORD_ACTION || fold->outcome.refusal.code != WFS_OK)
		return false;
	type = wfs_domain_action(fold->domains, wfs_json_text(fold->input.action, "action_type"));
	return type && type->ends;
}

int principal_pay_begin(struct wfs_fold *fold, struct wfs_error *error)
{
	struct wfs_payer *const payer = payer_of(fold);
	struct wfs_view view = fold_view(fold);
	const int64_t size = (int64_t)fold->input.body.size + WFS_PAYER_RECORD_BYTES;

	*payer = (struct wfs_payer){.limited = false};
	if (!is_counted(fold))
		return 0;
	int r = wfs_payer_find(&view, fold->input.principal, payer, error);
	/* Whether an action ends something is known only after it is folded; principal_pay()
	 * checks again. */
	return wfs_trace(r || is_always_stored(fold) ? r : wfs_payer_check(payer, size, error));
}

/* --- private texts --- */

struct counting {
	struct wfs_buffer *scratch;
	int64_t size;
};

static int count_text(void *context, const json_t *stand_in)
{
	struct counting *const counting = context;
	const json_int_t size = json_integer_value(json_object_get(stand_in, "size"));

	wfs_buffer_reset(counting->scratch);
	wfs_json_write(json_object_get(stand_in, "of"), counting->scratch);
	counting->size += WFS_PAYER_TEXT_BYTES + (int64_t)counting->scratch->size + size;
	return wfs_buffer_check(counting->scratch);
}

static int count_texts(struct wfs_fold *fold, int64_t *size)
{
	const struct fold_outcome *const outcome = &fold->outcome;
	struct counting counting = {.scratch = &fold->scratch};
	struct wfs_record_parsed parsed = {
		.record.kind = fold->input.kind,
		.body.action.action =
			outcome->action ? outcome->action : (json_t *)fold->input.action,
		.body.action.result = outcome->result,
	};

	if (fold->input.kind == WFS_RECORD_RECEIPT)
		parsed.body.receipt = *fold->input.receipt;
	int r = wfs_text_each(&parsed, count_text, &counting);

	*size += counting.size;
	return r;
}

/* --- the sum of a request --- */

/* Checks the quota as it is after the request, which may have moved some of it. */
static int check(struct wfs_fold *fold, int64_t size, struct wfs_error *error)
{
	struct wfs_payer *const payer = payer_of(fold);
	WFS_AUTO_JSON json_t *resources = NULL;
	size_t cell;
	int r = fold_load(fold, WFS_BUILTIN_RESOURCE, payer->id, &cell, &resources, error);

	if (r || is_always_stored(fold))
		return wfs_trace(r);
	(void)wfs_payer_read(resources, payer);
	return wfs_payer_check(payer, size, error);
}

int principal_pay(struct wfs_fold *fold, struct wfs_error *error)
{
	const struct wfs_payer *const payer = payer_of(fold);
	int64_t size = 0;

	if (!payer->limited || fold->outcome.unrecorded || fold->unanswered)
		return 0;
	for (size_t i = 0; i < fold->records.count; i++)
		size += WFS_PAYER_RECORD_BYTES +
			(int64_t)wfs_fold_record(fold, fold->head, i).body.size;
	if (count_texts(fold, &size))
		return fold_no_memory(error);
	int r = check(fold, size, error);
	if (r)
		return wfs_trace(r);
	fold->folding = fold->records.count - 1;
	return wfs_trace(account_spend(fold, payer->id, ACCOUNT_JOURNAL, size, error));
}
