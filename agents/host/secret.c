/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the secret that are released here are not wiped: the environment has it anyway. */
#include "agents/host/secret.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "kernel/base/json.h"

#define MASK "***"

const char *agents_secret_get(const char *variable)
{
	const char *const secret = secure_getenv(variable);

	if (secret)
		(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* cannot fail with PR_SET_DUMPABLE */
	return secret;
}

static json_t *mask(json_t *value, struct wfs_bytes secret);

static int mask_text(
	const char *text, size_t size, struct wfs_bytes secret, struct wfs_buffer *masked)
{
	const char *const end = text + size;

	for (;;) {
		const char *const found =
			memmem(text, (size_t)(end - text), secret.data, secret.size);

		wfs_buffer_append(masked, text, (size_t)((found ? found : end) - text));
		if (!found)
			return wfs_buffer_check(masked);
		wfs_buffer_append_text(masked, MASK);
		text = found + secret.size;
	}
}

static json_t *mask_string(json_t *value, struct wfs_bytes secret)
{
	const char *const text = json_string_value(value);
	const size_t size = json_string_length(value);
	WFS_AUTO_BUFFER struct wfs_buffer masked = {0};

	if (!memmem(text, size, secret.data, secret.size))
		return json_incref(value);
	return mask_text(text, size, secret, &masked) ? NULL
						      : json_stringn(masked.data, masked.size);
}

static json_t *mask_array(const json_t *value, struct wfs_bytes secret)
{
	WFS_AUTO_JSON json_t *masked = json_array();
	size_t i;
	json_t *item;

	json_array_foreach(value, i, item)
		if (json_array_append_new(masked, mask(item, secret)) < 0)
			return NULL;
	return WFS_STEAL(masked);
}

static json_t *mask_object(json_t *value, struct wfs_bytes secret)
{
	WFS_AUTO_JSON json_t *masked = json_object();
	const char *name;
	json_t *item;

	json_object_foreach(value, name, item) {
		WFS_AUTO_BUFFER struct wfs_buffer text = {0};

		if (mask_text(name, strlen(name), secret, &text) ||
			json_object_set_new(masked, wfs_buffer_text(&text), mask(item, secret)) < 0)
			return NULL;
	}
	return WFS_STEAL(masked);
}

/* This recursion is bounded: parsed values have at most WFS_JSON_DEPTH_MAX levels. */
static json_t *mask(json_t *value, struct wfs_bytes secret)
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
	const struct wfs_bytes bytes = wfs_bytes_text(secret ? secret : "");

	return bytes.size < AGENTS_SECRET_SIZE_MIN ? json_incref(value) : mask(value, bytes);
}
