#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-live: the whole path through a real kernel, on a machine where watchpoints fire:
#
# accuracy.sh   curves of workloads whose curve is known (`run.sh accuracy`: these alone, medians of 5)
# situations.sh everything that can be wrong, and what is said then
# big.sh        a small hot part of 4 GiB (`run.sh big`: this alone, medians of 5; it needs 6 GiB, and an
#               emulated machine a good hour)
#
# coverage.sh   intervals of 40 runs (`run.sh coverage`: these alone, some minutes)
# phases.sh     programs that change (`run.sh phases`: these alone, some minutes)
#
# Here the parts run one after the other; in emulated machines, whose clocks they do not disturb, two
# at a time. What a part prints is shown when it has ended. followed.sh is a check of its own: it takes
# its time, and needs no watchpoints that fire.

set -eu
cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/sbin:/sbin
. tests/steps.sh
. tests/machine/machine.sh

[ "$(id -u)" = 0 ] || die "needs root, to observe processes"
results=$build/live
rm -rf "$results"
mkdir -p "$results"
programs=
for program in talk ticker spawner turns hold_registers; do
    programs="$programs --program $build/tests/live/$program"
done

clean_up() {
    trap - INT TERM HUP
    kill $parts 2>/dev/null || true
    wait
}
parts=
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

part() { # NAME CPUS SCRIPT ARG...
    name=$1
    cpus=$2
    shift 2
    tests/machine/run.sh --cpus "$cpus" --memory "$memory" --seconds "$limit" --out "$results/$name" $programs -- "$@" \
        >"$results/$name.log" 2>"$results/$name.err" || echo "$name $?" >>"$results/failed"
    cat "$results/$name.log"
}

explain() { # NAME STATUS: what kept a part from passing
    echo "part $1 failed (status $2):"
    grep -A 12 '^FAIL' "$results/$1.log" || { tail -n 3 "$results/$1.log" && tail -n 60 "$results/$1.err"; }
}

memory=1024
limit=480
first_half() {
    part accuracy 0 tests/live/accuracy.sh 1 scan stride random mixed fresh
    part many 0 tests/live/situations.sh many
}
second_half() {
    part processes 2 tests/live/situations.sh processes sockets clients
    part commands 0 tests/live/situations.sh privileges commands debuggers
}

if [ "${1:-}" = accuracy ]; then
    first_half() { part accuracy-1 0 tests/live/accuracy.sh 5 scan stride fresh private; }
    second_half() { part accuracy-2 0 tests/live/accuracy.sh 5 random mixed phases shared; }
fi

if [ "${1:-}" = coverage ]; then
    limit=2400
    first_half() { part coverage-1 0 tests/live/coverage.sh 40 random; }
    second_half() { part coverage-2 0 tests/live/coverage.sh 40 scan; }
fi

if [ "${1:-}" = phases ]; then
    limit=1200
    first_half() { part phases-1 0 tests/live/phases.sh slow; }
    second_half() { part phases-2 0 tests/live/phases.sh quick; }
fi

if [ "${1:-}" = big ]; then
    memory=5120
    limit=7200
    first_half() { part big 0 tests/live/big.sh 5 random scan; }
    second_half() { :; }
fi

why=$(machine_obstacle)
if [ -z "$why" ]; then
    first_half
    second_half
else
    machine_prepare
    echo "$why: in emulated machines (Debian 12, qemu without KVM)"
    first_half &
    parts=$!
    second_half &
    parts="$parts $!"
    wait
fi
[ -e "$results/failed" ] || exit 0
while read -r name status; do
    explain "$name" "$status"
done <"$results/failed"
exit 1
