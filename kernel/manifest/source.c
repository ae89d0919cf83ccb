/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads source directories.
 *
 * The lists of world.json become the lists of the manifest, item by item at the same indices, so
 * that a pointer into one is a pointer into the other. Built-in definitions come after them, and
 * source_place finds principals. What only the source form has (files, some members) is checked
 * here, and replaced by something harmless if it is wrong; everything else is checked by the
 * manifest, so that each problem is reported once.
 */
#include "kernel/manifest/source.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/encode.h"
#include "kernel/base/hash.h"
#include "kernel/base/json.h"
#include "kernel/box/box.h"
#include "kernel/manifest/builtin.h"
#include "kernel/manifest/manifest.h"
#include "kernel/manifest/source-impl.h"
#include "kernel/schema/schema.h"

#define HOST_FILE "host.json"

enum { MODULE_FAILED = -1 }; /* in struct source_loader.modules */

/* Parses the text of a file. @ret_json: NULL if problems were added. Return: 0, -ENOMEM. */
static int json_load(const struct source_loader *loader, const char *name,
	const struct wfs_buffer *text, json_t **ret_json)
{
	struct wfs_error error = {0};
	int r = wfs_json_parse_bounded(text->data ? text->data : "", text->size, ret_json, &error);

	if (r != -EINVAL && r != -EFBIG)
		return r;
	wfs_problems_add(loader->problems, name, NULL, "%s", error.message);
	*ret_json = NULL;
	return 0;
}

/* @ret_definition: the schema in a file, or `true` after problems. Return: 0, -ENOMEM. */
static int schema_file_load(const struct source_loader *loader, struct wfs_place place,
	const char *name, json_t **ret_definition)
{
	WFS_AUTO_SCHEMA struct wfs_schema *schema = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *definition = NULL;
	json_t *known = json_object_get(loader->schemas, name);
	int r;

	if (known) {
		*ret_definition = json_incref(known);
		return 0;
	}
	r = source_named_file_read(loader, place, name, &text);
	if (r > 0)
		r = json_load(loader, name, &text, &definition);
	if (r < 0)
		return r;
	if (definition) {
		r = wfs_schema_new(definition, name, "", loader->problems, &schema);
		if (r < 0 && r != -EINVAL)
			return r;
	}
	*ret_definition = schema ? json_incref(definition) : json_true();
	return source_set(loader->schemas, name, *ret_definition);
}

/* @ret_item: the defschema for an item of world.json. Return: 0, -ENOMEM. */
static int schema_assemble(
	struct source_loader *loader, json_t *item, size_t index, json_t **ret_item)
{
	static const char *const names[] = {"name", "schema", "file", NULL};
	struct wfs_place place = wfs_place_at("/schemas/%zu", index);
	struct wfs_place file_place = wfs_place_at("/schemas/%zu/file", index);
	json_t *definition = json_object_get(item, "schema");
	const json_t *file = json_object_get(item, "file");
	WFS_AUTO_JSON json_t *loaded = NULL;
	WFS_AUTO_JSON json_t *made = json_pack("{s:s}", "$kind", "defschema");
	const char *name;
	int r = 0;

	if (!made)
		return -ENOMEM;
	source_check_members(loader, place, item, names);
	if (definition && file) {
		wfs_problems_add(loader->problems, WORLD_FILE, file_place.text,
			"only one of schema and file can be given");
	} else if (file) {
		name = source_file_name(loader, file_place, file);
		if (name)
			r = schema_file_load(loader, file_place, name, &loaded);
		definition = loaded;
	} else if (!definition) {
		wfs_problems_add(loader->problems, WORLD_FILE, place.text,
			"expected a member schema or file, got neither");
	}
	if (r == 0)
		r = source_set(made, "name", json_object_get(item, "name"));
	if (r == 0)
		r = source_set(made, "schema", definition ? definition : json_true());
	if (r < 0)
		return r;
	*ret_item = WFS_STEAL(made);
	return 0;
}

/* Lua says "name:line: text" or "name: text"; the problem has the name already. */
static void module_problem(
	const struct source_loader *loader, const char *name, const struct wfs_error *error)
{
	const char *message = error->message;
	size_t size = strlen(name);
	bool line = false;

	if (strncmp(message, name, size) == 0 && message[size] == ':') {
		message += size + 1;
		line = *message >= '0' && *message <= '9';
		message += *message == ' ';
	}
	wfs_problems_add(loader->problems, name, NULL, "%s%s", line ? "line " : "", message);
}

/* Return: 1 if the module compiles, 0 if problems were added, -ENOMEM. */
static int module_compile(
	const struct source_loader *loader, const char *name, const struct wfs_buffer *text)
{
	WFS_AUTO_CODE struct wfs_code *code = NULL;
	struct wfs_error error = {0};
	const struct wfs_code_options options = {
		.limits = &WFS_LUA_LIMITS_DEFAULT,
		.name = name,
		.source = wfs_buffer_bytes(text),
		.functions = wfs_code_step_functions,
	};
	int r = wfs_code_new(loader->box, &options, &code, &error);

	if (r == 0)
		return 1;
	if (r == -ENOMEM)
		return r;
	module_problem(loader, name, &error);
	return 0;
}

/* Fills blobs[@index]. Return: 1, 0 if problems were added, -ENOMEM. */
static int module_load(
	struct source_loader *loader, struct wfs_place place, const json_t *value, size_t index)
{
	const char *name = source_file_name(loader, place, value);
	struct wfs_buffer *blob = &loader->blobs[index];
	const json_t *known;
	int r;

	if (!name)
		return 0;
	known = json_object_get(loader->modules, name);
	if (known && json_integer_value(known) == MODULE_FAILED)
		return 0;
	if (known) {
		const struct wfs_buffer *first = &loader->blobs[json_integer_value(known)];

		if (!source_charge(loader, place, first->size))
			return 0;
		wfs_buffer_append(blob, first->data, first->size);
		return wfs_buffer_check(blob) < 0 ? -ENOMEM : 1;
	}
	r = source_named_file_read(loader, place, name, blob);
	if (r > 0)
		r = source_charge(loader, place, blob->size);
	if (r > 0)
		r = module_compile(loader, name, blob);
	if (r < 0)
		return r;
	if (json_object_set_new(loader->modules, name,
		    json_integer(r > 0 ? (json_int_t)index : MODULE_FAILED)) < 0)
		return -ENOMEM;
	return r;
}

/* @ret_item: the defreducer for an item of world.json. Return: 0, -ENOMEM. */
static int reducer_assemble(
	struct source_loader *loader, json_t *item, size_t index, json_t **ret_item)
{
	static const char *const names[] = {"name", "module", "keyed", "emits", "effects", NULL};
	struct wfs_place place = wfs_place_at("/reducers/%zu/module", index);
	const json_t *module = json_object_get(item, "module");
	char hash_text[WFS_HASH_TEXT_SIZE];
	struct wfs_hash hash = {0};
	WFS_AUTO_JSON json_t *made = NULL;
	int r = 0;

	source_check_members(loader, wfs_place_at("/reducers/%zu", index), item, names);
	if (module)
		r = module_load(loader, place, module, index);
	else
		wfs_problems_add(loader->problems, WORLD_FILE, place.text, "missing");
	if (r < 0)
		return r;
	if (r > 0)
		hash = wfs_hash_of(loader->blobs[index].data, loader->blobs[index].size);
	wfs_hash_text(&hash, hash_text);
	made = json_pack("{s:s, s:s, s:s, s:b, s:[], s:[]}", "$kind", "defreducer", "language",
		"lua", "module", hash_text, "keyed", 0, "emits", "effects");
	if (!made)
		return -ENOMEM;
	for (const char *const *name = names; *name; name++) {
		if (strcmp(*name, "module") == 0)
			continue;
		r = source_set(made, *name, json_object_get(item, *name));
		if (r < 0)
			return r;
	}
	*ret_item = WFS_STEAL(made);
	return 0;
}

/*
 * Makes the manifest's list @name from that of world.json. Values that are not lists, lists that
 * are too long, and items that are not objects go into the manifest as they are, which refuses
 * them.
 */
static int list_assemble(struct source_loader *loader, const char *name, size_t max,
	int (*assemble)(struct source_loader *, json_t *, size_t, json_t **))
{
	json_t *list = json_object_get(loader->world, name);
	WFS_AUTO_JSON json_t *made = json_array();
	size_t index;
	json_t *item;

	if (!made)
		return -ENOMEM;
	if (list && (!json_is_array(list) || json_array_size(list) > max))
		return source_set(loader->manifest, name, list);
	json_array_foreach(list, index, item) {
		json_t *made_item = NULL;
		int r = 0;

		if (json_is_object(item))
			r = assemble(loader, item, index, &made_item);
		else
			made_item = json_incref(item);
		if (r < 0)
			return r;
		if (json_array_append_new(made, made_item) < 0)
			return -ENOMEM;
	}
	return source_set(loader->manifest, name, made);
}

/* Appends the built-in definitions to a list. */
static int list_extend(json_t *manifest, const char *name, json_t *builtins)
{
	json_t *list = json_object_get(manifest, name);
	WFS_AUTO_JSON json_t *owned = builtins;
	WFS_AUTO_JSON json_t *made = json_array(); /* the list may be part of world.json */

	if (!owned)
		return -ENOMEM;
	if (!json_is_array(list))
		return 0; /* the manifest will refuse it */
	if (json_array_extend(made, list) < 0 || json_array_extend(made, builtins) < 0)
		return -ENOMEM;
	return source_set(manifest, name, made);
}

static int builtins_add(json_t *manifest)
{
	int r = list_extend(manifest, "schemas", wfs_builtin_schemas());

	if (r == 0)
		r = list_extend(manifest, "effects", wfs_builtin_effects());
	if (r == 0)
		r = list_extend(manifest, "caps", wfs_builtin_caps());
	if (r == 0)
		r = list_extend(manifest, "policies", wfs_builtin_policies());
	if (r == 0)
		r = list_extend(manifest, "reducers", wfs_builtin_reducers());
	return r;
}

/* Leaves out the built-in definitions of a list: all effects and capabilities are, and otherwise
 * those whose names are reserved for them. */
static int strip_builtins(json_t *manifest, const char *list)
{
	const bool all = strcmp(list, "effects") == 0 || strcmp(list, "caps") == 0;
	WFS_AUTO_JSON json_t *kept = json_array();
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(manifest, list), i, item) {
		const char *const name = json_string_value(json_object_get(item, "name"));
		const bool reserved =
			strncmp(name, "sys/", 4) == 0 || strncmp(name, "sys.", 4) == 0;

		if (!all && !reserved && json_array_append(kept, item) < 0)
			return -ENOMEM;
	}
	return source_set(manifest, list, kept);
}

int wfs_source_renew(json_t *manifest)
{
	static const char *const lists[] = {"schemas", "effects", "caps", "policies", "reducers"};
	int r = 0;

	for (size_t i = 0; !r && i < WFS_ARRAY_COUNT(lists); i++)
		r = strip_builtins(manifest, lists[i]);
	return r ? r : builtins_add(manifest);
}

/* Makes a manifest with empty lists. @name: NULL: no name */
static json_t *manifest_base(const char *name)
{
	json_t *manifest = json_pack("{s:i, s:[], s:[], s:[], s:[], s:[], s:[], s:s, s:[], s:[]}",
		"world_version", 1, "schemas", "reducers", "routing", "effects", "caps", "policies",
		"policy", WFS_BUILTIN_POLICY, "principals", "grants");

	if (manifest && name && source_set_new(manifest, "name", json_string(name)) < 0) {
		json_decref(manifest);
		return NULL;
	}
	return manifest;
}

/* Compiles the manifest for its problems, and reports them at their places of world.json. */
static int manifest_check(const struct source_loader *loader)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_PROBLEMS struct wfs_problems found = {0};
	size_t lines = 0;
	char *line;
	char *end;
	int r = wfs_manifest_new(loader->manifest, &found, &manifest);

	if (r < 0 && r != -EINVAL)
		return r;
	if (wfs_buffer_check(&found.lines) < 0 || wfs_buffer_reserve(&found.lines, 1) < 0)
		return -ENOMEM;
	line = found.lines.data;
	for (; lines < found.count &&
		(end = memchr(line, '\n', found.lines.size - (size_t)(line - found.lines.data)));
		lines++, line = end + 1) {
		struct wfs_place place;
		char *reason;

		*end = '\0';
		reason = strstr(line, ": ");
		if (reason)
			*reason = '\0';
		if (reason && source_place(loader, line, &place))
			wfs_problems_add(
				loader->problems, WORLD_FILE, place.text, "%s", reason + 2);
		else
			wfs_problems_add(loader->problems, WORLD_FILE, reason ? line : NULL, "%s",
				reason ? reason + 2 : line);
	}
	loader->problems->count += found.count - lines;
	return 0;
}

static bool take_flag(struct source_loader *loader, const char *name)
{
	const json_t *const value = json_object_get(loader->world, name);

	if (value && !json_is_boolean(value))
		source_expected(loader, wfs_place_at("/%s", name), "true or false", value);
	return json_is_true(value);
}

static int world_assemble(struct source_loader *loader, const char *name)
{
	static const char *const names[] = {"name", "schemas", "reducers", "routing", "principals",
		"artifacts", "genesis", "handbook", "policies", "policy", NULL};
	static const char *const as_it_is[] = {"routing", "policies", "policy"};
	json_t *reducers = json_object_get(loader->world, "reducers");
	int r = 0;

	if (!json_is_object(loader->world)) {
		source_expected(loader, wfs_place_at("%s", ""), "object", loader->world);
		return 0;
	}
	source_check_members(loader, wfs_place_at("%s", ""), loader->world, names);
	loader->genesis = take_flag(loader, "genesis");
	loader->handbook = take_flag(loader, "handbook");
	loader->blobs = calloc(json_array_size(reducers) + 1, sizeof(*loader->blobs));
	if (!loader->blobs)
		return -ENOMEM;
	loader->blob_count = json_array_size(reducers);
	if (!name)
		r = source_set(loader->manifest, "name", json_object_get(loader->world, "name"));
	for (size_t i = 0; r == 0 && i < WFS_ARRAY_COUNT(as_it_is); i++)
		r = source_set(
			loader->manifest, as_it_is[i], json_object_get(loader->world, as_it_is[i]));
	if (r == 0)
		r = list_assemble(loader, "schemas", WFS_MANIFEST_SCHEMAS_MAX, schema_assemble);
	if (r == 0)
		r = list_assemble(loader, "reducers", WFS_MANIFEST_REDUCERS_MAX, reducer_assemble);
	if (r < 0)
		return r;
	r = source_principals(loader);
	if (r == 0)
		r = builtins_add(loader->manifest);
	if (r == 0)
		r = manifest_check(loader);
	return r < 0 ? r : source_artifacts(loader);
}

/* Reads and parses world.json or host.json.
 * Return: 1, 0 (a problem was added), -ENOENT (without a problem), -ENOMEM. */
static int fixed_file_load(const struct source_loader *loader, const char *name, json_t **ret_json)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r = source_file_read(loader->directory, name, &text);

	if (r == -ENOMEM || r == -ENOENT)
		return r;
	if (r < 0) {
		wfs_problems_add(
			loader->problems, name, NULL, "cannot be read: %s", source_file_reason(r));
		return 0;
	}
	r = json_load(loader, name, &text, ret_json);
	return r < 0 ? r : *ret_json != NULL;
}

static int host_load(const struct source_loader *loader, struct wfs_source *source)
{
	WFS_AUTO_JSON json_t *host = NULL;
	int r = fixed_file_load(loader, HOST_FILE, &host);

	if (r <= 0)
		return r == -ENOENT ? 0 : r;
	if (!json_is_object(host)) {
		WFS_AUTO_BUFFER struct wfs_buffer came = {0};

		wfs_json_describe(host, &came);
		wfs_problems_add(loader->problems, HOST_FILE, NULL, "expected object, got %s",
			wfs_buffer_text(&came));
		return 0;
	}
	wfs_json_write_document(host, &source->host);
	r = wfs_buffer_check(&source->host);
	return r ? r : source_scripts(loader, host, source);
}

static int world_load(struct source_loader *loader, const char *name)
{
	int r;

	loader->manifest = manifest_base(name);
	loader->schemas = json_object();
	loader->modules = json_object();
	if (!loader->manifest || !loader->schemas || !loader->modules ||
		wfs_box_new(&loader->box) < 0)
		return -ENOMEM;
	r = fixed_file_load(loader, WORLD_FILE, &loader->world);
	if (r == -ENOENT)
		wfs_problems_add(loader->problems, WORLD_FILE, NULL, "cannot be read: %s",
			source_file_reason(r));
	if (r <= 0)
		return r;
	return world_assemble(loader, name);
}

static void loader_done(struct source_loader *loader)
{
	for (size_t i = 0; i < loader->blob_count; i++)
		wfs_buffer_done(&loader->blobs[i]);
	free(loader->blobs);
	json_decref(loader->world);
	json_decref(loader->manifest);
	json_decref(loader->schemas);
	json_decref(loader->modules);
	wfs_box_free(loader->box);
	json_decref(loader->artifacts);
	source_places_done(&loader->places);
	wfs_auto_fd(&loader->directory);
}

/* Return: 0, -EINVAL if a problem was added, -ENOMEM. */
static int name_check(const char *name, struct wfs_problems *problems)
{
	WFS_AUTO_SOURCE struct wfs_source source = {0};
	struct wfs_error error = {0};
	int r = wfs_source_empty(name, &source, &error);

	if (r == -EINVAL)
		wfs_problems_add(problems, NULL, NULL, "%s", error.message);
	return r;
}

int wfs_source_load(const char *directory, const char *name, struct wfs_problems *problems,
	struct wfs_source *ret_source)
{
	WFS_CLEANUP(loader_done)
	struct source_loader loader = {.directory = -1, .problems = problems};
	WFS_AUTO_SOURCE struct wfs_source source = {0};
	size_t before = problems->count;
	int world, r;

	r = name ? name_check(name, problems) : 0;
	if (r < 0 && r != -EINVAL)
		return wfs_trace(r);
	if (r == -EINVAL)
		name = "world"; /* the problem was added; read the rest for its problems */
	loader.directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (loader.directory < 0) {
		r = -errno;
		wfs_problems_add(
			problems, directory, NULL, "cannot be opened: %s", source_file_reason(r));
		return r == -ENOENT || r == -ENOMEM ? r : -EINVAL;
	}
	world = world_load(&loader, name);
	if (world < 0 && world != -ENOENT)
		return wfs_trace(world);
	r = host_load(&loader, &source);
	if (r < 0)
		return wfs_trace(r);
	if (world == -ENOENT)
		return world;
	if (problems->count != before + loader.artifact_problem_count)
		return -EINVAL;
	source.manifest = WFS_STEAL(loader.manifest);
	source.artifacts = WFS_STEAL(loader.artifacts);
	source.genesis = loader.genesis;
	source.handbook = loader.handbook;
	source.blobs = WFS_STEAL(loader.blobs);
	source.blob_count = loader.blob_count;
	loader.blob_count = 0;
	*ret_source = source;
	source = (struct wfs_source){0};
	return loader.artifact_problem_count > 0 ? -EINVAL : 0;
}

int wfs_source_empty(const char *name, struct wfs_source *ret_source, struct wfs_error *error)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	const char *lines;
	int r;

	if (!wfs_utf8_valid(name, strlen(name)))
		return wfs_error_set(error, WFS_E_INVALID_ARGUMENT, "the name is not valid UTF-8");
	document = manifest_base(name);
	if (!document)
		return -ENOMEM;
	r = source_operator(document, NULL, true);
	if (r == 0)
		r = builtins_add(document);
	if (r == 0)
		r = wfs_manifest_new(document, &problems, &manifest);
	if (r == -EINVAL) {
		/* Without a file the slash of "/name: …" means nothing. */
		lines = wfs_buffer_text(&problems.lines);
		lines += *lines == '/';
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "%.*s", (int)strcspn(lines, "\n"), lines);
	}
	if (r < 0)
		return wfs_trace(r);
	*ret_source = (struct wfs_source){
		.manifest = WFS_STEAL(document), .genesis = true, .handbook = true};
	return 0;
}

void wfs_source_done(struct wfs_source *source)
{
	json_decref(source->manifest);
	json_decref(source->artifacts);
	for (size_t i = 0; i < source->blob_count; i++)
		wfs_buffer_done(&source->blobs[i]);
	free(source->blobs);
	wfs_buffer_done(&source->host);
	for (size_t i = 0; i < source->file_count; i++) {
		free(source->files[i].name);
		wfs_buffer_done(&source->files[i].bytes);
	}
	free(source->files);
	*source = (struct wfs_source){0};
}
