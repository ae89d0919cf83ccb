/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/host/models.h"

#include "agents/host/endpoint.h"
#include "agents/host/secret.h"
#include "kernel/base/host-file.h"
#include "kernel/base/host-form.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"

/* Reads a host.json that the user trusts. */
static int read_host(const char *directory, json_t **ret_host, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_hash hash;
	int r = wfs_host_file_read(directory, &host, &hash, error);

	/* Checks the bytes that were read: the file may change at any time. */
	if (!r && json_object_size(host) > 0)
		r = wfs_trust_check(directory, &hash, error);
	if (!r)
		r = wfs_host_check(host, error);
	if (!r)
		*ret_host = WFS_STEAL(host);
	return r;
}

int wfs_models_servers(const char *directory, json_t **ret_tools, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *host = NULL;
	const int r = read_host(directory, &host, error);

	if (!r)
		*ret_tools = json_incref(json_object_get(host, "tools"));
	return r;
}

int wfs_models_find(
	const char *directory, const char *name, json_t **ret_entry, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *host = NULL;
	const int r = read_host(directory, &host, error);

	if (r)
		return r;
	const json_t *const models = json_object_get(host, "models");
	json_t *const entry = json_object_get(models, name);
	if (!entry) {
		WFS_AUTO_BUFFER struct wfs_buffer names = {0};
		const char *key;
		json_t *value;

		json_object_foreach((json_t *)models, key, value)
			wfs_buffer_printf(&names, " %s", key);
		return names.size > 0
			? wfs_error_set(error, WFS_E_NOT_FOUND,
				  "host.json has no model '%.100s' (there are:%s)", name,
				  wfs_buffer_text(&names))
			: wfs_error_set(error, WFS_E_NOT_FOUND,
				  "no model '%.100s': the world's directory has no host.json that "
				  "names models; worldfs-host(5) says how",
				  name);
	}
	*ret_entry = json_incref(entry);
	return 0;
}

bool wfs_models_keep_raw(const char *directory)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_error ignored;
	struct wfs_hash hash;

	return !wfs_host_file_read(directory, &host, &hash, &ignored) &&
		!json_is_false(json_object_get(host, "keep_raw"));
}

void wfs_models_guard_keys(const char *directory)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_model_endpoint endpoint;
	struct wfs_error ignored;
	struct wfs_hash hash;
	const char *name;
	json_t *entry;

	if (wfs_host_file_read(directory, &host, &hash, &ignored) ||
		wfs_trust_check(directory, &hash, &ignored))
		return;
	json_object_foreach(json_object_get(host, "models"), name, entry)
		if (json_is_string(json_object_get(entry, "api_key_env")))
			(void)agents_endpoint_make(entry, INT64_MAX, &endpoint, &ignored);
	json_object_foreach(json_object_get(host, "tools"), name, entry) {
		const char *header;
		json_t *variable;

		json_object_foreach(json_object_get(entry, "headers_env"), header, variable)
			if (json_is_string(variable))
				(void)agents_secret_get(json_string_value(variable));
	}
}
