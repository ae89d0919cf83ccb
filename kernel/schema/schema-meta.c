/* SPDX-License-Identifier: Apache-2.0 */
/* The metaschemas of JSON Schema 2020-12, as its authors published them (meta/). */
#include <string.h>

#include "kernel/base/cleanup.h"
#include "kernel/schema/metaschemas.h"
#include "kernel/schema/schema-impl.h"

#define METASCHEMA "https://json-schema.org/draft/2020-12/"

const char *schema_metaschema(const char *uri)
{
	static const struct {
		const char *uri;
		const char *text;
	} metaschemas[] = {
		{METASCHEMA "schema", schema},
		{METASCHEMA "meta/core", core},
		{METASCHEMA "meta/applicator", applicator},
		{METASCHEMA "meta/unevaluated", unevaluated},
		{METASCHEMA "meta/validation", validation},
		{METASCHEMA "meta/meta-data", meta_data},
		{METASCHEMA "meta/format-annotation", format_annotation},
		{METASCHEMA "meta/content", content},
	};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(metaschemas); i++) {
		if (strcmp(metaschemas[i].uri, uri) == 0)
			return metaschemas[i].text;
	}
	return NULL;
}
