/* SPDX-License-Identifier: Apache-2.0 */
/* Included before everything: functions that have no safe use here. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __GNUC__
#undef alloca
#pragma GCC poison strcpy strcat strncpy sprintf strtok atoi gmtime localtime mktemp alloca
#endif
