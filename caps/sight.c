/* SPDX-License-Identifier: Apache-2.0 */
/* The rights of a principal as a filter of reducers and cells. */
#include "caps/sight.h"

#include "kernel/base/encode.h"
#include "kernel/manifest/entity-table.h"

/* A reducer's name as text, and the names of a path to one of its cells. */
struct place {
	char reducer[WFS_REDUCER_NAME_MAX + 1];
	struct wfs_bytes names[3];
};

static void place_init(struct place *place, struct wfs_bytes reducer)
{
	const size_t size =
		reducer.size < sizeof(place->reducer) ? reducer.size : sizeof(place->reducer) - 1;

	memcpy(place->reducer, reducer.data, size);
	place->reducer[size] = '\0';
	place->names[0] = wfs_bytes_text("reducers");
	place->names[1] = WFS_BYTES(place->reducer, size);
}

static struct wfs_question question_of(
	const struct wfs_sight *sight, enum wfs_effect effect, const char *reducer)
{
	return (struct wfs_question){.effect = effect,
		.origin = sight->origin,
		.now_ns = sight->now_ns,
		.of_any = !reducer,
		.reducer = reducer};
}

static bool allows(const struct wfs_sight *sight, enum wfs_effect effect, const char *reducer)
{
	const struct wfs_question question = question_of(sight, effect, reducer);

	return wfs_rights_judge(sight->rights, &question).code == WFS_OK;
}

static enum wfs_coverage coverage(
	const struct wfs_sight *sight, const struct place *place, size_t count)
{
	return wfs_rights_coverage(
		sight->rights, (struct wfs_path){place->names, count}, sight->now_ns);
}

bool wfs_sight_reducer(const struct wfs_sight *sight, struct wfs_bytes name)
{
	struct place place;

	if (wfs_builtin_reducer_hidden(name.data, name.size))
		return false;
	if (wfs_rights_see_all(sight->rights))
		return true;
	place_init(&place, name);
	return (allows(sight, WFS_EFFECT_INTROSPECT_REDUCER_STATE, place.reducer) ||
		       allows(sight, WFS_EFFECT_INTROSPECT_LIST_CELLS, place.reducer)) &&
		coverage(sight, &place, 2) > WFS_COVERAGE_NONE;
}

/* Gets the name of a key's file, which is most often the key. @buffer: holds it otherwise */
static int name_of(struct wfs_bytes key, struct wfs_buffer *buffer, struct wfs_bytes *ret_name)
{
	*ret_name = key;
	if (wfs_name_size(key.data, key.size) == key.size)
		return 0;
	wfs_name_append(buffer, key.data, key.size);
	*ret_name = wfs_buffer_bytes(buffer);
	return wfs_buffer_check(buffer) ? -ENOMEM : 0;
}

int wfs_sight_cell(const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_bytes key)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct place place;

	if (wfs_builtin_reducer_hidden(reducer.data, reducer.size))
		return 0;
	if (wfs_rights_see_all(sight->rights))
		return 1;
	place_init(&place, reducer);
	if (name_of(key, &name, &place.names[2]))
		return -ENOMEM;
	return coverage(sight, &place, 3) == WFS_COVERAGE_WHOLE &&
		allows(sight, WFS_EFFECT_INTROSPECT_REDUCER_STATE, place.reducer);
}

/* A path in the directory of an entity, made from cells of `reducer`. Plain value. */
struct entity_path {
	enum wfs_entity entity;
	struct wfs_bytes id;
	const char *suffix;        /* after the id's name */
	struct wfs_bytes below[2]; /* names in the entity's directory */
	size_t below_count;
	enum wfs_coverage least;
	enum wfs_builtin_reducer reducer;
};

static int sees_entity(const struct wfs_sight *sight, const struct entity_path *wanted)
{
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	struct wfs_bytes names[] = {wfs_bytes_text(wfs_entity_directory(wanted->entity)), {0},
		wanted->below[0], wanted->below[1]};
	const struct wfs_path path = {names, 2 + wanted->below_count};

	if (wfs_rights_see_all(sight->rights))
		return 1;
	wfs_name_append(&name, wanted->id.data, wanted->id.size);
	wfs_buffer_append_text(&name, wanted->suffix);
	if (wfs_buffer_check(&name))
		return -ENOMEM;
	names[1] = wfs_buffer_bytes(&name);
	return wfs_rights_coverage(sight->rights, path, sight->now_ns) >= wanted->least &&
		allows(sight, WFS_EFFECT_INTROSPECT_REDUCER_STATE,
			wfs_builtin_reducer_name(wanted->reducer));
}

int wfs_sight_entity(const struct wfs_sight *sight, enum wfs_entity entity, struct wfs_bytes id)
{
	const struct entity_path path = {.entity = entity,
		.id = id,
		.suffix = "",
		.least = WFS_COVERAGE_BELOW,
		.reducer = wfs_entity_reducer(entity)};

	return sees_entity(sight, &path);
}

int wfs_sight_entity_file(
	const struct wfs_sight *sight, enum wfs_entity_file file, struct wfs_bytes id)
{
	const char *const name = wfs_entity_file_name(file);
	const enum wfs_entity_form form = wfs_entity_file_form(file);
	const bool is_beside = form == WFS_ENTITY_BESIDE;
	const bool is_directory = wfs_entity_file_is_directory(file);
	const struct entity_path path = {.entity = wfs_entity_file_entity(file),
		.id = id,
		.suffix = is_beside ? name : "",
		.below = {wfs_bytes_text(name)},
		.below_count = !is_beside,
		.least = is_directory ? WFS_COVERAGE_BELOW : WFS_COVERAGE_WHOLE,
		.reducer = wfs_entity_file_reducer(file)};

	return sees_entity(sight, &path);
}

int wfs_sight_inner(const struct wfs_sight *sight, enum wfs_entity_file directory,
	struct wfs_bytes id, struct wfs_bytes name)
{
	const struct entity_path path = {.entity = wfs_entity_file_entity(directory),
		.id = id,
		.suffix = "",
		.below = {wfs_bytes_text(wfs_entity_file_name(directory)), name},
		.below_count = 2,
		.least = WFS_COVERAGE_WHOLE,
		.reducer = wfs_entity_file_reducer(directory)};

	return sees_entity(sight, &path);
}

struct wfs_verdict wfs_sight_listing(
	const struct wfs_sight *sight, struct wfs_bytes reducer, struct wfs_question *ret_question)
{
	struct place place;

	place_init(&place, reducer);
	*ret_question = question_of(sight, WFS_EFFECT_INTROSPECT_LIST_CELLS, place.reducer);
	struct wfs_verdict verdict = wfs_rights_judge(sight->rights, ret_question);
	if (verdict.code == WFS_OK) { /* without reading, a list would be empty */
		ret_question->effect = WFS_EFFECT_INTROSPECT_REDUCER_STATE;
		verdict = wfs_rights_judge(sight->rights, ret_question);
	}
	ret_question->reducer = NULL; /* points to a local variable */
	return verdict;
}

/* --- the filter for the kernel --- */

static bool sees_manifest(const struct wfs_introspect_filter *filter)
{
	const struct wfs_sight *const sight = (const struct wfs_sight *)filter;
	const struct wfs_bytes name = wfs_bytes_text("manifest");

	return allows(sight, WFS_EFFECT_INTROSPECT_MANIFEST, NULL) &&
		wfs_rights_coverage(sight->rights, (struct wfs_path){&name, 1}, sight->now_ns) ==
		WFS_COVERAGE_WHOLE;
}

static bool sees_reducer(const struct wfs_introspect_filter *filter, struct wfs_bytes name)
{
	return wfs_sight_reducer((const struct wfs_sight *)filter, name);
}

static bool sees_cell(
	const struct wfs_introspect_filter *filter, struct wfs_bytes reducer, struct wfs_bytes key)
{
	return wfs_sight_cell((const struct wfs_sight *)filter, reducer, key) > 0;
}

void wfs_sight_init(
	struct wfs_sight *sight, struct wfs_rights *rights, enum wfs_origin origin, int64_t now_ns)
{
	*sight = (struct wfs_sight){
		.filter = {sees_manifest, sees_reducer, sees_cell},
		.rights = rights,
		.origin = origin,
		.now_ns = now_ns,
	};
}

void wfs_sight_done(struct wfs_sight *sight)
{
	wfs_rights_unref(sight->rights);
	sight->rights = NULL;
}

const struct wfs_introspect_filter *wfs_sight_filter(const struct wfs_sight *sight)
{
	return wfs_rights_see_all(sight->rights) ? NULL : &sight->filter;
}
