/* SPDX-License-Identifier: Apache-2.0 */
/* plan export, import, graph: plans as files outside of a world. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/command/agents/commands.h"
#include "fs/command/agents/plan.h"
#include "fs/command/frame/input.h"
#include "fs/command/frame/output.h"
#include "fs/command/frame/walk.h"
#include "kernel/base/encode.h"
#include "kernel/base/hash-text.h"
#include "kernel/base/hash.h"

enum {
	IMPORT_MAX = 11 << 20, /* bytes; in base64 they fit one request of 16 MiB */
	COPY_SIZE = 16 << 10,  /* bytes of a picture copied at once */
};

/* --- export --- */

/* Reads a step's result from its cell, at the height of the walk. */
static int read_result(struct wfs_walk *walk, const char *plan_id, size_t index, json_t *results)
{
	WFS_AUTO_JSON json_t *answer = NULL;
	WFS_AUTO_JSON json_t *result = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_BUFFER struct wfs_buffer key_b64 = {0};
	char key[64];

	snprintf(key, sizeof(key), "%.40s.%zu", plan_id, index);
	wfs_base64_append(&key_b64, key, strlen(key));
	int r = wfs_walk_call(walk, "query-state",
		json_pack("{s:s, s:s, s:s*}", "key_b64", wfs_buffer_text(&key_b64), "reducer",
			"sys.plan_result", "consistency", walk->at),
		&answer);
	if (!r)
		r = wfs_run_decode(walk->run, answer, "state_b64", &bytes);
	if (!r)
		r = wfs_json_parse(bytes.data, bytes.size, &result, &walk->run->error);
	if (!r && json_array_append(results, result) < 0)
		r = -ENOMEM;
	return r;
}

static int add_results(struct wfs_walk *walk, json_t *document)
{
	const json_t *const steps = json_object_get(json_object_get(document, "plan"), "steps");
	WFS_AUTO_JSON json_t *results = json_array();
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const json_t *step;
	size_t i;
	int r = results ? 0 : -ENOMEM;

	json_array_foreach(steps, i, step) {
		if (!r && json_is_object(json_object_get(step, "result_ref")))
			r = read_result(walk, wfs_json_text(document, "plan_id"), i, results);
	}
	if (r)
		return r;
	wfs_json_write(results, &text);
	r = wfs_buffer_check(&text);
	if (r)
		return r;
	const struct wfs_hash hash = wfs_hash_of(text.data, text.size);
	return json_object_set(document, "tool_results", results) < 0 ||
			json_object_set_new(document, "tool_results_ref",
				json_pack("{s:I, s:I, s:s}", "bytes", (json_int_t)text.size,
					"count", (json_int_t)json_array_size(results), "sha256",
					WFS_HASH_HEX(&hash))) < 0
		? -ENOMEM
		: 0;
}

int wfs_run_plan_export(struct wfs_run *run)
{
	WFS_AUTO_OUTPUT struct wfs_output output = {.fd = -1};
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	WFS_AUTO_JSON json_t *document = NULL;
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	const char *const name = run->arguments[1];
	int r = wfs_output_make(name, &output, &run->error);

	if (!r)
		r = wfs_plan_read(run, &walk, run->arguments[0], &document);
	if (!r)
		r = add_results(&walk, document);
	if (r)
		return r;
	wfs_json_write_document(document, &text);
	r = wfs_buffer_check(&text);
	if (!r)
		r = wfs_output_write(&output, name, wfs_buffer_bytes(&text), &run->error);
	if (r)
		return r;
	if (run->options[WFS_OPTION_JSON])
		return wfs_run_json(
			run, json_pack("{s:I, s:s}", "bytes", (json_int_t)text.size, "file", name));
	wfs_run_notice(run, "%s: %zu bytes", name, text.size);
	return 0;
}

/* --- import --- */

/* Stores the file as a blob; a hash names an existing blob. */
static int put_file(struct wfs_run *run, const char *name, json_t **ret_hash)
{
	WFS_AUTO_BUFFER struct wfs_buffer bytes = {0};
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	WFS_AUTO_JSON json_t *result = NULL;
	int r;

	if (strncmp(name, "sha256:", strlen("sha256:")) == 0) {
		*ret_hash = json_string(name);
		return *ret_hash ? 0 : -ENOMEM;
	}
	r = wfs_input_read(name, IMPORT_MAX, &bytes, &run->error);
	if (r == -EFBIG)
		wfs_run_notice(
			run, "write a larger plan to ctl/put-blob, and import it by its hash");
	if (r)
		return r;
	wfs_base64_append(&text, bytes.data, bytes.size);
	r = wfs_run_call(
		run, "put-blob", json_pack("{s:s}", "data_b64", wfs_buffer_text(&text)), &result);
	if (!r)
		*ret_hash = json_incref(json_object_get(result, "hash"));
	return r;
}

int wfs_run_plan_import(struct wfs_run *run)
{
	const char *const session_id = run->options[WFS_OPTION_SESSION];
	WFS_AUTO_PLAN_WATCH struct wfs_plan_watch watch = {
		.session_id = session_id ? session_id : "default"};
	WFS_AUTO_JSON json_t *payload =
		json_pack("{s:b}", "resume", run->options[WFS_OPTION_RESUME] != NULL);
	json_t *hash = NULL;
	int r = payload ? put_file(run, run->arguments[0], &hash) : -ENOMEM;

	if (!r && json_object_set_new(payload, "blob", hash) < 0)
		r = -ENOMEM;
	if (!r)
		r = wfs_run_members(run, payload);
	if (!r)
		r = wfs_run_open(run);
	return r ? r : wfs_plan_wait(run, "plan-import", payload, &watch);
}

/* --- graph --- */

/* Starts Graphviz. @graph: its input, read from the beginning. @ret_picture: its output; caller
 * closes.
 * Return: a process, or -errno. */
static pid_t start_dot(int graph, FILE **ret_picture)
{
	char *const argv[] = {(char *)"dot", (char *)"-Tsvg", NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];
	pid_t pid = -1;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, graph, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int r = -posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	*ret_picture = r < 0 ? NULL : fdopen(ends[0], "re");
	if (*ret_picture)
		return pid;
	close(ends[0]); /* dot, if it has started, gets SIGPIPE */
	if (r == 0 && waitpid(pid, NULL, 0) == pid)
		r = -ENOMEM;
	return r;
}

/* Copies a stream to another. A picture may contain text of strangers: on a terminal it passes
 * through the filter of @to. */
static int copy_stream(FILE *from, FILE *to)
{
	char part[COPY_SIZE];
	size_t size;

	while ((size = fread(part, 1, sizeof(part), from)) > 0)
		if (fwrite(part, 1, size, to) != size)
			return -EIO;
	return ferror(from) ? -EIO : 0;
}

/* The whole graph is written before the picture is read, so neither waits for the other. */
static int read_graph(struct wfs_walk *walk, const char *path, FILE *graph)
{
	const int r = wfs_walk_read(walk, path, wfs_walk_write, graph);

	if (r)
		return r;
	return fflush(graph) < 0 || fseek(graph, 0, SEEK_SET) < 0 ? -errno : 0;
}

/* Has Graphviz draw the graph. */
static int draw(struct wfs_run *run, struct wfs_walk *walk, const char *path)
{
	const int memory = memfd_create("worldfs-graph", MFD_CLOEXEC);
	WFS_AUTO_FILE FILE *graph = memory < 0 ? NULL : fdopen(memory, "w+e");
	WFS_AUTO_FILE FILE *picture = NULL;
	int status = 0;

	if (!graph)
		return wfs_error_from_errno(&run->error, -errno, "keep the graph");
	int r = read_graph(walk, path, graph);
	const pid_t dot = r ? r : start_dot(fileno(graph), &picture);
	if (r)
		return r;
	if (dot == -ENOENT)
		return wfs_error_set(&run->error, WFS_E_NOT_ENABLED,
			"--svg needs the program 'dot' (Debian package graphviz)");
	if (dot < 0)
		return wfs_error_from_errno(&run->error, dot, "run 'dot' of Graphviz");
	r = copy_stream(picture, run->out);
	(void)fclose(WFS_STEAL(picture)); /* ends it if it is still writing */
	while (waitpid(dot, &status, 0) < 0 && errno == EINTR)
		;
	if (r)
		return wfs_error_from_errno(&run->error, r, "write the picture");
	return status == 0
		? 0
		: wfs_error_set(&run->error, WFS_E_RUNTIME_ERROR, "'dot' of Graphviz failed");
}

static int print_graph(struct wfs_run *run, struct wfs_walk *walk, const char *path)
{
	WFS_AUTO_BUFFER struct wfs_buffer text = {0};
	int r;

	if (!run->options[WFS_OPTION_JSON])
		return wfs_walk_read(walk, path, wfs_walk_write, run->out);
	r = wfs_walk_read(walk, path, wfs_walk_keep, &text);
	return r ? r : wfs_run_json(run, json_pack("{s:s}", "graph", wfs_buffer_text(&text)));
}

int wfs_run_plan_graph(struct wfs_run *run)
{
	WFS_AUTO_WALK struct wfs_walk walk = {0};
	const bool svg = run->options[WFS_OPTION_SVG];
	char path[128];
	int r;

	if (svg && run->options[WFS_OPTION_JSON])
		return wfs_run_misuse(run, "--svg and --json cannot be used together");
	snprintf(path, sizeof(path), "plans/%.64s/graph.dot", run->arguments[0]);
	r = strchr(run->arguments[0], '/') ? -ENOENT : wfs_walk_init(&walk, run, path);
	if (!r)
		r = svg ? draw(run, &walk, path) : print_graph(run, &walk, path);
	return r == -ENOENT ? wfs_error_set(&run->error, WFS_E_NOT_FOUND, "Plan '%.64s' not found",
				      run->arguments[0])
			    : r;
}
