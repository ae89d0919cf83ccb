/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about a world on several nodes: replicate, replicas, handover. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caps/authority.h"
#include "caps/upkeep.h"
#include "fs/command/frame/interrupt.h"
#include "fs/command/frame/progress.h"
#include "fs/command/world/commands.h"
#include "fs/replica/join.h"
#include "kernel/base/host-file.h"
#include "kernel/base/trust.h"
#include "kernel/base/world-file.h"

#define HOST_FILE "host.json"
#define HOST_FILE_NEW ".host.json.new"

enum { ETCD_MS = 5000 }; /* for etcd to answer a command */

/* --- host.json --- */

/* Replaces host.json. */
static int write_host(struct wfs_run *run, const char *directory, const json_t *host)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_FD int directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	WFS_AUTO_FD int fd = -1;

	wfs_json_write(host, &text);
	wfs_buffer_append_byte(&text, '\n');
	if (wfs_buffer_check(&text))
		return -ENOMEM;
	fd = wfs_world_file_open(
		directory, HOST_FILE_NEW, O_WRONLY | O_CREAT | O_TRUNC, &run->error);
	if (fd < 0)
		return fd;
	if (write(fd, text.data, text.size) != (ssize_t)text.size || fsync(fd) < 0 ||
		renameat(directory_fd, HOST_FILE_NEW, directory_fd, HOST_FILE) < 0 ||
		fsync(directory_fd) < 0)
		return wfs_error_from_errno(
			&run->error, -errno, "write '%s/" HOST_FILE "'", directory);
	return 0;
}

/* Has the user agree to a host.json that this command has written. */
static int trust(struct wfs_run *run, const char *directory, const char *world_id)
{
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_hash hash;
	WFS_AUTO_FREE char *absolute = realpath(directory, NULL);

	if (!absolute)
		return wfs_error_from_errno(&run->error, -errno, "open '%s'", directory);
	const int r = wfs_host_file_read(directory, &host, &hash, &run->error);
	return r ? r : wfs_trust_give(absolute, world_id, &hash, &run->error);
}

/* Adds to host.json what the command line says of replication. Return: 0, -EINVAL, -ENOMEM. */
static int add_replication(struct wfs_run *run, json_t *host, const char *url)
{
	const char *const listen = run->options[WFS_OPTION_LISTEN];
	json_t *replication = json_object_get(host, "replication");
	int bad = 0;

	if (!replication) {
		replication = json_object();
		bad |= json_object_set_new(host, "replication", replication);
	}
	bad |= json_object_set_new(replication, "url", json_string(url));
	bad |= json_object_set_new(replication, "node", json_string(run->options[WFS_OPTION_NODE]));
	if (listen)
		bad |= json_object_set_new(replication, "listen", json_string(listen));
	if (run->options[WFS_OPTION_NO_OWNER])
		bad |= json_object_set_new(replication, "no_owner", json_true());
	return bad ? -ENOMEM : wfs_host_check(host, &run->error);
}

/* Reads a host.json that the user has agreed to, and adds what the command says of replication.
 * @ret_before: as it was */
static int change_host(struct wfs_run *run, const char *directory, const char *url,
	json_t **ret_before, json_t **ret_host)
{
	struct wfs_hash hash;
	int r = wfs_host_file_read(directory, ret_before, &hash, &run->error);

	if (!r && json_object_size(*ret_before) > 0)
		r = wfs_trust_check(directory, &hash, &run->error);
	if (r)
		return r;
	*ret_host = json_deep_copy(*ret_before);
	return *ret_host ? add_replication(run, *ret_host, url) : -ENOMEM;
}

static int need_node(struct wfs_run *run)
{
	return run->options[WFS_OPTION_NODE]
		? 0
		: wfs_run_misuse(run, "expected --node NAME, the name of this node");
}

/* --- replicate --- */

static int begin(struct wfs_run *run, struct wfs_authority *authority, const json_t *host)
{
	struct wfs_host_replication replication;
	struct wfs_etcd_options etcd;

	wfs_require(wfs_host_replication(host, &replication));
	int r = wfs_join_etcd(&replication, &etcd, &run->error);
	etcd.timeout_ms = ETCD_MS;
	return r ? r : wfs_node_begin(authority, &etcd, replication.node, &run->error);
}

int wfs_run_replicate_world(struct wfs_run *run, const char *directory, const char *url)
{
	const struct wfs_world_options options = {.wait_ms = 0};
	WFS_AUTO_AUTHORITY struct wfs_authority *authority = NULL;
	WFS_AUTO_JSON json_t *before = NULL;
	WFS_AUTO_JSON json_t *host = NULL;
	struct wfs_upkeep_found found;

	int r = need_node(run);

	if (!r)
		r = wfs_upkeep_look(directory, &found, &run->error);
	if (!r)
		r = change_host(run, directory, url, &before, &host);
	if (!r)
		r = wfs_authority_open(directory, &options, &authority, &run->error);
	/* First the file: a process that opens the world from now on does not change it alone. */
	if (!r)
		r = write_host(run, directory, host);
	if (!r)
		r = trust(run, directory, found.world_id);
	if (r)
		return r;
	r = begin(run, authority, host);
	if (r && r != -ETIMEDOUT) {
		const struct wfs_error reason = run->error;

		if (write_host(run, directory, before) == 0)
			(void)trust(run, directory, found.world_id);
		run->error = reason;
	}
	return r;
}

int wfs_run_replicate(struct wfs_run *run)
{
	const char *const directory = run->arguments[0];
	const char *const url = run->arguments[1];
	const int r = wfs_run_replicate_world(run, directory, url);

	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run,
			json_pack("{s:s, s:s, s:s}", "node", run->options[WFS_OPTION_NODE], "url",
				url, "world", directory));
	wfs_run_notice(run, "%s has its log at %s; 'worldfs follow %s DIR' adds another node",
		directory, url, url);
	return 0;
}

/* --- follow --- */

static int fetch(struct wfs_run *run, const json_t *host, struct wfs_backup_figures *ret_figures)
{
	struct wfs_progress progress;
	const struct wfs_backup_options options = {
		.progress = wfs_progress_step, .context = &progress};

	wfs_interrupt_catch();
	wfs_progress_init(&progress, run->err);
	const int r = wfs_join_fetch(host, run->arguments[1], &options, ret_figures, &run->error);
	wfs_progress_clear(&progress);
	return r;
}

int wfs_run_follow(struct wfs_run *run)
{
	const char *const directory = run->arguments[1];
	WFS_AUTO_JSON json_t *host = json_object();
	struct wfs_backup_figures figures = {0};
	struct wfs_upkeep_found found;
	int r = need_node(run);

	if (!r)
		r = add_replication(run, host, run->arguments[0]);
	if (!r)
		r = fetch(run, host, &figures);
	if (!r)
		r = wfs_upkeep_look(directory, &found, &run->error);
	if (!r)
		r = trust(run, directory, found.world_id);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(run,
			json_pack("{s:I, s:s, s:s}", "height", (json_int_t)figures.height, "node",
				run->options[WFS_OPTION_NODE], "world", directory));
	wfs_run_notice(run, "height %" PRIu64 " is in %s; it is kept current while it is served",
		figures.height, directory);
	return 0;
}

/* --- replicas, handover --- */

static void print_number(FILE *out, int width, const json_t *number)
{
	if (json_is_integer(number))
		fprintf(out, " %*" JSON_INTEGER_FORMAT, width, json_integer_value(number));
	else
		fprintf(out, " %*s", width, "-");
}

static int print_replicas(struct wfs_run *run, const json_t *status)
{
	const json_t *const problem = json_object_get(status, "problem");
	size_t i;
	const json_t *node;

	if (run->options[WFS_OPTION_JSON])
		return wfs_run_print_document(run, status);
	fprintf(run->out, "%-16s %-8s %10s %8s %12s %10s  %s\n", "NODE", "ROLE", "HEIGHT", "LAG",
		"BYTES", "CONTACT", "ADDRESS");
	json_array_foreach(json_object_get(status, "nodes"), i, node) {
		fprintf(run->out, "%-16s %-8s", wfs_json_text(node, "name"),
			wfs_json_text(node, "role"));
		print_number(run->out, 10, json_object_get(node, "height"));
		print_number(run->out, 8, json_object_get(node, "lag_records"));
		print_number(run->out, 12, json_object_get(node, "bytes"));
		print_number(run->out, 8, json_object_get(node, "last_contact_ms"));
		fprintf(run->out, "ms  %s\n", wfs_json_text(node, "address"));
	}
	if (json_is_object(problem))
		wfs_run_notice(run, "%s: %s", wfs_json_text(problem, "code"),
			wfs_json_text(problem, "message"));
	return 0;
}

int wfs_run_replicas(struct wfs_run *run)
{
	return wfs_run_show(run, "replicas", NULL, print_replicas);
}

static int print_handover(struct wfs_run *run, const json_t *result)
{
	(void)result;
	wfs_run_notice(run, "handed over");
	return 0;
}

int wfs_run_handover(struct wfs_run *run)
{
	json_t *const payload =
		json_pack("{s:s*}", "node", run->argument_count > 0 ? run->arguments[0] : NULL);

	return payload ? wfs_run_show(run, "handover", payload, print_handover) : -ENOMEM;
}
