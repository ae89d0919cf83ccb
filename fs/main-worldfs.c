/* SPDX-License-Identifier: Apache-2.0 */
/* The program `worldfs`: commands and daemon. */
#include "fs/command/command.h"
#include "kernel/base/log.h"

int main(int argc, char **argv)
{
	if (wfs_log_setup(secure_getenv("WORLDFS_LOG")) < 0) {
		fputs("worldfs: WORLDFS_LOG: expected a level (err, warning, notice, info, debug), "
		      "or level:area,...\n",
			stderr);
		return WFS_EXIT_MISUSE;
	}
	return wfs_command_main(argc, argv, stdout, stderr);
}
