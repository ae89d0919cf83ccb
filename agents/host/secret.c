/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the secret that are released here are not wiped: the environment has it anyway. */
#include "agents/host/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "agents/model/failure.h"
#include "kernel/base/json.h"
#include "kernel/base/text.h"

const char *agents_secret_get(const char *variable)
{
	const char *const secret = secure_getenv(variable);

	if (secret)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* cannot fail with PR_SET_DUMPABLE */
	return secret;
}

static json_t *mask_string(json_t *value, const char *secret)
{
	const struct wfs_bytes text = wfs_text_of(value);
	WFS_AUTO_BUFFER struct wfs_buffer masked = {0};

	if (!memmem(text.data, text.size, secret, strlen(secret)))
		return json_incref(value);
	wfs_model_mask(&masked, text, secret);
	return wfs_buffer_check(&masked) ? NULL : json_stringn(masked.data, masked.size);
}

static json_t *mask_array(const json_t *value, const char *secret)
{
	WFS_AUTO_JSON json_t *masked = json_array();
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item)
		if (json_array_append_new(masked, agents_secret_mask_any(item, secret)) < 0)
			return NULL;
	return WFS_STEAL(masked);
}

static json_t *mask_object(json_t *value, const char *secret)
{
	WFS_AUTO_JSON json_t *masked = json_object();
	const char *name;
	json_t *item;

	json_object_foreach(value, name, item) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		wfs_model_mask(&text, wfs_bytes_text(name), secret);
		if (wfs_buffer_check(&text) ||
			json_object_set_new(masked, wfs_buffer_text(&text),
				agents_secret_mask_any(item, secret)) < 0)
			return NULL;
	}
	return WFS_STEAL(masked);
}

/* This recursion is bounded: parsed values have at most WFS_JSON_DEPTH_MAX levels. */
json_t *agents_secret_mask_any(json_t *value, const char *secret)
{
	if (json_is_string(value))
		return mask_string(value, secret);
	if (json_is_array(value))
		return mask_array(value, secret);
	if (json_is_object(value))
		return mask_object(value, secret);
	return json_incref(value);
}

json_t *agents_secret_mask(json_t *value, const char *secret)
{
	return strlen(secret ? secret : "") < AGENTS_SECRET_SIZE_MIN
		? json_incref(value)
		: agents_secret_mask_any(value, secret);
}
