// SPDX-License-Identifier: MIT
/*
 * Looking at the memory of a tracked process, and drawing lines of it for the sampler.
 *
 * A survey takes some ticks; the next begins when a share of time is past or so many pages have
 * come that draws by the latest would weigh very unevenly. What has not grown is surveyed the less
 * often the more processes run, so that all surveys together take that share.
 */
#include "tracked_parts.h"

#include <math.h>

#define SURVEY_REGIONS_A_TICK 16 /* ten times a second, a quarter of a millisecond at most, */
#define STALE_REGIONS_A_TICK 64  /* a whole one where much is new */
#define SURVEY_INTERVAL_NS 1000000000ULL /* at least; as many times as long as there are many; */
#define SURVEY_SHARE 500  /* and so many times as long as one takes of each that runs */
#define SURVEY_STALE 0.02 /* new pages, as a share of those surveyed, that call for a survey */
#define STALE_SHARE 200   /* but not sooner than so many times as long as one takes */

void tracked_refill(struct tracked *tracked)
{
	const struct calibration *calibration = &tracked->instrument->calibration;
	struct sampler *sampler = tracked->instrument->sampler;
	struct candidate candidate;
	/* Lines drawn long ago may be gone: hold what two ticks need, no more. */
	unsigned held = SAMPLER_QUEUE - sampler_room(sampler, tracked->index);
	unsigned wanted = fmin(SAMPLER_QUEUE, 2 + 0.2 * tracked->governor.pace);

	planner_set_settled(tracked->planner, tracked->births.faults == tracked->faults_surveyed);
	for (; held < wanted; held++)
		if (planner_draw(tracked->planner, &tracked->deadlines.now, calibration->slots,
		            calibration->length == MTL_LINE_BYTES, &candidate) < 0 ||
		        sampler_offer(sampler, tracked->index, &candidate) < 0)
			return;
}

/* So many pages have come since the latest survey that draws by it would weigh very unevenly. */
static bool is_stale(const struct tracked *tracked)
{
	double pages = planner_resident_bytes(tracked->planner) / 4096;

	return tracked->births.faults - tracked->faults_surveyed > SURVEY_STALE * pages;
}

static void plan_next_survey(struct tracked *tracked, uint64_t now)
{
	double took = (double)tracked->survey_took_ns;
	double each = SURVEY_SHARE * fmax(1, tracked->instrument->running) * took;

	tracked->survey_took_ns = 0;
	tracked->survey_due_ns =
	        now + (uint64_t)fmax(SURVEY_INTERVAL_NS * tracked_among_many(tracked), each);
	tracked->stale_due_ns = now + (uint64_t)(STALE_SHARE * took);
}

void tracked_survey(struct tracked *tracked)
{
	uint64_t begin = source_now();
	bool stale = is_stale(tracked) && begin >= tracked->stale_due_ns;
	int r;

	if (begin < tracked->survey_due_ns && !stale)
		return;
	r = planner_survey(tracked->planner, stale ? STALE_REGIONS_A_TICK : SURVEY_REGIONS_A_TICK);
	tracked->survey_took_ns += source_now() - begin;
	if (r < 0)
		tracked_lose_memory(tracked);
	if (r <= 0)
		return;
	tracked->faults_surveyed = tracked->births.faults;
	plan_next_survey(tracked, begin);
	tracked_heed_growth(tracked);
}
