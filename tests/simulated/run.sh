#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-simulated: three real programs on a simulated PMU (tests/unit/play_trace.c). The
# residual-time and the reuse-time estimator have to be within 0.02 of the exact miss ratio in the
# mean, at sizes from 4 x the footprint of the arming delay.
#
#     run.sh [TRACE...]       these traces instead of three small recorded ones

set -eu
cd "$(dirname "$0")/../.."
build=${MTL_BUILD:-build}
play() { "$build/unit/play_trace" --most 0.02 "$@"; }

[ $# = 0 ] || {
    play "$@"
    exit
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export LC_ALL=C
head -c 2500 /usr/share/common-licenses/GPL-3 >"$work/text"
tr -cs 'A-Za-z' '\n' <"$work/text" >"$work/words"

record() { # NAME COMMAND...
    name=$1
    shift
    valgrind --tool=lackey --trace-mem=yes --log-file="$work/log" "$@" >"$work/none"
    grep '^ [LSM] ' "$work/log" >"$work/$name.lackey"
}

record sort sort --parallel=1 "$work/words"
record bzip2 bzip2 -1c "$work/text"
# shellcheck disable=SC2016
record awk awk '{ n[$1]++ } END { for (w in n) print w, n[w] }' "$work/words"
play --delay 1000 "$work"/*.lackey || {
    echo "simulated PMU: an estimator is further than 0.02 from the exact curve" >&2
    exit 1
}
