/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon and a `worldfs-outside` process tell each other, over a socket of the kind
 * SOCK_SEQPACKET: the process sends messages, and the daemon closes its side when the server has to
 * end. When the daemon is gone, the socket is closed, too.
 */
#pragma once

enum {
	KEEPER_SOCKET = 3,

	/* Milliseconds from the time when the daemon closes its side, which also closes the
	 * server's input, to each of these: */
	KEEPER_TERM_MS = 500,  /* SIGTERM to the process group of the server */
	KEEPER_KILL_MS = 2000, /* SIGKILL to all that is left */

	/* Limits of one process of a server. */
	KEEPER_PROCESSOR_S_MAX = 3600,
	KEEPER_FILES_MAX = 1024,
};
#define KEEPER_FILE_BYTES_MAX (4ULL << 30)

enum keeper_kind {
	KEEPER_STARTED = 1, /* value: pid of the server, which leads a process group */
	KEEPER_NOT_STARTED, /* value: errno */
	KEEPER_ENDED,       /* value: wait status of the server (waitpid(2)) */
};

/* Plain value. */
struct keeper_message {
	int kind;
	int value;
};
