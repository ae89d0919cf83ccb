/* SPDX-License-Identifier: Apache-2.0 */
/* One note for each thread. */
#include "kernel/base/damage.h"

#include <stdarg.h>
#include <stdio.h>

#include "kernel/base/error.h"

static _Thread_local char noted[WFS_ERROR_MESSAGE_SIZE]; /* one for each thread, like errno */

void wfs_damage_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(noted, sizeof(noted), format, arguments) < 0)
		noted[0] = '\0';
	va_end(arguments);
}

void wfs_damage_forget(void)
{
	noted[0] = '\0';
}

const char *wfs_damage_noted(void)
{
	return noted;
}
