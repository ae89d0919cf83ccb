/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs: each with a good call, and everything that a payload can have wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <semaphore.h>

#include "fs/verb/verb-impl.h"
#include "kernel/base/encode.h"
#include "tests/unit/world-fixture.h"

/* What the last call gave, until the next one. */
struct asked {
	struct wfs_session *session;
	struct wfs_call call;
	sem_t done;
};

static void asked_done(struct wfs_call *call)
{
	struct asked *const asked = call->context;

	sem_post(&asked->done);
}

static void asked_release(struct asked *asked)
{
	wfs_call_done(&asked->call);
	wfs_session_free(asked->session);
	sem_destroy(&asked->done);
}
#define AUTO_ASKED WFS_CLEANUP(asked_release)

/* Calls @verb and waits. @payload: JSON with ' for ", or NULL. */
static void ask_host(struct world_fixture *fixture, struct wfs_host *host, const char *verb,
	const char *payload, struct asked *asked)
{
	WFS_AUTO_FREE char *text = payload ? json_text(payload) : NULL;

	*asked = (struct asked){.call = {.done = asked_done, .context = asked, .host = host}};
	sem_init(&asked->done, 0, 0);
	assert_int_equal(wfs_session_new(fixture->world, "operator", &asked->session, NULL), 0);
	asked->call.session = asked->session;
	if (text)
		assert_int_equal(wfs_json_parse(text, strlen(text), &asked->call.payload, NULL), 0);
	wfs_call_start(&asked->call, verb);
	while (sem_wait(&asked->done) != 0)
		;
}

static void ask(
	struct world_fixture *fixture, const char *verb, const char *payload, struct asked *asked)
{
	ask_host(fixture, NULL, verb, payload, asked);
	if (asked->call.status)
		print_message("%s: %s\n", verb, asked->call.error.message);
}

static void assert_refused(struct world_fixture *fixture, const char *verb, const char *payload,
	enum wfs_error_code code, const char *says)
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

static int64_t integer_of(const struct asked *asked, const char *name)
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
static void assert_bytes(const struct asked *asked, const char *name, const char *expected)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	const char *const text = text_of(asked, name);

	assert_int_equal(wfs_base64_decode(text, strlen(text), &bytes, NULL), 0);
	assert_string_equal(wfs_buffer_text(&bytes), expected);
}

static void assert_meta(const struct asked *asked, uint64_t height)
{
	const json_t *const meta = result_of(asked, "meta");

	assert_int_equal(json_integer_value(json_object_get(meta, "journal_height")), height);
	assert_true(json_is_string(json_object_get(meta, "manifest_hash")));
	assert_true(json_is_string(json_object_get(meta, "snapshot_hash")));
}

/* --- the dispatcher --- */

static void verb_that_is_unknown_names_those_there_are(void **state)
{
	assert_refused(*state, "fly", NULL, WFS_E_UNKNOWN_METHOD, "query-state");
}

static void verb_of_a_later_part_is_not_enabled(void **state)
{
	static const char *const later[] = {"query", "step", "chat", "grant", "revoke", "apply"};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(later); i++)
		assert_refused(*state, later[i], "{'x':1}", WFS_E_NOT_ENABLED, later[i]);
}

static void verb_refuses_a_payload_that_is_not_an_object(void **state)
{
	assert_refused(*state, "journal-head", "[1]", WFS_E_INVALID_ARGUMENT, "not an object");
}

static void verb_refuses_an_unknown_member_of_its_payload(void **state)
{
	assert_refused(*state, "query-state", "{'reducer':'cell','key':'a'}",
		WFS_E_INVALID_ARGUMENT, "unknown member 'key'");
}

static void verb_refuses_a_payload_that_lacks_a_member(void **state)
{
	assert_refused(*state, "list-cells", "{}", WFS_E_MISSING_ARGUMENT, "'reducer' is missing");
}

static void verb_without_members_refuses_any(void **state)
{
	assert_refused(*state, "status", "{'a':1}", WFS_E_INVALID_ARGUMENT, "takes: none");
}

static void verb_that_takes_long_is_slow(void **state)
{
	(void)state;
	assert_true(wfs_verb_slow("snapshot"));
	assert_true(wfs_verb_slow("gc"));
	assert_false(wfs_verb_slow("send-event"));
	assert_false(wfs_verb_slow("fly"));
}

static void verb_envelope_has_result_or_error_and_meta(void **state)
{
	AUTO_ASKED struct asked good;
	AUTO_ASKED struct asked bad;
	WFS_AUTO_JSON json_t *envelope = NULL;
	WFS_AUTO_JSON json_t *refusal = NULL;
	const json_t *error;

	ask(*state, "journal-head", NULL, &good);
	ask(*state, "fly", NULL, &bad);
	envelope = wfs_call_envelope(&good.call, "7");
	refusal = wfs_call_envelope(&bad.call, NULL);

	assert_true(json_is_true(json_object_get(envelope, "ok")));
	assert_string_equal(json_string_value(json_object_get(envelope, "id")), "7");
	assert_true(json_is_object(json_object_get(envelope, "result")));
	assert_true(json_is_false(json_object_get(refusal, "ok")));
	assert_null(json_object_get(refusal, "id"));
	assert_true(json_is_object(json_object_get(refusal, "meta")));
	error = json_object_get(refusal, "error");
	assert_string_equal(json_string_value(json_object_get(error, "code")), "unknown_method");
	assert_string_equal(json_string_value(json_object_get(error, "category")), "validation");
	assert_true(json_is_false(json_object_get(error, "retriable")));
}

/* --- reading --- */

static void manifest_read_gives_document_and_meta_twice(void **state)
{
	AUTO_ASKED struct asked asked;

	ask(*state, "manifest-read", "{'consistency':' HEAD '}", &asked);

	assert_string_equal(
		json_string_value(json_object_get(result_of(&asked, "manifest"), "name")),
		"fixture");
	assert_int_equal(integer_of(&asked, "journal_height"), height_of(*state));
	assert_meta(&asked, height_of(*state));
}

static void query_state_gives_the_exact_bytes(void **state)
{
	AUTO_ASKED struct asked asked;

	tell(*state, "{'key':'a','op':'set','n':5}");
	ask(*state, "query-state", "{'reducer':'cell','key_b64':'YQ=='}", &asked);

	assert_bytes(&asked, "state_b64", "{\"n\":5}\n");
	assert_meta(&asked, height_of(*state));
}

static void query_state_at_an_exact_height_gives_the_state_of_then(void **state)
{
	AUTO_ASKED struct asked asked;
	char payload[100];
	uint64_t height;

	tell(*state, "{'key':'a','op':'set','n':5}");
	height = height_of(*state);
	tell(*state, "{'key':'a','op':'set','n':6}");
	snprintf(payload, sizeof(payload),
		"{'reducer':'cell','key_b64':'YQ==','consistency':'exact:%d'}", (int)height);
	ask(*state, "query-state", payload, &asked);

	assert_bytes(&asked, "state_b64", "{\"n\":5}\n");
	assert_meta(&asked, height);
}

static void query_state_of_a_missing_key_is_ok_without_state(void **state)
{
	AUTO_ASKED struct asked asked;

	ask(*state, "query-state", "{'reducer':'cell','key_b64':'YQ=='}", &asked);

	assert_null(result_of(&asked, "state_b64"));
	assert_meta(&asked, height_of(*state));
}

static void query_state_of_an_unknown_reducer_names_those_there_are(void **state)
{
	assert_refused(*state, "query-state", "{'reducer':'nope'}", WFS_E_REDUCER_MISSING,
		"(there are: cell total deep)");
}

static void query_state_refuses_what_is_not_base64(void **state)
{
	assert_refused(*state, "query-state", "{'reducer':'cell','key_b64':'YQ'}",
		WFS_E_INVALID_ARGUMENT, "key_b64");
}

static void reads_refuse_bad_consistency_and_heights_not_reached(void **state)
{
	assert_refused(*state, "manifest-read", "{'consistency':'newest'}",
		WFS_E_INVALID_CONSISTENCY, "newest");
	assert_refused(*state, "manifest-read", "{'consistency':'exact:99'}",
		WFS_E_HEIGHT_UNAVAILABLE, "99");
	assert_refused(*state, "manifest-read", "{'consistency':'exact:0'}",
		WFS_E_HEIGHT_UNAVAILABLE, "0");
	assert_refused(*state, "manifest-read", "{'consistency':'at_least:99'}",
		WFS_E_HEIGHT_UNAVAILABLE, "99");
	assert_refused(*state, "manifest-read", "{'consistency':7}", WFS_E_INVALID_ARGUMENT,
		"consistency");
}

static void list_cells_gives_hash_size_and_activity(void **state)
{
	AUTO_ASKED struct asked asked;
	const json_t *cell;

	tell(*state, "{'key':'a','op':'set','n':5}");
	ask(*state, "list-cells", "{'reducer':'cell'}", &asked);

	assert_int_equal(json_array_size(result_of(&asked, "cells")), 1);
	cell = json_array_get(result_of(&asked, "cells"), 0);
	assert_string_equal(json_string_value(json_object_get(cell, "key_b64")), "YQ==");
	assert_int_equal(json_integer_value(json_object_get(cell, "size")), 8);
	assert_int_equal(
		json_integer_value(json_object_get(cell, "last_active_height")), height_of(*state));
	assert_true(json_integer_value(json_object_get(cell, "last_active_ns")) > 0);
	assert_string_equal(json_string_value(json_object_get(cell, "state_hash")),
		"sha256:3d0392053cca651a45e1d75353c2e684f162f40b823f57171aa3109183fc3c88");
	assert_null(result_of(&asked, "next_cursor"));
}

static void list_cells_goes_on_behind_its_cursor(void **state)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked second;
	char payload[100];

	tell(*state, "{'key':'a','op':'set'}");
	tell(*state, "{'key':'b','op':'set'}");
	tell(*state, "{'key':'c','op':'set'}");
	ask(*state, "list-cells", "{'reducer':'cell','limit':2}", &first);
	snprintf(payload, sizeof(payload), "{'reducer':'cell','limit':2,'cursor':'%s'}",
		text_of(&first, "next_cursor"));
	ask(*state, "list-cells", payload, &second);

	assert_int_equal(json_array_size(result_of(&first, "cells")), 2);
	assert_int_equal(json_array_size(result_of(&second, "cells")), 1);
	assert_null(result_of(&second, "next_cursor"));
}

static void list_cells_refuses_limits_and_cursors_out_of_bounds(void **state)
{
	assert_refused(*state, "list-cells", "{'reducer':'cell','limit':0}", WFS_E_INVALID_ARGUMENT,
		"from 1 to 1000");
	assert_refused(*state, "list-cells", "{'reducer':'cell','limit':1001}",
		WFS_E_INVALID_ARGUMENT, "from 1 to 1000");
	assert_refused(*state, "list-cells", "{'reducer':'cell','cursor':'x'}",
		WFS_E_INVALID_ARGUMENT, "cursor");
	assert_refused(*state, "list-cells", "{'reducer':'cell','cursor':'5'}",
		WFS_E_INVALID_ARGUMENT, "another reducer");
}

static void journal_head_gives_meta_twice(void **state)
{
	AUTO_ASKED struct asked asked;

	ask(*state, "journal-head", NULL, &asked);

	assert_int_equal(integer_of(&asked, "journal_height"), height_of(*state));
	assert_meta(&asked, height_of(*state));
}

static void journal_read_gives_records_and_where_to_go_on(void **state)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked behind;
	const json_t *record;

	tell(*state, "{'key':'a','op':'set'}");
	ask(*state, "journal-read", "{'from':0,'limit':1}", &first);
	ask(*state, "journal-read", "{'from':99}", &behind);

	record = json_array_get(result_of(&first, "records"), 0);
	assert_string_equal(json_string_value(json_object_get(record, "kind")), "genesis");
	assert_int_equal(integer_of(&first, "next_from"), 1);
	assert_int_equal(json_array_size(result_of(&behind, "records")), 0);
	assert_null(result_of(&behind, "next_from"));
}

static void journal_read_refuses_a_negative_beginning(void **state)
{
	assert_refused(*state, "journal-read", "{'from':-1}", WFS_E_INVALID_ARGUMENT, "'from'");
}

/* --- blobs --- */

#define HASH_OF_HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static void blob_that_was_put_can_be_got_and_looked_at(void **state)
{
	AUTO_ASKED struct asked put;
	AUTO_ASKED struct asked get;
	AUTO_ASKED struct asked stat;

	ask(*state, "put-blob", "{'data_b64':'aGVsbG8='}", &put);
	ask(*state, "blob-get", "{'hash_hex':'" HASH_OF_HELLO "'}", &get);
	ask(*state, "blob-stat", "{'hash_hex':'sha256:" HASH_OF_HELLO "'}", &stat);

	assert_string_equal(text_of(&put, "hash"), "sha256:" HASH_OF_HELLO);
	assert_bytes(&get, "data_b64", "hello");
	assert_int_equal(integer_of(&stat, "size"), 5);
	assert_int_equal(integer_of(&stat, "height"), height_of(*state));
}

static void blob_put_refuses_what_is_not_base64_and_changes_nothing(void **state)
{
	const uint64_t height = height_of(*state);

	assert_refused(
		*state, "put-blob", "{'data_b64':'aGVsbG8'}", WFS_E_INVALID_ARGUMENT, "data_b64");
	assert_int_equal(height_of(*state), height);
}

static void blob_get_refuses_unknown_and_malformed_hashes(void **state)
{
	assert_refused(*state, "blob-get", "{'hash_hex':'" HASH_OF_HELLO "'}", WFS_E_NOT_FOUND,
		HASH_OF_HELLO);
	assert_refused(*state, "blob-get", "{'hash_hex':'2CF2'}", WFS_E_INVALID_ARGUMENT, "2CF2");
}

static void blob_get_refuses_more_than_its_bound(void **state)
{
	const size_t size = WFS_VERB_BLOB_MAX + 1;
	WFS_AUTO_FREE char *bytes = calloc(1, size);
	char payload[120] = "{'hash_hex':'";
	struct wfs_hash hash;

	assert_int_equal(put_blob(*state, bytes, size, &hash), 0);
	wfs_hash_hex(&hash, payload + strlen(payload));
	memcpy(payload + strlen(payload), "'}", 3);
	assert_refused(*state, "blob-get", payload, WFS_E_TOO_LARGE, "fs-read");
}

/* --- changing --- */

static void send_event_gives_the_seq_of_its_record(void **state)
{
	AUTO_ASKED struct asked asked;
	const uint64_t height = height_of(*state);

	ask(*state, "send-event", "{'schema':'test/Do@1','value':{'key':'a','op':'set','n':1}}",
		&asked);

	assert_int_equal(json_integer_value(json_array_get(result_of(&asked, "seqs"), 0)), height);
	assert_state(*state, "cell", "a", "{'n':1}");
}

static void send_event_that_is_refused_says_why_and_changes_nothing(void **state)
{
	const uint64_t height = height_of(*state);

	assert_refused(*state, "send-event", "{'schema':'test/Nope@1','value':{}}", WFS_E_NOT_FOUND,
		"test/Nope@1");
	assert_refused(*state, "send-event", "{'schema':'test/Do@1','value':{'key':'a'}}",
		WFS_E_SCHEMA_VIOLATION, "op");
	assert_refused(*state, "send-event",
		"{'schema':'test/Do@1','value':{'key':'a','op':'fail'}}", WFS_E_RUNTIME_ERROR,
		"told to fail");
	assert_refused(
		*state, "send-event", "{'schema':5,'value':1}", WFS_E_INVALID_ARGUMENT, "schema");
	assert_int_equal(height_of(*state), height);
}

static void snapshot_gives_a_hash_that_meta_has_from_then_on(void **state)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked head;

	tell(*state, "{'key':'a','op':'set'}");
	ask(*state, "snapshot", NULL, &asked);
	ask(*state, "journal-head", NULL, &head);

	assert_string_equal(text_of(&asked, "snapshot_hash"), text_of(&head, "snapshot_hash"));
	assert_int_equal(integer_of(&asked, "height"), height_of(*state) - 1);
}

static void tell_often(struct world_fixture *fixture, int count)
{
	for (int i = 0; i < count; i++)
		tell(fixture, "{'key':'a','op':'add','n':1}");
}

static void gc_says_what_it_dropped_and_records_nothing(void **state)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked status;

	tell_often(*state, 10);
	const uint64_t height = height_of(*state);
	ask(*state, "gc", "{'keep_heights':4}", &asked);
	ask(*state, "status", NULL, &status);

	assert_int_equal(integer_of(&asked, "first_height"), height - 3);
	assert_int_equal(integer_of(&asked, "versions"), 6);
	assert_null(result_of(&asked, "next_cursor"));
	assert_int_equal(integer_of(&status, "first_height"), height - 3);
	assert_int_equal(height_of(*state), height);
	assert_refused(*state, "query-state", "{'reducer':'cell','consistency':'exact:3'}",
		WFS_E_HEIGHT_UNAVAILABLE, "was dropped");
}

static void gc_goes_on_where_a_page_ended(void **state)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked second;

	tell_often(*state, 1500);
	ask(*state, "gc", "{'since':1400,'limit':1}", &first);
	assert_string_equal(text_of(&first, "next_cursor"), "1000");
	ask(*state, "gc", "{'since':1400,'limit':1000,'cursor':'1000'}", &second);

	assert_null(result_of(&second, "next_cursor"));
	assert_int_equal(integer_of(&first, "total"), integer_of(&second, "total"));
	assert_int_equal(integer_of(&second, "done"), integer_of(&second, "total"));
}

static void gc_refuses_what_it_does_not_understand(void **state)
{
	assert_refused(*state, "gc", "{}", WFS_E_MISSING_ARGUMENT, "neither");
	assert_refused(
		*state, "gc", "{'since':1,'keep_heights':1}", WFS_E_INVALID_ARGUMENT, "both");
	assert_refused(*state, "gc", "{'keep_heights':0}", WFS_E_INVALID_ARGUMENT, "keep_heights");
	assert_refused(*state, "gc", "{'since':'now'}", WFS_E_INVALID_ARGUMENT, "since");
	assert_refused(*state, "gc", "{'since':99}", WFS_E_HEIGHT_UNAVAILABLE, "not reached yet");
	assert_refused(*state, "gc", "{'since':1,'journal':true}", WFS_E_NOT_ENABLED, "journal");
}

static void invoke_of_noop_gives_a_result_and_no_record(void **state)
{
	AUTO_ASKED struct asked asked;
	const uint64_t height = height_of(*state);

	ask(*state, "invoke", "{'action':{'action_type':'noop','reasoning':'why not'}}", &asked);

	assert_true(json_is_true(result_of(&asked, "ok")));
	assert_string_equal(text_of(&asked, "action_type"), "noop");
	assert_true(json_is_null(result_of(&asked, "data")));
	assert_true(json_is_null(result_of(&asked, "error")));
	assert_int_equal(integer_of(&asked, "height"), height);
	assert_meta(&asked, height);
	assert_int_equal(height_of(*state), height);
}

static void invoke_of_anything_else_is_refused_by_name(void **state)
{
	assert_refused(*state, "invoke", "{'action':{'action_type':'transfer'}}", WFS_E_NOT_ENABLED,
		"transfer");
	assert_refused(*state, "invoke", "{'action':{'artifact_id':'x'}}", WFS_E_NOT_ENABLED,
		"invoke_artifact");
	assert_refused(*state, "invoke", "{'action':{'action_type':'fly'}}", WFS_E_INVALID_ARGUMENT,
		"fly");
	assert_refused(*state, "invoke", "{'action':'noop'}", WFS_E_INVALID_ARGUMENT, "object");
	assert_refused(*state, "invoke", "{'action':{'action_type':'noop','x':1}}",
		WFS_E_INVALID_ARGUMENT, "x");
}

/* --- the host --- */

/* Remembers what it was asked. */
struct host {
	struct wfs_host host;
	char mounted[200];
	char unmounted[200];
	bool shut_down;
};

static int host_mount(struct wfs_host *host, const char *directory, const char *principal,
	const json_t *options, struct wfs_error *error)
{
	struct host *const self = (struct host *)host;

	if (strcmp(directory, "/taken") == 0)
		return wfs_error_set(error, WFS_E_BUSY, "taken");
	snprintf(self->mounted, sizeof(self->mounted), "%s %s %d", directory, principal,
		json_is_true(json_object_get(options, "allow_other")));
	return 0;
}

static int host_umount(struct wfs_host *host, const char *directory, struct wfs_error *error)
{
	(void)error;
	snprintf(((struct host *)host)->unmounted, sizeof(((struct host *)host)->unmounted), "%s",
		directory);
	return 0;
}

static void host_shutdown(struct wfs_host *host)
{
	((struct host *)host)->shut_down = true;
}

static void host_status(struct wfs_host *host, json_t *status)
{
	(void)host;
	json_object_set_new(status, "pid", json_integer(7));
}

#define HOST                                                                    \
	{                                                                       \
		.host = { host_mount, host_umount, host_shutdown, host_status } \
	}

static void mount_and_umount_are_passed_to_the_host(void **state)
{
	AUTO_ASKED struct asked mount;
	AUTO_ASKED struct asked umount;
	struct host host = HOST;

	ask_host(*state, &host.host, "mount", "{'dir':'/m','allow_other':true}", &mount);
	ask_host(*state, &host.host, "umount", "{'dir':'/m'}", &umount);

	assert_int_equal(mount.call.status, 0);
	assert_int_equal(umount.call.status, 0);
	assert_string_equal(host.mounted, "/m operator 1");
	assert_string_equal(host.unmounted, "/m");
}

static void mount_that_the_host_refuses_says_why(void **state)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;

	ask_host(*state, &host.host, "mount", "{'dir':'/taken'}", &asked);

	assert_int_equal(asked.call.status, -EBUSY);
	assert_string_equal(asked.call.error.message, "taken");
}

static void mount_refuses_relative_paths_and_options_that_are_not_boolean(void **state)
{
	AUTO_ASKED struct asked relative;
	AUTO_ASKED struct asked option;
	struct host host = HOST;

	ask_host(*state, &host.host, "mount", "{'dir':'m'}", &relative);
	ask_host(*state, &host.host, "mount", "{'dir':'/m','nest_ctl':1}", &option);

	assert_int_equal(relative.call.status, -EINVAL);
	assert_int_equal(option.call.status, -EINVAL);
	assert_string_equal(host.mounted, "");
}

static void verbs_of_the_host_are_not_enabled_without_one(void **state)
{
	assert_refused(*state, "mount", "{'dir':'/m'}", WFS_E_NOT_ENABLED, "owns the world");
	assert_refused(*state, "umount", "{'dir':'/m'}", WFS_E_NOT_ENABLED, "owns the world");
	assert_refused(*state, "shutdown", NULL, WFS_E_NOT_ENABLED, "owns the world");
}

static void shutdown_is_passed_to_the_host(void **state)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;

	ask_host(*state, &host.host, "shutdown", NULL, &asked);

	assert_int_equal(asked.call.status, 0);
	assert_true(host.shut_down);
}

static void status_has_figures_and_what_the_host_adds(void **state)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;
	const json_t *queue;

	ask_host(*state, &host.host, "status", NULL, &asked);

	assert_int_equal(integer_of(&asked, "height"), height_of(*state));
	assert_int_equal(integer_of(&asked, "effects_in_flight"), 0);
	assert_int_equal(integer_of(&asked, "pid"), 7);
	assert_string_equal(text_of(&asked, "name"), "fixture");
	assert_true(json_is_array(result_of(&asked, "mounts")));
	queue = result_of(&asked, "queue");
	assert_int_equal(json_integer_value(json_object_get(queue, "max")), WFS_QUEUE_COUNT_MAX);
	assert_true(
		json_integer_value(json_object_get(result_of(&asked, "store"), "used_bytes")) > 0);
}

static void metrics_are_prometheus_text(void **state)
{
	AUTO_ASKED struct asked asked;
	char line[60];

	ask(*state, "metrics", NULL, &asked);

	snprintf(line, sizeof(line), "\nworldfs_height %d\n", (int)height_of(*state));
	assert_non_null(strstr(text_of(&asked, "text"), line));
	assert_non_null(strstr(text_of(&asked, "text"), "# TYPE worldfs_batches_total counter\n"));
}

/* --- the tree --- */

static void fs_list_gives_names_types_and_sizes(void **state)
{
	AUTO_ASKED struct asked asked;
	const json_t *entry;

	tell(*state, "{'key':'a/b','op':'set','n':5}");
	ask(*state, "fs-list", "{'path':'reducers/cell'}", &asked);

	assert_int_equal(json_array_size(result_of(&asked, "entries")), 1);
	entry = json_array_get(result_of(&asked, "entries"), 0);
	assert_string_equal(json_string_value(json_object_get(entry, "name")), "a%2Fb");
	assert_string_equal(json_string_value(json_object_get(entry, "type")), "file");
	assert_int_equal(json_integer_value(json_object_get(entry, "size")), 8);
	assert_meta(&asked, height_of(*state));
}

static void fs_list_goes_on_behind_its_cursor(void **state)
{
	AUTO_ASKED struct asked first;
	AUTO_ASKED struct asked second;
	char payload[100];

	tell(*state, "{'key':'a','op':'set'}");
	tell(*state, "{'key':'b','op':'set'}");
	ask(*state, "fs-list", "{'path':'/reducers/cell/','limit':1}", &first);
	snprintf(payload, sizeof(payload), "{'path':'reducers/cell','limit':1,'cursor':'%s'}",
		text_of(&first, "next_cursor"));
	ask(*state, "fs-list", payload, &second);

	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(result_of(&second, "entries"), 0), "name")),
		"b");
	assert_null(result_of(&second, "next_cursor"));
}

static void fs_list_of_an_older_height_shows_the_names_of_then(void **state)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked below_at;
	char payload[100];
	const int height = (int)height_of(*state);

	tell(*state, "{'key':'a','op':'set'}");
	snprintf(payload, sizeof(payload), "{'path':'reducers/cell','at':'exact:%d'}", height);
	ask(*state, "fs-list", payload, &asked);
	snprintf(payload, sizeof(payload), "{'path':'at/%d/reducers/cell'}", height);
	ask(*state, "fs-list", payload, &below_at);

	assert_int_equal(json_array_size(result_of(&asked, "entries")), 0);
	assert_int_equal(json_array_size(result_of(&below_at, "entries")), 0);
}

static void fs_stat_gives_attributes_and_xattrs(void **state)
{
	AUTO_ASKED struct asked asked;
	const json_t *xattrs;

	tell(*state, "{'key':'a','op':'set','n':5}");
	ask(*state, "fs-stat", "{'path':'reducers/cell/a'}", &asked);

	assert_int_equal(integer_of(&asked, "mode"), 0444);
	assert_int_equal(integer_of(&asked, "size"), 8);
	assert_string_equal(text_of(&asked, "type"), "file");
	xattrs = result_of(&asked, "xattrs");
	assert_string_equal(
		json_string_value(json_object_get(xattrs, "user.worldfs.reducer")), "cell");
	assert_string_equal(
		json_string_value(json_object_get(xattrs, "user.worldfs.key_b64")), "YQ==");
}

static void fs_read_gives_parts_and_says_when_the_end_is_reached(void **state)
{
	AUTO_ASKED struct asked part;
	AUTO_ASKED struct asked rest;
	AUTO_ASKED struct asked behind;

	tell(*state, "{'key':'a','op':'set','n':5}");
	ask(*state, "fs-read", "{'path':'reducers/cell/a','limit':3}", &part);
	ask(*state, "fs-read", "{'path':'reducers/cell/a','offset':3}", &rest);
	ask(*state, "fs-read", "{'path':'reducers/cell/a','offset':99}", &behind);

	assert_bytes(&part, "data_b64", "{\"n");
	assert_true(json_is_false(result_of(&part, "eof")));
	assert_bytes(&rest, "data_b64", "\":5}\n");
	assert_true(json_is_true(result_of(&rest, "eof")));
	assert_bytes(&behind, "data_b64", "");
	assert_true(json_is_true(result_of(&behind, "eof")));
	assert_int_equal(integer_of(&behind, "size"), 8);
}

static void fs_read_gives_a_large_blob_from_its_file(void **state)
{
	const size_t size = (size_t)3 * WFS_BLOB_FILE_MIN;
	WFS_AUTO_FREE char *bytes = malloc(size);
	AUTO_ASKED struct asked asked;
	char hex[WFS_HASH_HEX_SIZE + 1];
	char payload[160];
	struct wfs_hash hash;

	memset(bytes, 'x', size);
	assert_int_equal(put_blob(*state, bytes, size, &hash), 0);
	wfs_hash_hex(&hash, hex);
	snprintf(payload, sizeof(payload), "{'path':'blob/%s','offset':%d}", hex, (int)size - 4);
	ask(*state, "fs-read", payload, &asked);

	assert_bytes(&asked, "data_b64", "xxxx");
	assert_true(json_is_true(result_of(&asked, "eof")));
}

static void fs_verbs_refuse_paths_that_are_not_there_or_of_another_type(void **state)
{
	assert_refused(*state, "fs-list", "{'path':'nope'}", WFS_E_NOT_FOUND, "nope");
	assert_refused(*state, "fs-stat", "{'path':'reducers/cell/a'}", WFS_E_NOT_FOUND,
		"reducers/cell/a");
	assert_refused(
		*state, "fs-read", "{'path':'reducers'}", WFS_E_INVALID_ARGUMENT, "directory");
	assert_refused(*state, "fs-list", "{'path':'manifest'}", WFS_E_INVALID_ARGUMENT,
		"not a directory");
	assert_refused(
		*state, "fs-read", "{'path':'at/head'}", WFS_E_INVALID_ARGUMENT, "directory");
	assert_refused(*state, "fs-read", "{'path':'manifest','at':'exact:99'}",
		WFS_E_HEIGHT_UNAVAILABLE, "99");
}

static void fs_verbs_refuse_limits_out_of_bounds(void **state)
{
	assert_refused(
		*state, "fs-list", "{'path':'/','limit':1001}", WFS_E_INVALID_ARGUMENT, "1000");
	assert_refused(*state, "fs-read", "{'path':'manifest','limit':1048577}",
		WFS_E_INVALID_ARGUMENT, "1048576");
	assert_refused(*state, "fs-read", "{'path':'manifest','offset':-1}", WFS_E_INVALID_ARGUMENT,
		"offset");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_WORLD(verb_that_is_unknown_names_those_there_are),
		IN_WORLD(verb_of_a_later_part_is_not_enabled),
		IN_WORLD(verb_refuses_a_payload_that_is_not_an_object),
		IN_WORLD(verb_refuses_an_unknown_member_of_its_payload),
		IN_WORLD(verb_refuses_a_payload_that_lacks_a_member),
		IN_WORLD(verb_without_members_refuses_any),
		cmocka_unit_test(verb_that_takes_long_is_slow),
		IN_WORLD(verb_envelope_has_result_or_error_and_meta),
		IN_WORLD(manifest_read_gives_document_and_meta_twice),
		IN_WORLD(query_state_gives_the_exact_bytes),
		IN_WORLD(query_state_at_an_exact_height_gives_the_state_of_then),
		IN_WORLD(query_state_of_a_missing_key_is_ok_without_state),
		IN_WORLD(query_state_of_an_unknown_reducer_names_those_there_are),
		IN_WORLD(query_state_refuses_what_is_not_base64),
		IN_WORLD(reads_refuse_bad_consistency_and_heights_not_reached),
		IN_WORLD(list_cells_gives_hash_size_and_activity),
		IN_WORLD(list_cells_goes_on_behind_its_cursor),
		IN_WORLD(list_cells_refuses_limits_and_cursors_out_of_bounds),
		IN_WORLD(journal_head_gives_meta_twice),
		IN_WORLD(journal_read_gives_records_and_where_to_go_on),
		IN_WORLD(journal_read_refuses_a_negative_beginning),
		IN_WORLD(blob_that_was_put_can_be_got_and_looked_at),
		IN_WORLD(blob_put_refuses_what_is_not_base64_and_changes_nothing),
		IN_WORLD(blob_get_refuses_unknown_and_malformed_hashes),
		IN_WORLD(blob_get_refuses_more_than_its_bound),
		IN_WORLD(send_event_gives_the_seq_of_its_record),
		IN_WORLD(send_event_that_is_refused_says_why_and_changes_nothing),
		IN_WORLD(snapshot_gives_a_hash_that_meta_has_from_then_on),
		IN_WORLD(gc_says_what_it_dropped_and_records_nothing),
		IN_WORLD(gc_goes_on_where_a_page_ended),
		IN_WORLD(gc_refuses_what_it_does_not_understand),
		IN_WORLD(invoke_of_noop_gives_a_result_and_no_record),
		IN_WORLD(invoke_of_anything_else_is_refused_by_name),
		IN_WORLD(mount_and_umount_are_passed_to_the_host),
		IN_WORLD(mount_that_the_host_refuses_says_why),
		IN_WORLD(mount_refuses_relative_paths_and_options_that_are_not_boolean),
		IN_WORLD(verbs_of_the_host_are_not_enabled_without_one),
		IN_WORLD(shutdown_is_passed_to_the_host),
		IN_WORLD(status_has_figures_and_what_the_host_adds),
		IN_WORLD(metrics_are_prometheus_text),
		IN_WORLD(fs_list_gives_names_types_and_sizes),
		IN_WORLD(fs_list_goes_on_behind_its_cursor),
		IN_WORLD(fs_list_of_an_older_height_shows_the_names_of_then),
		IN_WORLD(fs_stat_gives_attributes_and_xattrs),
		IN_WORLD(fs_read_gives_parts_and_says_when_the_end_is_reached),
		IN_WORLD(fs_read_gives_a_large_blob_from_its_file),
		IN_WORLD(fs_verbs_refuse_paths_that_are_not_there_or_of_another_type),
		IN_WORLD(fs_verbs_refuse_limits_out_of_bounds),
	};

	return cmocka_run_group_tests_name("verb", tests, NULL, NULL);
}
