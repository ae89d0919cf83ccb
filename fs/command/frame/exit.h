/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Exit statuses of the program. */
enum {
	WFS_EXIT_DONE = 0,
	WFS_EXIT_FAILED = 1, /* not found included */
	WFS_EXIT_MISUSE = 2,
};
