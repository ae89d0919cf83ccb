/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks manifest documents: everything in a document is either understood or refused, and all
 * problems are found in one run.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest-impl.h"

#define WORLD_VERSION 1

/* A row of the routing as written, with its names resolved. */
struct row {
	size_t schema;
	struct wfs_route route;
};

static bool is_world_name(const char *text)
{
	size_t size = strlen(text);

	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return false;
	}
	return size > 0 && size <= WFS_MANIFEST_NAME_MAX;
}

/* Is it a list of non-empty names joined by dots? */
static bool is_key_field(const char *text)
{
	size_t size = strlen(text);

	return size > 0 && size <= WFS_ROUTE_KEY_FIELD_MAX && text[0] != '.' &&
		text[size - 1] != '.' && !strstr(text, "..");
}

static int read_schema(const struct manifest_reader *reader, const json_t *item, size_t index)
{
	static const char *const names[] = {"$kind", "name", "schema", NULL};
	struct manifest_schema *schema = &reader->manifest->schemas[index];
	const struct manifest_naming naming = {manifest_is_definition_name, "a name like ns/Name@1",
		reader->manifest->schema_index, "sys/"};
	struct wfs_place place = wfs_place_at("/schemas/%zu", index);
	json_t *definition;
	const char *name;
	int r;

	if (!manifest_check_members(reader, place, item, names, NULL))
		return 0;
	manifest_check_kind(reader, place, item, "defschema");
	r = manifest_enter(reader, wfs_place_at("%s/name", place.text),
		json_object_get(item, "name"), index, &naming, &name);
	if (r < 0)
		return r;
	definition = json_object_get(item, "schema");
	if (!definition)
		return 0;
	r = wfs_schema_new(definition, NULL, wfs_place_at("%s/schema", place.text).text,
		reader->problems, &schema->schema);
	return r == -EINVAL ? 0 : r;
}

/* Built-in schemas are only documentation: no event, route or reducer can name one. */
static int read_schemas(const struct manifest_reader *reader)
{
	WFS_AUTO_JSON json_t *builtins = wfs_builtin_schemas();
	WFS_AUTO_JSON json_t *seen = json_object();
	struct wfs_manifest *manifest = reader->manifest;
	size_t builtin_count = 0; /* a manifest of an older version has none */
	size_t index;
	const json_t *given;

	json_array_foreach(json_object_get(manifest->document, "schemas"), index, given)
		builtin_count +=
			manifest_find_named(builtins, json_object_get(given, "name")) != NULL;
	const json_t *list =
		manifest_list(reader, "schemas", WFS_MANIFEST_SCHEMAS_MAX, builtin_count);
	size_t count = json_array_size(list);

	manifest->schemas = calloc(count + 1, sizeof(*manifest->schemas));
	if (!manifest->schemas || !builtins || !seen)
		return -ENOMEM;
	manifest->schema_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(list, i);
		int r = manifest_find_named(builtins, json_object_get(item, "name"))
			? manifest_read_builtin(reader, "schemas", i, builtins, seen)
			: read_schema(reader, item, i);

		if (r < 0)
			return r;
	}
	return 0;
}

static int read_emits(const struct manifest_reader *reader, const json_t *list, size_t index)
{
	struct manifest_reducer *reducer = &reader->manifest->reducers[index];
	struct wfs_place place = wfs_place_at("/reducers/%zu/emits", index);
	WFS_AUTO_JSON json_t *seen = json_object();

	if (!list)
		return 0;
	if (!json_is_array(list)) {
		manifest_expected(reader, place, "array", list);
		return 0;
	}
	reducer->emits = calloc(json_array_size(list) + 1, sizeof(*reducer->emits));
	if (!reducer->emits || !seen)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		struct wfs_place inner = wfs_place_at("%s/%zu", place.text, i);
		const char *name = manifest_text(item);

		if (!name || !json_object_get(reader->manifest->schema_index, name))
			manifest_expected(
				reader, inner, "the name of a schema of this manifest", item);
		else if (json_object_get(seen, name))
			manifest_expected(reader, inner, "each name once", item);
		else if (json_object_set_new(seen, name, json_null()) < 0)
			return -ENOMEM;
		else
			reducer->emits[reducer->emit_count++] = name;
	}
	qsort(reducer->emits, reducer->emit_count, sizeof(*reducer->emits), manifest_compare_text);
	return 0;
}

static void read_asks(const struct manifest_reader *reader, const json_t *list, size_t index)
{
	bool *const asks = reader->manifest->reducers[index].asks;
	struct wfs_place place = wfs_place_at("/reducers/%zu/effects", index);

	if (list && !json_is_array(list))
		manifest_expected(reader, place, "array", list);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		struct wfs_place inner = wfs_place_at("%s/%zu", place.text, i);
		const char *kind = manifest_text(item);
		const enum wfs_effect effect = kind ? wfs_effect_find(kind) : WFS_EFFECT_COUNT;

		if (effect == WFS_EFFECT_COUNT || !wfs_effect_of_reducers(effect) ||
			!reader->manifest->effects[effect])
			manifest_expected(reader, inner,
				"an effect of this manifest that reducers may ask for", item);
		else if (asks[effect])
			manifest_expected(reader, inner, "each name once", item);
		else
			asks[effect] = true;
	}
}

static void read_module(const struct manifest_reader *reader, const json_t *value, size_t index)
{
	struct wfs_place place = wfs_place_at("/reducers/%zu/module", index);
	const char *text = manifest_text(value);

	if (!value)
		return;
	if (!text ||
		wfs_hash_parse(text, strlen(text),
			&reader->manifest->reducers[index].definition.module, NULL) < 0)
		manifest_expected(reader, place, "the hash of a blob (sha256:…)", value);
}

static int read_user_reducer(const struct manifest_reader *reader, const json_t *item, size_t index)
{
	static const char *const names[] = {
		"$kind", "name", "language", "module", "keyed", "emits", "effects", NULL};
	struct wfs_reducer_definition *definition = &reader->manifest->reducers[index].definition;
	const struct manifest_naming naming = {manifest_is_reducer_name,
		"a name of [a-z][a-z0-9_.-]*, at most 128 bytes", reader->manifest->reducer_index,
		"sys."};
	struct wfs_place place = wfs_place_at("/reducers/%zu", index);
	const json_t *keyed;
	int r;

	if (!manifest_check_members(reader, place, item, names, NULL))
		return 0;
	manifest_check_kind(reader, place, item, "defreducer");
	manifest_check_text(reader, wfs_place_at("%s/language", place.text),
		json_object_get(item, "language"), "lua");
	r = manifest_enter(reader, wfs_place_at("%s/name", place.text),
		json_object_get(item, "name"), index, &naming, &definition->name);
	if (r < 0)
		return r;
	read_module(reader, json_object_get(item, "module"), index);
	keyed = json_object_get(item, "keyed");
	if (json_is_boolean(keyed)) {
		definition->keyed = json_is_true(keyed);
		reader->keyed_known[index] = true;
	} else if (keyed) {
		manifest_expected(reader, wfs_place_at("%s/keyed", place.text), "boolean", keyed);
	}
	read_asks(reader, json_object_get(item, "effects"), index);
	return read_emits(reader, json_object_get(item, "emits"), index);
}

static int read_builtin_reducer(const struct manifest_reader *reader, const json_t *item,
	const json_t *builtin, size_t index)
{
	struct wfs_reducer_definition *definition = &reader->manifest->reducers[index].definition;
	const struct manifest_naming naming = {
		manifest_is_reducer_name, "", reader->manifest->reducer_index, NULL};
	struct wfs_place place = wfs_place_at("/reducers/%zu", index);

	int r = manifest_check_builtin(reader, place, item, builtin);
	if (r < 0)
		return r;
	definition->builtin = true;
	definition->keyed = json_is_true(json_object_get(builtin, "keyed"));
	reader->keyed_known[index] = true;
	return manifest_enter(reader, wfs_place_at("%s/name", place.text),
		json_object_get(item, "name"), index, &naming, &definition->name);
}

static int read_reducers(struct manifest_reader *reader)
{
	const json_t *list = manifest_list(
		reader, "reducers", WFS_MANIFEST_REDUCERS_MAX, (size_t)wfs_builtin_reducer_count());
	WFS_AUTO_JSON json_t *builtins = wfs_builtin_reducers();
	struct wfs_manifest *manifest = reader->manifest;
	size_t count = json_array_size(list);

	static_assert(
		WFS_REDUCER_NAME_MAX == 128, "the message of read_user_reducer names the bound");
	manifest->reducers = calloc(count + 1, sizeof(*manifest->reducers));
	reader->keyed_known = calloc(count + 1, sizeof(*reader->keyed_known));
	if (!manifest->reducers || !reader->keyed_known || !builtins)
		return -ENOMEM;
	manifest->reducer_count = count;
	for (size_t i = 0; i < count; i++) {
		const json_t *item = json_array_get(list, i);
		const json_t *builtin =
			manifest_find_named(builtins, json_object_get(item, "name"));

		manifest->reducers[i].definition.index = i;
		int r = builtin ? read_builtin_reducer(reader, item, builtin, i)
				: read_user_reducer(reader, item, i);
		if (r < 0)
			return r;
	}
	/* Every world needs most of them, because the kernel changes their cells. */
	for (size_t i = 0; list && i < json_array_size(builtins); i++) {
		const char *const name = wfs_json_text(json_array_get(builtins, i), "name");

		if (!json_object_get(manifest->reducer_index, name) &&
			!wfs_builtin_reducer_late(wfs_builtin_reducer_find(name)))
			wfs_problems_add(reader->problems, NULL, "/reducers",
				"the built-in reducer %s is missing", name);
	}
	return 0;
}

/* Return: the index of the name that a row refers to, or -1 (a problem was added). */
static int64_t row_refer(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const json_t *index_of, const char *what)
{
	const char *text = manifest_text(value);
	const json_t *found = text ? json_object_get(index_of, text) : NULL;

	if (found)
		return json_integer_value(found);
	if (value)
		manifest_expected(reader, place, what, value);
	return -1;
}

static void read_key_field(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const struct wfs_reducer_definition *reducer, struct wfs_route *route)
{
	const char *text = manifest_text(value);

	if (value && (!text || !is_key_field(text))) {
		manifest_expected(
			reader, place, "a dotted path of member names, at most 255 bytes", value);
		return;
	}
	if (!reducer || !reader->keyed_known[reducer->index])
		return;
	if (reducer->keyed && !value)
		wfs_problems_add(
			reader->problems, NULL, place.text, "missing: the reducer is keyed");
	else if (!reducer->keyed && value)
		manifest_expected(reader, place, "nothing: the reducer is not keyed", value);
	route->key_field = text;
}

/* Return: 1 (*ret_row is filled), 0 (problems were added), -ENOMEM. */
static int read_row(const struct manifest_reader *reader, const json_t *item, size_t index,
	json_t *seen, struct row *ret_row)
{
	static const char *const names[] = {"event", "reducer", NULL};
	static const char *const optional[] = {"key_field", NULL};
	struct wfs_manifest *manifest = reader->manifest;
	struct wfs_place place = wfs_place_at("/routing/%zu", index);
	struct row row = {0};
	int64_t schema, reducer;
	struct wfs_place key;

	static_assert(WFS_ROUTE_KEY_FIELD_MAX == 255, "the message of read_key_field names it");
	if (!manifest_check_members(reader, place, item, names, optional))
		return 0;
	schema = row_refer(reader, wfs_place_at("%s/event", place.text),
		json_object_get(item, "event"), manifest->schema_index,
		"the name of a schema of this manifest");
	reducer = row_refer(reader, wfs_place_at("%s/reducer", place.text),
		json_object_get(item, "reducer"), manifest->reducer_index,
		"the name of a reducer of this manifest");
	row.route.reducer = reducer < 0 ? NULL : &manifest->reducers[reducer].definition;
	read_key_field(reader, wfs_place_at("%s/key_field", place.text),
		json_object_get(item, "key_field"), row.route.reducer, &row.route);
	if (row.route.reducer && row.route.reducer->builtin) {
		wfs_problems_add(reader->problems, NULL,
			wfs_place_at("%s/reducer", place.text).text,
			"no events go to a built-in reducer");
		return 0;
	}
	if (schema < 0 || reducer < 0)
		return 0;
	key = wfs_place_at("%lld/%lld", (long long)schema, (long long)reducer);
	if (json_object_get(seen, key.text)) {
		wfs_problems_add(reader->problems, NULL, place.text,
			"the events of this schema go to this reducer already");
		return 0;
	}
	row.schema = (size_t)schema;
	*ret_row = row;
	return json_object_set_new(seen, key.text, json_null()) < 0 ? -ENOMEM : 1;
}

/* Groups the rows by schema; rows of one schema stay in their order. */
static int routes_sort(struct wfs_manifest *manifest, const struct row *rows, size_t count)
{
	size_t first = 0;

	manifest->routes = calloc(count + 1, sizeof(*manifest->routes));
	if (!manifest->routes)
		return -ENOMEM;
	manifest->route_count = count;
	for (size_t i = 0; i < count; i++)
		manifest->schemas[rows[i].schema].route_count++;
	for (size_t i = 0; i < manifest->schema_count; i++) {
		manifest->schemas[i].route_first = first;
		first += manifest->schemas[i].route_count;
		manifest->schemas[i].route_count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct manifest_schema *schema = &manifest->schemas[rows[i].schema];

		manifest->routes[schema->route_first + schema->route_count++] = rows[i].route;
	}
	return 0;
}

static int read_routing(const struct manifest_reader *reader)
{
	const json_t *list = manifest_list(reader, "routing", WFS_MANIFEST_ROUTES_MAX, 0);
	WFS_AUTO_JSON json_t *seen = json_object();
	WFS_AUTO_FREE struct row *rows = NULL;
	size_t count = 0;

	rows = calloc(json_array_size(list) + 1, sizeof(*rows));
	if (!rows || !seen)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		int r = read_row(reader, json_array_get(list, i), i, seen, &rows[count]);

		if (r < 0)
			return r;
		count += (size_t)r;
	}
	return routes_sort(reader->manifest, rows, count);
}

int manifest_read(struct manifest_reader *reader)
{
	static const char *const names[] = {"world_version", "name", "schemas", "reducers",
		"routing", "effects", "caps", "policies", "policy", "principals", "grants", NULL};
	const json_t *document = reader->manifest->document;
	const json_t *version = json_object_get(document, "world_version");
	const json_t *name = json_object_get(document, "name");
	int r;

	if (!manifest_check_members(reader, wfs_place_at("%s", ""), document, names, NULL))
		return 0;
	if (version && (!json_is_integer(version) || json_integer_value(version) != WORLD_VERSION))
		manifest_expected(reader, wfs_place_at("/world_version"),
			"1, the version this program knows", version);
	static_assert(WFS_MANIFEST_NAME_MAX == 255, "the message names the bound");
	if (name && (!manifest_text(name) || !is_world_name(manifest_text(name))))
		manifest_expected(reader, wfs_place_at("/name"),
			"a name of 1 to 255 bytes without control characters", name);
	r = read_schemas(reader);
	if (r == 0)
		r = manifest_read_effects(reader);
	if (r == 0)
		r = read_reducers(reader);
	if (r == 0)
		r = read_routing(reader);
	if (r == 0)
		r = manifest_read_caps(reader);
	return r;
}
