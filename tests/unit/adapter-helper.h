/* SPDX-License-Identifier: Apache-2.0 */
/* Setups and entries that are checked. */
#pragma once

#include "tests/unit/json-helper.h"

#include "agents/adapter/adapter.h"

/* Tools b and a; @offered and @settings with ' for ". Caller owns it. */
static inline json_t *setup_of(const char *offered, const char *settings)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};

	wfs_buffer_printf(&text,
		"{'agent':'clerk','model':'default','offered':%s,'settings':%s,'tools':["
		"{'name':'a','kind':'action','description':'does a','parameters':"
		"{'type':'object','properties':{'k':{'type':'integer'}}}},"
		"{'name':'b','kind':'read','description':'does b'}]}",
		offered, settings);
	return json_of(wfs_buffer_text(&text));
}

/* Checks, and takes both. */
static inline int check_of(json_t *setup, json_t *entry, struct wfs_error *error)
{
	const int r = wfs_adapter_check(setup, entry, error);

	json_decref(setup);
	json_decref(entry);
	return r;
}

static inline void assert_taken(const char *entry, const char *offered, const char *settings)
{
	struct wfs_error error = {0};

	if (check_of(setup_of(offered, settings), json_of(entry), &error) != 0)
		fail_msg("%s with %s: %s", settings, entry, error.message);
}

static inline void assert_refused(
	const char *entry, const char *offered, const char *settings, const char *message)
{
	struct wfs_error error = {0};

	if (check_of(setup_of(offered, settings), json_of(entry), &error) != -EINVAL)
		fail_msg("%s with %s: is taken", settings, entry);
	assert_string_equal(error.message, message);
}
