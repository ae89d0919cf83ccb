/* SPDX-License-Identifier: Apache-2.0 */
/* The program `worldfs`: commands and daemon. */
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include "agents/driver.h"
#include "fs/command/command.h"
#include "fs/command/frame/terminal.h"
#include "kernel/base/journald.h"
#include "kernel/base/log.h"

/*
 * Descriptors 0 to 2 that whoever started us has closed would be given to the next file that is
 * opened, a world's, and messages written into it. Reading or writing these fails, as it should.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_PATH);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

enum {
	/* Larger blocks are mapped, and go back to the system when they are freed. */
	MAP_BYTES = 1 << 20,
	TRIM_BYTES = 4 << 20, /* free memory at the end of an arena above which it goes back */
};

/* The C library would raise both to the size of the largest block that was ever freed: after long
 * requests, an owner kept hundreds of MiB. */
static void give_memory_back(void)
{
	mallopt(M_MMAP_THRESHOLD, MAP_BYTES);  /* NOLINT(concurrency-mt-unsafe): one thread */
	mallopt(M_TRIM_THRESHOLD, TRIM_BYTES); /* NOLINT(concurrency-mt-unsafe) */
}

int main(int argc, char **argv)
{
	give_memory_back();
	fill_standard_descriptors();
	if (wfs_log_setup(secure_getenv("WORLDFS_LOG")) < 0) {
		fputs("worldfs: WORLDFS_LOG: expected a level (err, warning, notice, info, debug), "
		      "or level:area,...\n",
			stderr);
		return WFS_EXIT_MISUSE;
	}
	/* A variable that is not systemd's is ignored. */
	(void)wfs_journald_setup(secure_getenv("JOURNAL_STREAM"), WFS_JOURNALD_SOCKET);

	FILE *const out = wfs_terminal_open(stdout);
	const int status = wfs_command_main(argc, argv, out, stderr, wfs_agents_start);

	if (out != stdout)
		(void)fclose(out);
	return status;
}
