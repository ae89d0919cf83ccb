/* SPDX-License-Identifier: Apache-2.0 */
/* A host, and programs that ask it. */
#pragma once

#include <locale.h>

#include "tests/unit/lua-helper.h"

static const char *const host_functions[] = {"run", "check", NULL};

/* --- a host --- */

enum {
	HOST_GET, /* gives its arguments back */
	HOST_REFUSE,
	HOST_NOTHING,
	HOST_BREAK,
	HOST_INVOKE, /* calls the other program with the arguments */
	HOST_REQUIRE,
};

static const struct wfs_lua_binding host_bindings[] = {
	[HOST_GET] = {"store", "get"},
	[HOST_REFUSE] = {"store", "refuse"},
	[HOST_NOTHING] = {"store", "nothing"},
	[HOST_BREAK] = {NULL, "break_down"},
	[HOST_INVOKE] = {NULL, "invoke"},
	[HOST_REQUIRE] = {NULL, "require", .gives_module = true},
};

struct host {
	struct wfs_code_host host;
	struct wfs_code *self;
	struct wfs_code *other;
	struct wfs_lua_budget *budget;
	const char *module; /* source, whatever module is asked for */
	unsigned int call_count;
	uint64_t used;                /* of the budget, when it was asked last */
	bool locale_kept;             /* over the nested call */
	enum wfs_lua_failure failure; /* of the nested call */
	struct wfs_error error;
};

/* What the other program answers, or null and how it failed. */
static inline int host_invoke(struct host *host, const json_t *arguments, json_t **ret_value)
{
	struct wfs_code_call call = {
		.function = "run",
		.arguments = arguments,
		.host = &host->host,
		.budget = host->budget,
	};
	const locale_t locale = uselocale((locale_t)0);
	const int r = wfs_code_call(host->other, &call, ret_value, &host->error);

	host->locale_kept = uselocale((locale_t)0) == locale;
	host->failure = call.failure;
	if (r < 0)
		*ret_value = json_null();
	return 0;
}

static inline int host_call(struct wfs_code_host *base, size_t binding_index,
	const json_t *arguments, json_t **ret_value, struct wfs_error *error)
{
	struct host *const host = (struct host *)base;

	host->call_count++;
	host->used = host->budget ? host->budget->used : 0;
	switch (binding_index) {
	case HOST_GET:
		*ret_value = json_deep_copy(arguments);
		return *ret_value ? 0 : -ENOMEM;
	case HOST_REFUSE:
		wfs_error_set(error, WFS_E_NOT_FOUND, "no such thing");
		return 1;
	case HOST_NOTHING:
		return 0;
	case HOST_REQUIRE:
		*ret_value = json_pack("s?", host->module);
		return *ret_value ? 0 : -ENOMEM;
	case HOST_INVOKE:
		return host_invoke(host, arguments, ret_value);
	default:
		return wfs_error_set(error, WFS_E_STORE_FULL, "the store is full");
	}
}

static inline int program_load_within(const struct wfs_lua_limits *limits, const char *source,
	struct wfs_code **ret_program, struct wfs_error *error)
{
	const struct wfs_code_options options = {
		.program = true,
		.limits = limits ? limits : &WFS_LUA_PROGRAM_LIMITS_DEFAULT,
		.name = "market.lua",
		.source = wfs_bytes_text(source),
		.functions = host_functions,
		.bindings = host_bindings,
		.binding_count = WFS_ARRAY_COUNT(host_bindings),
	};

	return wfs_code_new(lua_box(), &options, ret_program, error);
}

static inline struct wfs_code *program_load(const char *source)
{
	struct wfs_code *program = NULL;
	struct wfs_error error = {0};
	const int r = program_load_within(NULL, source, &program, &error);

	assert_string_equal(error.message, "");
	assert_int_equal(r, 0);
	return program;
}
