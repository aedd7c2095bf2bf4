#!/bin/sh
# SPDX-License-Identifier: MIT
#
# load.sh [SECONDS [CLIENTS [SILENT]]]: mtld under load (60 s, 200 clients that ask for a curve ten times a
# second each, 20 that never read): times of answers, mtld's memory, descriptors and CPU, and how many
# observations come in a second of the target's CPU time for as long before, during and after it.
# Answers do not depend on what is seen, so it runs whether watchpoints fire here or not
# (MTLD_DEBUG_CALIBRATION=assumed counts only where they do not: lines are then never seen touched, the
# work is the same).

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

within 60 "$mtl" track $target || die "not tracked"
within 60 "$mtl" curve $target --wait 60 || die "no curve"

resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$mtld/status"; }
descriptors() { ls "/proc/$mtld/fd" | wc -l; }
cpu() { awk '{ print ($14 + $15) * 10 }' "/proc/$mtld/stat"; } # milliseconds

# as mtld says it once a second, over a period: the mean goes to FILE
observing() { # FILE
    for _ in $(seq "$seconds"); do
        "$mtl" list --json | jq '.processes[0].observations_per_second // 0'
        sleep 1
    done | jq -s 'add / length * 10 | round / 10' >"$1"
}

row() { # PERIOD FILE
    printf '| %s | %s | %s ms/s | %s KiB | %s |\n' "$1" "$(cat "$2")" \
        $((($(cpu) - ticks) / seconds)) "$(resident)" "$(descriptors)"
    ticks=$(cpu)
}

echo '| | observations a CPU second | CPU of mtld | resident | descriptors |'
echo '|---|--:|--:|--:|--:|'
sleep 5 # its first curve: surveys, a pace of its own
ticks=$(cpu)
before=$(resident)
observing "$work/before"
row before "$work/before"
observing "$work/during" &
"$build/tests/bench/load" "$MTL_SOCKET" $target "$seconds" "$clients" "$silent" >"$work/answers" ||
    die "the clients ended: $(cat "$work/answers")"
wait $!
row during "$work/during"
observing "$work/after"
row after "$work/after"
cat "$work/answers"

step "every question is answered" is_true '.errors == 0 and .hung_up == 0 and .answers > 0' "$work/answers"
step "99 of 100 answers within 20 ms" is_true '.p99_ms <= 20' "$work/answers"
step "mtld has grown by less than 4 MiB" test "$(($(resident) - before))" -lt 4096
# as much as in the quieter of the two other periods, but for what a second more or less makes
step "the target is observed as before" is_true \
    "([$(cat "$work/before"), $(cat "$work/after")] | min) as \$quiet | $(cat "$work/during") > 0.7 * \$quiet" \
    "$work/answers"
steps_total
