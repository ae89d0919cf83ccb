/* SPDX-License-Identifier: Apache-2.0 */
/* One good manifest, and edits of it that must be refused. JSON in here is written with ' for ". */
#pragma once

#include "tests/unit/json-helper.h"

#include "kernel/manifest/builtin.h"
#include "kernel/manifest/grant.h"
#include "kernel/manifest/manifest.h"

#define MODULE_A  \
	"sha256:" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define MODULE_B  \
	"sha256:" \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const char good[] =
	"{'world_version':1,'name':'packages','schemas':["
	"{'$kind':'defschema','name':'dpkg/Change@1','schema':{'type':'object'}},"
	"{'$kind':'defschema','name':'dpkg/Alert@2','schema':true}],"
	"'reducers':["
	"{'$kind':'defreducer','name':'package','language':'lua','module':'" MODULE_A "',"
	"'keyed':true,'emits':['dpkg/Alert@2','dpkg/Change@1'],'effects':[]},"
	"{'$kind':'defreducer','name':'total','language':'lua','module':'" MODULE_B "',"
	"'keyed':false,'emits':[],'effects':[]}],"
	"'routing':["
	"{'event':'dpkg/Change@1','reducer':'total'},"
	"{'event':'dpkg/Alert@2','reducer':'total'},"
	"{'event':'dpkg/Change@1','reducer':'package','key_field':'package.name'}],"
	"'policy':'sys/default@1','principals':[{'id':'alice'}],'grants':["
	"{'name':'alice.query.1','cap':'sys/query@1','to':'alice','params':{'scope':'manifest'}}]}";

/* The good manifest: what is above, and behind it the built-in definitions. */
static inline json_t *good_document(void)
{
	WFS_AUTO_JSON json_t *reducers = wfs_builtin_reducers();
	json_t *document = json_of(good);

	json_array_extend(json_object_get(document, "reducers"), reducers);
	json_object_set_new(document, "effects", wfs_builtin_effects());
	json_object_set_new(document, "caps", wfs_builtin_caps());
	json_object_set_new(document, "policies", wfs_builtin_policies());
	return document;
}

static inline struct wfs_manifest *manifest_of(json_t *document)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_manifest *manifest = NULL;

	if (wfs_manifest_new(document, &problems, &manifest) != 0)
		fail_msg("%s", wfs_buffer_text(&problems.lines));
	return manifest;
}

static inline struct wfs_manifest *manifest_good(void)
{
	WFS_AUTO_JSON json_t *document = good_document();

	return manifest_of(document);
}

static inline void assert_document_refused(json_t *document, const char *lines)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	struct wfs_manifest *manifest = NULL;

	if (wfs_manifest_new(document, &problems, &manifest) != -EINVAL)
		fail_msg("was not refused; expected: %s", lines);
	assert_null(manifest);
	assert_string_equal(wfs_buffer_text(&problems.lines), lines);
}

/* The value in @document that a path like "schemas/0" leads to. */
static inline json_t *value_at(json_t *document, const char *path)
{
	WFS_AUTO_FREE char *copy = strdup(path);
	char *rest = copy;

	for (char *part; *path && (part = strsep(&rest, "/"));)
		document = json_is_array(document)
			? json_array_get(document, (size_t)strtoul(part, NULL, 10))
			: json_object_get(document, part);
	assert_non_null(document);
	return document;
}

/* The good manifest with the members of @patch set in the object at @path. */
static inline json_t *edited(const char *path, const char *patch)
{
	WFS_AUTO_JSON json_t *change = json_of(patch);
	json_t *document = good_document();

	assert_int_equal(json_object_update(value_at(document, path), change), 0);
	return document;
}

static inline void assert_edit_refused(const char *path, const char *patch, const char *lines)
{
	WFS_AUTO_JSON json_t *document = edited(path, patch);

	assert_document_refused(document, lines);
}

static inline void assert_deletion_refused(const char *path, const char *name, const char *lines)
{
	WFS_AUTO_JSON json_t *document = good_document();

	assert_int_equal(json_object_del(value_at(document, path), name), 0);
	assert_document_refused(document, lines);
}
