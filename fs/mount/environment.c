/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/mount/environment.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

void wfs_environment_forget(void)
{
	static const char path[] = "PATH=";
	static char *kept[2];

	for (char **variable = environ; variable && *variable; variable++) {
		if (strncmp(*variable, path, sizeof(path) - 1) == 0)
			kept[0] = *variable;
		else
			explicit_bzero(*variable, strlen(*variable));
	}
	environ = kept;
}
