/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/host/endpoint.h"

#include <curl/curl.h>
#include <string.h>

#include "agents/host/secret.h"
#include "kernel/base/host-form.h"
#include "kernel/base/trust.h"

/* Takes the time limits that are set. */
static void set_limits(const struct wfs_host_model *model, struct wfs_model_endpoint *endpoint)
{
	const struct {
		int64_t set;
		int64_t *value;
	} limits[] = {
		{model->connect_timeout_ms, &endpoint->connect_timeout_ms},
		{model->first_byte_timeout_ms, &endpoint->first_byte_timeout_ms},
		{model->idle_timeout_ms, &endpoint->idle_timeout_ms},
		{model->total_timeout_ms, &endpoint->total_timeout_ms},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(limits); i++)
		if (limits[i].set > 0)
			*limits[i].value = limits[i].set;
}

int agents_endpoint_check(const char *variable, const char *url_text, struct wfs_error *error)
{
	CURLU *const url = curl_url();
	char *host = NULL;
	char *port = NULL;
	char *scheme = NULL;
	int r = url ? 0 : wfs_error_from_errno(error, -ENOMEM, "read the URL of a server");

	if (!r &&
		(curl_url_set(url, CURLUPART_URL, url_text ? url_text : "", 0) ||
			curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
			curl_url_get(url, CURLUPART_HOST, &host, 0) ||
			curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT)))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"expected an http or https URL, got '%.100s'", url_text ? url_text : "");
	if (!r) /* others on the network can read what is sent plainly */
		r = wfs_trust_key(variable, host, port,
			(!scheme || strcmp(scheme, "https") != 0) && !wfs_trust_is_loopback(host),
			error);
	curl_free(host);
	curl_free(port);
	curl_free(scheme);
	curl_url_cleanup(url);
	return r;
}

int agents_endpoint_make(const json_t *entry, int64_t left_ms,
	struct wfs_model_endpoint *ret_endpoint, struct wfs_error *error)
{
	struct wfs_host_model model;
	int r = wfs_form_read(&wfs_host_model_form, "a model", entry, &model, error);

	*ret_endpoint = WFS_MODEL_ENDPOINT_DEFAULT;
	if (!r && model.api_key_env)
		r = agents_endpoint_check(model.api_key_env, model.base_url, error);
	if (r)
		return r;
	ret_endpoint->base_url = model.base_url;
	ret_endpoint->stream = model.stream;
	set_limits(&model, ret_endpoint);
	if (ret_endpoint->total_timeout_ms > left_ms)
		ret_endpoint->total_timeout_ms = left_ms;
	if (!model.api_key_env)
		return 0;
	ret_endpoint->api_key = agents_secret_get(model.api_key_env);
	return ret_endpoint->api_key
		? 0
		: wfs_error_set(error, WFS_E_NOT_FOUND,
			  "api_key_env of the model is '%s', which is not in the environment of "
			  "the process that owns the world: start that process with it",
			  model.api_key_env);
}
