#!/bin/sh
# SPDX-License-Identifier: MIT
#
# accuracy.sh RUNS KIND...: curves of workloads whose curve is known, from RUNS times `mtl run --json`.
#
# What is compared is what mtl says with what the workload says of itself when it ends: lines touched
# per second of its CPU time. Cyclic orders miss on every line until all of them fit; uniformly
# random ones miss with probability 1 - c/n. Times are the machine's own, whatever it is.
#
# The median of five runs is held to what mtl promises; a single run has a few hundred observations, so
# its bounds are those that it misses by chance less than once in a thousand times.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

runs=$1
shift
duration=20

# what expressions may use: $truth, the workload's report; miss(i), the rate at the i'th size in
# parts of the lines it touches; fp, the footprint in parts of the working set
definitions='$report[0] as $truth |
    def miss(i): .points[i].misses_per_second / $truth.lines_touched_per_cpu_second;
    def fp: .footprint_bytes / $truth.working_set_bytes;
    def truth($s): [$truth.points[] | select(.size_bytes >= $s)][0].miss_ratio;'

# measure RUN SIZES KIND OPTION...: $OUT/$name-RUN.json from mtl, .report from the workload
measure() {
    to=$OUT/$name-$1
    sizes=$2
    shift 2
    mtl run --json --duration "$duration" --sizes "$sizes" -- workload "$@" >"$to.json" 2>"$to.err" </dev/null ||
        { cat "$to.err"; return 1; }
    grep '^{"kind"' "$to.err" >"$to.report" || { echo "the workload made no report"; cat "$to.err"; return 1; }
}

each() { # EXPRESSION: its value in each run
    for to in $(seq -f "$OUT/$name-%g" "$runs"); do
        jq -c --slurpfile report "$to.report" "$definitions $1" "$to.json"
    done
}

holds() { # EXPRESSION: true of every run
    each "$1" | jq -es "length == $runs and all(. == true)" >/dev/null || { each 'del(.footprint)'; return 1; }
}

# median EXPRESSION WANTED BOUND SINGLE: within that part of WANTED, five runs or more and less
median() {
    bound=$3
    [ "$runs" -ge 5 ] || bound=$4
    each "$1" | jq -es "length == $runs and (sort | .[length / 2 | floor] / $2 | . > 1 - $bound and . < 1 + $bound)" \
        >/dev/null || { each '{footprint: (try fp catch null), misses: [.points[] | .misses_per_second], relative: [.points[] |
            .relative_miss_ratio], observations, note}'; return 1; }
}

measured() { # SIZES KIND OPTION...: under another $name where there is one
    name=${name:-$2}
    for n in $(seq "$runs"); do
        step "$name $4: mtl run gives a curve" measure "$n" "$@"
        [ -s "$OUT/$name-$n.report" ] || return 1
    done
}

well_formed() {
    step "$name: misses never rise with size" holds '[.points[].misses_per_second] | . == (sort | reverse)'
    step "$name: every point lies in its interval" \
        holds '.points | all(.low <= .misses_per_second and .misses_per_second <= .high)'
    step "$name: nothing was lost" holds '.lost == 0'
    step "$name: resident memory is what it is" \
        holds '.resident_bytes >= $truth.resident_bytes and .resident_bytes < $truth.resident_bytes + 8e6'
}

cyclic() { # KIND SIZE HALF ABOVE
    measured "$3,$4" "$1" --working-set "$2" || return
    step "$1: the footprint is what it touches" median fp 1 0.10 0.25
    step "$1: at half of that it misses on every line" median 'miss(0)' 1 0.15 0.45
    step "$1: at 1.25 times that, on less than 3 %" median '1 + miss(1)' 1 0.03 0.03
    well_formed
}

uniform() {
    measured 2M,4M,6M random --working-set 8M || return
    step "random: the footprint is what it touches" median fp 1 0.10 0.25
    step "random: at 1/4 it misses on 3/4" median 'miss(0)' 0.75 0.20 0.50
    step "random: at 1/2 on 1/2" median 'miss(1)' 0.50 0.20 0.70
    step "random: at 3/4 on 1/4" median 'miss(2) + 0.25' 0.50 0.10 0.90
    well_formed
}

# Eight threads, with memory of their own or the same. The truth is of CPU time of all of them together.
threads() { # NAME OPTION...
    name=$1
    shift
    measured 8M,20M scan --working-set 16M --threads 8 "$@" || return
    step "$name: the footprint is what they touch" median fp 1 0.15 0.30
    step "$name: at 1.25 times that, on less than 3 %" median '1 + miss(1)' 1 0.03 0.03
    well_formed
}

fresh() {
    measured 256K,1M fresh --working-set 4M || return
    step "fresh: it misses on every line" median 'miss(0)' 1 0.10 0.20
    step "fresh: and at every size" median 'miss(1)' 1 0.10 0.20
    step "fresh: its memory is not said to be replaced, it has it where it had it before" \
        holds '.note // "" | test("replaced") | not'
    well_formed
    name=moving
    measured 256K,1M moving --working-set 4M || return
    step "moving: it is said that its memory is replaced" holds '.note | test("replaced every")'
    step "moving: at least half of its misses are seen" median 'if miss(0) >= 0.5 then 1 else 0 end' 1 0.5 0.5
    well_formed
}

# Three phases of a stub, round after round. What is compared with the curve in closed form is what has no
# unit of time: misses in parts of those at 512K. A live curve is an average over phases: it agrees with that
# of all accesses where each phase by itself is clearly within a size or clearly beyond it. 1.25M holds the
# first phase and not the second within the time in which all together fill it; 4.5M holds both.
phases() {
    name=phases
    printf '%s\n' pattern,working_set_KiB,stride_bytes,repeats stride,1024,64,240 chase,4096,,60 \
        random,8192,,30 >"$work/phases.csv"
    for n in $(seq "$runs"); do
        step "phases: mtl run of a stub gives a curve" measure_phases "$OUT/$name-$n"
        [ -s "$OUT/$name-$n.report" ] || return 1
    done
    step "phases: at 1.25M as the stub's truth has it" beside_truth 1 0.25 0.50
    step "phases: at 4.5M likewise" beside_truth 2 0.35 0.70
    step "phases: at 1.25 times all of them, on less than 3 %" median '1 + .points[3].relative_miss_ratio' 1 0.03 0.03
    step "phases: the footprint is not more than that of all" \
        holds '.footprint_bytes > 4194304 and .footprint_bytes < 1.25 * 64 * $truth.distinct'
    step "phases: misses never rise with size" holds '[.points[].misses_per_second] | . == (sort | reverse)'
}

beside_truth() { # I BOUND SINGLE
    median ".points[$1].relative_miss_ratio * truth(524288) / truth(.points[$1].size_bytes)" 1 "$2" "$3"
}

measure_phases() { # TO
    mtl stub "$work/phases.csv" --repeat 10k --emit-truth >"$1.report" &&
        mtl run --json --duration "$duration" --reference 512K --sizes 512K,1280K,4608K,17M -- \
            mtl stub "$work/phases.csv" --repeat 10k >"$1.json" 2>"$1.err" </dev/null || { cat "$1.err"; return 1; }
}

for kind in "$@"; do
    name=
    case $kind in
    private) threads private --private ;;
    shared) threads shared ;;
    phases) phases ;;
    scan | stride | mixed) cyclic "$kind" 16M 8M 20M ;;
    random) uniform ;;
    fresh) fresh ;;
    *) die "no kind $kind" ;;
    esac
done
steps_total
