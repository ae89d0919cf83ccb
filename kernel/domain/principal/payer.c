/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the principal that pays for records. */
#include "kernel/domain/principal/payer.h"

#include <inttypes.h>

#include "kernel/base/json.h"
#include "kernel/read/view-document.h"

bool wfs_payer_read(const json_t *resources, struct wfs_payer *payer)
{
	const json_t *const journal = json_object_get(resources, "journal");
	const json_t *const quota = json_object_get(journal, "quota");

	payer->limited = json_is_integer(quota);
	payer->quota = json_integer_value(quota);
	payer->used = json_integer_value(json_object_get(journal, "used"));
	return payer->limited;
}

const char *wfs_payer_maker(const struct wfs_document_principal *principal)
{
	return principal->requested_by ? principal->requested_by : principal->agent_of;
}

/* Reads the quota `journal` of @id. Return: 1: it has one, and @payer is set; 0; or -errno. */
static int read_quota(
	struct wfs_view *view, const char *id, struct wfs_payer *payer, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *resources = NULL;
	int r = wfs_view_document(view, WFS_BUILTIN_RESOURCE, id, &resources, error);

	if (r)
		return r == -ENOENT ? 0 : wfs_trace(r);
	snprintf(payer->id, sizeof(payer->id), "%s", id);
	return wfs_payer_read(resources, payer);
}

int wfs_payer_find(struct wfs_view *view, const char *principal, struct wfs_payer *ret_payer,
	struct wfs_error *error)
{
	WFS_AUTO_DOCUMENT struct wfs_document_principal document = {.own = {.json = NULL}};
	struct wfs_payer payer = {.limited = false};
	int r = read_quota(view, principal, &payer, error);

	if (r == 0)
		r = wfs_view_read_principal(view, principal, &document, error);
	if (r == -ENOENT) /* principals of the kernel itself have no cell */
		r = 0;
	const char *const maker = wfs_payer_maker(&document);
	if (r == 0 && maker)
		r = read_quota(view, maker, &payer, error);
	if (r < 0)
		return wfs_trace(r);
	*ret_payer = payer;
	return 0;
}

int wfs_payer_check(const struct wfs_payer *payer, int64_t size_bytes, struct wfs_error *error)
{
	if (!payer->limited ||
		(payer->used <= payer->quota && size_bytes <= payer->quota - payer->used))
		return 0;
	return wfs_error_set(error, WFS_E_QUOTA_EXCEEDED,
		"'%s' has used %" PRId64 " of its quota of %" PRId64
		" bytes of journal, and %" PRId64 " more are needed",
		payer->id, payer->used, payer->quota, size_bytes);
}
