/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the directories and files of entities. */
#include "kernel/manifest/entity-table.h"

#include <string.h>

#include "kernel/base/array.h"

static const struct {
	const char *directory;
	enum wfs_builtin_reducer reducer;
} entities[] = {
#define ENTITY_ROW(constant, directory, reducer) {directory, WFS_BUILTIN_##reducer},
	WFS_ENTITIES(ENTITY_ROW)
#undef ENTITY_ROW
};

static const struct {
	const char *name;
	enum wfs_entity entity;
	enum wfs_builtin_reducer reducer;
	enum wfs_entity_form form;
} files[] = {
#define FILE_ROW(constant, name, entity, reducer, form) \
	{name, WFS_ENTITY_##entity, WFS_BUILTIN_##reducer, WFS_ENTITY_##form},
	WFS_ENTITY_FILES(FILE_ROW)
#undef FILE_ROW
};

const char *wfs_entity_directory(enum wfs_entity entity)
{
	return entities[entity].directory;
}

enum wfs_builtin_reducer wfs_entity_reducer(enum wfs_entity entity)
{
	return entities[entity].reducer;
}

const char *wfs_entity_file_name(enum wfs_entity_file file)
{
	return files[file].name;
}

enum wfs_entity wfs_entity_file_entity(enum wfs_entity_file file)
{
	return files[file].entity;
}

enum wfs_builtin_reducer wfs_entity_file_reducer(enum wfs_entity_file file)
{
	return files[file].reducer;
}

enum wfs_entity_form wfs_entity_file_form(enum wfs_entity_file file)
{
	return files[file].form;
}

bool wfs_entity_file_is_directory(enum wfs_entity_file file)
{
	return files[file].form == WFS_ENTITY_STEPS || files[file].form == WFS_ENTITY_ENTRIES;
}

enum wfs_entity_file wfs_entity_file_find(enum wfs_entity entity, const char *name)
{
	for (size_t i = 0; i < WFS_ENTITY_FILE_COUNT; i++)
		if (files[i].entity == entity && files[i].form != WFS_ENTITY_BESIDE &&
			strcmp(files[i].name, name) == 0)
			return (enum wfs_entity_file)i;
	return WFS_ENTITY_FILE_COUNT;
}
