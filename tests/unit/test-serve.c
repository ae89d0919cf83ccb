/* SPDX-License-Identifier: Apache-2.0 */
/* A world that is made from what another node's port gives. */
#include "tests/fixture/action.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "caps/authority.h"
#include "fs/replica/peer.h"
#include "fs/replica/serve.h"
#include "kernel/base/clock.h"
#include "kernel/copy/gc.h"
#include "kernel/read/snapshot.h"

enum {
	LARGE = 200000,  /* bytes: a blob file */
	ROW = 60000,     /* bytes: as much as a row has, about */
	MANY = 400,      /* rows of this size: more than the network keeps */
	WAIT_MS = 60000, /* of a client */
	HOLD_MS = 1500,  /* that blob files stay */
	SOON_MS = 20000, /* for what happens at once, on a busy machine */
};

/* A world with a port, and a client of it. */
struct served {
	struct world_fixture *world;
	struct wfs_authority *authority;
	struct wfs_identity *identity;
	struct wfs_serve *serve;
	struct wfs_port *port;
	struct wfs_peer *peer;
	struct wfs_serve_source source;
	char directory[80]; /* of the copy */
	struct wfs_backup_figures figures;
	struct wfs_error error;
};

static void on_request(void *context, struct wfs_port_call *call, struct wfs_bytes body)
{
	(void)context;
	wfs_port_answer(call, 500, body);
}

static void on_gone(void *context, struct wfs_port_call *call)
{
	(void)context;
	(void)call;
}

static void listen_for_nodes(struct served *served)
{
	const struct wfs_port_options options = {
		.listen = "127.0.0.1:0",
		.identity = served->identity,
		.handlers = {on_request, on_gone, wfs_serve_blob, wfs_serve_backup,
			wfs_serve_backup_is_whole, wfs_serve_backup_done},
		.context = served->serve,
	};

	assert_int_equal(wfs_port_new(&options, &served->port, &served->error), 0);
}

static void connect_to_node(struct served *served)
{
	const struct wfs_peer_options options = {
		.address = wfs_port_address(served->port),
		.pin = wfs_identity_pin(served->identity),
		.token = wfs_identity_token(served->identity),
		.connect_ms = WAIT_MS,
		.request_ms = WAIT_MS,
		.progress_ms = WAIT_MS,
	};

	assert_int_equal(wfs_peer_new(&options, &served->peer, &served->error), 0);
	wfs_serve_source_init(&served->source, served->peer);
}

static int begin(void **state)
{
	struct served *const served = calloc(1, sizeof(*served));
	void *world = NULL;

	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(action_fixture_setup(&world), 0);
	served->world = world;
	snprintf(served->directory, sizeof(served->directory), "%s/copy", served->world->root);
	assert_int_equal(wfs_authority_new(served->world->world, &served->authority, NULL), 0);
	assert_int_equal(wfs_identity_new(&served->identity, NULL), 0);
	assert_int_equal(wfs_serve_new(served->authority, HOLD_MS, &served->serve, NULL), 0);
	listen_for_nodes(served);
	connect_to_node(served);
	*state = served;
	return 0;
}

static int end(void **state)
{
	struct served *const served = *state;
	void *world = served->world;

	wfs_peer_free(served->peer);
	wfs_port_free(served->port);
	wfs_serve_free(served->serve);
	wfs_identity_free(served->identity);
	wfs_authority_free(served->authority);
	free(served);
	return world_fixture_teardown(&world);
}

#define SERVED(name) TEST_WITH(name, struct served *served, begin, end)

static int fetch(struct served *served, wfs_progress_fn *progress, void *context)
{
	const struct wfs_backup_options options = {
		.progress = progress,
		.context = context,
		.world_id = wfs_world_id(served->world->world),
	};

	served->error = (struct wfs_error){0};
	const int r = wfs_upkeep_fetch(&served->source.source, served->directory, &options,
		&served->figures, &served->error);
	if (r)
		print_message("%s\n", served->error.message);
	return r;
}

/* Nothing is left of a copy that has failed. */
static void assert_nothing(const struct served *served)
{
	char command[160];

	assert_int_equal(access(served->directory, F_OK), -1);
	snprintf(command, sizeof(command), "! ls -A %s | grep new", served->world->root);
	/* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): the path is our own */
	assert_int_equal(system(command), 0);
}

/* --- the whole --- */

/* Cells, blobs and artifacts in rows and in files. */
static void live(struct world_fixture *fixture)
{
	static const char *const rights[] = {
		"{'action_type':'principal','id':'carol','scrip':1000,'quotas':{'disk':10000000}}",
		"{'action_type':'grant','cap':'sys/query@1','params':{},'to':'carol'}",
		"{'action_type':'grant','cap':'sys/act@1','params':{},'to':'carol'}",
	};
	WFS_AUTO_FREE char *large = calloc(1, LARGE + 1);
	WFS_AUTO_FREE char *action = NULL;
	struct wfs_hash hash;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'b','op':'grow','n':200000}");
	assert_int_equal(put_blob(fixture, large, LARGE, &hash), 0);
	assert_int_equal(put_blob(fixture, "small", 5, &hash), 0);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(rights); i++)
		assert_done(fixture, "tester", rights[i]);
	memset(large, 'x', LARGE);
	assert_true(asprintf(&action, WRITE("'artifact_id':'doc','content':'%s'"), large) > 0);
	assert_done(fixture, "carol", action);
	assert_done(fixture, "carol", WRITE("'artifact_id':'note','content':'short'"));
}

struct writer {
	struct world_fixture *fixture;
	atomic_bool ends;
	size_t count;
	pthread_t thread;
};

static void *write_on(void *context)
{
	struct writer *const writer = context;
	char event[64];

	while (!atomic_load(&writer->ends)) {
		snprintf(event, sizeof(event), "{'key':'w%zu','op':'grow','n':%zu}",
			writer->count % 7, 100 + writer->count * 1000 % 100000);
		tell(writer->fixture, event);
		writer->count++;
	}
	return NULL;
}

static void assert_good(struct world_fixture *fixture)
{
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};

	assert_int_equal(wfs_verify(fixture->world, &problems, NULL, NULL, NULL), 0);
	assert_int_equal(wfs_replay(fixture->world, &problems, NULL, NULL, NULL), 0);
	if (problems.count)
		print_error("%s", wfs_buffer_text(&problems.lines));
	assert_int_equal(problems.count, 0);
}

/* Both worlds have one last record, and one state, at the height of the copy. */
static void assert_equal(struct world_fixture *fixture, struct world_fixture *copy)
{
	const uint64_t height = height_of(copy);
	struct wfs_hash hashes[2];
	struct wfs_record_parsed ours = record_at(fixture, height - 1);
	struct wfs_record_parsed theirs = record_at(copy, height - 1);

	assert_true(wfs_hash_equal(&ours.record.prev, &theirs.record.prev));
	assert_true(wfs_hash_equal(&ours.record.changes, &theirs.record.changes));
	wfs_record_parsed_done(&ours);
	wfs_record_parsed_done(&theirs);
	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), height, NULL, NULL,
				 &hashes[0], NULL),
		0);
	assert_int_equal(wfs_snapshot_hash(wfs_world_store(copy->world), height, NULL, NULL,
				 &hashes[1], NULL),
		0);
	assert_true(wfs_hash_equal(&hashes[0], &hashes[1]));
}

SERVED(a_world_is_fetched_while_its_owner_writes)
{
	struct writer writer = {.fixture = served->world};
	struct world_fixture copy = {.options = served->world->options};

	live(served->world);
	const uint64_t height = height_of(served->world);
	assert_int_equal(pthread_create(&writer.thread, NULL, write_on, &writer), 0);
	const int r = fetch(served, NULL, NULL);
	atomic_store(&writer.ends, true);
	pthread_join(writer.thread, NULL);
	assert_int_equal(r, 0);

	print_message("%zu events were written\n", writer.count);
	assert_true(served->figures.height >= height);
	assert_true(served->figures.file_count >= 3); /* a cell, a blob, an artifact */
	snprintf(copy.directory, sizeof(copy.directory), "%s", served->directory);
	assert_int_equal(world_fixture_open(&copy), 0);
	assert_int_equal(height_of(&copy), served->figures.height);
	assert_equal(served->world, &copy);
	assert_good(&copy);
	world_fixture_close(&copy);
}

SERVED(host_json_is_given_to_nobody)
{
	char path[160];

	live(served->world);
	put_file(served->world->directory, "host.json", "{}\n");
	assert_int_equal(fetch(served, NULL, NULL), 0);

	snprintf(path, sizeof(path), "%s/host.json", served->directory);
	assert_int_equal(access(path, F_OK), -1);
}

/* --- blobs --- */

static void assert_blob(struct served *served, const struct wfs_hash *hash, off_t size)
{
	WFS_AUTO_FD int fd = memfd_create("came", MFD_CLOEXEC);

	assert_int_equal(wfs_peer_blob(served->peer, hash, LARGE, fd, &served->error), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), size);
}

SERVED(large_and_small_blobs_are_given_by_their_hash)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_hash hash;

	assert_int_equal(put_blob(served->world, large, LARGE, &hash), 0);
	assert_blob(served, &hash, LARGE);
	assert_int_equal(put_blob(served->world, "small", 5, &hash), 0);
	assert_blob(served, &hash, 5);
	assert_int_equal(put_blob(served->world, "", 0, &hash), 0);
	assert_blob(served, &hash, 0);
	hash = wfs_hash_of("another", 7);
	assert_int_equal(
		wfs_peer_blob(served->peer, &hash, LARGE, STDOUT_FILENO, &served->error), -ENOENT);
}

static void blob_path(const struct served *served, const struct wfs_hash *hash, char path[256])
{
	char hex[WFS_HASH_HEX_SIZE + 1];

	wfs_hash_hex(hash, hex);
	snprintf(path, 256, "%s/blobs/%.2s/%s", served->world->directory, hex, hex + 2);
}

SERVED(a_file_that_is_damaged_at_the_node_is_refused)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_hash hash;
	char path[256];

	assert_int_equal(put_blob(served->world, large, LARGE, &hash), 0);
	blob_path(served, &hash, path);
	WFS_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "?", 1, LARGE / 2), 1);

	assert_int_equal(fetch(served, NULL, NULL), -EIO);
	assert_int_equal(served->error.code, WFS_E_HASH_MISMATCH);
	assert_nothing(served);
}

SERVED(a_file_that_is_longer_at_the_node_is_refused)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_hash hash;
	char path[256];

	assert_int_equal(put_blob(served->world, large, LARGE, &hash), 0);
	blob_path(served, &hash, path);
	assert_int_equal(truncate(path, 2L * LARGE), 0);

	assert_int_equal(fetch(served, NULL, NULL), -EFBIG);
	assert_int_equal(served->error.code, WFS_E_TOO_LARGE);
	assert_nothing(served);
}

SERVED(a_file_that_the_node_has_lost_is_named)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_hash hash;
	char path[256];

	assert_int_equal(put_blob(served->world, large, LARGE, &hash), 0);
	blob_path(served, &hash, path);
	assert_int_equal(unlink(path), 0);

	assert_int_equal(fetch(served, NULL, NULL), -ENOENT);
	assert_int_equal(served->error.code, WFS_E_NOT_FOUND);
	assert_non_null(strstr(served->error.message, "sha256:"));
	assert_nothing(served);
}

/* Drops the heights below @height, and the files that nothing mentions then. Return: were files
 * held, so that they stay? */
static bool collect(struct world_fixture *fixture, uint64_t height)
{
	struct wfs_gc gc = {.journal = false};

	assert_int_equal(wfs_gc_begin(fixture->world, true, height, &gc, &fixture->error), 0);
	assert_int_equal(wfs_gc_advance(fixture->world, &gc, "tester", 0, &fixture->error), 0);
	assert_true(gc.done);
	return gc.files_held;
}

struct collecting {
	struct world_fixture *world;
	bool done;
	bool held;
};

/* When data.mdb has come, the node collects what the copy still needs. */
static bool collect_between(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct collecting *const collecting = context;

	(void)done;
	(void)total;
	if (collecting->done || strcmp(what, "rows") != 0)
		return true;
	collecting->done = true;
	collecting->held = collect(collecting->world, 1);
	return true;
}

SERVED(files_that_a_copy_needs_are_not_collected_at_the_node)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);
	struct collecting collecting = {.world = served->world};
	bool held;

	tell(served->world, "{'key':'b','op':'grow','n':200000}");
	tell(served->world, "{'key':'b','op':'set','n':1}");
	tell(served->world, "{'key':'b','op':'set','n':2}");
	assert_int_equal(fetch(served, collect_between, &collecting), 0);
	assert_true(collecting.done);
	assert_true(collecting.held);
	assert_int_equal(served->figures.file_count, 1);

	do { /* the hold ends by itself */
		tell(served->world, "{'key':'b','op':'set','n':3}");
		held = collect(served->world, 1);
	} while (held && wfs_clock_monotonic_ns() < until_ns && usleep(100000) == 0);
	assert_false(held);
}

/* --- ends --- */

/* Makes a data.mdb that is larger than what the pipe and the network hold. */
static void grow(struct world_fixture *fixture)
{
	char event[64];

	for (int i = 0; i < MANY; i++) {
		snprintf(event, sizeof(event), "{'key':'g%d','op':'grow','n':%d}", i, ROW);
		tell(fixture, event);
	}
}

struct ending {
	struct served *served;
	bool begun;
	pthread_t thread;
};

static void *free_port(void *context)
{
	struct ending *const ending = context;

	wfs_port_free(WFS_STEAL(ending->served->port));
	return NULL;
}

/* When the first bytes have come, the node ends; nothing is read until it has. */
static bool end_node(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct ending *const ending = context;

	(void)total;
	if (ending->begun || done == 0 || strcmp(what, "bytes of data.mdb") != 0)
		return true;
	ending->begun = true;
	assert_int_equal(pthread_create(&ending->thread, NULL, free_port, ending), 0);
	pthread_join(ending->thread, NULL);
	return true;
}

SERVED(a_node_that_ends_in_the_middle_leaves_no_copy)
{
	struct ending ending = {.served = served};

	grow(served->world);
	assert_int_equal(fetch(served, end_node, &ending), -EAGAIN);

	assert_true(ending.begun);
	assert_int_equal(served->error.code, WFS_E_UNAVAILABLE);
	assert_non_null(strstr(served->error.message, "the node at 127.0.0.1:"));
	assert_nothing(served);
}

/* Ends a copy at a number of looks. Plain value. */
struct patience {
	int looks;
	int looks_max;
};

static bool stop_at(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct patience *const patience = context;

	(void)what;
	(void)done;
	(void)total;
	return ++patience->looks < patience->looks_max;
}

SERVED(a_copy_that_is_interrupted_leaves_nothing)
{
	static const int looks[] = {1, 2, 3, 5, 8, 13};

	live(served->world);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(looks); i++) {
		struct patience patience = {.looks_max = looks[i]};

		assert_int_equal(fetch(served, stop_at, &patience), -EINTR);
		assert_int_equal(served->error.code, WFS_E_CANCELLED);
		assert_nothing(served);
	}
	assert_int_equal(fetch(served, NULL, NULL), 0);
}

/* A backup may begin: those before it have ended. */
static int begin_backup(struct served *served, struct wfs_port_backup *backup)
{
	const int64_t until_ns = wfs_clock_monotonic_ns() + SOON_MS * INT64_C(1000000);
	int r;

	do
		r = wfs_serve_backup(served->serve, backup);
	while (r == -EAGAIN && wfs_clock_monotonic_ns() < until_ns && usleep(1000) == 0);
	return r;
}

static void end_backup(struct served *served, const struct wfs_port_backup *backup)
{
	close(backup->fd);
	assert_false(wfs_serve_backup_is_whole(served->serve, backup->backup));
	wfs_serve_backup_done(served->serve, backup->backup);
}

SERVED(a_node_makes_two_backups_at_once)
{
	struct wfs_port_backup backups[WFS_SERVE_BACKUPS_MAX];
	struct wfs_port_backup more;

	live(served->world);
	for (size_t i = 0; i < WFS_SERVE_BACKUPS_MAX; i++)
		assert_int_equal(wfs_serve_backup(served->serve, &backups[i]), 0);
	assert_int_equal(wfs_serve_backup(served->serve, &more), -EAGAIN);
	assert_int_equal(fetch(served, NULL, NULL), -EAGAIN);
	assert_int_equal(served->error.code, WFS_E_UNAVAILABLE);
	assert_nothing(served);

	end_backup(served, &backups[0]);
	assert_int_equal(begin_backup(served, &more), 0);
	end_backup(served, &more);
	end_backup(served, &backups[1]);
}
