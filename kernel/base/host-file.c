/* SPDX-License-Identifier: Apache-2.0 */
/* Reading host.json. */
#include "kernel/base/host-file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kernel/base/file.h"
#include "kernel/base/json.h"
#include "kernel/base/world-file.h"

int wfs_host_file_read(const char *directory, json_t **ret_host, struct wfs_hash *ret_hash,
	struct wfs_error *error)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_error reason = {.code = WFS_OK};

	WFS_AUTO_FD int fd = wfs_world_file_open(directory, "host.json", O_RDONLY, &reason);
	if (fd < 0 && fd != -ENOENT)
		return wfs_error_set(error, reason.code, "%s", reason.message);
	if (fd < 0) {
		if (ret_hash)
			*ret_hash = (struct wfs_hash){0};
		*ret_host = json_object();
		return *ret_host ? 0 : wfs_error_from_errno(error, -ENOMEM, "read host.json");
	}
	int r = wfs_file_read(fd, WFS_HOST_FILE_MAX, &text);
	if (r == -EFBIG)
		return wfs_error_set(error, WFS_E_TOO_LARGE, "host.json has more than 1 MiB");
	if (r)
		return wfs_error_from_errno(error, r, "read '%s/host.json'", directory);
	if (ret_hash)
		*ret_hash = wfs_hash_of(text.data, text.size);
	r = wfs_json_parse_bounded(text.data, text.size, ret_host, &reason);
	return r ? wfs_error_set(error, reason.code, "host.json: %s", reason.message) : 0;
}

const char *wfs_host_script(const json_t *entry)
{
	const char *const provider = json_string_value(json_object_get(entry, "provider"));
	const char *const file = json_string_value(json_object_get(entry, "file"));

	return provider && strcmp(provider, "script") == 0 && file && file[0] != '/' ? file : NULL;
}

bool wfs_host_script_name_valid(const char *name)
{
	static const char end[] = ".jsonl";
	const size_t size = strlen(name);

	return size >= sizeof(end) && size <= NAME_MAX && !strchr(name, '/') &&
		strcmp(name + size - strlen(end), end) == 0;
}
