/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Automatic release of owned locals (cleanup attribute).
 *
 * An owning local is declared with WFS_AUTO(release function of its type) or one of the
 * WFS_AUTO_<TYPE> names that modules define from it, and starts as NULL (or -1 for a
 * descriptor). Ownership leaves the scope with WFS_STEAL.
 */
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WFS_CLEANUP(function) __attribute__((cleanup(function)))

/* Returns the pointer and sets the variable to NULL, so that its cleanup frees nothing. */
#define WFS_STEAL(pointer)                       \
	({                                       \
		__auto_type stolen_ = (pointer); \
		(pointer) = NULL;                \
		stolen_;                         \
	})

/* Returns the descriptor and sets the variable to -1, so that its cleanup closes nothing. */
#define WFS_STEAL_FD(fd)            \
	({                          \
		int stolen_ = (fd); \
		(fd) = -1;          \
		stolen_;            \
	})

/* Defines the cleanup function `wfs_auto_<name>` for pointers that @free_function frees. */
#define WFS_DEFINE_AUTO(name, type, free_function)         \
	static inline void wfs_auto_##name(type **pointer) \
	{                                                  \
		free_function(*pointer);                   \
	}

static inline void wfs_auto_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void wfs_auto_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void wfs_auto_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

static inline void wfs_auto_unlock(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

#define WFS_AUTO_FREE WFS_CLEANUP(wfs_auto_free)
#define WFS_AUTO_FD WFS_CLEANUP(wfs_auto_fd)
#define WFS_AUTO_FILE WFS_CLEANUP(wfs_auto_file)

/* Two steps, so that __LINE__ is expanded before it is pasted. */
#define WFS_PASTE_EXPANDED(a, b) a##b
#define WFS_PASTE(a, b) WFS_PASTE_EXPANDED(a, b)

static inline pthread_mutex_t *wfs_guard_lock(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	return mutex;
}

/* Locks the mutex until the end of the enclosing scope. */
#define WFS_GUARD(mutex)                                                           \
	WFS_CLEANUP(wfs_auto_unlock)                                               \
	__attribute__((unused)) pthread_mutex_t *WFS_PASTE(wfs_guard_, __LINE__) = \
		wfs_guard_lock(mutex)

#define WFS_ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))
