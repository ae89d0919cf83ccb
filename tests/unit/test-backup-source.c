/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of what a stranger gives: each is the whole world, or nothing is left of it. */
#include "tests/fixture/tamper.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "kernel/base/file.h"
#include "kernel/check/replay.h"
#include "kernel/copy/backup.h"
#include "kernel/read/snapshot.h"
#include "kernel/store/blob.h"
#include "kernel/store/layout.h"

enum {
	LARGE = 200000, /* bytes: a blob file */
	PAGE = 4096,
	LIMIT_S = 60, /* a check that goes round for ever ends the test */
};

/* Damage to the bytes that the stranger gives. */
enum wrong {
	NOTHING,
	BYTE,    /* one byte of each file is another */
	SHORT,   /* the last byte is missing */
	LONG,    /* one more byte, as far as the sink takes it */
	MISSING, /* there is no file */
	BROKEN,  /* giving fails */
};

/* A source with a data.mdb in memory, and the blob files of the fixture's world. */
struct stranger {
	struct wfs_backup_source source; /* first: the callbacks cast back */
	struct world_fixture *fixture;
	int data_fd;
	enum wrong data;
	enum wrong files;
	int looks; /* how often the copy was asked whether to go on */
	int looks_max;
	char directory[80];
	struct wfs_backup_options options;
	struct wfs_backup_figures figures;
};

static bool always(void *context, const char *what, uint64_t done, uint64_t total)
{
	(void)context;
	(void)what;
	(void)done;
	(void)total;
	return true;
}

static bool stop_at(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct stranger *const stranger = context;

	(void)what;
	(void)done;
	(void)total;
	return !stranger->looks_max || ++stranger->looks < stranger->looks_max;
}

static int give_data(struct wfs_backup_source *source, const struct wfs_backup_sink *sink,
	struct wfs_error *error)
{
	struct stranger *const stranger = (struct stranger *)source;

	if (stranger->data == BROKEN)
		return wfs_error_set(error, WFS_E_UNAVAILABLE, "the stranger has gone");
	if (!sink->progress(sink->context, "bytes of data.mdb", 0, 0))
		return -EINTR;
	assert_int_equal(lseek(stranger->data_fd, 0, SEEK_SET), 0);
	assert_int_equal(wfs_file_copy(stranger->data_fd, sink->fd), 0);
	return 0;
}

static int give_file(struct wfs_backup_source *source, const struct wfs_hash *hash,
	const struct wfs_backup_sink *sink, struct wfs_error *error)
{
	struct stranger *const stranger = (struct stranger *)source;
	WFS_AUTO_FD int fd = -1;
	uint64_t size;

	if (stranger->files == MISSING)
		return wfs_error_set(error, WFS_E_NOT_FOUND, "the stranger does not have it");
	if (!sink->progress(sink->context, "bytes", 0, sink->bytes_max))
		return -EINTR;
	assert_int_equal(
		wfs_blob_file_open(wfs_world_store(stranger->fixture->world), hash, &fd, &size), 0);
	assert_int_equal(size, sink->bytes_max);
	assert_int_equal(wfs_file_copy(fd, sink->fd), 0);
	if (stranger->files == BYTE)
		assert_int_equal(pwrite(sink->fd, "?", 1, LARGE / 2), 1);
	if (stranger->files == LONG)
		assert_int_equal(pwrite(sink->fd, "?", 1, (off_t)size), 1);
	if (stranger->files == SHORT)
		assert_int_equal(ftruncate(sink->fd, (off_t)size - 1), 0);
	return 0;
}

static void live(struct world_fixture *fixture)
{
	WFS_AUTO_FREE char *large = calloc(1, LARGE);
	struct wfs_hash hash;

	tell(fixture, "{'key':'a','op':'set','n':1}");
	tell(fixture, "{'key':'pad','op':'grow','n':300}");
	tell(fixture, "{'key':'b','op':'grow','n':200000}");
	assert_int_equal(put_blob(fixture, large, LARGE, &hash), 0);
	assert_int_equal(put_blob(fixture, "small", 5, &hash), 0);
}

static void meet(struct world_fixture *fixture, struct stranger *stranger)
{
	const struct wfs_backup_sink sink = {
		.fd = memfd_create("data", MFD_CLOEXEC),
		.bytes_max = UINT64_MAX,
		.progress = always,
	};

	*stranger = (struct stranger){
		.source = {.strange = true, .give_data = give_data, .give_file = give_file},
		.fixture = fixture,
		.data_fd = sink.fd,
		.options = {.progress = stop_at, .context = stranger},
	};
	snprintf(stranger->directory, sizeof(stranger->directory), "%s/copy", fixture->root);
	assert_true(sink.fd >= 0);
	assert_int_equal(wfs_backup_give(fixture->world, &sink, &fixture->error), 0);
}

static void leave(struct stranger *stranger)
{
	close(stranger->data_fd);
}
#define WITH_STRANGER WFS_CLEANUP(leave) struct stranger

static int copy(struct stranger *stranger)
{
	struct world_fixture *const fixture = stranger->fixture;

	fixture->error = (struct wfs_error){0};
	stranger->looks = 0;
	return wfs_backup_from(&stranger->source, stranger->directory, &stranger->options,
		&stranger->figures, &fixture->error);
}

/* The copy fails, and leaves no directory, neither the wanted one nor one under another name. */
static void assert_refused(
	struct stranger *stranger, int number, enum wfs_error_code code, const char *message)
{
	struct world_fixture *const fixture = stranger->fixture;
	char stages[160];

	(void)alarm(LIMIT_S);
	assert_int_equal(copy(stranger), number);
	(void)alarm(0);
	print_message("%s\n", fixture->error.message);
	assert_int_equal(fixture->error.code, code);
	assert_non_null(strstr(fixture->error.message, message));
	assert_int_equal(access(stranger->directory, F_OK), -1);
	snprintf(stages, sizeof(stages), "! ls -A %s | grep new", fixture->root);
	/* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): the path is our own */
	assert_int_equal(system(stages), 0);
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

static struct wfs_hash snapshot_of(struct world_fixture *fixture)
{
	struct wfs_hash hash;

	assert_int_equal(wfs_snapshot_hash(wfs_world_store(fixture->world), height_of(fixture),
				 NULL, NULL, &hash, &fixture->error),
		0);
	return hash;
}

IN_WORLD(what_a_stranger_gives_is_the_same_world)
{
	WITH_STRANGER stranger;
	char path[160];

	live(fixture);
	put_file(fixture->directory, "host.json", "{}\n");
	const struct wfs_hash hash = snapshot_of(fixture);
	const uint64_t height = height_of(fixture);
	meet(fixture, &stranger);
	stranger.options.world_id = wfs_world_id(fixture->world);
	assert_int_equal(copy(&stranger), 0);

	assert_int_equal(stranger.figures.height, height);
	assert_int_equal(stranger.figures.file_count, 2);
	assert_int_equal(stranger.figures.data_bytes, lseek(stranger.data_fd, 0, SEEK_END));
	snprintf(path, sizeof(path), "%s/host.json", stranger.directory);
	assert_int_equal(access(path, F_OK), -1);
	world_fixture_close(fixture);
	snprintf(fixture->directory, sizeof(fixture->directory), "%s", stranger.directory);
	assert_int_equal(world_fixture_open(fixture), 0);
	const struct wfs_hash copied = snapshot_of(fixture);
	assert_true(wfs_hash_equal(&copied, &hash));
	assert_good(fixture);
	tell(fixture, "{'key':'a','op':'set','n':2}");
}

/* --- crafted data.mdb --- */

/* The root page of the table of tables becomes a page whose first row leads to itself: LMDB goes
 * round for ever. */
static void lead_to_itself(const struct stranger *stranger)
{
	static const uint8_t head[] = {0x7f, 0xff, 0, 0};
	struct root root;

	assert_int_equal(pread(stranger->data_fd, &root, sizeof(root), PAGE), sizeof(root));
	assert_int_equal(
		pwrite(stranger->data_fd, head, sizeof(head), (off_t)(root.tables.root * PAGE + 9)),
		sizeof(head));
}

IN_WORLD(a_damaged_page_is_refused_before_a_row_is_read)
{
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	lead_to_itself(&stranger);

	assert_refused(&stranger, -EIO, WFS_E_HASH_MISMATCH, "data.mdb: page");
	assert_non_null(strstr(fixture->error.message, "the other side"));
}

/* A store that has no number of a last transaction, as one that was never committed. */
IN_WORLD(pages_of_a_store_without_a_transaction_are_checked)
{
	const uint64_t none = 0;
	WITH_STRANGER stranger;
	struct root root;

	live(fixture);
	meet(fixture, &stranger);
	lead_to_itself(&stranger);
	assert_int_equal(pread(stranger.data_fd, &root, sizeof(root), PAGE), sizeof(root));
	root.txn_id = none;
	assert_int_equal(pwrite(stranger.data_fd, &root, sizeof(root), PAGE), sizeof(root));
	root.page.number = 0;
	assert_int_equal(pwrite(stranger.data_fd, &root, sizeof(root), 0), sizeof(root));

	assert_refused(&stranger, -EIO, WFS_E_HASH_MISMATCH, "data.mdb: page");
}

IN_WORLD(a_damaged_row_is_refused)
{
	static const char pad[] = "xxxxxxxxxxxxxxxxxxxx";
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	const off_t size = lseek(stranger.data_fd, 0, SEEK_END);
	char *const bytes =
		mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, stranger.data_fd, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	char *const found = memmem(bytes, (size_t)size, pad, strlen(pad));
	assert_non_null(found);
	*found = 'y';
	munmap(bytes, (size_t)size);

	assert_refused(&stranger, -EIO, WFS_E_HASH_MISMATCH, "version");
}

IN_WORLD(a_data_mdb_that_is_cut_short_is_refused)
{
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	const off_t size = lseek(stranger.data_fd, 0, SEEK_END);
	const off_t cuts[] = {size - 1, size - PAGE, size / 2, PAGE + 1, PAGE, 1, 0};

	for (size_t i = 0; i < WFS_ARRAY_COUNT(cuts); i++) {
		print_message("%lld bytes\n", (long long)cuts[i]);
		assert_int_equal(ftruncate(stranger.data_fd, cuts[i]), 0);
		assert_refused(&stranger, -EIO, WFS_E_HASH_MISMATCH, "");
	}
}

IN_WORLD(a_data_mdb_of_random_bytes_is_refused)
{
	WITH_STRANGER stranger;
	uint32_t bytes[PAGE];

	live(fixture);
	meet(fixture, &stranger);
	for (size_t i = 0; i < PAGE; i++)
		bytes[i] = (uint32_t)i * 2654435761U;
	assert_int_equal(pwrite(stranger.data_fd, bytes, sizeof(bytes), 0), sizeof(bytes));

	assert_refused(&stranger, -EIO, WFS_E_HASH_MISMATCH, "roots");
}

/* --- other sizes --- */

static int give_too_much(struct wfs_backup_source *source, const struct wfs_backup_sink *sink,
	struct wfs_error *error)
{
	return wfs_backup_give(((struct stranger *)source)->fixture->world, sink, error);
}

IN_WORLD(a_data_mdb_that_is_larger_than_the_copy_may_be_is_refused)
{
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	stranger.source.give_data = give_too_much;
	stranger.options.data_bytes_max = UINT64_C(8) * PAGE;

	assert_refused(&stranger, -EFBIG, WFS_E_TOO_LARGE, "more than 32768 bytes");
}

static void tell_of_a_huge_file(struct wfs_txn *txn, void *context)
{
	const struct wfs_blob blob = {
		.size_bytes = (uint64_t)WFS_BLOB_MAX + 1,
		.in_file = true,
	};

	(void)context;
	assert_int_equal(wfs_blob_put(txn, &blob), 0);
}

IN_WORLD(a_row_that_tells_of_a_huge_file_is_refused)
{
	WITH_STRANGER stranger;

	live(fixture);
	world_fixture_close(fixture);
	tamper_rows(fixture, tell_of_a_huge_file, NULL);
	assert_int_equal(world_fixture_open(fixture), 0);
	meet(fixture, &stranger);

	assert_refused(&stranger, -EFBIG, WFS_E_TOO_LARGE, "1073741824 bytes");
}

/* --- files --- */

IN_WORLD(a_damaged_file_is_refused)
{
	static const enum wrong all[] = {BYTE, SHORT, LONG};
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	for (size_t i = 0; i < WFS_ARRAY_COUNT(all); i++) {
		stranger.files = all[i];
		assert_refused(&stranger, -EIO, WFS_E_HASH_MISMATCH, "damaged; no copy");
	}
}

IN_WORLD(a_file_that_the_stranger_does_not_have_is_named_by_it)
{
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	stranger.files = MISSING;

	assert_refused(&stranger, -ENOENT, WFS_E_NOT_FOUND, "the stranger does not have it");
}

/* --- others --- */

IN_WORLD(another_world_is_refused)
{
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	stranger.options.world_id = "0123456789abcdef0123456789abcdef";

	assert_refused(&stranger, -EINVAL, WFS_E_INVALID_ARGUMENT,
		"expected the world 0123456789abcdef0123456789abcdef, got the world");
}

IN_WORLD(what_the_stranger_says_of_its_failure_is_passed_on)
{
	WITH_STRANGER stranger;

	live(fixture);
	meet(fixture, &stranger);
	stranger.data = BROKEN;

	assert_refused(&stranger, -EAGAIN, WFS_E_UNAVAILABLE, "the stranger has gone");
}

/* The copy is interrupted at each point at which it asks. */
IN_WORLD(a_copy_that_is_interrupted_leaves_nothing)
{
	WITH_STRANGER stranger;
	int r;

	live(fixture);
	meet(fixture, &stranger);
	do {
		stranger.looks_max++;
		r = copy(&stranger);
		print_message("interrupted at look %d: %d\n", stranger.looks_max, r);
		assert_true(r == 0 || r == -EINTR);
		assert_int_equal(access(stranger.directory, F_OK), r ? -1 : 0);
	} while (r);

	assert_true(stranger.looks_max > 6); /* data, pages, rows, two files, the end */
}
