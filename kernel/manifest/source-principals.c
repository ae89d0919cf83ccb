/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Principals of the source form, each with its grants; the manifest has one list of each.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/array.h"
#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/builtin.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/manifest.h"
#include "kernel/manifest/source-impl.h"

void source_places_done(struct source_places *places)
{
	free(places->principals);
	free(places->grants);
}

static int place_add(struct source_place **places, size_t *count, size_t *capacity,
	size_t principal, size_t grant)
{
	struct source_place *const moved =
		wfs_array_reserve(*places, *count, capacity, sizeof(**places));

	if (!moved)
		return -ENOMEM;
	*places = moved;
	moved[(*count)++] = (struct source_place){.principal = principal, .grant = grant};
	return 0;
}

/* --- the operator --- */

int source_operator(json_t *manifest, const json_t *account, bool genesis)
{
	WFS_AUTO_JSON json_t *caps = wfs_builtin_caps();
	WFS_AUTO_JSON json_t *principal = json_pack("{s:s}", "id", WFS_PRINCIPAL_OPERATOR);
	size_t index;
	const json_t *cap;
	int r = caps && principal ? 0 : -ENOMEM;

	if (r == 0)
		r = source_set(principal, "scrip", json_object_get(account, "scrip"));
	if (r == 0)
		r = source_set(principal, "quotas", json_object_get(account, "quotas"));
	if (r == 0 && genesis && !json_object_get(principal, "scrip"))
		r = source_set_new(principal, "scrip", json_integer(SOURCE_OPERATOR_SCRIP));
	if (r == 0 && json_array_append(json_object_get(manifest, "principals"), principal) < 0)
		r = -ENOMEM;
	if (r < 0)
		return r;
	json_array_foreach(caps, index, cap) {
		json_t *const grant = json_pack("{s:O, s:o, s:{}, s:s}", "cap",
			json_object_get(cap, "name"), "name",
			json_sprintf(
				WFS_PRINCIPAL_OPERATOR ".%s.1", wfs_json_text(cap, "cap_type")),
			"params", "to", WFS_PRINCIPAL_OPERATOR);

		if (json_array_append_new(json_object_get(manifest, "grants"), grant) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Finds the first item that is the operator, with its account.
 * A second one is reported as a duplicate. */
static const json_t *find_operator(struct source_places *places, const json_t *list)
{
	size_t index;
	const json_t *item;

	json_array_foreach(list, index, item) {
		if (strcmp(wfs_json_text(item, "id"), WFS_PRINCIPAL_OPERATOR) == 0) {
			places->operator_index = index;
			return item;
		}
	}
	places->operator_index = SIZE_MAX;
	return NULL;
}

static void check_operator(struct source_loader *loader, size_t index, const json_t *item)
{
	static const char *const names[] = {"id", "scrip", "quotas", "grants", NULL};

	source_check_members(loader, wfs_place_at("/principals/%zu", index), item, names);
	if (json_object_get(item, "grants"))
		wfs_problems_add(loader->problems, WORLD_FILE,
			wfs_place_at("/principals/%zu/grants", index).text,
			"the operator of every world has every capability, and no other grants");
}

/* --- other principals --- */

/* State while principals are read. */
struct reading {
	struct source_loader *loader;
	json_t *caps;  /* built-in definitions */
	json_t *taken; /* names of grants */
	json_t *next;  /* by `<to>.<cap type>`: no lower number is free */
};

static void reading_done(struct reading *reading)
{
	json_decref(reading->caps);
	json_decref(reading->taken);
	json_decref(reading->next);
}

/* Return: the cap type of a grant; the manifest will refuse an unknown capability. */
static const char *cap_type_of(const struct reading *reading, const json_t *grant)
{
	size_t index;
	const json_t *cap;

	json_array_foreach(reading->caps, index, cap) {
		if (json_equal(json_object_get(cap, "name"), json_object_get(grant, "cap")))
			return json_string_value(json_object_get(cap, "cap_type"));
	}
	return "unknown";
}

/* Gives a grant the first free name `<to>.<cap type>.<n>`. */
static int name_grant(struct reading *reading, json_t *grant)
{
	const char *to = json_string_value(json_object_get(grant, "to"));
	WFS_AUTO_BUFFER struct wfs_buffer stem = {0};
	WFS_AUTO_BUFFER struct wfs_buffer name = {0};
	json_int_t number;

	/* An id of the wrong form is reported where it is,
	 * and must not be once more in each name. */
	wfs_buffer_printf(&stem, "%s.%s", wfs_grant_name_valid(to) ? to : "nobody",
		cap_type_of(reading, grant));
	if (wfs_buffer_check(&stem) < 0)
		return -ENOMEM;
	number = json_integer_value(json_object_get(reading->next, wfs_buffer_text(&stem)));
	do {
		wfs_buffer_reset(&name);
		wfs_buffer_printf(&name, "%s.%lld", wfs_buffer_text(&stem), (long long)++number);
		if (wfs_buffer_check(&name) < 0)
			return -ENOMEM;
	} while (json_object_get(reading->taken, wfs_buffer_text(&name)));
	if (source_set_new(reading->next, wfs_buffer_text(&stem), json_integer(number)) < 0 ||
		source_set_new(reading->taken, wfs_buffer_text(&name), json_true()) < 0)
		return -ENOMEM;
	return source_set_new(grant, "name", json_string(wfs_buffer_text(&name)));
}

static int add_grant(struct reading *reading, size_t principal, size_t index, json_t *item)
{
	static const char *const names[] = {
		"cap", "params", "name", "expires_at_ns", "budget", NULL};
	struct source_loader *loader = reading->loader;
	struct source_places *places = &loader->places;
	struct wfs_place place = wfs_place_at("/principals/%zu/grants/%zu", principal, index);
	const json_t *from =
		json_array_get(json_object_get(loader->world, "principals"), principal);
	WFS_AUTO_JSON json_t *made = json_object();
	int r = made ? 0 : -ENOMEM;

	if (!json_is_object(item)) {
		source_expected(loader, place, "object", item);
		return r;
	}
	source_check_members(loader, place, item, names);
	for (const char *const *name = names; r == 0 && *name; name++)
		r = source_set(made, *name, json_object_get(item, *name));
	if (r == 0)
		r = source_set(made, "to", json_object_get(from, "id"));
	if (r == 0 && !json_object_get(made, "name"))
		r = name_grant(reading, made);
	if (r == 0)
		r = place_add(&places->grants, &places->grant_count, &places->grant_capacity,
			principal, index);
	if (r == 0 && json_array_append(json_object_get(loader->manifest, "grants"), made) < 0)
		r = -ENOMEM;
	return r;
}

static int add_grants(struct reading *reading, size_t principal, const json_t *list)
{
	size_t index;
	json_t *item;

	if (list && !json_is_array(list))
		source_expected(reading->loader, wfs_place_at("/principals/%zu/grants", principal),
			"array", list);
	json_array_foreach(list, index, item) {
		int r = add_grant(reading, principal, index, item);

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_principal(struct reading *reading, size_t index, json_t *item)
{
	static const char *const names[] = {"id", "scrip", "quotas", "grants", NULL};
	struct source_loader *loader = reading->loader;
	struct source_places *places = &loader->places;
	struct wfs_place place = wfs_place_at("/principals/%zu", index);
	json_t *id = json_object_get(item, "id");
	WFS_AUTO_JSON json_t *made = json_object();
	int r = made ? 0 : -ENOMEM;

	if (!json_is_object(item)) {
		source_expected(loader, place, "object", item);
		return r;
	}
	if (index == places->operator_index) {
		check_operator(loader, index, item);
		return r;
	}
	source_check_members(loader, place, item, names);
	for (const char *const *name = names; r == 0 && strcmp(*name, "grants") != 0; name++)
		r = source_set(made, *name, json_object_get(item, *name));
	if (r == 0)
		r = place_add(&places->principals, &places->principal_count,
			&places->principal_capacity, index, SIZE_MAX);
	if (r == 0 && json_array_append(json_object_get(loader->manifest, "principals"), made) < 0)
		r = -ENOMEM;
	/* Without an id its grants have no principal; the manifest reports that. */
	return r || !json_is_string(id)
		? r
		: add_grants(reading, index, json_object_get(item, "grants"));
}

/* Collects the names that are given, before names are found for other grants. */
static int take_names(struct reading *reading, const json_t *list)
{
	size_t i, j;
	json_t *item, *grant;

	json_array_foreach(list, i, item) {
		json_array_foreach(json_object_get(item, "grants"), j, grant) {
			const char *name = json_string_value(json_object_get(grant, "name"));

			if (name && source_set_new(reading->taken, name, json_true()) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int source_principals(struct source_loader *loader)
{
	WFS_CLEANUP(reading_done)
	struct reading reading = {
		.loader = loader,
		.caps = wfs_builtin_caps(),
		.taken = json_object(),
		.next = json_object(),
	};
	const json_t *list = json_object_get(loader->world, "principals");
	size_t index;
	json_t *item;
	int r;

	if (!reading.caps || !reading.taken || !reading.next)
		return -ENOMEM;
	r = source_operator(
		loader->manifest, find_operator(&loader->places, list), loader->genesis);
	if (r < 0)
		return r;
	if (list && !json_is_array(list)) {
		source_expected(loader, wfs_place_at("/principals"), "array", list);
		return 0;
	}
	r = take_names(&reading, list);
	json_array_foreach(list, index, item) {
		if (r == 0)
			r = add_principal(&reading, index, item);
	}
	return r;
}

/* --- problems --- */

/*
 * Is @pointer `/<list>/<index>…`, with an index after the @operator_count items of the operator?
 * @ret_rest: what follows the index
 */
static bool is_in_list(const char *pointer, const char *list, size_t operator_count, size_t count,
	size_t *ret_index, const char **ret_rest)
{
	const size_t size = strlen(list);
	char *end;

	if (strncmp(pointer, list, size) != 0 || pointer[size] < '0' || pointer[size] > '9')
		return false;
	const size_t index = strtoul(pointer + size, &end, 10);
	if (index < operator_count || index - operator_count >= count)
		return false;
	*ret_index = index - operator_count;
	*ret_rest = end;
	return true;
}

bool source_place(
	const struct source_loader *loader, const char *pointer, struct wfs_place *ret_place)
{
	const struct source_places *places = &loader->places;
	const size_t own_grants =
		json_array_size(json_object_get(loader->manifest, "grants")) - places->grant_count;
	const char *rest;
	size_t index;

	if (strncmp(pointer, "/principals/0", 13) == 0 && places->operator_index != SIZE_MAX &&
		(pointer[13] == '\0' || pointer[13] == '/')) {
		*ret_place =
			wfs_place_at("/principals/%zu%s", places->operator_index, pointer + 13);
	} else if (strcmp(pointer, "/grants") == 0) {
		*ret_place = wfs_place_at("/principals");
	} else if (is_in_list(pointer, "/principals/", 1, places->principal_count, &index, &rest)) {
		*ret_place = wfs_place_at(
			"/principals/%zu%s", places->principals[index].principal, rest);
	} else if (is_in_list(
			   pointer, "/grants/", own_grants, places->grant_count, &index, &rest)) {
		const struct source_place *place = &places->grants[index];

		*ret_place = wfs_place_at(
			"/principals/%zu/grants/%zu%s", place->principal, place->grant, rest);
	} else {
		return false;
	}
	return true;
}
