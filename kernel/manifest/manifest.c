/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and freeing manifests, and look-ups in them. A manifest object exists only for a document
 * without problems, so its contents need no further checks. Look-ups are by hash (from a name to an
 * index) and never search.
 */
#include "kernel/manifest/manifest.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest-impl.h"

int manifest_compare_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int wfs_manifest_new(
	json_t *document, struct wfs_problems *problems, struct wfs_manifest **ret_manifest)
{
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = calloc(1, sizeof(*manifest));
	WFS_AUTO_FREE bool *keyed_known = NULL;
	struct manifest_reader reader = {.manifest = manifest, .problems = problems};
	size_t before = problems->count;
	int r;

	if (!manifest)
		return -ENOMEM;
	atomic_init(&manifest->references, 1);
	manifest->document = json_incref(document);
	manifest->schema_index = json_object();
	manifest->reducer_index = json_object();
	manifest->cap_index = json_object();
	if (!manifest->schema_index || !manifest->reducer_index || !manifest->cap_index)
		return -ENOMEM;
	r = manifest_read(&reader);
	keyed_known = reader.keyed_known;
	if (r < 0)
		return wfs_trace(r);
	if (problems->count != before)
		return -EINVAL;
	wfs_json_write_document(document, &manifest->text);
	r = wfs_buffer_check(&manifest->text);
	if (r < 0)
		return wfs_trace(r);
	manifest->hash = wfs_hash_of(manifest->text.data, manifest->text.size);
	*ret_manifest = WFS_STEAL(manifest);
	return 0;
}

struct wfs_manifest *wfs_manifest_ref(struct wfs_manifest *manifest)
{
	atomic_fetch_add_explicit(&manifest->references, 1, memory_order_relaxed);
	return manifest;
}

void wfs_manifest_unref(struct wfs_manifest *manifest)
{
	if (!manifest ||
		atomic_fetch_sub_explicit(&manifest->references, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < manifest->schema_count; i++)
		wfs_schema_free(manifest->schemas[i].schema);
	for (size_t i = 0; i < manifest->reducer_count; i++)
		free(manifest->reducers[i].emits);
	for (size_t i = 0; i < manifest->cap_count; i++)
		wfs_schema_free(manifest->caps[i].params);
	free(manifest->schemas);
	free(manifest->reducers);
	free(manifest->routes);
	free(manifest->caps);
	free(manifest->rules);
	json_decref(manifest->schema_index);
	json_decref(manifest->reducer_index);
	json_decref(manifest->cap_index);
	wfs_buffer_done(&manifest->text);
	json_decref(manifest->document);
	free(manifest);
}

const char *wfs_manifest_name(const struct wfs_manifest *manifest)
{
	return json_string_value(json_object_get(manifest->document, "name"));
}

struct wfs_bytes wfs_manifest_document(const struct wfs_manifest *manifest)
{
	return wfs_buffer_bytes(&manifest->text);
}

const struct wfs_hash *wfs_manifest_hash(const struct wfs_manifest *manifest)
{
	return &manifest->hash;
}

static const struct manifest_schema *schema_find(
	const struct wfs_manifest *manifest, const char *name)
{
	const json_t *index = json_object_get(manifest->schema_index, name);

	return index ? &manifest->schemas[json_integer_value(index)] : NULL;
}

const struct wfs_schema *wfs_manifest_schema(
	const struct wfs_manifest *manifest, const char *schema)
{
	const struct manifest_schema *found = schema_find(manifest, schema);

	return found ? found->schema : NULL;
}

const struct wfs_route *wfs_manifest_routes(
	const struct wfs_manifest *manifest, const char *schema, size_t *ret_count)
{
	const struct manifest_schema *found = schema_find(manifest, schema);

	*ret_count = found ? found->route_count : 0;
	return found ? &manifest->routes[found->route_first] : NULL;
}

size_t wfs_manifest_reducer_count(const struct wfs_manifest *manifest)
{
	return manifest->reducer_count;
}

const struct wfs_reducer_definition *wfs_manifest_reducer(
	const struct wfs_manifest *manifest, size_t index)
{
	wfs_require(index < manifest->reducer_count);
	return &manifest->reducers[index].definition;
}

const struct wfs_reducer_definition *wfs_manifest_reducer_find(
	const struct wfs_manifest *manifest, const char *name)
{
	const json_t *index = json_object_get(manifest->reducer_index, name);

	return index ? &manifest->reducers[json_integer_value(index)].definition : NULL;
}

bool wfs_manifest_emits(const struct wfs_reducer_definition *reducer, const char *schema)
{
	const struct manifest_reducer *self = (const struct manifest_reducer *)reducer;

	return self->emit_count > 0 &&
		bsearch(&schema, self->emits, self->emit_count, sizeof(*self->emits),
			manifest_compare_text) != NULL;
}

bool wfs_manifest_asks(const struct wfs_reducer_definition *reducer, enum wfs_effect effect)
{
	return ((const struct manifest_reducer *)reducer)->asks[effect];
}

bool wfs_manifest_effect(const struct wfs_manifest *manifest, enum wfs_effect effect)
{
	wfs_require(effect < WFS_EFFECT_COUNT);
	return manifest->effects[effect];
}

const struct wfs_cap_definition *wfs_manifest_cap(
	const struct wfs_manifest *manifest, const char *name)
{
	const json_t *index = json_object_get(manifest->cap_index, name);

	return index ? &manifest->caps[json_integer_value(index)].definition : NULL;
}

const struct wfs_policy_rule *wfs_manifest_policy(
	const struct wfs_manifest *manifest, const char **ret_name, size_t *ret_count)
{
	*ret_name = manifest->policy;
	*ret_count = manifest->rule_count;
	return manifest->rules;
}

const json_t *wfs_manifest_principals(const struct wfs_manifest *manifest)
{
	return json_object_get(manifest->document, "principals");
}

const json_t *wfs_manifest_grants(const struct wfs_manifest *manifest)
{
	return json_object_get(manifest->document, "grants");
}
