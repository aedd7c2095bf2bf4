/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLEANUP_H
#define MTL_CLEANUP_H

/*
 * The one cleanup idiom: a variable that owns something is declared with a cleanup attribute, and
 * ownership is given away with TAKE_PTR() / TAKE_FD(). Header-only, used by lib, daemon and cli.
 */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

#define TAKE_PTR(p)                                                                                 \
	({                                                                                          \
		__typeof__(p) *take_pointer_ = &(p);                                                \
		__typeof__(p) take_value_ = *take_pointer_;                                         \
		*take_pointer_ = NULL;                                                              \
		take_value_;                                                                        \
	})

#define TAKE_FD(fd)                                                                                 \
	({                                                                                          \
		int *take_pointer_ = &(fd);                                                         \
		int take_value_ = *take_pointer_;                                                   \
		*take_pointer_ = -1;                                                                \
		take_value_;                                                                        \
	})

/* DEFINE_CLEANUP(struct mtl_curve, mtl_curve_free) gives mtl_curve_freep for _cleanup_(). */
#define DEFINE_CLEANUP(type, function)                                                              \
	static inline __attribute__((unused)) void function##p(type **pointer)                      \
	{                                                                                           \
		if (*pointer)                                                                       \
			function(*pointer);                                                         \
	}

static inline __attribute__((unused)) void freep(void *pointer)
{
	free(*(void **)pointer);
}

static inline __attribute__((unused)) void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline __attribute__((unused)) void fclosep(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline __attribute__((unused)) void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

#endif
