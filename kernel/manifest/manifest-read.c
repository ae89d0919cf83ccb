/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking of manifest documents: everything in one is either understood or refused, and all
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
#define DEFAULT_POLICY "sys/default@1"
#define NOT_ENABLED "not enabled in this version"

/* A row as written, with the names resolved. */
struct row {
	size_t schema;
	struct wfs_route route;
};

static void expected(const struct manifest_reader *reader, struct wfs_place place, const char *what,
	const json_t *value)
{
	WFS_AUTO_BUFFER struct wfs_buffer came = {0};

	wfs_schema_describe(value, &came);
	wfs_problems_add(reader->problems, NULL, place.text, "expected %s, got %s", what,
		wfs_buffer_text(&came));
}

/* Text of a string without NUL bytes, else NULL. */
static const char *text_of(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && strlen(text) == json_string_length(value) ? text : NULL;
}

static bool is_member(const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

/*
 * @value is an object with all of the NULL-ended @names, and with nothing else but @optional.
 * Return: false when it is no object; other problems are only noted.
 */
static bool check_members(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *const *names, const char *optional)
{
	const char *name;
	json_t *member;

	if (!json_is_object(value)) {
		expected(reader, place, "object", value);
		return false;
	}
	json_object_foreach((json_t *)value, name, member)
	{
		WFS_AUTO_BUFFER struct wfs_buffer pointer = {0};

		if (is_member(name, names) || (optional && strcmp(name, optional) == 0))
			continue;
		wfs_buffer_append_text(&pointer, place.text);
		wfs_schema_pointer_append(&pointer, name);
		wfs_problems_add(reader->problems, NULL, wfs_buffer_text(&pointer),
			"no such member is known");
	}
	for (; *names; names++) {
		if (!json_object_get(value, *names))
			wfs_problems_add(reader->problems, NULL,
				wfs_place_at("%s/%s", place.text, *names).text, "missing");
	}
	return true;
}

/* The list @name of at most @max items, or NULL (noted, unless it is missing: that was noted). */
static const json_t *list_find(const struct manifest_reader *reader, const char *name, size_t max)
{
	const json_t *list = json_object_get(reader->manifest->document, name);
	struct wfs_place place = wfs_place_at("/%s", name);

	if (!list)
		return NULL;
	if (!json_is_array(list)) {
		expected(reader, place, "array", list);
		return NULL;
	}
	if (json_array_size(list) > max) {
		wfs_problems_add(reader->problems, NULL, place.text,
			"at most %zu are allowed, got %zu", max, json_array_size(list));
		return NULL;
	}
	return list;
}

/* A list that a later version will read. */
static void check_empty(
	const struct manifest_reader *reader, struct wfs_place place, const json_t *list)
{
	if (!list)
		return;
	if (!json_is_array(list))
		expected(reader, place, "array", list);
	else if (json_array_size(list) > 0)
		wfs_problems_add(reader->problems, NULL, place.text, "%s", NOT_ENABLED);
}

static void check_text(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const char *wanted)
{
	const char *text = text_of(value);
	WFS_AUTO_BUFFER struct wfs_buffer quoted = {0};

	if (!value || (text && strcmp(text, wanted) == 0))
		return;
	wfs_json_write_string(&quoted, wanted, strlen(wanted));
	expected(reader, place, wfs_buffer_text(&quoted), value);
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_letter(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Characters behind the first one of a name; reducers and namespaces know no capitals. */
static const char *skip_name(const char *at, bool capitals)
{
	while (is_digit(*at) || *at == '_' || *at == '.' || *at == '-' || is_lower(*at) ||
		(capitals && is_letter(*at)))
		at++;
	return at;
}

/* `[a-z][a-z0-9_.-]*` */
static bool is_reducer_name(const char *text)
{
	return is_lower(*text) && !*skip_name(text + 1, false) &&
		strlen(text) <= WFS_REDUCER_NAME_MAX;
}

/* `ns/Name@N`: `[a-z][a-z0-9_.-]*` `/` `[A-Za-z][A-Za-z0-9_.-]*` `@` `[1-9][0-9]*` */
static bool is_definition_name(const char *text)
{
	const char *at = text;

	if (strlen(text) > WFS_SCHEMA_NAME_MAX || !is_lower(*at))
		return false;
	at = skip_name(at + 1, false);
	if (*at++ != '/' || !is_letter(*at))
		return false;
	at = skip_name(at + 1, true);
	if (*at++ != '@' || !is_digit(*at) || *at == '0')
		return false;
	while (is_digit(*at))
		at++;
	return !*at;
}

static bool is_world_name(const char *text)
{
	size_t size = strlen(text);

	for (const char *at = text; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return false;
	}
	return size > 0 && size <= WFS_MANIFEST_NAME_MAX;
}

/* Names joined by dots, none of them empty. */
static bool is_key_field(const char *text)
{
	size_t size = strlen(text);

	return size > 0 && size <= WFS_ROUTE_KEY_FIELD_MAX && text[0] != '.' &&
		text[size - 1] != '.' && !strstr(text, "..");
}

/* How a kind of definition is named. */
struct naming {
	bool (*fits)(const char *);
	const char *form; /* for the message */
	json_t *index_of;
};

/*
 * Enters a definition's name under its place. A name of the wrong form is entered too, so that
 * what refers to it is not reported as well.
 * *ret_name: NULL when there is no name to be entered.
 */
static int name_enter(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, size_t index, const struct naming *naming, const char **ret_name)
{
	const char *text = text_of(value);
	const json_t *first = text ? json_object_get(naming->index_of, text) : NULL;

	*ret_name = NULL;
	if (!value)
		return 0; /* was noted as missing */
	if (!text || !naming->fits(text))
		expected(reader, place, naming->form, value);
	if (!text)
		return 0;
	if (first) {
		wfs_problems_add(reader->problems, NULL, place.text,
			"the name is taken by the item at index %lld",
			(long long)json_integer_value(first));
		return 0;
	}
	*ret_name = text;
	if (json_object_set_new(naming->index_of, text, json_integer((json_int_t)index)) < 0)
		return -ENOMEM;
	return 0;
}

static int read_schema(const struct manifest_reader *reader, const json_t *item, size_t index)
{
	static const char *const names[] = {"$kind", "name", "schema", NULL};
	struct manifest_schema *schema = &reader->manifest->schemas[index];
	const struct naming naming = {
		is_definition_name, "a name like ns/Name@1", reader->manifest->schema_index};
	struct wfs_place place = wfs_place_at("/schemas/%zu", index);
	json_t *definition;
	const char *name;
	int r;

	if (!check_members(reader, place, item, names, NULL))
		return 0;
	check_text(reader, wfs_place_at("%s/$kind", place.text), json_object_get(item, "$kind"),
		"defschema");
	r = name_enter(reader, wfs_place_at("%s/name", place.text), json_object_get(item, "name"),
		index, &naming, &name);
	if (r < 0)
		return r;
	definition = json_object_get(item, "schema");
	if (!definition)
		return 0;
	r = wfs_schema_new(definition, NULL, wfs_place_at("%s/schema", place.text).text,
		reader->problems, &schema->schema);
	return r == -EINVAL ? 0 : r;
}

static int read_schemas(const struct manifest_reader *reader)
{
	const json_t *list = list_find(reader, "schemas", WFS_MANIFEST_SCHEMAS_MAX);
	struct wfs_manifest *manifest = reader->manifest;
	size_t count = json_array_size(list);

	manifest->schemas = calloc(count + 1, sizeof(*manifest->schemas));
	if (!manifest->schemas)
		return -ENOMEM;
	manifest->schema_count = count;
	for (size_t i = 0; i < count; i++) {
		int r = read_schema(reader, json_array_get(list, i), i);

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
		expected(reader, place, "array", list);
		return 0;
	}
	reducer->emits = calloc(json_array_size(list) + 1, sizeof(*reducer->emits));
	if (!reducer->emits || !seen)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		struct wfs_place inner = wfs_place_at("%s/%zu", place.text, i);
		const char *name = text_of(item);

		if (!name || !json_object_get(reader->manifest->schema_index, name))
			expected(reader, inner, "the name of a schema of this manifest", item);
		else if (json_object_get(seen, name))
			expected(reader, inner, "each name once", item);
		else if (json_object_set_new(seen, name, json_null()) < 0)
			return -ENOMEM;
		else
			reducer->emits[reducer->emit_count++] = name;
	}
	qsort(reducer->emits, reducer->emit_count, sizeof(*reducer->emits), manifest_compare_text);
	return 0;
}

static void read_module(const struct manifest_reader *reader, const json_t *value, size_t index)
{
	struct wfs_place place = wfs_place_at("/reducers/%zu/module", index);
	const char *text = text_of(value);

	if (!value)
		return;
	if (!text ||
		wfs_hash_parse(text, strlen(text),
			&reader->manifest->reducers[index].definition.module, NULL) < 0)
		expected(reader, place, "the hash of a blob (sha256:…)", value);
}

static int read_reducer(const struct manifest_reader *reader, const json_t *item, size_t index)
{
	static const char *const names[] = {
		"$kind", "name", "language", "module", "keyed", "emits", "effects", NULL};
	struct wfs_reducer_definition *definition = &reader->manifest->reducers[index].definition;
	const struct naming naming = {is_reducer_name,
		"a name of [a-z][a-z0-9_.-]*, at most 128 bytes", reader->manifest->reducer_index};
	struct wfs_place place = wfs_place_at("/reducers/%zu", index);
	const json_t *keyed;
	int r;

	definition->index = index;
	if (!check_members(reader, place, item, names, NULL))
		return 0;
	check_text(reader, wfs_place_at("%s/$kind", place.text), json_object_get(item, "$kind"),
		"defreducer");
	check_text(reader, wfs_place_at("%s/language", place.text),
		json_object_get(item, "language"), "lua");
	r = name_enter(reader, wfs_place_at("%s/name", place.text), json_object_get(item, "name"),
		index, &naming, &definition->name);
	if (r < 0)
		return r;
	read_module(reader, json_object_get(item, "module"), index);
	keyed = json_object_get(item, "keyed");
	if (json_is_boolean(keyed)) {
		definition->keyed = json_is_true(keyed);
		reader->keyed_known[index] = true;
	} else if (keyed) {
		expected(reader, wfs_place_at("%s/keyed", place.text), "boolean", keyed);
	}
	check_empty(
		reader, wfs_place_at("%s/effects", place.text), json_object_get(item, "effects"));
	return read_emits(reader, json_object_get(item, "emits"), index);
}

static int read_reducers(struct manifest_reader *reader)
{
	const json_t *list = list_find(reader, "reducers", WFS_MANIFEST_REDUCERS_MAX);
	struct wfs_manifest *manifest = reader->manifest;
	size_t count = json_array_size(list);

	static_assert(WFS_REDUCER_NAME_MAX == 128, "the message of read_reducer names the bound");
	manifest->reducers = calloc(count + 1, sizeof(*manifest->reducers));
	reader->keyed_known = calloc(count + 1, sizeof(*reader->keyed_known));
	if (!manifest->reducers || !reader->keyed_known)
		return -ENOMEM;
	manifest->reducer_count = count;
	for (size_t i = 0; i < count; i++) {
		int r = read_reducer(reader, json_array_get(list, i), i);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The place of a name that a row refers to, or -1 (noted). */
static int64_t row_refer(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const json_t *index_of, const char *what)
{
	const char *text = text_of(value);
	const json_t *found = text ? json_object_get(index_of, text) : NULL;

	if (found)
		return json_integer_value(found);
	if (value)
		expected(reader, place, what, value);
	return -1;
}

static void read_key_field(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, const struct wfs_reducer_definition *reducer, struct wfs_route *route)
{
	const char *text = text_of(value);

	if (value && (!text || !is_key_field(text))) {
		expected(reader, place, "a dotted path of member names, at most 255 bytes", value);
		return;
	}
	if (!reducer || !reader->keyed_known[reducer->index])
		return;
	if (reducer->keyed && !value)
		wfs_problems_add(
			reader->problems, NULL, place.text, "missing: the reducer is keyed");
	else if (!reducer->keyed && value)
		expected(reader, place, "nothing: the reducer is not keyed", value);
	route->key_field = text;
}

/* Return: 1 when *ret_row is filled, 0 when problems were noted, -ENOMEM. */
static int read_row(const struct manifest_reader *reader, const json_t *item, size_t index,
	json_t *seen, struct row *ret_row)
{
	static const char *const names[] = {"event", "reducer", NULL};
	struct wfs_manifest *manifest = reader->manifest;
	struct wfs_place place = wfs_place_at("/routing/%zu", index);
	struct row row = {0};
	int64_t schema, reducer;
	struct wfs_place key;

	static_assert(WFS_ROUTE_KEY_FIELD_MAX == 255, "the message of read_key_field names it");
	if (!check_members(reader, place, item, names, "key_field"))
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

/* Brings the rows of a schema together, in the order in which they came. */
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
	const json_t *list = list_find(reader, "routing", WFS_MANIFEST_ROUTES_MAX);
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

static void read_version(const struct manifest_reader *reader, const json_t *value)
{
	if (value && (!json_is_integer(value) || json_integer_value(value) != WORLD_VERSION))
		expected(reader, wfs_place_at("/world_version"),
			"1, the version this program knows", value);
}

static void read_world_name(const struct manifest_reader *reader, const json_t *value)
{
	const char *text = text_of(value);

	static_assert(WFS_MANIFEST_NAME_MAX == 255, "the message names the bound");
	if (value && (!text || !is_world_name(text)))
		expected(reader, wfs_place_at("/name"),
			"a name of 1 to 255 bytes without control characters", value);
}

int manifest_read(struct manifest_reader *reader)
{
	static const char *const names[] = {"world_version", "name", "schemas", "reducers",
		"routing", "effects", "caps", "policies", "policy", "grants", NULL};
	static const char *const later[] = {"effects", "caps", "policies", "grants"};
	const json_t *document = reader->manifest->document;
	int r;

	if (!check_members(reader, wfs_place_at("%s", ""), document, names, NULL))
		return 0;
	read_version(reader, json_object_get(document, "world_version"));
	read_world_name(reader, json_object_get(document, "name"));
	r = read_schemas(reader);
	if (r == 0)
		r = read_reducers(reader);
	if (r == 0)
		r = read_routing(reader);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(later); i++)
		check_empty(
			reader, wfs_place_at("/%s", later[i]), json_object_get(document, later[i]));
	check_text(reader, wfs_place_at("/policy"), json_object_get(document, "policy"),
		DEFAULT_POLICY);
	return r;
}
