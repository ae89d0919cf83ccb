/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the directories and files of entities. */
#include "kernel/manifest/entity-table.h"

#include <string.h>

#include "kernel/base/error.h"

static struct {
	const char *directory;
	enum wfs_builtin_reducer reducer;
} entities[WFS_ENTITIES_MAX] = {
#define ENTITY_ROW(constant, directory, reducer) {directory, WFS_BUILTIN_##reducer},
	WFS_ENTITIES(ENTITY_ROW)
#undef ENTITY_ROW
};
static int entity_count = WFS_ENTITY_BUILTIN_COUNT;

static struct {
	const char *name;
	enum wfs_entity entity;
	enum wfs_builtin_reducer reducer;
	enum wfs_entity_form form;
	const struct wfs_entity_contents *contents;
} files[WFS_ENTITY_FILES_MAX] = {
#define FILE_ROW(constant, name, entity, reducer, form) \
	{name, WFS_ENTITY_##entity, WFS_BUILTIN_##reducer, WFS_ENTITY_##form, NULL},
	WFS_ENTITY_FILES(FILE_ROW)
#undef FILE_ROW
};
static int file_count = WFS_ENTITY_FILE_BUILTIN_COUNT;

static enum wfs_builtin_reducer known_reducer(const char *name)
{
	const enum wfs_builtin_reducer reducer = wfs_builtin_reducer_find(name);

	wfs_require((int)reducer < wfs_builtin_reducer_count());
	return reducer;
}

void wfs_entity_add(const struct wfs_entity_row *entity)
{
	const enum wfs_entity number = (enum wfs_entity)entity_count++;

	wfs_require(number < WFS_ENTITIES_MAX);
	entities[number].directory = entity->directory;
	entities[number].reducer = known_reducer(entity->reducer);
	for (const struct wfs_entity_file_row *row = entity->files; row->name; row++) {
		wfs_require(file_count < WFS_ENTITY_FILES_MAX);
		wfs_require(row->form == WFS_ENTITY_STATE || row->form == WFS_ENTITY_MEMBER ||
			row->form == WFS_ENTITY_MADE || row->form == WFS_ENTITY_PARTS ||
			row->form == WFS_ENTITY_ITEMS);
		files[file_count].name = row->name;
		files[file_count].entity = number;
		files[file_count].reducer = known_reducer(row->reducer);
		files[file_count].form = row->form;
		files[file_count++].contents = row->contents;
	}
}

int wfs_entity_count(void)
{
	return entity_count;
}

const char *wfs_entity_directory(enum wfs_entity entity)
{
	return entities[entity].directory;
}

enum wfs_builtin_reducer wfs_entity_reducer(enum wfs_entity entity)
{
	return entities[entity].reducer;
}

int wfs_entity_file_count(void)
{
	return file_count;
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
	return files[file].form == WFS_ENTITY_ITEMS || files[file].form == WFS_ENTITY_TEXTS;
}

enum wfs_entity_file wfs_entity_file_find(enum wfs_entity entity, const char *name)
{
	for (int i = 0; i < file_count; i++)
		if (files[i].entity == entity && files[i].form != WFS_ENTITY_BESIDE &&
			strcmp(files[i].name, name) == 0)
			return (enum wfs_entity_file)i;
	return WFS_ENTITY_FILES_MAX;
}

void wfs_entity_provide(enum wfs_entity_file file, const struct wfs_entity_contents *contents)
{
	files[file].contents = contents;
}

const struct wfs_entity_contents *wfs_entity_file_contents(enum wfs_entity_file file)
{
	return files[file].contents;
}
