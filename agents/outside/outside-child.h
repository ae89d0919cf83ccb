/* SPDX-License-Identifier: Apache-2.0 */
/* Private to agents/outside/: how the process of a server is started. */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "kernel/base/error.h"
#include "kernel/base/host-form.h"

/* The ends of a started process's descriptors that stay here; caller closes them. Plain value. */
struct outside_process {
	pid_t keeper; /* of worldfs-outside; the caller waits for it after its socket has ended */
	int input;    /* to be written; the standard input of the server */
	int output;   /* to be read; its standard output */
	int errors;   /* to be read; its standard error */
	int socket;   /* see agents/outside/keeper/keeper.h */
};

/** outside_process_image() - copy the program worldfs-outside into a memfd.
 *  Return: a descriptor, or -errno. */
int outside_process_image(void);

/** outside_process_start() - start the command of a server. The calling thread must live as long as
 *  the server may: Linux ends the process when the thread ends
 *  @image_fd: from outside_process_image(). @name: of the server; @host: its entry in host.json
 *  Return: 0, -ENOTSUP (not_enabled: the sandbox needs bubblewrap), -ENOMEM, or another -errno,
 *  with @error filled. */
int outside_process_start(int image_fd, const char *name, const struct wfs_host_server *host,
	struct outside_process *ret_process, struct wfs_error *error);
