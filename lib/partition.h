/* SPDX-License-Identifier: MIT */
#ifndef MTL_PARTITION_H
#define MTL_PARTITION_H

/* How much slower a program is with these misses than with the least; 1 where neither costs time,
 * INFINITY where only the least do not. */
double mtl_slowdown(double work, double misses, double least);

#endif
