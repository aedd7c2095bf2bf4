/* SPDX-License-Identifier: MIT */
#ifndef MTL_WORDS_H
#define MTL_WORDS_H

/* Numbers and names as sentences and tables have them. */

#include <stddef.h>

#define NUMBER_TEXT 32
#define NAME_SHOWN 120

/* These write into a buffer of NUMBER_TEXT bytes and return it. NAN is "-", INFINITY is "never". */
char *mtl_size_format(double bytes, char *ret_text);       /* "512K", "1.41M" */
char *mtl_count_format(double count, char *ret_text);      /* "12.3 M" (powers of 1000) */
char *mtl_seconds_format(double seconds, char *ret_text);  /* "50 us", "1.2 ms", "30 s" */
char *mtl_percent_format(double fraction, char *ret_text); /* "0.4 %" */
char *mtl_ratio_format(double ratio, char *ret_text);      /* "0.064", "<0.001" */

/* For programs, likewise NUMBER_TEXT bytes: as short as it reads back the same, -0 as 0. */
char *mtl_number_text(double value, char *ret_text);

/* Bytes of the UTF-8 character that text, n > 0 bytes of it, begins with; 0: it begins with none.
 */
size_t mtl_utf8_length(const char *text, size_t n);

/* A name shortened in the middle to fit ("/tmp/ab...of.trace"), so that what is said of it is not
 * pushed out; characters stay whole. size: 16 or more. */
char *mtl_name_shorten(const char *name, char *ret_text, size_t size);

/* The same without what is not UTF-8, or a control character: '?' stands for these. */
char *mtl_name_text(const char *name, char *ret_text, size_t size);

#endif
