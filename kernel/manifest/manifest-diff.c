/* SPDX-License-Identifier: Apache-2.0 */
/* Compares manifests, item by item of each list. */
#include "kernel/manifest/manifest-diff.h"

#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest-impl.h"

static const char *const lists[] = {
	"schemas", "reducers", "routing", "effects", "caps", "policies", "principals", "grants"};
static const char *const members[] = {"name", "policy"};

/* Return: a name that is unique in the list of the item; new reference. */
static json_t *name_of(const char *list, const json_t *item)
{
	if (strcmp(list, "routing") == 0)
		return json_sprintf("%s -> %s", json_string_value(json_object_get(item, "event")),
			json_string_value(json_object_get(item, "reducer")));
	return json_incref(json_object_get(item, strcmp(list, "principals") == 0 ? "id" : "name"));
}

/* Return: the items of a list by name; new reference, NULL without memory. */
static json_t *by_name(const struct wfs_manifest *manifest, const char *list)
{
	WFS_AUTO_JSON json_t *index = json_object();
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(manifest->document, list), i, item) {
		WFS_AUTO_JSON json_t *name = name_of(list, item);

		if (!name || json_object_set(index, json_string_value(name), item) < 0)
			return NULL;
	}
	return WFS_STEAL(index);
}

static int note(json_t *diff, const char *how, const char *list, const char *name)
{
	return json_array_append_new(json_object_get(diff, how),
		       json_pack("{s:s, s:s}", "list", list, "name", name)) < 0
		? -ENOMEM
		: 0;
}

static int compare_list(const struct wfs_manifest *from, const struct wfs_manifest *to,
	const char *list, json_t *diff)
{
	WFS_AUTO_JSON json_t *before = by_name(from, list);
	WFS_AUTO_JSON json_t *after = by_name(to, list);
	const char *name;
	json_t *item;
	int r = before && after ? 0 : -ENOMEM;

	json_object_foreach(after, name, item) {
		const json_t *old = json_object_get(before, name);

		if (r == 0 && !(old && json_equal(old, item)))
			r = note(diff, old ? "changed" : "added", list, name);
	}
	json_object_foreach(before, name, item) {
		if (r == 0 && !json_object_get(after, name))
			r = note(diff, "removed", list, name);
	}
	return r;
}

int wfs_manifest_diff(
	const struct wfs_manifest *from, const struct wfs_manifest *to, json_t **ret_diff)
{
	WFS_AUTO_JSON json_t *diff = json_pack("{s:[], s:[], s:[]}", "added", "changed", "removed");
	int r = diff ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < WFS_ARRAY_COUNT(members); i++) {
		if (!json_equal(json_object_get(from->document, members[i]),
			    json_object_get(to->document, members[i])))
			r = note(diff, "changed", "", members[i]);
	}
	for (size_t i = 0; r == 0 && i < WFS_ARRAY_COUNT(lists); i++)
		r = compare_list(from, to, lists[i], diff);
	if (r < 0)
		return r;
	*ret_diff = WFS_STEAL(diff);
	return 0;
}
