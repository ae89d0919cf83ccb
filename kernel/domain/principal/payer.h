/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which principal pays for records, and what the quota `journal` of that principal has left.
 *
 * A principal that has such a quota pays for the records of its own requests. An agent without one spends the quota of
 * the principal whose request made the agent: otherwise each new agent would be a new journal without a limit. Of
 * a principal without a quota nothing is counted, so its requests write no more than their records.
 *
 * A record counts with its body, with WFS_PAYER_RECORD_BYTES for the rest of its line, and with the private texts that
 * are stored beside it (kernel/read/text.h), which count from their stand-ins. So the count follows from the journal alone.
 */
#pragma once

#include "kernel/manifest/grant.h"
#include "kernel/read/view.h"

enum {
	/* Bytes that a record counts with beside its body: more than the rest of a line can have. */
	WFS_PAYER_RECORD_BYTES = 512,
	WFS_PAYER_TEXT_BYTES = 512, /* the same of a private text, beside its JSON */
};

/* Plain value. */
struct wfs_payer {
	bool limited;                    /* by a quota: the rest is set */
	char id[WFS_GRANT_NAME_MAX + 1]; /* of the principal that has the quota */
	int64_t quota;                   /* bytes, 0 or more */
	int64_t used;                    /* bytes, 0 or more */
};

/** wfs_payer_maker() - of an agent: the principal whose request made it, or made the agent whose request did, and so on
 *  @principal: document of its cell of sys.principal; may be NULL
 *  Return: borrowed; NULL: it was not made with an artifact. */
const char *wfs_payer_maker(const json_t *principal);

/** wfs_payer_find() - which principal pays for a request of @principal. Return: 0, -EIO, -ENOMEM. */
int wfs_payer_find(struct wfs_view *view, const char *principal, struct wfs_payer *ret_payer,
	struct wfs_error *error);

/** wfs_payer_read() - set quota and used of @payer from the document of its cell of sys.resource.
 *  Return: whether that has a quota `journal`. */
bool wfs_payer_read(const json_t *resources, struct wfs_payer *payer);

/** wfs_payer_check() - is there room for @size_bytes more? Return: 0, or -EDQUOT (quota_exceeded). */
int wfs_payer_check(const struct wfs_payer *payer, int64_t size_bytes, struct wfs_error *error);
