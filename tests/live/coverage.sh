#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh RUNS KIND...: how often the 90 % intervals of live curves hold the truth, each run with a seed of its own.
# What is known of a workload of n lines, touched at a rate r (its own report):
#
#     random   misses at c lines: r (1 - c / n); footprint within T: n (1 - exp(-r T / n))
#     scan     misses below n lines: r, beyond: 0; footprint within T: min(r T, n)
#
# A size at which the curve has its step is not asked. Of 40 runs 29 or more are to hold, at every size and window:
# if intervals held with a chance of 0.9, fewer would come once in 2600 times (binomial).

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

runs=$1
shift
seconds=10

truths='$report[0] as $truth | $truth.lines_touched_per_cpu_second as $rate | $truth.lines as $n |
    def misses($size): ($size / 64) as $c |
        if $kind == "random" then $rate * (1 - $c / $n) elif $c < $n then $rate else 0 end;
    def footprint($t): ($rate * $t) as $touched |
        64 * (if $kind == "random" then $n * (1 - (-$touched / $n | exp)) else [$touched, $n] | min end);'

measure() { # KIND RUN SIZES OPTION...
    to=$OUT/$1-$2
    sizes=$3
    seed=$2
    kind=$1
    shift 3
    mtl run --json --duration $seconds --sizes "$sizes" --windows 2ms,20ms,50ms -- \
        workload "$kind" --seed "$seed" "$@" >"$to.json" 2>"$to.err" </dev/null &&
        grep '^{"kind"' "$to.err" >"$to.report"
}

# a line of what held in each run: true, false for each question
held() { # KIND
    for to in $(seq -f "$OUT/$1-%g" "$runs"); do
        jq -c --arg kind "$1" --slurpfile report "$to.report" "$truths"'
            [(.points[] | misses(.size_bytes) as $t | .low <= $t * 1.0001 and $t <= .high * 1.0001),
            (.footprint[] | footprint(.window_seconds) as $t | .low <= $t * 1.0001 and $t <= .high * 1.0001)]' "$to.json"
    done
}

# of all runs: how many held, for each question
summed() { jq -cs 'transpose | map(map(select(.)) | length)' "$OUT/$1.held"; }

observations() { cat "$OUT/$1"-*.json | jq -s 'map(.observations) | sort | .[length / 2 | floor]'; }

judged() { # KIND
    summed "$1"
    summed "$1" | jq -e "all(. >= $least)" >/dev/null
}

all_measured() { # KIND SIZES OPTION...
    kind=$1
    sizes=$2
    shift 2
    for n in $(seq "$runs"); do
        measure "$kind" "$n" "$sizes" "$@" || { cat "$OUT/$kind-$n.err"; return 1; }
    done
}

# the greatest number that fewer than which come less than once in a thousand times
least=$(awk -v n="$runs" 'BEGIN {
    p = 0.1 ^ n; sum = p
    for (k = 0; sum < 0.001 && k < n; k++) { p *= (n - k) / (k + 1) * 9; sum += p }
    print k }')

for kind in "$@"; do
    case $kind in
    random) set -- 1M,2M,4M,6M --working-set 8M ;;
    scan) set -- 1M,2M,8M,10M --working-set 4M ;;
    *) die "no kind $kind" ;;
    esac
    step "$kind: $runs curves" all_measured "$kind" "$@"
    held "$kind" >"$OUT/$kind.held"
    echo "$kind, $(observations "$kind") observations, held of $runs (sizes $1; 2, 20, 50 ms): $(summed "$kind")"
    step "$kind: intervals hold the truth in $least or more of $runs" judged "$kind"
done
steps_total
