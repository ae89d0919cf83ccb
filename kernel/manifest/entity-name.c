/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/manifest/entity-name.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/encode.h"

#define SUFFIX ".json"

static_assert(WFS_MEMORY_NAME_SIZE == MEMORY_ID_SIZE + sizeof(SUFFIX) - 1, "an id and the suffix");

bool memory_id_number(const char *entry_id, uint32_t *ret_number)
{
	char back[MEMORY_ID_SIZE];
	char *end;

	if (strncmp(entry_id, "mem_", 4) != 0)
		return false;
	*ret_number = (uint32_t)strtoul(entry_id + 4, &end, 16);
	memory_id_text(*ret_number, back);
	return strcmp(back, entry_id) == 0;
}

void memory_id_text(uint32_t number, char ret_id[static MEMORY_ID_SIZE])
{
	snprintf(ret_id, MEMORY_ID_SIZE, "mem_%08" PRIx32, number);
}

bool wfs_memory_entry_key(
	struct wfs_bytes key, struct wfs_bytes *ret_artifact_id, uint32_t *ret_number)
{
	const size_t id_size = MEMORY_ID_SIZE - 1;
	const char *const text = key.data;
	char id[MEMORY_ID_SIZE];

	if (key.size <= id_size || text[key.size - id_size - 1] != '/')
		return false;
	memcpy(id, text + key.size - id_size, id_size);
	id[id_size] = '\0';
	*ret_artifact_id = WFS_BYTES(text, key.size - id_size - 1);
	return memory_id_number(id, ret_number);
}

void wfs_memory_entry_name(uint32_t number, char ret_name[static WFS_MEMORY_NAME_SIZE])
{
	memory_id_text(number, ret_name);
	memcpy(ret_name + MEMORY_ID_SIZE - 1, SUFFIX, sizeof(SUFFIX));
}

bool wfs_memory_entry_number(const char *name, uint32_t *ret_number)
{
	char id[MEMORY_ID_SIZE];

	if (strlen(name) != WFS_MEMORY_NAME_SIZE - 1 ||
		strcmp(name + MEMORY_ID_SIZE - 1, SUFFIX) != 0)
		return false;
	memcpy(id, name, sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	return memory_id_number(id, ret_number);
}

bool wfs_plan_step_key(struct wfs_bytes key, struct wfs_bytes *ret_plan_id, int64_t *ret_index)
{
	const char *const dot = key.size > 0 ? memrchr(key.data, '.', key.size) : NULL;
	const size_t id_size = dot ? (size_t)(dot - (const char *)key.data) : 0;
	uint64_t index;

	if (!dot || wfs_decimal_read(dot + 1, key.size - id_size - 1, &index) == 0 ||
		index >= WFS_PLAN_STEPS_MAX)
		return false;
	*ret_plan_id = WFS_BYTES(key.data, id_size);
	*ret_index = (int64_t)index;
	return true;
}

bool wfs_plan_step_number(const char *name, int64_t *ret_index)
{
	const size_t size = strcspn(name, "-");
	uint64_t index;

	if (size == 0 || name[size] != '-' || wfs_decimal_read(name, size, &index) != size ||
		(name[0] == '0' && size > 1) || index >= WFS_PLAN_STEPS_MAX)
		return false;
	*ret_index = (int64_t)index;
	return true;
}
