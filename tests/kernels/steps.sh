#!/bin/sh
# SPDX-License-Identifier: MIT
#
# steps.sh CPUS: runs on Debian 12's kernel. The workload's footprint is known; the bounds are wide
# because the machine's clocks are at the mercy of what else the host does, and miss rates are only
# compared with each other.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

cpus=$1
working_set=2097152

kernel_is() { # PATTERN CPUS
    uname -r | grep "^$1" && [ "$(grep -c ^processor /proc/cpuinfo)" = "$2" ] || { uname -a; return 1; }
}

holds() { # EXPRESSION: of the curve, with $ws the working set
    jq -es --argjson ws $working_set ".[0] | $1" "$OUT/curve" >/dev/null || { jq -c 'del(.footprint)' "$OUT/curve"; return 1; }
}

is_content() {
    ! dmesg | grep -E 'BUG:|WARNING:|Oops|Call Trace|soft lockup|self-detected stall'
}

curve() {
    answers . mtl run --json --duration 10 --sizes 512K,1M,4M -- workload scan --working-set 2M
    result=$?
    cp "$work/out" "$OUT/curve"
    return $result
}

step "$cpus cpu: it is Debian's 6.1, with that many" kernel_is 6.1. "$cpus"
step "$cpus cpu: mtl doctor: watchpoints work" answers '.chosen == "watchpoints"' mtl doctor --json
step "$cpus cpu: mtl run prints one object" curve
step "$cpus cpu: the rung is watchpoints" holds '.rung == "watchpoints"'
step "$cpus cpu: enough observations" holds '.observations >= 50'
step "$cpus cpu: the footprint is that of the scan" \
    holds '.footprint_bytes > 0.6 * $ws and .footprint_bytes < 1.6 * $ws'
step "$cpus cpu: misses below the working set" \
    holds '(.points | length) == 3 and .points[0].misses_per_second > 0'
step "$cpus cpu: hardly any above it" \
    holds '.points[2].misses_per_second < 0.3 * .points[0].misses_per_second'
step "$cpus cpu: every point lies in its interval" \
    holds '.points | all(.low <= .misses_per_second and .misses_per_second <= .high)'
start_mtld
start threads workload scan --working-set 2M --threads 4 --private
# Each thread has a quarter of the set: the first observations give a window in which not all have run.
# Asked again and again: a busy host can hold up an answer for too long.
step "$cpus cpu: four threads: a curve" within 120 answers '.observations >= 100 and
    .footprint_bytes > 0.6 * 2097152 and .footprint_bytes < 2 * 2097152' mtl curve "$pid" --json
step "$cpus cpu: the target is alive" alive "$pid"
stop threads
stop mtld

unit_test() { # NAME
    LD_LIBRARY_PATH=/run/programs "$@"
}

# page faults as address samples, with the smallest ring there is
sampled_faults() {
    echo 'address_samples = page-faults' >>/etc/mtld/mtld.conf
    echo 'ring_bytes = 4096' >>/etc/mtld/mtld.conf
    start_mtld
    start faults workload fresh --working-set 4M
    mtl track "$pid" && within 20 events '.delivered > 100'
}

events() { # EXPRESSION: true of the one event of address samples
    answers "(.address_samples | length) == 1 and (.address_samples[0] | $1)" mtl status --json
}

all_told() {
    events '.samples == .foreign + .zero + .kernel + .filtered + .delivered + .lost' && mtl status
}

# a CPU that goes loses its event, one that comes gets it
cpu_comes_and_goes() {
    cpu=/sys/devices/system/cpu/cpu1/online
    echo 0 >$cpu && within 10 events '.cpus == 1' || return 1
    echo 1 >$cpu && within 10 events '.cpus == 2'
}

step "$cpus cpu: a flood of page faults: delivered and lost make up what was produced" unit_test test_address_source
step "$cpus cpu: page fault, address sample, heat, watch, reuse time" unit_test test_address_heat
step "$cpus cpu: events of every CPU: hotplug, periods, throttling, a killed daemon" unit_test test_cpu_events
step "$cpus cpu: page faults as address samples" sampled_faults
step "$cpus cpu: what became of each is told" all_told
step "$cpus cpu: what they heat is watched" within 20 answers '.processes | any(.observations >= 5)' mtl list --json
[ "$cpus" = 1 ] || step "$cpus cpu: a CPU goes and comes back" cpu_comes_and_goes
stop faults
stop mtld
step "$cpus cpu: the kernel has nothing to complain about" is_content
steps_total
