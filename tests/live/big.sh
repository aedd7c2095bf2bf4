#!/bin/sh
# SPDX-License-Identifier: MIT
#
# big.sh RUNS KIND...: a small hot part of 4 GiB that are resident, found by decoded samples of the clock.
#
#     random   8 MiB, a random line each time     scan   64 MiB (emulated: 8 MiB), round and round
#
# 20 seconds after tracking began the footprint at a window of 100 ms and the curve are compared with
# what the workload says of itself: the median of all runs, within 15 %. The budget is that of common.sh.
# MTL_BIG is another size than 4G, for a machine that takes too long to have so much.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

runs=$1
shift
seconds=20
big=${MTL_BIG:-4G}

resident() { # PID BYTES
    [ "$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status")" -ge $(($2 / 1024)) ]
}

# $OUT/$name-RUN.json: the curve; .report: of the workload; .list, .status: what mtld says
measure() { # RUN SIZES KIND OPTION...
    to=$OUT/$name-$1
    sizes=$2
    shift 2
    start target workload "$@" --resident "$big" --seed "${to##*-}"
    within 300 resident "$pid" "$(numfmt --from=iec "$big")" || { echo "$big are not resident"; return 1; }
    target=$pid
    sleep 2
    mtl track "$target" || return 1
    sleep $seconds
    mtl list --json >"$to.list"
    mtl status --json >"$to.status"
    result=0
    mtl curve "$target" --json --windows 0.1 --sizes "$sizes" >"$to.json" 2>"$to.err" || { cat "$to.err"; result=1; }
    mtl untrack "$target"
    stop target
    cp "$work/target.out" "$to.report"
    return $result
}

definitions='$report[0] as $truth | $truth.lines_touched_per_cpu_second as $rate |
    def miss(i): .points[i].misses_per_second / $rate;
    def fp: .footprint[0].bytes / $truth.working_set_bytes;
    def fp_cyclic: fp / ([$rate * 0.1 / $truth.lines, 1] | min);'

each() { # EXPRESSION: its value in each run
    for to in $(seq -f "$OUT/$name-%g" "$runs"); do
        jq -c --slurpfile report "$to.report" "$definitions $1" "$to.json"
    done
}

median() { # EXPRESSION WANTED BOUND
    each "$1" | tee "$work/values" | jq -es "length == $runs and (sort | .[length / 2 | floor] / $2 |
        . > 1 - $3 and . < 1 + $3)" >/dev/null || { cat "$work/values"; each 'del(.points[] | .fill_time_seconds)'; return 1; }
}

measured() {
    name=$2
    for n in $(seq "$runs"); do
        step "$2 $4 in $big: a curve after $seconds seconds" measure "$n" "$@"
    done
}

addresses_are_told() {
    jq -es 'all(.address_samples[0] | .event == "task-clock" and .delivered > 100)' "$OUT/$name"-*.status >/dev/null ||
        { jq -c '.address_samples' "$OUT/$name"-*.status; return 1; }
}

start_mtld
for kind in "$@"; do
    case $kind in
    random)
        measured 2M,4M,6M random --working-set 8M
        step "random: the footprint at 100 ms is what it touches" median fp 1 0.15
        step "random: at 1/4 of that it misses on 3/4" median 'miss(0)' 0.75 0.15
        step "random: at 1/2 on 1/2" median 'miss(1)' 0.50 0.15
        step "random: at 3/4 on 1/4, within 15 % of all" median 'miss(2) + 0.75' 1 0.15
        ;;
    scan)
        # a pass of 64 MiB takes emulated memory 0.2 s: longer than can be watched of one that takes 10 ms elsewhere
        if [ "$MTL_MACHINE" = emulated ]; then
            measured 2M,4M,10M scan --working-set 8M
        else
            measured 16M,32M,80M scan --working-set 64M
        fi
        step "scan: the footprint at 100 ms is what it touches" median fp_cyclic 1 0.15
        step "scan: at a quarter it misses on every line" median 'miss(0)' 1 0.15
        step "scan: at a half on every line" median 'miss(1)' 1 0.15
        step "scan: at 1.25 times all of it, on less than 15 %" median '1 + miss(2)' 1 0.15
        ;;
    *) die "no kind $kind" ;;
    esac
    step "$kind: told where by samples of the clock" addresses_are_told
done
stop mtld
steps_total
