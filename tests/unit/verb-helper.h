/* SPDX-License-Identifier: Apache-2.0 */
/* Calling verbs, and looking at what came. */
#pragma once

#include "tests/unit/world-fixture.h"

#include <semaphore.h>

#include "fs/verb/verb-impl.h"
#include "kernel/base/encode.h"

/* What the last call gave, until the next one. */
struct asked {
	struct wfs_authority *authority;
	struct wfs_session *session;
	struct wfs_call call;
	sem_t done;
};

static inline void asked_done(struct wfs_call *call)
{
	struct asked *const asked = call->context;

	sem_post(&asked->done);
}

static inline void asked_release(struct asked *asked)
{
	wfs_call_done(&asked->call);
	wfs_session_free(asked->session);
	wfs_authority_free(asked->authority);
	sem_destroy(&asked->done);
}
#define AUTO_ASKED WFS_CLEANUP(asked_release)

/* A verb and what comes with it. Plain value. */
struct request {
	const char *verb;
	const char *payload;             /* JSON with ' for ", or NULL */
	unsigned int handed;             /* how many descriptors, closed ones */
	const struct wfs_caller *caller; /* may be NULL */
};

/* Asks as @principal, and waits. */
static inline void ask_request(struct world_fixture *fixture, struct wfs_host *host,
	const char *principal, struct request request, struct asked *asked)
{
	WFS_AUTO_FREE char *text = request.payload ? json_text(request.payload) : NULL;

	*asked = (struct asked){.call = {.done = asked_done, .context = asked, .host = host}};
	asked->call.handed = (struct wfs_handed)WFS_HANDED_NONE;
	asked->call.handed_count = request.handed;
	asked->call.caller = request.caller;
	sem_init(&asked->done, 0, 0);
	assert_int_equal(wfs_authority_new(fixture->world, &asked->authority, NULL), 0);
	assert_int_equal(wfs_session_new(asked->authority, principal, &asked->session, NULL), 0);
	asked->call.session = asked->session;
	if (text)
		assert_int_equal(wfs_json_parse(text, strlen(text), &asked->call.payload, NULL), 0);
	wfs_call_start(&asked->call, request.verb);
	while (sem_wait(&asked->done) != 0)
		;
}

static inline void ask_for(struct world_fixture *fixture, struct wfs_host *host,
	const char *principal, const char *verb, const char *payload, struct asked *asked)
{
	ask_request(fixture, host, principal, (struct request){verb, payload, 0, NULL}, asked);
}

static inline void ask_host(struct world_fixture *fixture, struct wfs_host *host, const char *verb,
	const char *payload, struct asked *asked)
{
	ask_for(fixture, host, WFS_PRINCIPAL_OPERATOR, verb, payload, asked);
}

static inline void ask_as(struct world_fixture *fixture, const char *principal, const char *verb,
	const char *payload, struct asked *asked)
{
	ask_for(fixture, NULL, principal, verb, payload, asked);
}

static inline void ask(
	struct world_fixture *fixture, const char *verb, const char *payload, struct asked *asked)
{
	ask_host(fixture, NULL, verb, payload, asked);
	if (asked->call.status)
		print_message("%s: %s\n", verb, asked->call.error.message);
}

/* Makes alice, who then holds one grant. @grant: without `to`. */
static inline void make_alice(struct world_fixture *fixture, const char *grant)
{
	AUTO_ASKED struct asked made;
	AUTO_ASKED struct asked given;
	WFS_AUTO_BUFFER struct wfs_buffer payload = {0};

	ask(fixture, "principal", "{'id':'alice'}", &made);
	wfs_buffer_printf(&payload, "{'to':'alice',%s}", grant);
	ask(fixture, "grant", wfs_buffer_text(&payload), &given);
	assert_int_equal(given.call.status, 0);
}

static inline void assert_refused(struct world_fixture *fixture, const char *verb,
	const char *payload, enum wfs_error_code code, const char *says)
{
	AUTO_ASKED struct asked asked;

	ask(fixture, verb, payload, &asked);
	assert_int_equal(asked.call.status, -wfs_error_info(code)->number);
	assert_string_equal(
		wfs_error_info(asked.call.error.code)->name, wfs_error_info(code)->name);
	if (!strstr(asked.call.error.message, says))
		fail_msg("'%s' does not say '%s'", asked.call.error.message, says);
	assert_null(asked.call.result);
	assert_int_equal(json_integer_value(json_object_get(asked.call.meta, "journal_height")),
		height_of(fixture));
}

static const json_t *result_of(const struct asked *asked, const char *name)
{
	assert_int_equal(asked->call.status, 0);
	return json_object_get(asked->call.result, name);
}

static inline int64_t integer_of(const struct asked *asked, const char *name)
{
	assert_true(json_is_integer(result_of(asked, name)));
	return json_integer_value(result_of(asked, name));
}

static const char *text_of(const struct asked *asked, const char *name)
{
	assert_true(json_is_string(result_of(asked, name)));
	return json_string_value(result_of(asked, name));
}

/* Text of a base64 member. */
static inline void assert_bytes(const struct asked *asked, const char *name, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	const char *const text = text_of(asked, name);

	assert_int_equal(wfs_base64_decode(text, strlen(text), &bytes, NULL), 0);
	assert_string_equal(wfs_buffer_text(&bytes), expected);
}

static inline void assert_meta(const struct asked *asked, uint64_t height)
{
	const json_t *const meta = result_of(asked, "meta");

	assert_int_equal(json_integer_value(json_object_get(meta, "journal_height")), height);
	assert_true(json_is_string(json_object_get(meta, "manifest_hash")));
	assert_true(json_is_string(json_object_get(meta, "snapshot_hash")));
}
