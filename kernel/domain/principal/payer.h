/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which principal pays for records, and what is left of that principal's quota `journal`.
 *
 * A principal with such a quota pays for the records of its own requests. An agent without one
 * spends the quota of the principal whose request made the agent; otherwise each new agent would
 * bring a new unlimited journal. Without any quota nothing is counted, so that requests write no
 * cell for counting.
 *
 * A record counts with its body, WFS_PAYER_RECORD_BYTES for the rest of its line, and the private
 * texts that are stored beside it (kernel/read/text.h), whose sizes come from their stand-ins. So
 * the count follows from the journal alone. Functions that return -errno fill @error, which may be
 * NULL.
 * Thread: that of the view.
 */
#pragma once

#include "kernel/manifest/document.h"
#include "kernel/manifest/grant.h"
#include "kernel/read/view.h"

enum {
	/* Bytes counted for a record beside its body: no less than the rest of a line can have. */
	WFS_PAYER_RECORD_BYTES = 512,
	WFS_PAYER_TEXT_BYTES = 512, /* counted for a private text, beside its JSON */
};

/* Plain value. */
struct wfs_payer {
	bool limited; /* true: a quota limits it, and the other members are set */
	char id[WFS_GRANT_NAME_MAX + 1]; /* of the principal that has the quota */
	int64_t quota;                   /* bytes, 0 or more */
	int64_t used;                    /* bytes, 0 or more */
};

/** wfs_payer_maker() - find the principal for which an agent was made: the principal whose request
 *  made the agent or, if an agent sent that request, the principal for which this other agent was
 *  made
 *  @principal: document of sys.principal, or zeros
 *  Return: id, borrowed from @principal; NULL: @principal is not the document of an agent. */
const char *wfs_payer_maker(const struct wfs_document_principal *principal);

/** wfs_payer_find() - find the principal whose quota `journal` pays for a request of @principal,
 *  and read the quota
 *  @view: in which cells are read. @ret_payer: set on success; its `limited` is false if no such
 *  quota exists. Return: 0, -EIO (a cell is damaged), -ENOMEM. */
int wfs_payer_find(struct wfs_view *view, const char *principal, struct wfs_payer *ret_payer,
	struct wfs_error *error);

/** wfs_payer_read() - set `limited`, `quota` and `used` of @payer; its `id` stays
 *  @resources: document of the payer's cell of sys.resource, borrowed during the call; NULL: no
 *  quota
 *  Return: @payer->limited: whether a quota `journal` exists. */
bool wfs_payer_read(const json_t *resources, struct wfs_payer *payer);

/** wfs_payer_check() - check that the payer's quota, if any, has room for @size_bytes more
 *  Return: 0, or -EDQUOT (quota_exceeded: less is left). */
int wfs_payer_check(const struct wfs_payer *payer, int64_t size_bytes, struct wfs_error *error);
