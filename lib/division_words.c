/* SPDX-License-Identifier: MIT */
/*
 * A division in words: why each group has what it has, against an equal share; what all of it comes
 * to; what is not known.
 */

#include "division.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "words.h"

#define NAME 40

static const char *const objectives[] = {
        [MTL_TOTAL] = "total",
        [MTL_FAIR] = "fair",
        [MTL_GUARANTEE] = "guarantee",
};

static const char *const advices[] = {
        [ADVICE_DIVISION] = "division",
        [ADVICE_EQUAL_SHARES] = "equal_shares",
        [ADVICE_UNDIVIDED] = "undivided",
};

#define N_OBJECTIVES (sizeof(objectives) / sizeof(*objectives))

const char *mtl_objective_name(enum mtl_objective objective)
{
	return objectives[objective];
}

const char *mtl_division_advice_name(enum division_advice advice)
{
	return advices[advice];
}

int mtl_objective_from_name(const char *name, enum mtl_objective *ret_objective)
{
	size_t i = 0;

	while (i < N_OBJECTIVES && strcmp(objectives[i], name) != 0)
		i++;
	if (i == N_OBJECTIVES)
		return -EINVAL;
	*ret_objective = (enum mtl_objective)i;
	return 0;
}

/* " (-45 %)", or nothing where there is nothing to compare with. */
static char *change_text(double from, double to, char ret_text[NUMBER_TEXT + 8])
{
	char number[NUMBER_TEXT];

	*ret_text = '\0';
	if (from > 0 && to < 10 * from)
		snprintf(ret_text, NUMBER_TEXT + 8, " (%s%s)", to < from ? "-" : "+",
		        mtl_percent_format(fabs(to / from - 1), number));
	return ret_text;
}

static const char *plural(unsigned n)
{
	return n == 1 ? "way" : "ways";
}

static double misses_with(const struct division *division, size_t i, unsigned ways)
{
	return mtl_demand_misses(
	        division->list->demands[i], ways * division->way_bytes, NULL, NULL);
}

static void equal_reason(const struct division *division, size_t i, char *ret_text, size_t size)
{
	unsigned ways = division->ways[i];
	double now = division->chosen.misses[i];
	char spared[NUMBER_TEXT], added[NUMBER_TEXT];

	mtl_count_format(misses_with(division, i, ways - 1) - now, added);
	mtl_count_format(now - misses_with(division, i, ways + 1), spared);
	if (ways < division->cache.ways)
		snprintf(ret_text, size,
		        "an equal share: one way more would spare it %s %s, one fewer cost it %s",
		        spared, mtl_demands_unit(division->list), added);
	else
		snprintf(ret_text, size, "all there is");
}

static void cluster_reason(const struct division *division, size_t i, char *ret_text, size_t size)
{
	char name[NAME], bytes[NUMBER_TEXT];
	double held = fmin(division->chosen.bytes[i], division->list->demands[i]->footprint_bytes);
	int at = snprintf(ret_text, size, "occupies %s of a part it shares with",
	        mtl_size_format(held, bytes));
	bool first = true;

	for (size_t j = 0; j < division->list->n && (size_t)at < size; j++) {
		if (j == i || division->cluster[j] != division->cluster[i])
			continue;
		at += snprintf(ret_text + at, size - (size_t)at, "%s %s", first ? "" : ",",
		        mtl_name_text(division->list->operands[j].name, name, sizeof(name)));
		first = false;
	}
}

static bool shares(const struct division *division, size_t i)
{
	for (size_t j = 0; j < division->list->n; j++)
		if (j != i && division->cluster[j] == division->cluster[i])
			return true;
	return false;
}

void mtl_division_reason(const struct division *division, size_t i, char *ret_text, size_t size)
{
	unsigned ways = division->ways[i], equal = division->equal_ways[i];
	unsigned apart = ways > equal ? ways - equal : equal - ways;
	double before = division->equal.misses[i], now = division->chosen.misses[i];
	char number[NUMBER_TEXT], change[NUMBER_TEXT + 8];

	mtl_count_format(fabs(now - before), number);
	change_text(before, now, change);
	if (shares(division, i))
		cluster_reason(division, i, ret_text, size);
	else if (ways == equal)
		equal_reason(division, i, ret_text, size);
	else if (now == before && ways < equal)
		snprintf(ret_text, size,
		        "%u %s fewer than an equal share, which would spare it nothing", apart,
		        plural(apart));
	else if (now == before)
		snprintf(ret_text, size, "%u %s more than an equal share, which help nobody", apart,
		        plural(apart));
	else
		snprintf(ret_text, size, "%u %s %s than an equal share %s it %s %s%s", apart,
		        plural(apart), ways > equal ? "more" : "fewer",
		        apart == 1 ? (ways > equal ? "spares" : "costs")
		                   : (ways > equal ? "spare" : "cost"),
		        number, mtl_demands_unit(division->list), change);
}

bool mtl_division_note(const struct division *division, size_t i, char *ret_text, size_t size)
{
	const struct demand_operand *operand = &division->list->operands[i];
	char name[NAME_SHOWN], known[NUMBER_TEXT];

	if (mtl_demand_note(operand, division->chosen.bytes[i], ret_text, size))
		return true;
	if (division->way_bytes >= operand->demand->smallest_known_bytes ||
	        division->ways[i] > division->least[i])
		return false;
	snprintf(ret_text, size,
	        "the curve of %s says nothing of less than %s: fewer than %u ways were not "
	        "considered",
	        mtl_name_text(operand->name, name, sizeof(name)),
	        mtl_size_format(operand->demand->smallest_known_bytes, known), division->least[i]);
	return true;
}

/* "12 % fewer misses than" */
static void against(const struct division *division, const struct division_state *other,
        const char *name, char *ret_text, size_t size)
{
	double now = division->chosen.total, before = other->total;
	char number[NUMBER_TEXT];

	if (division->objective == MTL_FAIR)
		snprintf(ret_text, size, "%s %s", mtl_ratio_format(other->worst, number), name);
	else if (now == before)
		snprintf(ret_text, size, "as many misses as %s", name);
	else if (before > 0 && now < 10 * before)
		snprintf(ret_text, size, "%s %s misses than %s",
		        mtl_percent_format(fabs(now / before - 1), number),
		        now < before ? "fewer" : "more", name);
	else
		snprintf(ret_text, size, "%s more misses than %s",
		        mtl_count_format(now - before, number), name);
}

static void say_regret(const struct division *division, char *ret_text, size_t size)
{
	char number[NUMBER_TEXT];

	*ret_text = '\0';
	if (!(division->regret > 0))
		return;
	mtl_count_format(division->regret, number);
	if (division->objective == MTL_TOTAL)
		snprintf(ret_text, size,
		        " Within the curves' intervals another division can be better by up to %s "
		        "%s.",
		        number, mtl_demands_unit(division->list));
	else
		snprintf(ret_text, size,
		        " Divisions that are about the total alone can have up to %s %s fewer.",
		        number, mtl_demands_unit(division->list));
}

static void say_advice(const struct division *division, char *ret_text, size_t size)
{
	size_t robbed = mtl_division_robbed(division, &division->whole);
	enum division_advice advice = mtl_division_advice(division);
	char name[NAME];

	int at = 0;

	*ret_text = '\0';
	if (advice != ADVICE_UNDIVIDED && division->over_whole.gain <= 0 &&
	        robbed < division->list->n)
		at = snprintf(ret_text, size, ", where %s misses more than with an equal share",
		        mtl_name_text(division->list->operands[robbed].name, name, sizeof(name)));
	if (advice == ADVICE_UNDIVIDED)
		snprintf(ret_text + at, size - (size_t)at, "; better leave the cache undivided");
	else if (advice == ADVICE_EQUAL_SHARES)
		snprintf(ret_text + at, size - (size_t)at,
		        mtl_division_is_worth_it(division) ? "; equal shares do as well"
		                                           : "; better give equal shares");
}

void mtl_division_verdict(const struct division *division, char *ret_text, size_t size)
{
	char equal[120], whole[120], number[NUMBER_TEXT], advice[160], regret[160];

	against(division, &division->equal, "with equal shares", equal, sizeof(equal));
	against(division, &division->whole, "undivided", whole, sizeof(whole));
	say_advice(division, advice, sizeof(advice));
	say_regret(division, regret, sizeof(regret));
	if (division->objective == MTL_FAIR)
		snprintf(ret_text, size, "Worst slowdown %s, against %s and %s%s.%s",
		        mtl_ratio_format(division->chosen.worst, number), equal, whole, advice,
		        regret);
	else
		snprintf(ret_text, size, "%c%s, %s%s.%s", equal[0] == 'a' ? 'A' : equal[0],
		        equal + 1, whole, advice, regret);
}
