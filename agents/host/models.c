/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/host/models.h"

#include <string.h>

#include "agents/host/endpoint.h"
#include "agents/model/embedding.h"
#include "kernel/base/form.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"

#define MEMBERS                                                                              \
	"api_key_env? base_url? connect_timeout_ms? dimensions? extra_body? file? "          \
	"first_byte_timeout_ms? idle_timeout_ms? max_tokens_name? model? profile? provider " \
	"stream? total_timeout_ms?"

/* A member of a wrong type would count as absent: a request would go without its key. */
static const struct wfs_form time_ms = {.kind = WFS_FORM_INTEGER, .min = 1, .max = INT32_MAX};
static const struct wfs_field typed[] = {{"api_key_env", &wfs_form_text}, {"model", &wfs_form_text},
	{"stream", &wfs_form_bool},
	{"dimensions", WFS_FORM_FROM_TO(1, WFS_EMBEDDING_DIMENSIONS_MAX)},
	{"connect_timeout_ms", &time_ms}, {"first_byte_timeout_ms", &time_ms},
	{"idle_timeout_ms", &time_ms}, {"total_timeout_ms", &time_ms}, {NULL}};
static const struct wfs_form types = {.members = MEMBERS, .fields = typed};

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
	if (!r)
		r = wfs_form_read(&types, "a model", entry, NULL, &reason);
	return r ? wfs_error_set(error, reason.code, "host.json: /models/%.100s: %s", name,
			   reason.message)
		 : 0;
}

int wfs_models_find(
	const char *directory, const char *name, json_t **ret_entry, struct wfs_error *error)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_hash hash;
	int r = wfs_host_file_read(directory, &host, &hash, error);

	/* Checks the bytes that were read: the file may change at any time. */
	if (!r && json_object_size(host) > 0)
		r = wfs_trust_check(directory, &hash, error);
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
				  "names models; worldfs(1), AGENTS, says how",
				  name);
	}
	r = check_entry(name, entry, error);
	if (!r)
		*ret_entry = json_incref(entry);
	return r;
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
}
