/* SPDX-License-Identifier: MIT */
/*
 * A progress line: part that is read, accesses, accesses a second. It appears after a second, is
 * drawn five times a second and erased at the end, so that a log or a short run never sees it.
 */

#include "trace_progress.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "monotonic.h"
#include "size.h"

#define FIRST_SECONDS 1.0
#define AGAIN_SECONDS 0.2
#define CELLS 20
#define ERASE "\r\033[K"

static void draw_bar(double part)
{
	int full = (int)fmin(fmax(part, 0) * CELLS, CELLS);

	fputc('[', stderr);
	for (int i = 0; i < CELLS; i++)
		fputc(i < full ? '#' : ' ', stderr);
	fprintf(stderr, "] %2.0f %%  ", 100 * part);
}

static void draw(const struct trace_progress *progress, double time)
{
	char count[NUMBER_TEXT], speed[NUMBER_TEXT];
	double part = trace_reader_progress(progress->reader);

	fputs(ERASE, stderr);
	if (isfinite(part))
		draw_bar(part);
	fprintf(stderr, "%s accesses, %s/s", count_format((double)progress->accesses, count),
	        count_format((double)progress->accesses / (time - progress->started), speed));
	fflush(stderr);
}

void trace_progress_begin(struct trace_progress *progress)
{
	progress->wanted = isatty(STDERR_FILENO);
	progress->started = monotonic_seconds();
	progress->drawn = progress->started + FIRST_SECONDS - AGAIN_SECONDS;
}

void trace_progress_count(struct trace_progress *progress, uint64_t n)
{
	double time;

	progress->accesses += n;
	if (!progress->wanted)
		return;
	time = monotonic_seconds();
	if (time - progress->drawn < AGAIN_SECONDS)
		return;
	draw(progress, time);
	progress->shown = true;
	progress->drawn = time;
}

void trace_progress_end(struct trace_progress *progress)
{
	if (progress->shown)
		fputs(ERASE, stderr);
	progress->shown = false;
}
