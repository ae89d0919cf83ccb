/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and frees clients. */
#include "agents/model/client.h"

#include <errno.h>

#include "agents/model/client-impl.h"

void wfs_model_client_handle_closed(struct wfs_model_client *client)
{
	if (--client->handle_count == 0)
		free(client);
}

static void on_over(void *call, CURLcode result)
{
	wfs_model_attempt_over(call, result);
}

static void on_multi_closed(void *client)
{
	wfs_model_client_handle_closed(client);
}

int wfs_model_client_new(uv_loop_t *loop, struct wfs_model_client **ret_client)
{
	WFS_AUTO_FREE struct wfs_model_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->loop = loop;
	const int r = wfs_multi_new(loop, on_over, on_multi_closed, client, &client->multi);
	if (r)
		return r;
	TAILQ_INIT(&client->calls);
	TAILQ_INIT(&client->queue);
	client->handle_count = 1;
	*ret_client = WFS_STEAL(client);
	return 0;
}

void wfs_model_client_free(struct wfs_model_client *client)
{
	struct wfs_model_call *call = NULL;

	if (!client)
		return;
	while ((call = TAILQ_FIRST(&client->calls)))
		wfs_model_call_cancel(call);
	wfs_multi_free(client->multi);
}
