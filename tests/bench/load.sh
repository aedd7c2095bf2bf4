#!/bin/sh
# SPDX-License-Identifier: MIT
#
# load.sh [SECONDS [CLIENTS [SILENT]]]: mtld under load (60 s, 200 clients that ask for a curve ten times a
# second each, 20 that never read): times of answers, mtld's memory and descriptors before, at the end and
# after, and how many observations came in a second without and with the load. Answers do not depend on
# what is seen, so it runs whether watchpoints fire here or not (MTLD_DEBUG_CALIBRATION=assumed counts
# only where they do not: lines are then never seen touched, the estimate is the same work).

set -u
cd "$(dirname "$0")/../.." || exit 1
command=
. tests/steps.sh
. tests/mtl_steps.sh
export MTL_SOCKET="$work/socket" MTLD_DEBUG_CALIBRATION=assumed
seconds=${1:-60}
clients=${2:-200}
silent=${3:-20}

trap 'kill $mtld $target 2>/dev/null; wait; rm -rf "$work"' EXIT
printf '%s\n' '[mtld]' 'max_clients = 400' >"$work/conf"
mtld= target=
"$build/mtld" --socket "$MTL_SOCKET" --config "$work/conf" 2>"$work/mtld.err" &
mtld=$!
"$build/workload" scan --working-set 16M >/dev/null 2>&1 &
target=$!

within 60 "$mtl" curve $target --wait 60 || die "no curve"

resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$mtld/status"; }
descriptors() { ls "/proc/$mtld/fd" | wc -l; }
observing() { "$mtl" list --json | jq ".processes[0].observations_per_second // 0 | round"; }
cpu() { awk '{ print ($14 + $15) * 10 }' "/proc/$mtld/stat"; } # milliseconds
state() { printf '%s: %s KiB resident, %s descriptors\n' "$1" "$(resident)" "$(descriptors)"; }

state before
ticks=$(cpu)
sleep 10
printf 'without load: %s observations a second of its CPU time, mtld %s ms a second\n' "$(observing)" $((($(cpu) - ticks) / 10))
ticks=$(cpu)
"$build/tests/bench/load" "$MTL_SOCKET" $target "$seconds" "$clients" "$silent" || exit 1
printf 'with load: %s observations a second of its CPU time, mtld %s ms a second\n' "$(observing)" $((($(cpu) - ticks) / seconds))
state "at the end"
sleep 2
state after
