/* SPDX-License-Identifier: Apache-2.0 */
/* Principals, their grants and accounts, as a domain. */
#include "kernel/domain/principal/principal-impl.h"
#include "kernel/domain/query/query-run.h"
#include "kernel/read/entity.h"

static const struct wfs_action_type actions[] = {
	{"grant", .check = grants_check_grant, .fold = grants_fold_grant},
	{"revoke", true, .check = grants_check_revoke, .fold = grants_fold_revoke},
	{"principal", .check = grants_check_principal, .fold = grants_fold_principal},
	{NULL},
};

static int write_quotas(struct wfs_view *then, const json_t *state, struct wfs_buffer *buffer)
{
	(void)then;
	return wfs_entity_write_document(wfs_query_quotas(state), buffer);
}

static int write_frozen(struct wfs_view *then, const json_t *state, struct wfs_buffer *buffer)
{
	(void)then;
	wfs_buffer_append_text(buffer, wfs_query_frozen(state) ? "true\n" : "false\n");
	return wfs_buffer_check(buffer);
}

/* A principal has no cell of sys.resource before it uses or gets a resource. */
static const struct wfs_entity_provider files[] = {
	{WFS_ENTITY_FILE_RESOURCES, {.without_cell = true}},
	{WFS_ENTITY_FILE_QUOTAS, {.without_cell = true, .write = write_quotas}},
	{WFS_ENTITY_FILE_FROZEN, {.without_cell = true, .write = write_frozen}},
};

static void done(void *kept)
{
	grants_passed_done(&((struct principal_kept *)kept)->passed);
}

static int begin(struct wfs_fold *fold, struct wfs_error *error)
{
	const struct wfs_fold_input *const input = &fold->input;
	int r = principal_pay_begin(fold, error);

	if (!r && input->charge && !input->partial && input->kind != WFS_RECORD_RECEIPT)
		r = grants_fold_charge(fold, input->charge, error);
	return wfs_trace(r);
}

static int fold_manifest(
	struct wfs_fold *fold, const struct wfs_manifest *to, struct wfs_error *error)
{
	return wfs_trace(
		to ? grants_fold_manifest(fold, to, error) : grants_fold_declared(fold, error));
}

static void changed(struct wfs_fold *fold, const char *reducer, struct wfs_bytes key,
	const struct wfs_state *state)
{
	if (strcmp(reducer, wfs_builtin_reducer_name(WFS_BUILTIN_GRANT)) == 0)
		grants_passed_changed(fold, key, state);
}

static int apply(struct wfs_fold *fold, struct wfs_head *head, size_t index)
{
	(void)index;
	grants_passed_applied(fold, head);
	return 0;
}

const struct wfs_domain wfs_principal_domain = {
	.name = "principal",
	.actions = actions,
	.files = files,
	.file_count = WFS_ARRAY_COUNT(files),
	.kept_size = sizeof(struct principal_kept),
	.done = done,
	.begin = begin,
	.end = principal_pay,
	.fold_manifest = fold_manifest,
	.applying = grants_passed_applying,
	.changed = changed,
	.apply = apply,
};
