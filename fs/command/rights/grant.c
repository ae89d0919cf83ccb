/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about rights: grant, revoke, principal add. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "caps/session-tools.h"
#include "fs/command/rights/commands.h"
#include "kernel/base/clock.h"
#include "kernel/base/encode.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_S 86400

/* --- when a grant ends --- */

/* Reads RFC 3339: `2027-01-31T12:00:00Z`, or with an offset such as `+01:00`. Return: 0, or
 * -EINVAL. */
static int read_time(const char *text, int64_t *ret_ns)
{
	struct tm tm = {0};
	const char *const zone = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	const char *end = NULL;

	/* strptime(3) accepts further forms of an offset. */
	if (zone && (strcmp(zone, "Z") == 0 || (strlen(zone) == 6 && zone[3] == ':')))
		end = strptime(zone, "%z", &tm);
	if (!end || *end)
		return -EINVAL;
	const int64_t offset = tm.tm_gmtoff; /* timegm(3) ignores and sets it */
	const int64_t seconds = timegm(&tm) - offset;
	if (offset <= -DAY_S || offset >= DAY_S || seconds <= 0 || seconds > INT64_MAX / SECOND_NS)
		return -EINVAL;
	*ret_ns = seconds * SECOND_NS;
	return 0;
}

/* Reads --expires. Return: new reference; NULL: not given, not a time (misused), or without
 * memory. */
static json_t *expiry(struct wfs_run *run)
{
	const char *const text = run->options[WFS_OPTION_EXPIRES];
	const bool from_now = text && *text == '+';
	const int64_t now_ns = from_now ? wfs_clock_realtime_ns() : 0;
	int64_t ns = 0;
	int r;

	if (!text)
		return NULL;
	r = from_now ? wfs_duration_read(text + 1, &ns) : read_time(text, &ns);
	if (!r && ns <= INT64_MAX - now_ns)
		return json_integer(now_ns + ns);
	(void)wfs_run_misuse(run,
		"--expires: expected a time like +90s, +10m, +1h, +7d or 2027-01-31T12:00:00Z, got "
		"'%.60s'",
		text);
	return NULL;
}

/* --- the parts of a grant --- */

/* Has the grant cover only tools as they are listed now. */
static int pin(struct wfs_run *run, json_t *params)
{
	WFS_AUTO_JSON json_t *list = NULL;
	json_t *pinned = NULL;
	int r = wfs_run_call(run, "tools", NULL, &list);

	if (!r)
		r = wfs_tools_pin(params, list, &pinned, &run->error);
	return r ? r : json_object_set_new(params, "pinned", pinned) < 0 ? -ENOMEM : 0;
}

static int make_grant(struct wfs_run *run, json_t **ret_grant)
{
	const char *const cap = run->arguments[1];
	WFS_AUTO_JSON json_t *params = NULL;
	WFS_AUTO_JSON json_t *expires = expiry(run);
	WFS_AUTO_JSON json_t *grant = NULL;
	int r = run->misused ? -EINVAL : 0;

	if (!r && run->argument_count > 2)
		r = wfs_json_parse_bounded(
			run->arguments[2], strlen(run->arguments[2]), &params, &run->error);
	if (!r && run->options[WFS_OPTION_EXPIRES] && !expires)
		r = -ENOMEM;
	if (!r && run->options[WFS_OPTION_PIN] && !strchr(cap, '/') && strcmp(cap, "tool") != 0)
		r = wfs_run_misuse(run, "--pin is for a grant of tool, got '%.60s'", cap);
	if (!r && run->options[WFS_OPTION_PIN]) {
		params = params ? params : json_object();
		r = json_is_object(params) ? pin(run, params)
					   : wfs_run_misuse(run,
						     "--pin: the parameters must be "
						     "a JSON object");
	}
	if (r)
		return r;
	grant = json_pack("{s:s, s:o, s:O*, s:O*}", "to", run->arguments[0], "cap",
		strchr(cap, '/') ? json_string(cap) : json_sprintf("sys/%s@1", cap), "params",
		params, "expires_at_ns", expires);
	r = grant ? wfs_run_members(run, grant) : -ENOMEM;
	if (!r)
		*ret_grant = WFS_STEAL(grant);
	return r;
}

/* --- what a principal begins with --- */

/* Reads `disk=1000`; the kernel checks the name. */
static int add_quota(struct wfs_run *run, const char *text, json_t *quotas)
{
	const char *const equals = strchr(text, '=');
	char name[40];
	uint64_t number;

	if (!equals || equals == text || equals - text >= (ptrdiff_t)sizeof(name))
		return wfs_run_misuse(run, "--quota: expected NAME=N, got '%.60s'", text);
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	int r = wfs_run_number(run, "--quota", equals + 1, &number);
	if (r)
		return r;
	return json_object_set_new(quotas, name, json_integer((json_int_t)number)) < 0 ? -ENOMEM
										       : 0;
}

/* --- the commands --- */

static int print_grant(struct wfs_run *run, const json_t *result)
{
	fprintf(run->out, "%s\n", wfs_json_text(result, "name"));
	return 0;
}

int wfs_run_grant(struct wfs_run *run)
{
	json_t *grant = NULL;
	int r = make_grant(run, &grant);

	return r ? r : wfs_run_show(run, "grant", grant, print_grant);
}

static int print_revoked(struct wfs_run *run, const json_t *result)
{
	const json_t *node;
	size_t i;

	wfs_run_notice(run, "revoked %s", run->arguments[0]);
	json_array_foreach(json_object_get(result, "unconfirmed"), i, node)
		wfs_run_notice(run,
			"node '%s' has not confirmed: what its kernel has cached may still be "
			"shown there",
			json_string_value(node));
	return 0;
}

int wfs_run_revoke(struct wfs_run *run)
{
	return wfs_run_show(
		run, "revoke", json_pack("{s:s}", "name", run->arguments[0]), print_revoked);
}

int wfs_run_principal_add(struct wfs_run *run)
{
	WFS_AUTO_JSON json_t *quotas = json_object();
	WFS_AUTO_JSON json_t *principal = json_pack("{s:s}", "id", run->arguments[0]);
	int r = quotas && principal ? wfs_run_members(run, principal) : -ENOMEM;

	for (size_t i = 0; !r && i < run->value_count; i++)
		r = add_quota(run, run->values[i], quotas);
	if (!r && run->value_count > 0 && json_object_set(principal, "quotas", quotas) < 0)
		r = -ENOMEM;
	return r
		? r
		: wfs_run_order(run, "principal", WFS_STEAL(principal), "added", run->arguments[0]);
}
