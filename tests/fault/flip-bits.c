/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a flipped bit ever served?
 *
 * flip-bits WORLD COUNT [SEED]: flips one bit in COUNT random places of WORLD/data.mdb and of the
 * files in WORLD/blobs, one at a time. Each time it reads the whole tree of the world as a mount
 * does (names, sizes, bytes, at the head and at every height) and verifies the world, in processes
 * of their own. Reads without an error must give the bytes from before the flip. WORLD is unchanged
 * afterwards. A third of the places is anywhere in data.mdb, a third in LMDB's own structures there
 * (heads of pages, their lists of rows, heads of rows), a third in the files.
 * Prints what the flips led to; exits with 1 if a wrong byte was served, or if a reader died.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "caps/authority.h"
#include "caps/session.h"
#include "fs/tree/tree.h"
#include "kernel/check/verify.h"
#include "kernel/manifest/manifest.h"

enum {
	ITEMS_MAX = 1 << 20,
	FILES_MAX = 1 << 10,
	READ_PART = 128 << 10, /* bytes of one read, as large as Linux's reads */
};

/* The result of reading a whole world: one number for each thing that was read. */
struct reading {
	size_t count;
	bool refused; /* the world did not open */
	size_t problems;
	uint64_t items[ITEMS_MAX]; /* a hash of each; 0: an error */
	uint64_t inos[ITEMS_MAX];  /* of the file, or of the directory that has the name */
};

static struct reading *expected;
static struct reading *found; /* shared with the process that reads */

static void check(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "flip-bits: %s: %s\n", what, strerrordesc_np(errno));
	_exit(2);
}

/* --- reading everything --- */

struct walk {
	const struct wfs_tree *tree;
	uint64_t directory;
	struct wfs_hasher *names;
};

static void add(uint64_t ino, const struct wfs_hash *hash, int r)
{
	uint64_t item = 0;

	check(found->count < ITEMS_MAX, "the world is too large");
	if (r == 0) {
		memcpy(&item, hash->bytes, sizeof(item));
		item |= 1;
	}
	found->inos[found->count] = ino;
	found->items[found->count++] = item;
}

static void read_file(const struct wfs_tree *tree, const struct wfs_attr *attr)
{
	struct wfs_hasher *hasher = NULL;
	uint64_t offset = 0;
	int r = wfs_hasher_new(&hasher);

	do {
		WFS_AUTO_TREE_DATA struct wfs_tree_data data = {0};

		r = wfs_tree_read(tree, attr->ino, offset, READ_PART, &data);
		if (r || data.bytes.size == 0)
			break;
		wfs_hasher_add(hasher, data.bytes.data, data.bytes.size);
		offset += data.bytes.size;
	} while (offset < attr->size_bytes);
	const struct wfs_hash hash = wfs_hasher_end(hasher);
	wfs_hasher_free(hasher);
	add(attr->ino, &hash, r);
}

static void read_directory(const struct wfs_tree *tree, uint64_t ino);

static bool read_entry(void *context, const struct wfs_tree_entry *entry)
{
	struct walk *walk = context;
	const struct wfs_attr *attr = entry->attr;
	struct wfs_attr looked_up;

	wfs_hasher_add(walk->names, entry->name, strlen(entry->name) + 1);
	wfs_hasher_add(walk->names, &attr->size_bytes, sizeof(attr->size_bytes));
	int r = wfs_tree_lookup(walk->tree, walk->directory, entry->name, &looked_up);
	const struct wfs_hash hash = wfs_hash_of(&looked_up.ino, sizeof(looked_up.ino));
	add(walk->directory, &hash, r);
	if (S_ISDIR(attr->mode))
		read_directory(walk->tree, attr->ino);
	else if (S_ISREG(attr->mode))
		read_file(walk->tree, attr);
	return true;
}

/* Lists the names first, so that the place of a directory in the list does not depend on them. */
static void read_directory(const struct wfs_tree *tree, uint64_t ino)
{
	struct walk walk = {.tree = tree, .directory = ino};
	size_t place = found->count++;

	check(wfs_hasher_new(&walk.names) == 0, "hash");
	int r = wfs_tree_list(tree, ino, 0, read_entry, &walk);
	const struct wfs_hash hash = wfs_hasher_end(walk.names);
	wfs_hasher_free(walk.names);
	uint64_t item = 0;
	memcpy(&item, hash.bytes, sizeof(item));
	found->inos[place] = ino;
	found->items[place] = r ? 0 : item | 1;
}

static void read_world(const char *directory, bool verify)
{
	const struct wfs_world_options options = {.read_only = true};
	WFS_AUTO_PROBLEMS struct wfs_problems problems = {0};
	WFS_AUTO_WORLD struct wfs_world *world = NULL;
	WFS_AUTO_AUTHORITY struct wfs_authority *authority = NULL;
	WFS_AUTO_SESSION struct wfs_session *session = NULL;
	struct wfs_error error = {0};
	uint64_t height = 0;

	found->refused = true;
	if (wfs_world_open(directory, &options, &world, &error))
		return;
	if (verify) {
		found->refused = false;
		int r = wfs_verify(world, &problems, NULL, NULL, &error);

		found->problems = problems.count + (r != 0);
		return;
	}
	if (wfs_authority_new(world, &authority, &error) ||
		wfs_session_new(authority, WFS_PRINCIPAL_OPERATOR, &session, &error))
		return;
	found->refused = false;
	const struct wfs_tree tree = {.session = session};
	read_directory(&tree, wfs_tree_directory_ino(WFS_DIRECTORY_ROOT, 0));
	struct wfs_view view = {0};
	if (wfs_session_view(session, WFS_HEIGHT_HEAD, &view, NULL) == 0)
		height = view.height;
	wfs_view_close(&view);
	for (uint64_t h = 1; h <= height; h++) {
		const struct wfs_node node = {.kind = WFS_NODE_DIRECTORY, .number = h};

		read_directory(&tree, wfs_ino_encode(&node));
	}
}

/* Reads or verifies in a process of its own. Return: did the process survive? */
static bool read_apart(const char *directory, bool verify)
{
	int status = 0;

	memset(found, 0, offsetof(struct reading, items));
	(void)fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null_fd, STDERR_FILENO);
		read_world(directory, verify);
		_exit(0);
	}
	check(child > 0 && waitpid(child, &status, 0) == child, "fork");
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* --- flipping --- */

struct file {
	char path[512];
	uint64_t size;
};

static struct file files[FILES_MAX];
static size_t file_count;
static uint64_t file_bytes;

static void add_file(const char *path)
{
	struct stat st;

	check(stat(path, &st) == 0, path);
	check(file_count < FILES_MAX, "too many files");
	struct file *file = &files[file_count++];
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->size = (uint64_t)st.st_size;
	file_bytes += file->size;
}

static void add_files(const char *directory)
{
	DIR *listing = opendir(directory);
	const struct dirent *entry;

	if (!listing)
		return;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone, see readdir(3) */
	while ((entry = readdir(listing))) {
		char path[512];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (entry->d_type == DT_DIR)
			add_files(path);
		else
			add_file(path);
	}
	closedir(listing);
}

static void flip(const char *path, uint64_t offset, unsigned int bit)
{
	WFS_AUTO_FD int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t byte = 0;

	check(fd >= 0 && pread(fd, &byte, 1, (off_t)offset) == 1, path);
	byte ^= (uint8_t)(1U << bit);
	check(pwrite(fd, &byte, 1, (off_t)offset) == 1, path);
}

/* --- what LMDB finds its way by --- */

enum {
	PAGE_SIZE = 4096,
	PAGE_HEAD_SIZE = 16,
	PAGE_BRANCH = 0x01, /* flags of a page, LMDB's mdb.c */
	PAGE_LEAF = 0x02,
	ROOTS_SIZE = 152, /* bytes that are written in the first two pages */
	ROW_HEAD_SIZE = 8,
};

/* Finds byte number @index of the bytes that LMDB uses for itself in this page. */
static bool find_in_page(const uint8_t *page, uint64_t number, size_t index, uint64_t *ret_offset)
{
	uint16_t head[PAGE_HEAD_SIZE / 2]; /* the number of the page, …, flags, end of the list */

	memcpy(head, page, sizeof(head));
	const size_t head_size = number < 2 ? ROOTS_SIZE : PAGE_HEAD_SIZE;
	const bool has_rows = number >= 2 && head[5] & (PAGE_BRANCH | PAGE_LEAF);
	const size_t count = has_rows ? (head[6] - PAGE_HEAD_SIZE) / 2 : 0;
	const size_t row_at = head_size + count * 2;

	if (index < row_at) {
		*ret_offset = index;
		return true;
	}
	const size_t row = (index - row_at) / ROW_HEAD_SIZE;
	if (row >= count)
		return false;
	uint16_t start;
	memcpy(&start, page + PAGE_HEAD_SIZE + row * 2, sizeof(start));
	*ret_offset = start + (index - row_at) % ROW_HEAD_SIZE;
	return true;
}

static uint64_t draw(uint64_t below)
{
	return ((uint64_t)random() << 31 | (uint64_t)random()) % (below + !below);
}

/* Draws a random place among LMDB's own bytes. */
static uint64_t draw_from_structure(const struct file *store)
{
	WFS_AUTO_FD int fd = open(store->path, O_RDONLY | O_CLOEXEC);
	uint8_t page[PAGE_SIZE];

	for (;;) {
		const uint64_t number = draw(store->size / PAGE_SIZE);
		uint64_t offset;

		check(pread(fd, page, PAGE_SIZE, (off_t)(number * PAGE_SIZE)) == PAGE_SIZE,
			store->path);
		/* A page with few such bytes is drawn less often. */
		if (find_in_page(page, number, draw(PAGE_SIZE / 4), &offset))
			return number * PAGE_SIZE + offset;
	}
}

/* --- what came of it --- */

struct tally {
	size_t unnoticed, errors, refused, died, wrong, missed;
};

/* Did a read give anything that was not there before the flip? */
static bool gave_wrong(size_t *ret_errors, uint64_t *ret_ino)
{
	bool wrong = found->count > expected->count;

	*ret_errors = found->count < expected->count;
	/* After an error in a listing, the other names have other places. */
	for (size_t i = 0; i < found->count && i < expected->count; i++) {
		if (found->items[i] == expected->items[i])
			continue;
		++*ret_errors;
		if (found->items[i] == 0)
			break;
		*ret_ino = found->inos[i];
		wrong = true;
		break;
	}
	return wrong;
}

static void try_flip(const char *directory, const struct file *file, uint64_t offset,
	unsigned int bit, struct tally *tally)
{
	size_t errors = 0;
	uint64_t ino = 0;

	flip(file->path, offset, bit);
	bool lived = read_apart(directory, false);
	bool refused = found->refused;
	bool wrong = lived && !refused && gave_wrong(&errors, &ino);
	bool verified = read_apart(directory, true);
	bool told = !verified || found->refused || found->problems > 0;
	flip(file->path, offset, bit);
	if (wrong)
		tally->wrong++;
	else if (!lived)
		tally->died++;
	else if (refused)
		tally->refused++;
	else if (errors)
		tally->errors++;
	else
		tally->unnoticed++;
	if ((wrong || errors || refused) && !told)
		tally->missed++;
	if (wrong || !lived || ((errors || refused) && !told))
		printf("%s: bit %u of byte %" PRIu64 ": %s, inode %#" PRIx64 "\n", file->path, bit,
			offset,
			wrong            ? "a wrong byte was served"
				: !lived ? "the reader died"
					 : "verify did not tell",
			ino);
}

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	check(memory != MAP_FAILED, "memory");
	return memory;
}

int main(int argc, char **argv)
{
	struct tally tally = {0};
	char path[512];

	if (argc < 3) {
		fprintf(stderr, "usage: flip-bits WORLD COUNT [SEED]\n");
		return 2;
	}
	const size_t count = strtoul(argv[2], NULL, 10);
	srandom(argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 10) : 1);
	expected = shared(sizeof(*expected));
	found = expected;
	check(read_apart(argv[1], false) && !expected->refused, "the world does not read");
	found = shared(sizeof(*found));
	snprintf(path, sizeof(path), "%s/data.mdb", argv[1]);
	add_file(path);
	const uint64_t store_bytes = file_bytes;
	snprintf(path, sizeof(path), "%s/blobs", argv[1]);
	add_files(path);
	for (size_t i = 0; i < count; i++) {
		const bool in_store = i % 3 < 2 || file_bytes == store_bytes;
		uint64_t at = i % 3 == 1 ? draw_from_structure(&files[0])
					 : draw(in_store ? store_bytes : file_bytes - store_bytes);
		const struct file *file = &files[in_store ? 0 : 1];

		while (at >= file->size)
			at -= file++->size;
		try_flip(argv[1], file, at, (unsigned int)random() % 8, &tally);
	}
	printf("%zu bits flipped, %zu items read each time: %zu without effect, %zu errors, "
	       "%zu worlds refused, %zu readers died, %zu wrong, %zu not told by verify\n",
		count, expected->count, tally.unnoticed, tally.errors, tally.refused, tally.died,
		tally.wrong, tally.missed);
	return tally.wrong || tally.missed || tally.died;
}
