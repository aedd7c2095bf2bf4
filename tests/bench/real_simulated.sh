#!/bin/sh
# SPDX-License-Identifier: MIT
#
# real_simulated.sh [PROGRAM...]: how good a live curve of the real programs of units.sh is, by what mtld does alone:
# a unit of each is recorded (trace_units.sh), done over and over, and watched in simulation by its planner, deadlines
# and estimator (tests/unit/play_real.c), BENCH_RUNS (41) times. What a live run adds (arming, births, the emulated
# machine's slowness) is not in it, and it takes minutes, not hours. Two tables: the watches that a machine of
# today pays for, over mtld's default window; and those of the emulated machine, over that of real.sh.

set -eu
cd "$(dirname "$0")/../.."
. tests/bench/trace_units.sh
build=$(realpath "${MTL_BUILD:-build}")
[ $# -gt 0 ] || set -- $unit_programs
runs=${BENCH_RUNS:-41}
mkdir -p "$build/bench"
begin_tracing "$build/bench"

# at the end of a process: less than a unit, left out
ending=400000

bytes_of() { # PROGRAM N
    trace_units "$1" "$2"
    stat -c %s "$work/trace"
}

record() { # PROGRAM: the third unit of three
    two=$(bytes_of "$1" 2)
    three=$(bytes_of "$1" 3)
    tail -c $((three - two + ending)) "$work/trace" | head -c $((three - two)) >"$work/$1"
    rm "$work/trace"
}

recorded=
for program; do
    is_there "$program" || continue
    echo "recording three units of $program" >&2
    record "$program"
    recorded="$recorded $work/$program"
done
# shellcheck disable=SC2086
for terms in '150 60' '18 480'; do
    echo "${terms% *} watches a second, a window of ${terms#* } s"
    "$build/unit/play_real" "$runs" $terms $recorded
done
