#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Reuse times through mtld itself, with page faults in the place of a PMU's misses: a fault begins a
# visit, its watch sees the next round (tests/live/refault.c). `make check-reuse`, by hand: on a host that
# does something else besides it has failed. Bounds are wide, as the machine's clock
# is at the mercy of what else the host does. Of the known truth: as many misses a second as lines are born, as long as a cache holds less than
# what is born within a round; none when it holds more.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

printf '%s\n' 'address_samples = page-faults' 'longest_window = 0.03' >>/etc/mtld/mtld.conf

# Seldom asked: each question takes the one processor from the target, and a visit that is interrupted
# is given up.
enough() {
    mtl track "$pid" || return 1
    for try in 1 2 3 4 5 6 7 8; do
        sleep 5
        run mtl curve "$pid" --json --sizes 64K,96K,128K,160K,192K,224K,256K,288K,320K,384K,448K,512K,640K,768K,2M,4M
        cp "$work/out" "$work/curve"
        holds '.observations >= 80 and .difference != null' >"$work/tried" && return
    done
    cat "$work/tried"
    return 1
}

holds() { # EXPRESSION: of the reuse times, $round the CPU time of a round
    jq -es --argjson round "$(cat "$work/round")" "length == 1 and (.[0].reuse | $1)" "$work/curve" >/dev/null || { cat "$work/round"; jq -c '.reuse' "$work/curve"; return 1; }
}

start_mtld
start refault refault 1048576 4 "$work/round"
step "reuse times: page faults begin visits, enough of them for a second curve" enough
step "reuse times: none is told before the visit is over" holds '.delay_seconds > 0 and .cache_bytes > 0'
step "reuse times: a cache smaller than what a round brings misses nearly all" \
    holds '. as $r | [.points[] | select(.size_bytes > 1.3 * $r.cache_bytes)][0].misses_per_second / $r.misses_per_second | . > 0.6 and . < 1.2'
step "reuse times: a greater one hardly any" \
    holds '. as $r | .points | map(select(.size_bytes >= 2097152)) | all(.misses_per_second < 0.35 * $r.misses_per_second)'
step "reuse times: the gaps are one round long" \
    holds '. as $r | [.points[] | select(.misses_per_second < 0.5 * $r.misses_per_second)][0].size_bytes / ($r.cache_bytes + 64 * $round * $r.misses_per_second) | . > 0.7 and . < 1.9'
step "reuse times: the list and the status show how the curves agree" within 20 answers \
    '.agreement.reuse_difference > 0 and .agreement.processes == 1 and .reuse_reason == null' mtl status --json
step "reuse times: also for people" sh -c 'mtl list | grep -q REUSE && mtl status | grep -q "reuse times differ by"'
step "reuse times: the target is alive" alive "$pid"
stop refault
stop mtld
steps_total
