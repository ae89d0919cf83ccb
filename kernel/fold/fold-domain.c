/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the domains' tables, found by name. */
#include "kernel/fold/fold-domain.h"

#include "kernel/base/json.h"
#include "kernel/fold/fold-work.h"
#include "kernel/read/entity.h"

/* A file that a domain makes must have the functions that its form needs. */
static void require_contents(const struct wfs_entity_row *entity)
{
	for (const struct wfs_entity_file_row *file = entity->files; file->name; file++) {
		const struct wfs_entity_contents *const contents = file->contents;

		if (file->form == WFS_ENTITY_MADE)
			wfs_require(contents && contents->write);
		else if (file->form == WFS_ENTITY_PARTS || file->form == WFS_ENTITY_ITEMS)
			wfs_require(contents && contents->write_part);
		if (file->form == WFS_ENTITY_ITEMS)
			wfs_require(contents->find && contents->next && contents->count &&
				contents->name);
	}
}

void wfs_domains_add(const struct wfs_domain *const *domains)
{
	for (; *domains; domains++) {
		const struct wfs_domain *const domain = *domains;

		for (const struct wfs_builtin_row *row = domain->reducers; row && row->name; row++)
			wfs_builtin_add(row);
		for (const struct wfs_entity_row *row = domain->directories; row && row->directory;
			row++) {
			require_contents(row);
			wfs_entity_add(row);
		}
		for (size_t i = 0; i < domain->file_count; i++)
			wfs_entity_provide(domain->files[i].file, &domain->files[i].contents);
	}
}

const struct wfs_action_type *wfs_domain_action(
	const struct wfs_domain *const *domains, const char *type)
{
	for (; *domains; domains++)
		for (const struct wfs_action_type *row = (*domains)->actions; row && row->name;
			row++)
			if (strcmp(row->name, type) == 0)
				return row;
	return NULL;
}

int wfs_domain_check(const struct wfs_domain *const *domains, const struct wfs_manifest *manifest,
	const json_t *action, struct wfs_error *error)
{
	const char *name;
	int r = wfs_json_get_string(action, "action_type", &name, error);

	if (r)
		return r;
	const struct wfs_action_type *const type = wfs_domain_action(domains, name);
	if (!type)
		return wfs_error_set(
			error, WFS_E_INVALID_ARGUMENT, "unknown action_type '%.60s'", name);
	r = type->form ? wfs_form_read(type->form, name, action, NULL, error) : 0;
	return r || !type->check ? r : type->check(manifest, action, error);
}

const struct wfs_intent_type *wfs_domain_intent(
	const struct wfs_domain *const *domains, const struct wfs_document_intent *intent)
{
	for (; *domains; domains++)
		for (const struct wfs_intent_type *type = (*domains)->intents; type && type->member;
			type++)
			if (json_object_get(intent->own.json, type->member))
				return type;
	return NULL;
}

void *fold_kept(const struct wfs_fold *fold, const char *name)
{
	size_t i = 0;

	while (fold->domains[i] && strcmp(fold->domains[i]->name, name) != 0)
		i++;
	wfs_require(fold->domains[i] != NULL);
	return fold->kept[i];
}
