/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs about the running program: mounts, status, metrics, shutdown. */
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "caps/authority.h"
#include "caps/session-read.h"
#include "caps/session-upkeep.h"
#include "caps/session.h"
#include "fs/verb/verb-impl.h"
#include "kernel/base/json.h"
#include "kernel/manifest/manifest.h"

/* @has: does the process have what the verb needs? */
static int require_host(struct wfs_call *call, const char *verb, bool has)
{
	if (has)
		return 0;
	return wfs_error_set(&call->error, WFS_E_NOT_ENABLED,
		"'%s' needs the process that owns the world, and none is running", verb);
}

/* The member `dir`: absolute, because the client's working directory is not the owner's. */
static int directory_asked_for(struct wfs_call *call, const char **ret_directory)
{
	*ret_directory = wfs_verb_text(call, "dir");
	return **ret_directory == '/'
		? 0
		: wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			  "'dir': expected an absolute path, got '%.200s'", *ret_directory);
}

static int empty_result(struct wfs_call *call)
{
	call->result = json_object();
	return call->result ? 0 : -ENOMEM;
}

/* Checks that the caller may mount as @principal: such a mount can do all that the principal
 * may. */
static int check_act_as(struct wfs_call *call, const char *principal)
{
	const char *const own = wfs_session_principal(call->session);

	if (strcmp(own, principal) == 0 || strcmp(own, WFS_PRINCIPAL_OPERATOR) == 0)
		return 0;
	return wfs_error_set(&call->error, WFS_E_NOT_AUTHORIZED,
		"'as': only the operator may mount as another principal, not '%s'", own);
}

/* Reads the uid and the gid that the process that mounted has in its own user namespace. */
static int read_ids(struct wfs_call *call, struct wfs_mount_options *mount)
{
	int64_t uid = call->caller ? call->caller->uid : 0;
	int64_t gid = call->caller ? call->caller->gid : 0;
	int r = wfs_json_get_integer(call->payload, "uid", 0, UINT32_MAX - 1, &uid, &call->error);

	if (!r)
		r = wfs_json_get_integer(
			call->payload, "gid", 0, UINT32_MAX - 1, &gid, &call->error);
	mount->uid = (uid_t)uid;
	mount->gid = (gid_t)gid;
	return r;
}

static int read_mount(struct wfs_call *call, struct wfs_mount_options *mount)
{
	const char *const as = wfs_verb_text(call, "as");
	int r = directory_asked_for(call, &mount->directory);

	mount->ctl = wfs_verb_text(call, "ctl");
	if (as)
		mount->principal = as;
	mount->allow_other = wfs_verb_flag(call, "allow_other");
	mount->act = wfs_verb_flag(call, "act");
	mount->nest_ctl = wfs_verb_flag(call, "nest_ctl");
	if (!r && (*mount->ctl != '/' || strlen(mount->ctl) >= PATH_MAX))
		r = wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"'ctl': expected the absolute path of the control files, got '%.200s'",
			mount->ctl);
	if (!r)
		r = check_act_as(call, mount->principal);
	return r ? r : read_ids(call, mount);
}

int wfs_verb_mount(struct wfs_call *call)
{
	const char *const own = wfs_session_principal(call->session);
	struct wfs_mount_options mount = {
		.principal = own,
		.here = call->caller && call->caller->here,
		/* In another user namespace, a uid may mean another user than on this host. */
		.trusted = strcmp(own, WFS_PRINCIPAL_OPERATOR) == 0 && call->caller &&
			call->caller->shares_uids,
	};
	int r = require_host(call, "mount", call->host && call->host->mount);

	if (!r && call->handed_count != WFS_HANDED_COUNT) /* the owner itself mounts nothing */
		r = wfs_error_set(&call->error, WFS_E_INVALID_ARGUMENT,
			"expected three descriptors with the request, those of the tree's mount, "
			"of the mount of control files and of a keeper; got %u ('worldfs mount' "
			"makes them)",
			call->handed_count);
	if (!r)
		r = read_mount(call, &mount);
	if (r)
		return r;
	mount.handed = call->handed;
	call->handed_count = 0;
	r = call->host->mount(call->host, &mount, &call->error);
	return r ? r : empty_result(call);
}

int wfs_verb_umount(struct wfs_call *call)
{
	const char *directory;
	int r = require_host(call, "umount", call->host && call->host->umount);

	if (!r)
		r = directory_asked_for(call, &directory);
	if (!r)
		r = call->host->umount(call->host, directory, &call->error);
	return r ? r : empty_result(call);
}

int wfs_verb_shutdown(struct wfs_call *call)
{
	int r = require_host(call, "shutdown", call->host && call->host->shutdown);

	if (r)
		return r;
	call->host->shutdown(call->host);
	return empty_result(call);
}

static int require_replication(struct wfs_call *call, const char *verb)
{
	return call->host && call->host->replicas
		? 0
		: wfs_error_set(&call->error, WFS_E_NOT_ENABLED,
			  "'%s' needs a replicated world, and this one is on this host alone",
			  verb);
}

int wfs_verb_replicas(struct wfs_call *call)
{
	const int r = require_replication(call, "replicas");

	if (r)
		return r;
	call->result = call->host->replicas(call->host);
	return call->result ? 0 : -ENOMEM;
}

int wfs_verb_handover(struct wfs_call *call)
{
	int r = require_replication(call, "handover");

	if (!r)
		r = call->host->handover(call->host, wfs_verb_text(call, "node"), &call->error);
	return r ? r : empty_result(call);
}

/* Removes the mounts of others from the status, unless the client is an administrator. */
static void hide_mounts(struct wfs_call *call)
{
	json_t *const mounts = json_object_get(call->result, "mounts");
	const char *const principal = wfs_session_principal(call->session);

	for (size_t i = json_array_size(mounts); i-- > 0;) {
		const json_t *const mount = json_array_get(mounts, i);

		if (strcmp(json_string_value(json_object_get(mount, "principal")), principal) != 0)
			json_array_remove(mounts, i);
	}
	(void)json_object_del(call->result, "mount_count");
}

/* Adds figures of all principals together. */
static int add_figures(struct wfs_call *call, const struct wfs_session_figures *figures)
{
	WFS_AUTO_JSON json_t *members =
		json_pack("{s:I, s:{s:I, s:I, s:i}, s:{s:I, s:I, s:I, s:I}}", "effects_in_flight",
			(json_int_t)figures->effects_in_flight, "queue", "bytes",
			(json_int_t)figures->world.queue_bytes, "count",
			(json_int_t)figures->world.queue_count, "max", (int)WFS_QUEUE_COUNT_MAX,
			"store", "blob_bytes", (json_int_t)figures->world.store.blob_bytes,
			"free_bytes", (json_int_t)figures->world.store.free_bytes, "map_size_bytes",
			(json_int_t)figures->world.store.map_size_bytes, "used_bytes",
			(json_int_t)figures->world.store.used_bytes);

	return json_object_update(call->result, members) < 0 ? -ENOMEM : 0;
}

int wfs_verb_status(struct wfs_call *call)
{
	const struct wfs_authority *const authority = wfs_session_authority(call->session);
	WFS_AUTO_MANIFEST struct wfs_manifest *manifest = NULL;
	WFS_AUTO_SESSION_VIEW struct wfs_view view = {0};
	struct wfs_session_figures figures;
	int r = wfs_session_figures(call->session, &figures, &call->error);

	if (!r)
		r = wfs_verb_view(call, NULL, &view);
	if (r)
		return r;
	manifest = wfs_authority_manifest(authority);
	call->result = json_pack("{s:I, s:i, s:I, s:[], s:s, s:i, s:s, s:s}", "first_height",
		(json_int_t)figures.world.first_height, "fold_version", figures.world.fold_version,
		"height", (json_int_t)view.height, "mounts", "name", wfs_manifest_name(manifest),
		"store_format", figures.world.store_format, "version", WFS_VERSION, "world",
		wfs_authority_directory(authority));
	r = call->result ? 0 : -ENOMEM;
	if (!r && figures.whole)
		r = add_figures(call, &figures);
	if (r)
		return r;
	if (call->host && call->host->status)
		call->host->status(call->host, call->result);
	if (!wfs_session_may(call->session, WFS_EFFECT_WORLD_MOUNT))
		hide_mounts(call);
	return 0;
}

/* Figures of a world as Prometheus names them. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	size_t offset; /* of a uint64_t in struct wfs_session_figures */
	bool everybodys;
} metrics[] = {
#define METRIC_OF(name_, type_, help_, member_, everybodys_)                              \
	{                                                                                 \
		(name_), (type_), (help_), offsetof(struct wfs_session_figures, member_), \
			(everybodys_)                                                     \
	}
#define METRIC(name_, type_, help_, member_) METRIC_OF(name_, type_, help_, member_, false)
	METRIC_OF("worldfs_height", "gauge", "Records in the journal.", world.height, true),
	METRIC_OF("worldfs_first_height", "gauge", "First height that is kept.", world.first_height,
		true),
	METRIC("worldfs_queue_requests", "gauge", "Requests not answered yet.", world.queue_count),
	METRIC("worldfs_queue_bytes", "gauge",
		"Bytes of the bodies and parsed values of these requests.", world.queue_bytes),
	METRIC("worldfs_effects_in_flight", "gauge", "Answers that runs of agents wait for.",
		effects_in_flight),
	METRIC("worldfs_requests_total", "counter", "Requests that reached the kernel.",
		world.requests_total),
	METRIC("worldfs_requests_failed_total", "counter", "Requests that were refused.",
		world.requests_failed),
	METRIC("worldfs_reads_refused_total", "counter", "Reads that no grant or policy allows.",
		refused_total),
	METRIC("worldfs_batches_total", "counter", "Commits.", world.batches_total),
	METRIC("worldfs_store_used_bytes", "gauge", "Bytes in use in data.mdb.",
		world.store.used_bytes),
	METRIC("worldfs_store_free_bytes", "gauge", "Free bytes in data.mdb, which are used again.",
		world.store.free_bytes),
	METRIC("worldfs_store_blob_bytes", "gauge", "Bytes of blob files.", world.store.blob_bytes),
	METRIC("worldfs_store_map_bytes", "gauge", "Bytes that data.mdb can grow to.",
		world.store.map_size_bytes),
#undef METRIC
#undef METRIC_OF
};

/* Figures of a node of a replicated world, likewise. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	size_t offset; /* of a uint64_t in struct wfs_replica_figures */
	bool everybodys;
} replica_metrics[] = {
#define METRIC(name_, type_, help_, member_, everybodys_)                            \
	{                                                                            \
		"worldfs_replica_" name_, (type_), (help_),                          \
			offsetof(struct wfs_replica_figures, member_), (everybodys_) \
	}
	METRIC("epoch", "gauge", "Number that rises whenever a process begins to own the world.",
		epoch, true),
	METRIC("height", "gauge", "Records that the mounts of this node show.", height, true),
	METRIC("lag_records", "gauge", "Records of the log that this node does not have yet.",
		lag_records, true),
	METRIC("requests_waiting", "gauge", "Changes asked for at this node, not answered yet.",
		waiting, false),
	METRIC("requests_relayed_total", "counter",
		"Changes asked for at this node while another node owned the world.", relayed_total,
		false),
	METRIC("requests_unknown_total", "counter",
		"Changes that may have been made, because no answer came.", unknown_total, false),
#undef METRIC
};

static void add_metric(struct wfs_buffer *text, const char *name, const char *type,
	const char *help, uint64_t value)
{
	wfs_buffer_printf(text, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name, help, name,
		type, name, value);
}

/* Adds figures that are not whole numbers. */
static void add_role_and_lease(struct wfs_buffer *text, const struct wfs_replica_figures *figures)
{
	static const char *const roles[] = {"none", "follower", "owner"};
	enum { MS = 1000 };

	wfs_buffer_append_text(text,
		"# HELP worldfs_replica_role 1 for the role that this node has.\n"
		"# TYPE worldfs_replica_role gauge\n");
	for (size_t i = 0; i < WFS_ARRAY_COUNT(roles); i++)
		wfs_buffer_printf(text, "worldfs_replica_role{role=\"%s\"} %d\n", roles[i],
			strcmp(roles[i], figures->role) == 0);
	wfs_buffer_printf(text,
		"# HELP worldfs_replica_lease_seconds Seconds until the lease of this node ends.\n"
		"# TYPE worldfs_replica_lease_seconds gauge\n"
		"worldfs_replica_lease_seconds %" PRIu64 ".%03" PRIu64 "\n",
		figures->lease_ms / MS, figures->lease_ms % MS);
}

/* @whole: also those of all principals together */
static void add_replica_metrics(
	struct wfs_buffer *text, const struct wfs_replica_figures *figures, bool whole)
{
	uint64_t value;

	for (size_t i = 0; i < WFS_ARRAY_COUNT(replica_metrics); i++) {
		if (!whole && !replica_metrics[i].everybodys)
			continue;
		memcpy(&value, (const char *)figures + replica_metrics[i].offset, sizeof(value));
		add_metric(text, replica_metrics[i].name, replica_metrics[i].type,
			replica_metrics[i].help, value);
	}
	add_role_and_lease(text, figures);
}

int wfs_verb_metrics(struct wfs_call *call)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	struct wfs_session_figures figures;
	int r = wfs_session_figures(call->session, &figures, &call->error);

	if (r)
		return r;
	for (size_t i = 0; i < WFS_ARRAY_COUNT(metrics); i++) {
		uint64_t value;

		if (!figures.whole && !metrics[i].everybodys)
			continue;
		memcpy(&value, (const char *)&figures + metrics[i].offset, sizeof(value));
		add_metric(&text, metrics[i].name, metrics[i].type, metrics[i].help, value);
	}
	if (call->host && call->host->figures) {
		struct wfs_replica_figures replica;

		call->host->figures(call->host, &replica);
		add_replica_metrics(&text, &replica, figures.whole);
	}
	call->result = json_pack("{s:s}", "text", wfs_buffer_text(&text));
	return call->result && wfs_buffer_check(&text) == 0 ? 0 : -ENOMEM;
}
