/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of host.json. */
#include "agents/models.h"

#include <string.h>

#include "kernel/base/host-file.h"
#include "kernel/base/json.h"

#define MEMBERS                                                                                \
	"api_key_env? base_url? connect_timeout_ms? extra_body? file? first_byte_timeout_ms? " \
	"idle_timeout_ms? max_tokens_name? model? profile? provider stream? total_timeout_ms?"

static int no_such_model(const json_t *models, const char *name, struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer names = {0};
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)models, key, value) wfs_buffer_printf(&names, " %s", key);
	return wfs_error_set(error, WFS_E_NOT_FOUND,
		"host.json has no model '%.100s' (there are:%s)", name,
		names.size > 0 ? wfs_buffer_text(&names) : " none");
}

static int check_entry(const char *name, const json_t *entry, struct wfs_error *error)
{
	struct wfs_error reason = {0};
	const char *provider = "";
	const char *text;
	int r = wfs_json_members(entry, "a model", MEMBERS, &reason);

	if (!r)
		r = wfs_json_get_string(entry, "provider", &provider, &reason);
	if (!r && strcmp(provider, "openai") == 0)
		r = wfs_json_get_string(entry, "base_url", &text, &reason);
	else if (!r && strcmp(provider, "script") == 0)
		r = wfs_json_get_string(entry, "file", &text, &reason);
	else if (!r)
		r = wfs_error_set(&reason, WFS_E_INVALID_ARGUMENT,
			"'provider': expected \"openai\" or \"script\", got '%.60s'", provider);
	return r ? wfs_error_set(error, reason.code, "host.json: /models/%.100s: %s", name,
			   reason.message)
		 : 0;
}

int wfs_models_find(
	const char *directory, const char *name, json_t **ret_entry, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *host = NULL;
	int r = wfs_host_file_read(directory, &host, error);

	if (r)
		return r;
	const json_t *const models = json_object_get(host, "models");
	json_t *const entry = json_object_get(models, name);
	if (!entry)
		return no_such_model(models, name, error);
	r = check_entry(name, entry, error);
	if (!r)
		*ret_entry = json_incref(entry);
	return r;
}
