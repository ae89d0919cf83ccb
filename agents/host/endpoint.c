/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/host/endpoint.h"

#include <curl/curl.h>
#include <string.h>

#include "agents/host/secret.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"

static int read_limits(const json_t *entry, int64_t left_ms, struct wfs_model_endpoint *endpoint,
	struct wfs_error *error)
{
	const struct {
		const char *name;
		int64_t *value;
	} limits[] = {
		{"connect_timeout_ms", &endpoint->connect_timeout_ms},
		{"first_byte_timeout_ms", &endpoint->first_byte_timeout_ms},
		{"idle_timeout_ms", &endpoint->idle_timeout_ms},
		{"total_timeout_ms", &endpoint->total_timeout_ms},
	};
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(limits); i++)
		r = wfs_json_get_integer(
			entry, limits[i].name, 1, INT32_MAX, limits[i].value, error);
	if (endpoint->total_timeout_ms > left_ms)
		endpoint->total_timeout_ms = left_ms;
	return r;
}

/* Where and how curl sends requests to this URL. */
static int check_host(const char *variable, const char *base_url, struct wfs_error *error)
{
	CURLU *const url = curl_url();
	char *host = NULL;
	char *port = NULL;
	char *scheme = NULL;
	int r = url ? 0 : wfs_error_from_errno(error, -ENOMEM, "read 'base_url'");

	if (!r &&
		(curl_url_set(url, CURLUPART_URL, base_url ? base_url : "", 0) ||
			curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) ||
			curl_url_get(url, CURLUPART_HOST, &host, 0) ||
			curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT)))
		r = wfs_error_set(error, WFS_E_INVALID_ARGUMENT,
			"'base_url': expected an http or https URL, got '%.100s'",
			base_url ? base_url : "");
	if (!r) /* others on the network can read what is sent plainly */
		r = wfs_trust_key(variable, host, port,
			(!scheme || strcmp(scheme, "https") != 0) && !wfs_model_is_loopback(host),
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
	const char *const key = json_string_value(json_object_get(entry, "api_key_env"));

	*ret_endpoint = WFS_MODEL_ENDPOINT_DEFAULT;
	ret_endpoint->base_url = json_string_value(json_object_get(entry, "base_url"));
	if (key) {
		int r = check_host(key, ret_endpoint->base_url, error);
		if (r)
			return r;
		ret_endpoint->api_key = agents_secret_get(key);
	}
	ret_endpoint->stream = json_is_true(json_object_get(entry, "stream"));
	if (key && !ret_endpoint->api_key)
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"api_key_env of the model is '%s', which is not in the environment of the "
			"process that owns the world: start that process with it",
			key);
	return read_limits(entry, left_ms, ret_endpoint, error);
}
