#!/bin/sh
# SPDX-License-Identifier: MIT
#
# steps.sh PAIRS WINDOW SETTLE: runs where watchpoints fire, started by run.sh.

set -eu
pairs=$1
window=$2
settle=$3
work=$(mktemp -d)
MTL_SOCKET=$work/socket
export MTL_SOCKET

clean_up() {
    kill ${target:-} ${daemon:-} 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# with the defaults, whatever the machine's mtld.conf has: what they promise is measured
start_daemon() {
    : >"$work/mtld.conf"
    mtld --socket "$MTL_SOCKET" --config "$work/mtld.conf" 2>"$work/mtld.log" &
    daemon=$!
    until mtl status >/dev/null 2>&1; do
        kill -0 $daemon 2>/dev/null || { cat "$work/mtld.log" >&2; exit 4; }
        sleep 0.1
    done
}

start_target() { # WORKLOAD-ARGS...
    workload "$@" --progress "$work/progress" >"$work/target" &
    target=$!
    sleep 2
}

stop_target() {
    kill $target
    wait $target || true
    target=
}

# percentage with two digits
percent() { awk "BEGIN { printf \"%.2f %%\", 100 * $1 }"; }

field() { jq -r ".$1" "$work/row"; }

row() { # NAME WORKLOAD-ARGS...
    name=$1
    shift
    start_target "$@"
    paired "$MTL_SOCKET" "$work/progress" "$target" "$pairs" "$window" "$settle" >"$work/row"
    stop_target
    switches=$(jq -r '.switches_per_second | floor' "$work/target")
    printf '| %s | %s | %s | %s .. %s | %s of %s | %s | %s |\n' "$name" "$switches" \
        "$(percent "$(field slowdown)")" "$(percent "$(field low)")" "$(percent "$(field high)")" \
        "$(field grown)" "$(field pairs)" "$(percent "$(field mtld_tracking)")" \
        "$(percent "$(field mtld_idle)")"
}

milliseconds() { # COMMAND...: of wall-clock time; "none" when it failed
    before=$(date +%s%N)
    if "$@" >/dev/null 2>&1; then
        echo $((($(date +%s%N) - before) / 1000000))
    else
        echo none
    fi
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

answer_times() {
    start_target scan --working-set 16M
    for i in 1 2 3 4 5; do
        milliseconds mtl curve "$target" --json >>"$work/first"
        for j in 1 2 3 4 5 6 7 8 9 10; do
            milliseconds mtl curve "$target" --json >>"$work/again"
            milliseconds mtl --version >>"$work/nothing"
        done
        mtl untrack "$target"
    done
    stop_target
    echo
    echo "First curve after tracking starts: $(median <"$work/first") ms (median of 5)."
    echo "mtl curve answers in $(median <"$work/again") ms (median of 50), of which starting a" \
        "program takes $(median <"$work/nothing") ms."
}

start_daemon
echo "machine: ${MTL_MACHINE:-native}, $(uname -r), $(nproc) CPUs; $pairs pairs of $window s windows"
mtl status --json | jq -r '.calibration | "calibration: \(.method), \(.slots) slots, trap \(.trap_seconds * 1e6 | round) us, arm \(.arm_seconds * 1e6 | round) us, shift \(.shift_seconds * 1e6 | round) us, resolution \(.resolution_seconds * 1e6 | round) us"'
echo
echo '| workload | switches/s | slowdown | 90 % interval | observations grew | mtld tracking | mtld idle |'
echo '|---|--:|--:|--:|--:|--:|--:|'
row 'scan 512K' scan --working-set 512K
row 'random 512K' random --working-set 512K
row 'scan 16M' scan --working-set 16M
row 'memcpy 16M' memcpy --working-set 16M
row 'chase 8M' chase --working-set 8M
row 'hot word' hot --working-set 64K
row 'system calls' calls --working-set 512K
# fewer and longer windows: how often it is observed there changes from second to second
pairs=$(((pairs + 4) / 5)) window=$(awk "BEGIN { print 10 * $window }") settle=3
row 'pingpong, 20,000 a second' pingpong --switches 20000 --working-set 512K
row 'pingpong' pingpong --working-set 512K
answer_times
