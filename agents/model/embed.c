/* SPDX-License-Identifier: Apache-2.0 */
/* Calls for embeddings. */
#include "agents/model/embed.h"

#include <errno.h>

#include "kernel/base/json.h"

/* The client returns documents of any 2xx status, without the status. */
enum { STATUS_SUCCESS = 200 };

int wfs_model_embed_start(struct wfs_model_client *client,
	const struct wfs_model_embed_request *request, struct wfs_buffer *body,
	const struct wfs_model_callbacks *callbacks, struct wfs_model_call **ret_call,
	struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *json = NULL;
	int r = wfs_embedding_request(request->entry, request->text, &json, error);

	if (r < 0)
		return r;
	wfs_json_write(json, body);
	r = wfs_buffer_check(body);
	if (r < 0)
		return wfs_error_from_errno(error, r, "ask for an embedding");
	const struct wfs_model_request call = {
		.endpoint = request->endpoint,
		.service = WFS_MODEL_EMBEDDINGS,
		.body = wfs_buffer_bytes(body),
		.idempotency_key = request->idempotency_key,
	};
	return wfs_model_call_start(client, &call, callbacks, ret_call, error);
}

int wfs_model_embed_read(const struct wfs_model_result *result,
	const struct wfs_model_endpoint *endpoint, const json_t *entry,
	struct wfs_embedding *ret_embedding, struct wfs_model_failure *ret_failure)
{
	struct wfs_model_failure failure = {.status = STATUS_SUCCESS, .secret = endpoint->api_key};
	int r;

	if (result->failure) {
		*ret_failure = *result->failure;
		return -EBADMSG;
	}
	r = wfs_embedding_read(result->completion, entry, ret_embedding, &failure);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		wfs_model_failure_set(&failure, WFS_MODEL_FAILURE_TRANSPORT,
			WFS_MODEL_CODE_NO_MEMORY, "no memory for the embedding");
	failure.secret = NULL;
	*ret_failure = failure;
	return -EBADMSG;
}
