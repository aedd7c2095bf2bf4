#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-live: the whole path through a real kernel, on a machine where watchpoints fire.
#
# accuracy.sh   curves of workloads whose curve is known
# situations.sh everything that can be wrong, and what is said then
#
# Here they run one after the other; in emulated machines, whose clocks they do not disturb, two at a
# time. What they print is shown when all have ended.

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
for program in talk ticker spawner hold_registers; do
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

# part NAME CPUS SCRIPT GROUP...
part() {
    name=$1
    cpus=$2
    shift 2
    tests/machine/run.sh --cpus "$cpus" --seconds 600 --out "$results/$name" $programs -- "$@" \
        >"$results/$name.log" 2>"$results/$name.err" || echo "$name" >>"$results/failed"
}

show() { # NAME
    cat "$results/$1.log"
    [ "$(tail -n 1 "$results/$1.log" | grep -c ' passed, ')" = 1 ] || tail -n 20 "$results/$1.err"
}

accuracy() { part accuracy 0 tests/live/accuracy.sh scan stride random mixed fresh; }
situations() {
    part situations-1 2 tests/live/situations.sh processes sockets clients
    part situations-2 0 tests/live/situations.sh privileges commands debuggers many
}

why=$(machine_obstacle)
if [ -z "$why" ]; then
    accuracy
    situations
else
    machine_prepare
    echo "$why: in emulated machines (Debian 12, qemu without KVM)"
    accuracy &
    parts=$!
    situations &
    parts="$parts $!"
    wait
fi
for log in "$results"/*.log; do
    show "$(basename "$log" .log)"
done
[ ! -e "$results/failed" ]
