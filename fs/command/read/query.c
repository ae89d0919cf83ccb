/* SPDX-License-Identifier: Apache-2.0 */
/* query: asks the kernel about artifacts, scrip and so on. */
#include <string.h>

#include "fs/command/read/commands.h"
#include "kernel/base/json.h"
#include "kernel/query/query.h"

enum { NAME_WIDTH = 14 };

bool wfs_query_topic(FILE *file, const char *word)
{
	const enum wfs_query_type type = wfs_query_find(word);
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	if (type == WFS_QUERY_COUNT)
		return false;
	wfs_query_help(type, &text);
	fputs(wfs_buffer_text(&text), file);
	return true;
}

static void print_types(FILE *file)
{
	for (int i = 0; i < WFS_QUERY_COUNT; i++)
		fprintf(file, "%-*s %s\n", NAME_WIDTH, wfs_query_name((enum wfs_query_type)i),
			wfs_query_line((enum wfs_query_type)i));
	fputs("\n'worldfs query --help TYPE' describes a type.\n", file);
}

/* Reads a value: JSON, unless the parameter is a text; if it is not valid JSON, the check of the
 * query reports it. */
static json_t *value_of(enum wfs_query_type type, const char *name, const char *text)
{
	const struct wfs_query_param *param = wfs_query_params(type);
	json_t *value = NULL;

	while (param->name && strcmp(param->name, name) != 0)
		param++;
	if (param->name && param->kind != WFS_QUERY_KIND_TEXT &&
		param->kind != WFS_QUERY_KIND_PATTERN &&
		wfs_json_parse(text, strlen(text), &value, NULL) == 0)
		return value;
	return json_string(text);
}

static int add_param(struct wfs_run *run, const char *argument, json_t *params)
{
	const char *const equals = strchr(argument, '=');
	const enum wfs_query_type type = wfs_query_find(run->arguments[0]);
	char name[64];

	if (!equals || equals == argument || (size_t)(equals - argument) >= sizeof(name))
		return wfs_run_misuse(run, "expected name=value, got '%.60s'", argument);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - argument), argument);
	json_t *const value =
		type < WFS_QUERY_COUNT ? value_of(type, name, equals + 1) : json_string(equals + 1);
	if (!value)
		return wfs_run_misuse(run, "'%s': the value is not UTF-8", name);
	return json_object_set_new(params, name, value) < 0 ? -ENOMEM : 0;
}

int wfs_run_query(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *params = json_object();
	int r = params ? 0 : -ENOMEM;

	if (run->argument_count == 0) {
		print_types(run->out);
		return 0;
	}
	for (size_t i = 1; !r && i < run->argument_count; i++)
		r = add_param(run, run->arguments[i], params);
	return r ? r
		 : wfs_run_show(run, "query",
			   json_pack(
				   "{s:s, s:O}", "query_type", run->arguments[0], "params", params),
			   wfs_run_print_document);
}
