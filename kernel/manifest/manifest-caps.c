/* SPDX-License-Identifier: Apache-2.0 */
/* Reads effects, capabilities, principals and grants of a manifest. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/manifest-impl.h"

/* --- effects and capabilities: built-in ones only --- */

int manifest_read_builtin(const struct manifest_reader *reader, const char *name, size_t index,
	const json_t *builtins, json_t *seen)
{
	const json_t *list = json_object_get(reader->manifest->document, name);
	const json_t *item = json_array_get(list, index);
	const json_t *own_name = json_object_get(item, "name");
	const json_t *builtin = manifest_find_named(builtins, own_name);
	struct wfs_place place = wfs_place_at("/%s/%zu", name, index);

	if (!json_is_object(item)) {
		manifest_expected(reader, place, "object", item);
		return 0;
	}
	int r = manifest_check_builtin(reader, place, item, builtin);
	if (r <= 0)
		return r;
	if (json_object_get(seen, json_string_value(own_name))) {
		manifest_expected(
			reader, wfs_place_at("%s/name", place.text), "each name once", own_name);
		return 0;
	}
	if (json_object_set_new(
		    seen, json_string_value(own_name), json_integer((json_int_t)index)) < 0)
		return -ENOMEM;
	return 1;
}

int manifest_read_effects(const struct manifest_reader *reader)
{
	WFS_AUTO_JSON json_t *builtins = wfs_builtin_effects();
	WFS_AUTO_JSON json_t *seen = json_object();
	const json_t *list = manifest_list(reader, "effects", json_array_size(builtins), 0);

	if (!builtins || !seen)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		int r = manifest_read_builtin(reader, "effects", i, builtins, seen);

		if (r < 0)
			return r;
	}
	for (int i = 0; i < WFS_EFFECT_COUNT; i++)
		reader->manifest->effects[i] =
			json_object_get(seen, wfs_effect_kind((enum wfs_effect)i)) != NULL;
	return 0;
}

static int read_cap_definitions(const struct manifest_reader *reader)
{
	WFS_AUTO_JSON json_t *builtins = wfs_builtin_caps();
	const json_t *list = manifest_list(reader, "caps", json_array_size(builtins), 0);
	struct wfs_manifest *manifest = reader->manifest;

	manifest->caps = calloc(json_array_size(list) + 1, sizeof(*manifest->caps));
	if (!builtins || !manifest->caps)
		return -ENOMEM;
	manifest->cap_count = json_array_size(list);
	for (size_t i = 0; i < manifest->cap_count; i++) {
		const json_t *item = json_array_get(list, i);
		struct manifest_cap *cap = &manifest->caps[i];
		int r = manifest_read_builtin(reader, "caps", i, builtins, manifest->cap_index);

		if (r > 0)
			r = wfs_schema_new(json_object_get(item, "schema"), NULL, "",
				reader->problems, &cap->params);
		if (r < 0)
			return r;
		cap->definition = (struct wfs_cap_definition){
			.name = json_string_value(json_object_get(item, "name")),
			.cap_type = json_string_value(json_object_get(item, "cap_type")),
			.params = cap->params,
		};
	}
	return 0;
}

/* --- principals and grants --- */

/* Enters a name, also one of the wrong form, as manifest_enter does. Return: 0, -ENOMEM. */
static int enter_name(const struct manifest_reader *reader, struct wfs_place place,
	const json_t *value, json_t *seen)
{
	const char *text = manifest_text(value);

	if (text && json_object_get(seen, text)) {
		wfs_problems_add(reader->problems, NULL, place.text, "the name is taken already");
		return 0;
	}
	return !text || json_object_set_new(seen, text, json_null()) == 0 ? 0 : -ENOMEM;
}

static int read_principals(const struct manifest_reader *reader, json_t *principals)
{
	static const char *const names[] = {"id", NULL};
	static const char *const optional[] = {"scrip", "quotas", NULL};
	const json_t *list = manifest_list(reader, "principals", WFS_PRINCIPALS_MAX, 0);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		const json_t *id = json_object_get(item, "id");
		struct wfs_place place = wfs_place_at("/principals/%zu", i);
		struct wfs_place id_place = wfs_place_at("%s/id", place.text);
		const char *text = manifest_text(id);

		if (!manifest_check_members(reader, place, item, names, optional))
			continue;
		for (size_t j = 0; wfs_account_member(j); j++) {
			struct wfs_error error = {0};

			if (wfs_account_check_member(item, j, &error))
				wfs_problems_add(reader->problems, NULL,
					wfs_place_at("%s/%s", place.text, wfs_account_member(j))
						.text,
					"%s", error.message);
		}
		if (id && (!text || !wfs_grant_name_valid(text)))
			manifest_expected(reader, id_place, WFS_GRANT_NAME_FORM, id);
		if (text && wfs_id_reserved(text))
			wfs_problems_add(reader->problems, NULL, id_place.text,
				"'%s' is a word of the kernel's own", text);
		if (enter_name(reader, id_place, id, principals) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int read_grant(const struct manifest_reader *reader, const json_t *grant, size_t index,
	const json_t *principals, json_t *grants)
{
	static const char *const names[] = {"name", "cap", "to", "params", NULL};
	static const char *const optional[] = {"expires_at_ns", "budget", NULL};
	struct wfs_place place = wfs_place_at("/grants/%zu", index);
	const json_t *to = json_object_get(grant, "to");
	const char *member;

	if (!manifest_check_members(reader, place, grant, names, optional))
		return 0;
	for (size_t i = 0; (member = wfs_grant_member(i)); i++) {
		struct wfs_error error = {0};
		int r = json_object_get(grant, member)
			? wfs_grant_check_member(reader->manifest, grant, i, &error)
			: 0;

		if (r == -ENOMEM)
			return r;
		/* A principal of the wrong form was reported where it is declared. */
		if (r && strcmp(member, "to") != 0)
			wfs_problems_add(reader->problems, NULL,
				wfs_place_at("%s/%s", place.text, member).text, "%s",
				error.message);
	}
	if (to && (!manifest_text(to) || !json_object_get(principals, manifest_text(to))))
		manifest_expected(reader, wfs_place_at("%s/to", place.text),
			"the id of a principal of this manifest", to);
	return enter_name(reader, wfs_place_at("%s/name", place.text),
		json_object_get(grant, "name"), grants);
}

static int read_grants(const struct manifest_reader *reader)
{
	const json_t *list = manifest_list(reader, "grants", WFS_GRANTS_MAX, 0);
	WFS_AUTO_JSON json_t *principals = json_object();
	WFS_AUTO_JSON json_t *grants = json_object();
	int r;

	if (!principals || !grants)
		return -ENOMEM;
	r = read_principals(reader, principals);
	for (size_t i = 0; r == 0 && i < json_array_size(list); i++)
		r = read_grant(reader, json_array_get(list, i), i, principals, grants);
	return r;
}

int manifest_read_caps(const struct manifest_reader *reader)
{
	int r = read_cap_definitions(reader);

	if (r == 0)
		r = manifest_read_policies(reader);
	if (r == 0)
		r = read_grants(reader);
	return r;
}
