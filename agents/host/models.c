/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/host/models.h"

#include <string.h>

#include "agents/host/endpoint.h"
#include "agents/model/embedding.h"
#include "kernel/base/host-file.h"
#include "kernel/base/json.h"
#include "kernel/base/trust.h"

#define MEMBERS                                                                              \
	"api_key_env? base_url? connect_timeout_ms? dimensions? extra_body? file? "          \
	"first_byte_timeout_ms? idle_timeout_ms? max_tokens_name? model? profile? provider " \
	"stream? total_timeout_ms?"

/* A member of a wrong type would count as absent: a request would go without its key. */
static int check_types(const json_t *entry, struct wfs_error *error)
{
	static const char *const texts[] = {"api_key_env", "model"};
	static const char *const times[] = {"connect_timeout_ms", "first_byte_timeout_ms",
		"idle_timeout_ms", "total_timeout_ms"};
	const json_t *const stream = json_object_get(entry, "stream");
	int64_t dimensions = 1;
	int64_t time_ms = 1;
	const char *text;
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(texts); i++)
		if (json_object_get(entry, texts[i]))
			r = wfs_json_get_string(entry, texts[i], &text, error);
	if (!r && stream && !json_is_boolean(stream))
		r = wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "'stream': expected true or false");
	if (!r)
		r = wfs_json_get_integer(
			entry, "dimensions", 1, WFS_EMBEDDING_DIMENSIONS_MAX, &dimensions, error);
	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(times); i++)
		r = wfs_json_get_integer(entry, times[i], 1, INT32_MAX, &time_ms, error);
	return r;
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
	if (!r)
		r = check_types(entry, &reason);
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
		return wfs_error_set(error, WFS_E_NOT_FOUND,
			"host.json has no model '%.100s' (there are:%s)", name,
			names.size > 0 ? wfs_buffer_text(&names) : " none");
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
