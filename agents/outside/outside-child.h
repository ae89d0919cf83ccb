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

/** outside_process_image() - make a memfd with the program worldfs-outside, whose bytes are a part
 *  of this program.
 *  Return: a new descriptor (caller closes), or -errno. */
int outside_process_image(void);

/** outside_process_start() - start the command of a server. The calling thread must live as long as
 *  the server may: Linux ends the process when the thread ends
 *  @image_fd: from outside_process_image(). @name: of the server; @host: its entry in host.json
 *  Return: 0, -ENOTSUP (not_enabled: @host asks for the sandbox, but bubblewrap is not installed),
 *  -ENOMEM, or another -errno, with @error filled. */
int outside_process_start(int image_fd, const char *name, const struct wfs_host_server *host,
	struct outside_process *ret_process, struct wfs_error *error);
