#!/bin/sh
# SPDX-License-Identifier: MIT
#
# accuracy.sh KIND...: curves of workloads whose curve is known, each from one `mtl run --json`.
#
# What is compared is what mtl says with what the workload says of itself when it ends: lines touched
# per second of its CPU time. Cyclic orders miss on every line until all of them fit; uniformly
# random ones miss with probability 1 - c/n. Times are the machine's own, whatever it is.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

duration=${ACCURACY_SECONDS:-20}

# measure SIZES KIND OPTION...: $OUT/$name.json from mtl, $OUT/$name.report from the workload
measure() {
    sizes=$1
    shift
    mtl run --json --duration "$duration" --sizes "$sizes" -- workload "$@" \
        >"$OUT/$name.json" 2>"$OUT/$name.err" </dev/null || { cat "$OUT/$name.err"; return 1; }
    grep '^{"kind"' "$OUT/$name.err" >"$OUT/$name.report" || { echo "the workload made no report"; cat "$OUT/$name.err"; return 1; }
}

# holds EXPRESSION: of the curve, with $truth the workload's report, miss(i) the i'th point's rate in
# lines the workload touches, and near(a; b) whether a is within b of 1
holds() {
    jq -e --slurpfile report "$OUT/$name.report" "
        \$report[0] as \$truth |
        def miss(i): .points[i].misses_per_second / \$truth.lines_touched_per_cpu_second;
        def near(a; b): a > 1 - b and a < 1 + b;
        $1" "$OUT/$name.json" >/dev/null && return
    jq -c --slurpfile report "$OUT/$name.report" '{footprint: (.footprint_bytes / $report[0].working_set_bytes),
        misses: [.points[] | .misses_per_second / $report[0].lines_touched_per_cpu_second * 1000 | round / 1000],
        observations, note}' "$OUT/$name.json"
    return 1
}

well_formed() {
    step "$name: misses never rise with size" holds '[.points[].misses_per_second] | . == (sort | reverse)'
    step "$name: every point lies in its interval" \
        holds '.points | all(.low <= .misses_per_second and .misses_per_second <= .high)'
    step "$name: nothing was lost" holds '.lost == 0'
    step "$name: resident memory is what it is" \
        holds '.resident_bytes >= $truth.resident_bytes and .resident_bytes < $truth.resident_bytes + 8e6'
}

measured() { # SIZES KIND OPTION...
    name=$2
    step "$2 $4: mtl run gives a curve" measure "$@"
    [ -s "$OUT/$name.report" ]
}

cyclic() { # KIND SIZE HALF ABOVE
    measured "$3,$4" "$1" --working-set "$2" || return
    step "$1: the footprint is what it touches, within 10 %" \
        holds 'near(.footprint_bytes / $truth.working_set_bytes; 0.10)'
    step "$1: at half of that it misses on every line, within 15 %" holds 'near(miss(0); 0.15)'
    step "$1: at 1.25 times that, on less than 3 %" holds 'miss(1) < 0.03'
    well_formed
}

uniform() {
    measured 2M,4M,6M random --working-set 8M || return
    step "random: the footprint is what it touches, within 10 %" \
        holds 'near(.footprint_bytes / $truth.working_set_bytes; 0.10)'
    step "random: at 1/4 it misses on 3/4, within 20 %" holds 'near(miss(0) / 0.75; 0.20)'
    step "random: at 1/2 on 1/2, within 20 %" holds 'near(miss(1) / 0.5; 0.20)'
    step "random: at 3/4 on 1/4, within 20 %" holds 'near(miss(2) / 0.25; 0.20)'
    well_formed
}

fresh() {
    measured 256K,1M fresh --working-set 4M || return
    step "fresh: at least half of its misses are seen" holds 'miss(0) >= 0.5'
    well_formed
}

for kind in "$@"; do
    case $kind in
    scan) cyclic scan 16M 8M 20M ;;
    stride) cyclic stride 16M 8M 20M ;;
    mixed) cyclic mixed 16M 8M 20M ;;
    random) uniform ;;
    fresh) fresh ;;
    *) die "no kind $kind" ;;
    esac
done
steps_total
