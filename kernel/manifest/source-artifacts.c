/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Artifacts of the source form: those with which a world begins.
 *
 * They are not part of the manifest. Each becomes the action write_artifact that makes it, and has
 * the members of that action, as the table of effects says; only its id and files are written
 * differently. What depends on the world (quotas, rules, whether code compiles) is checked when
 * they are made.
 */
#include <errno.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"
#include "kernel/base/json.h"
#include "kernel/manifest/effect.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/manifest.h"
#include "kernel/manifest/source-impl.h"

#define ARTIFACT_ID "artifact_id" /* in the action; `id` in world.json */

/* State while artifacts are read. */
struct reading {
	struct source_loader *loader;
	json_t *principals; /* ids of the world's principals */
	json_t *ids;        /* of all artifacts: index of the first with this id */
};

static void reading_done(struct reading *reading)
{
	json_decref(reading->principals);
	json_decref(reading->ids);
}

/* --- members --- */

/* Reports a shape's problem, whose text begins with its place: "/3: expected text,
 * got integer 7". */
static int check_shape(const struct source_loader *loader, struct wfs_place place,
	const struct wfs_form *shape, const json_t *value)
{
	struct wfs_error error = {0};
	int r = wfs_form_check(shape, value, &error);

	if (r != -EINVAL)
		return r;
	const size_t size = strcspn(error.message, ":");
	wfs_problems_add(loader->problems, WORLD_FILE,
		wfs_place_at("%s%.*s", place.text, size > 1 ? (int)size : 0, error.message).text,
		"%s", error.message + size + strspn(error.message + size, ": "));
	return 0;
}

static int take_members(const struct source_loader *loader, struct wfs_place place,
	const json_t *item, json_t *action)
{
	const struct wfs_field *member =
		wfs_effect_params(WFS_EFFECT_ACTION_WRITE_ARTIFACT)->fields;
	int r = 0;

	for (; r == 0 && member->name; member++) {
		json_t *const value = json_object_get(item, member->name);

		if (!value || strcmp(member->name, ARTIFACT_ID) == 0)
			continue;
		r = check_shape(loader, wfs_place_at("%s/%s", place.text, member->name),
			member->form, value);
		if (r == 0)
			r = source_set(action, member->name, value);
	}
	return r;
}

/* Sets the member @name to the contents of the file `<name>_file`. */
static int take_file(struct source_loader *loader, struct wfs_place place, const json_t *item,
	const char *name, json_t *action)
{
	const struct wfs_place file_place = wfs_place_at("%s/%s_file", place.text, name);
	const json_t *value = json_object_get(item, strrchr(file_place.text, '/') + 1);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *file;

	if (!value)
		return 0;
	if (json_object_get(item, name)) {
		wfs_problems_add(loader->problems, WORLD_FILE, file_place.text,
			"only one of %s and %s_file can be given", name, name);
		return 0;
	}
	file = source_file_name(loader, file_place, value);
	if (!file)
		return 0;
	int r = source_named_file_read(loader, file_place, file, &text);
	if (r > 0)
		r = source_charge(loader, file_place, text.size);
	if (r <= 0)
		return r;
	if (!wfs_utf8_valid(text.data, text.size)) {
		wfs_problems_add(loader->problems, WORLD_FILE, file_place.text,
			"'%s' is not UTF-8 text", file);
		return 0;
	}
	return source_set_new(action, name, json_stringn(text.data ? text.data : "", text.size));
}

static void check_id(const struct reading *reading, size_t index, const json_t *id)
{
	const struct source_loader *loader = reading->loader;
	const struct wfs_place place = wfs_place_at("/artifacts/%zu/id", index);
	const char *const text = json_string_value(id);
	const json_t *const first = text ? json_object_get(reading->ids, text) : NULL;

	if (!id)
		wfs_problems_add(loader->problems, WORLD_FILE, place.text, "missing");
	else if (!text || strlen(text) != json_string_length(id) || !wfs_grant_name_valid(text))
		source_expected(loader, place, WFS_GRANT_NAME_FORM, id);
	else if (loader->handbook &&
		strncmp(text, WFS_HANDBOOK_PREFIX, strlen(WFS_HANDBOOK_PREFIX)) == 0)
		wfs_problems_add(loader->problems, WORLD_FILE, place.text,
			"names that begin with " WFS_HANDBOOK_PREFIX " are the handbook's");
	else if ((size_t)json_integer_value(first) != index)
		wfs_problems_add(loader->problems, WORLD_FILE, place.text,
			"the name is taken by the item at index %lld",
			(long long)json_integer_value(first));
}

/* Artifacts are made in order, so each can only depend on earlier ones. */
static void check_dependencies(const struct reading *reading, size_t index, const json_t *list)
{
	const struct source_loader *loader = reading->loader;
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		const struct wfs_place place =
			wfs_place_at("/artifacts/%zu/depends_on/%zu", index, i);
		const char *const text = json_string_value(item);
		const json_t *const found = text ? json_object_get(reading->ids, text) : NULL;
		const json_int_t at = json_integer_value(found);

		if (text && !found)
			source_expected(loader, place, "the id of an artifact of this file", item);
		else if (text && at >= (json_int_t)index)
			wfs_problems_add(loader->problems, WORLD_FILE, place.text,
				"'%s' is not there yet: artifacts are made in their order, and it "
				"is the item at index %lld",
				text, (long long)at);
	}
}

/* --- artifacts --- */

static int read_members(
	const struct reading *reading, size_t index, const json_t *item, json_t *action)
{
	static const char *const names[] = {"id", "created_by", "content_file", "code_file",
#define MEMBER_NAME(effect, type, name, need, help) #name,
		WFS_PARAMS_WRITE_ARTIFACT(MEMBER_NAME, )
#undef MEMBER_NAME
			NULL};
	struct source_loader *loader = reading->loader;
	const struct wfs_place place = wfs_place_at("/artifacts/%zu", index);

	source_check_members(loader, place, item, names);
	if (json_object_get(item, ARTIFACT_ID))
		wfs_problems_add(loader->problems, WORLD_FILE,
			wfs_place_at("%s/" ARTIFACT_ID, place.text).text, "it is called id here");
	check_id(reading, index, json_object_get(item, "id"));
	const json_t *const creator = json_object_get(item, "created_by");
	if (creator && !json_object_get(reading->principals, json_string_value(creator)))
		source_expected(loader, wfs_place_at("%s/created_by", place.text),
			"the id of a principal of this world", creator);
	int r = take_members(loader, place, item, action);
	if (r == 0)
		r = take_file(loader, place, item, "content", action);
	if (r == 0)
		r = take_file(loader, place, item, "code", action);
	if (r == 0)
		check_dependencies(reading, index, json_object_get(item, "depends_on"));
	return r;
}

static int read_artifact(const struct reading *reading, size_t index, const json_t *item)
{
	const struct source_loader *loader = reading->loader;
	const size_t before = loader->problems->count;
	json_t *const id = json_object_get(item, "id");
	json_t *const creator = json_object_get(item, "created_by");
	WFS_AUTO_JSON json_t *made = json_object();
	WFS_AUTO_JSON json_t *action = json_pack("{s:s}", "action_type", "write_artifact");
	int r = made && action ? source_set(made, "id", id) : -ENOMEM;

	if (r == 0 && !json_is_object(item))
		source_expected(loader, wfs_place_at("/artifacts/%zu", index), "object", item);
	else if (r == 0)
		r = read_members(reading, index, item, action);
	if (r == 0 && loader->problems->count == before) {
		r = source_set(action, ARTIFACT_ID, id);
		if (r == 0)
			r = source_set(made, "action", action);
		if (r == 0)
			r = source_set(made, "code_file", json_object_get(item, "code_file"));
		if (r == 0)
			r = creator ? source_set(made, "created_by", creator)
				    : source_set_new(made, "created_by",
					      json_string(WFS_PRINCIPAL_OPERATOR));
	}
	return r || json_array_append(loader->artifacts, made) == 0 ? r : -ENOMEM;
}

/* Enters the id of an item, if it has one that is not taken. @value: taken */
static int enter_id(json_t *ids, const json_t *item, json_t *value)
{
	const char *const id = json_string_value(json_object_get(item, "id"));
	WFS_AUTO_JSON json_t *owned = value;

	if (!owned)
		return -ENOMEM;
	return !id || json_object_get(ids, id) ? 0 : source_set(ids, id, owned);
}

static int enter_ids(const struct reading *reading, const json_t *list)
{
	size_t index;
	json_t *item;
	int r = 0;

	json_array_foreach(json_object_get(reading->loader->manifest, "principals"), index, item) {
		if (r == 0)
			r = enter_id(reading->principals, item, json_true());
	}
	json_array_foreach(list, index, item) {
		if (r == 0)
			r = enter_id(reading->ids, item, json_integer((json_int_t)index));
	}
	return r;
}

static int read_list(const struct reading *reading, const json_t *list)
{
	size_t index;
	json_t *item;
	int r = enter_ids(reading, list);

	json_array_foreach(list, index, item) {
		if (r == 0)
			r = read_artifact(reading, index, item);
	}
	return r;
}

int source_artifacts(struct source_loader *loader)
{
	WFS_CLEANUP(reading_done)
	struct reading reading = {
		.loader = loader, .principals = json_object(), .ids = json_object()};
	const json_t *list = json_object_get(loader->world, "artifacts");
	const size_t before = loader->problems->count;
	int r = 0;

	if (!list)
		return 0;
	loader->artifacts = json_array();
	if (!reading.principals || !reading.ids || !loader->artifacts)
		return -ENOMEM;
	if (!json_is_array(list))
		source_expected(loader, wfs_place_at("/artifacts"), "array", list);
	else if (json_array_size(list) > WFS_SOURCE_ARTIFACTS_MAX)
		wfs_problems_add(loader->problems, WORLD_FILE, "/artifacts",
			"at most %d are allowed, got %zu", WFS_SOURCE_ARTIFACTS_MAX,
			json_array_size(list));
	else
		r = read_list(&reading, list);
	loader->artifact_problem_count = loader->problems->count - before;
	return r;
}
