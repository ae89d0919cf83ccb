/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of servers: on one line, and without the values that must not come back. */
#include <string.h>

#include "agents/host/secret.h"
#include "agents/model/failure.h"
#include "agents/outside/outside-impl.h"
#include "kernel/base/encode.h"

void outside_line(char *target, size_t target_size, struct wfs_bytes text)
{
	const char *const data = text.size > 0 ? text.data : "";
	const size_t size =
		text.size < target_size ? text.size : wfs_utf8_cut(data, target_size - 1);

	memcpy(target, data, size);
	target[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if (target[i] == '\n' || target[i] == '\r' || target[i] == '\t')
			target[i] = ' '; /* wfs_line_clean() would make it a `?` */
	wfs_line_clean(target, size);
}

const char *outside_reason(int r)
{
	const char *const reason = strerrordesc_np(-r);

	return reason ? reason : "unknown error";
}

json_t *outside_mask(const struct outside_server *server, json_t *value)
{
	size_t i;
	json_t *secret;

	json_array_foreach(server->secrets, i, secret) {
		json_t *const masked = agents_secret_mask_any(value, json_string_value(secret));

		json_decref(value);
		value = masked;
	}
	return value;
}

void outside_mask_bytes(const struct outside_server *server, struct wfs_buffer *bytes)
{
	size_t i;
	json_t *secret;

	json_array_foreach(server->secrets, i, secret) {
		struct wfs_buffer masked = {.failed = bytes->failed};

		wfs_model_mask(&masked, wfs_buffer_bytes(bytes), json_string_value(secret));
		wfs_buffer_done(bytes);
		*bytes = masked;
	}
}
