#!/bin/sh
# SPDX-License-Identifier: MIT
#
# real.sh [PROGRAM...]: real programs that run, their live curves against exact ones. Truth by unit_truth.sh, here;
# the curves in real_steps.sh, where watchpoints fire. BENCH_REAL_SECONDS (60) of that machine's time each.
# Prints a table: mean absolute error of misses per access, and of misses in parts of those at the first size and
# at 256K, over sizes from the resolution to 32 MB; the latter two also of the theory alone, by the exact footprint.

set -eu
cd "$(dirname "$0")/../.."
. tests/bench/units.sh
build=${MTL_BUILD:-build}
[ $# -gt 0 ] || set -- $unit_programs
truth=$build/bench/real
out=$build/bench/live
# shellcheck disable=SC2086
tests/bench/unit_truth.sh "$truth" "$@"
mkdir -p "$out"
MTL_MACHINE_MORE=xz-utils,sqlite3,python3-minimal,redis-server \
    tests/machine/run.sh --cpus 0 --seconds "${BENCH_SECONDS:-5400}" --out "$out" \
    --program "$build/tests/bench/usage" -- tests/bench/real_steps.sh "${BENCH_REAL_SECONDS:-60}" "$@"

row() { # PROGRAM
    jq -r -n --arg name "$1" --slurpfile live "$out/$1.json" --slurpfile truth "$truth/$1.steady.json" \
        --argjson unit "$(cat "$out/$1.unit")" --argjson referenced "$(cat "$out/$1.referenced")" '
        $live[0] as $l | $truth[0] as $t | ($t.accesses / $unit) as $rate |
        def at($of; $size): first(range($t.sizes | length) | select($t.sizes[.] >= $size) | $of[.]) / $t.accesses;
        def exact($size): at($t.misses; $size);
        def live: .misses_per_second / $rate;
        def theory: at($t.theory; .size_bytes);
        def round($n): . * pow(10; $n) | round / pow(10; $n);
        [$l.points[] | select(.below_resolution | not)] as $points |
        def relative($from; f): [$points[] | select(.size_bytes >= $from)] | (.[0] | f) as $first |
            exact(.[0].size_bytes) as $truth | map((f / $first - exact(.size_bytes) / $truth) | fabs) | add / length | round(3);
        [$points[] | (live - exact(.size_bytes)) | fabs] as $absolute |
        [$points[] | select(.low / $rate <= exact(.size_bytes) and exact(.size_bytes) <= .high / $rate)] as $inside |
        "| \($name) | \($t.accesses / 1e6 | round(1)) M | \($t.distinct * 64 / 1048576 | round(1)) MB | " +
        "\($l.footprint_bytes / 1048576 | round(1)) MB | \($referenced / 1024 | round(1)) MB | \($l.resolution_bytes / 1024 | round(0)) K | \($l.observations) | " +
        "\($absolute | add / length | round(4)) (\($absolute | max | round(4))) | " +
        "\(relative(0; live)) (\(relative(0; theory))) | \(relative(262144; live)) (\(relative(262144; theory))) | " +
        "\($inside | length) of \($points | length) |"'
}

echo '| program | accesses a unit | truth, all data of three units | footprint | pages referenced in 1 s | resolution | observations | misses per access: mean error (greatest) | relative to the first size: mean error (of the theory) | to 256K, from there on | truth within the interval |'
echo '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|'
for program; do
    [ ! -s "$out/$program.json" ] || row "$program"
done
