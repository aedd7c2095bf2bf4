#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Reuse times through mtld itself, with page faults in the place of a PMU's misses: a fault begins a
# visit, its watch sees the next round (tests/live/refault.c). Needs a machine with an exact clock.
# Of the known truth: as many misses a second as lines are born, as long as a cache holds less than
# what is born within a round; none when it holds more.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

printf '%s\n' 'address_samples = page-faults' 'longest_window = 0.02' >>/etc/mtld/mtld.conf

begin() {
    start_mtld
    start refault refault 524288 4 "$work/round"
    mtl track "$pid" && sleep 4
}

enough() {
    answers '.reuse.observations >= 80 and .reuse.difference != null' \
        mtl curve "$pid" --json --sizes 48K,64K,80K,96K,112K,128K,160K,192K,224K,256K,320K,384K,512K,1M,2M
    result=$?
    cp "$work/out" "$work/curve"
    return $result
}

holds() { # EXPRESSION: of the reuse times, $round the CPU time of a round
    jq -e --argjson round "$(cat "$work/round")" ".reuse | $1" "$work/curve" >/dev/null || { cat "$work/round"; jq -c '.reuse' "$work/curve"; return 1; }
}

step "reuse times: page faults begin visits" begin
step "reuse times: enough of them for a second curve" within 100 enough
step "reuse times: none is told before the visit is over" holds '.delay_seconds > 0 and .cache_bytes > 0'
step "reuse times: a cache smaller than what a round brings misses them all" \
    holds '. as $r | .points | map(select(.size_bytes > 1.2 * $r.cache_bytes and .size_bytes < $r.cache_bytes + 40 * $round * $r.misses_per_second * 0.8)) | length > 0 and all(.misses_per_second / $r.misses_per_second | . > 0.85 and . < 1.15)'
step "reuse times: a greater one hardly any" \
    holds '. as $r | .points | map(select(.size_bytes >= 1048576)) | all(.misses_per_second < 0.35 * $r.misses_per_second)'
step "reuse times: the gaps are one round long" \
    holds '. as $r | [.points[] | select(.misses_per_second < 0.5 * $r.misses_per_second)][0].size_bytes / ($r.cache_bytes + 64 * $round * $r.misses_per_second) | . > 0.7 and . < 1.9'
step "reuse times: the list and the status show how the curves agree" within 20 answers \
    '.agreement.reuse_difference > 0 and .agreement.processes == 1 and .reuse_reason == null' mtl status --json
step "reuse times: also for people" sh -c 'mtl list | grep -q REUSE && mtl status | grep -q "reuse times differ by"'
step "reuse times: the target is alive" alive "$pid"
stop refault
stop mtld
steps_total
