/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that the process around the world answers: mounts, status, metrics. */
#include "tests/fixture/verb.h"

/* A host that remembers what it was asked. */
struct host {
	struct wfs_host host;
	char mounted[200];
	char unmounted[200];
	bool shut_down;
};

static int host_mount(
	struct wfs_host *host, struct wfs_mount_options *mount, struct wfs_error *error)
{
	struct host *const self = (struct host *)host;

	wfs_handed_close(&mount->handed);
	if (strcmp(mount->directory, "/taken") == 0)
		return wfs_error_set(error, WFS_E_BUSY, "taken");
	snprintf(self->mounted, sizeof(self->mounted), "%s %s %s %d%d%d %u:%u", mount->directory,
		mount->ctl, mount->principal, mount->allow_other, mount->act, mount->trusted,
		mount->uid, mount->gid);
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
	json_object_set_new(status, "mounts",
		json_pack("[{s:s}, {s:s}]", "principal", "operator", "principal", "alice"));
}

#define HOST                                                                    \
	{                                                                       \
		.host = { host_mount, host_umount, host_shutdown, host_status } \
	}

static void ask_mount(struct world_fixture *fixture, struct host *host, const char *principal,
	const char *payload, struct asked *asked)
{
	static const struct wfs_caller caller = {.shares_uids = true};

	ask_request(fixture, &host->host, principal,
		(struct request){"mount", payload, WFS_HANDED_COUNT, &caller}, asked);
}

IN_WORLD(mount_refuses_a_request_without_its_descriptors)
{
	AUTO_ASKED struct asked none;
	AUTO_ASKED struct asked more;
	struct host host = HOST;

	ask_host(fixture, &host.host, "mount", "{'dir':'/m','ctl':'/c'}", &none);
	ask_request(fixture, &host.host, "operator",
		(struct request){"mount", "{'dir':'/m','ctl':'/c'}", WFS_HANDED_COUNT + 1, NULL},
		&more);

	assert_int_equal(none.call.status, -EINVAL);
	assert_non_null(strstr(none.call.error.message, "got 0"));
	assert_int_equal(more.call.status, -EINVAL);
	assert_non_null(strstr(more.call.error.message, "got 4"));
	assert_string_equal(host.mounted, "");
}

IN_WORLD(mount_and_umount_are_passed_to_the_host)
{
	AUTO_ASKED struct asked mount;
	AUTO_ASKED struct asked umount;
	struct host host = HOST;

	ask_mount(fixture, &host, "operator",
		"{'dir':'/m','ctl':'/c','allow_other':true,'uid':7,'gid':8}", &mount);
	ask_host(fixture, &host.host, "umount", "{'dir':'/m'}", &umount);

	assert_int_equal(mount.call.status, 0);
	assert_int_equal(umount.call.status, 0);
	assert_string_equal(host.mounted, "/m /c operator 101 7:8");
	assert_string_equal(host.unmounted, "/m");
}

IN_WORLD(uids_of_a_mount_in_another_user_namespace_are_not_believed)
{
	const struct wfs_caller caller = {.uid = 7, .gid = 8};
	AUTO_ASKED struct asked mount;
	struct host host = HOST;

	ask_request(fixture, &host.host, "operator",
		(struct request){"mount", "{'dir':'/m','ctl':'/c','allow_other':true}",
			WFS_HANDED_COUNT, &caller},
		&mount);

	assert_int_equal(mount.call.status, 0);
	assert_string_equal(host.mounted, "/m /c operator 100 7:8");
}

IN_WORLD(only_the_operator_mounts_as_somebody_else)
{
	AUTO_ASKED struct asked operators;
	AUTO_ASKED struct asked own;
	struct host host = HOST;

	make_alice(fixture, "'cap':'sys/admin@1'");
	ask_mount(fixture, &host, "alice", "{'dir':'/m','ctl':'/c','as':'operator'}", &operators);
	assert_int_equal(operators.call.status, -EACCES);
	assert_int_equal(operators.call.error.code, WFS_E_NOT_AUTHORIZED);
	assert_string_equal(host.mounted, "");
	ask_mount(fixture, &host, "alice", "{'dir':'/m','ctl':'/c','as':'alice','act':true}", &own);
	assert_int_equal(own.call.status, 0);
	assert_string_equal(host.mounted, "/m /c alice 010 0:0");
}

IN_WORLD(mount_that_the_host_refuses_says_why)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;

	ask_mount(fixture, &host, "operator", "{'dir':'/taken','ctl':'/c'}", &asked);

	assert_int_equal(asked.call.status, -EBUSY);
	assert_string_equal(asked.call.error.message, "taken");
}

IN_WORLD(mount_refuses_relative_paths_and_options_that_are_not_boolean)
{
	AUTO_ASKED struct asked relative;
	AUTO_ASKED struct asked relative_ctl;
	AUTO_ASKED struct asked option;
	struct host host = HOST;

	ask_mount(fixture, &host, "operator", "{'dir':'m','ctl':'/c'}", &relative);
	ask_mount(fixture, &host, "operator", "{'dir':'/m','ctl':'c'}", &relative_ctl);
	ask_mount(fixture, &host, "operator", "{'dir':'/m','ctl':'/c','nest_ctl':1}", &option);

	assert_int_equal(relative.call.status, -EINVAL);
	assert_int_equal(relative_ctl.call.status, -EINVAL);
	assert_int_equal(option.call.status, -EINVAL);
	assert_string_equal(host.mounted, "");
}

IN_WORLD(verbs_of_the_host_are_not_enabled_without_one)
{
	assert_verb_refused(
		fixture, "mount", "{'ctl':'/c','dir':'/m'}", WFS_E_NOT_ENABLED, "owns the world");
	assert_verb_refused(fixture, "umount", "{'dir':'/m'}", WFS_E_NOT_ENABLED, "owns the world");
	assert_verb_refused(fixture, "shutdown", NULL, WFS_E_NOT_ENABLED, "owns the world");
}

IN_WORLD(shutdown_is_passed_to_the_host)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;

	ask_host(fixture, &host.host, "shutdown", NULL, &asked);

	assert_int_equal(asked.call.status, 0);
	assert_true(host.shut_down);
}

IN_WORLD(status_has_figures_and_what_the_host_adds)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;
	WFS_AUTO_FREE char *large = calloc(1, 100000);
	struct wfs_hash hash;
	const json_t *queue;

	assert_int_equal(put_blob(fixture, large, 100000, &hash), 0);
	ask_host(fixture, &host.host, "status", NULL, &asked);

	assert_int_equal(integer_of(&asked, "height"), height_of(fixture));
	assert_int_equal(
		json_integer_value(json_object_get(result_of(&asked, "store"), "blob_bytes")),
		100000);
	assert_int_equal(integer_of(&asked, "effects_in_flight"), 0);
	assert_int_equal(integer_of(&asked, "pid"), 7);
	assert_string_equal(text_of(&asked, "name"), "fixture");
	assert_true(json_is_array(result_of(&asked, "mounts")));
	queue = result_of(&asked, "queue");
	assert_int_equal(json_integer_value(json_object_get(queue, "max")), WFS_QUEUE_COUNT_MAX);
	assert_true(
		json_integer_value(json_object_get(result_of(&asked, "store"), "used_bytes")) > 0);
}

IN_WORLD(who_may_not_mount_is_told_of_own_mounts_only)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;

	make_alice(fixture, "'cap':'sys/query@1'");
	ask_verb_for(fixture, &host.host, "alice", "status", NULL, &asked);
	assert_int_equal(json_array_size(result_of(&asked, "mounts")), 1);
}

IN_WORLD(who_sees_a_part_is_told_of_heights_only)
{
	AUTO_ASKED struct asked status;
	AUTO_ASKED struct asked metrics;
	struct host host = HOST;

	make_alice(fixture, "'cap':'sys/query@1','params':{'scope':'manifest'}");
	ask_verb_for(fixture, &host.host, "alice", "status", NULL, &status);
	ask_verb_for(fixture, &host.host, "alice", "metrics", NULL, &metrics);

	assert_int_equal(integer_of(&status, "height"), height_of(fixture));
	assert_null(result_of(&status, "effects_in_flight"));
	assert_null(result_of(&status, "queue"));
	assert_null(result_of(&status, "store"));
	assert_non_null(strstr(text_of(&metrics, "text"), "\nworldfs_height "));
	assert_null(strstr(text_of(&metrics, "text"), "requests"));
	assert_null(strstr(text_of(&metrics, "text"), "store"));
}

static void host_figures(struct wfs_host *host, struct wfs_replica_figures *ret_figures)
{
	(void)host;
	*ret_figures = (struct wfs_replica_figures){.role = "follower",
		.epoch = 3,
		.height = 40,
		.lag_records = 2,
		.lease_ms = 4096,
		.waiting = 5,
		.relayed_total = 6,
		.unknown_total = 7};
}

IN_WORLD(metrics_of_a_replicated_world_have_figures_of_its_node)
{
	AUTO_ASKED struct asked asked;
	AUTO_ASKED struct asked alone;
	struct host host = HOST;

	ask_host(fixture, &host.host, "metrics", NULL, &alone);
	host.host.figures = host_figures;
	ask_host(fixture, &host.host, "metrics", NULL, &asked);

	const char *const text = text_of(&asked, "text");
	assert_null(strstr(text_of(&alone, "text"), "worldfs_replica_"));
	assert_non_null(strstr(text, "\nworldfs_replica_epoch 3\n"));
	assert_non_null(strstr(text, "\nworldfs_replica_height 40\n"));
	assert_non_null(strstr(text, "\nworldfs_replica_lag_records 2\n"));
	assert_non_null(strstr(text, "\nworldfs_replica_lease_seconds 4.096\n"));
	assert_non_null(strstr(text, "\nworldfs_replica_requests_waiting 5\n"));
	assert_non_null(strstr(text, "\nworldfs_replica_requests_relayed_total 6\n"));
	assert_non_null(strstr(text, "\nworldfs_replica_requests_unknown_total 7\n"));
	assert_non_null(strstr(text,
		"\nworldfs_replica_role{role=\"none\"} 0\n"
		"worldfs_replica_role{role=\"follower\"} 1\n"
		"worldfs_replica_role{role=\"owner\"} 0\n"));
}

IN_WORLD(metrics_of_all_principals_are_hidden_from_others_in_a_replicated_world)
{
	AUTO_ASKED struct asked asked;
	struct host host = HOST;

	host.host.figures = host_figures;
	make_alice(fixture, "'cap':'sys/query@1','params':{'scope':'manifest'}");
	ask_verb_for(fixture, &host.host, "alice", "metrics", NULL, &asked);

	assert_non_null(strstr(text_of(&asked, "text"), "\nworldfs_replica_lag_records 2\n"));
	assert_null(strstr(text_of(&asked, "text"), "requests"));
}

IN_WORLD(metrics_are_prometheus_text)
{
	AUTO_ASKED struct asked asked;
	char line[60];

	ask_verb(fixture, "metrics", NULL, &asked);

	snprintf(line, sizeof(line), "\nworldfs_height %d\n", (int)height_of(fixture));
	assert_non_null(strstr(text_of(&asked, "text"), line));
	assert_non_null(strstr(text_of(&asked, "text"), "# TYPE worldfs_batches_total counter\n"));
	assert_non_null(strstr(text_of(&asked, "text"), "\nworldfs_effects_in_flight 0\n"));
}
