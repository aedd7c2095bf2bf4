#!/bin/sh
# SPDX-License-Identifier: MIT
#
# real_steps.sh SECONDS PROGRAM...: runs where watchpoints fire, started by real.sh. Of each real program (units.sh),
# doing its units over and over in one process, the curve after SECONDS and the CPU time of a unit:
# OUT/PROGRAM.json, OUT/PROGRAM.unit; and the pages it references in a second, OUT/PROGRAM.referenced.

set -eu
. tests/bench/units.sh
seconds=$1
shift
work=$(mktemp -d)
export MTL_SOCKET=$work/socket LC_ALL=C PYTHONHASHSEED=0 redis_socket=$work/redis.sock
clean_up() {
    kill ${target:-} ${feeder:-} ${daemon:-} 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# defaults, but what an emulated machine has to be given (tests/machine/inside.sh): observations come a quarter as
# often there, so they are collected, and remembered, for four times as long
if [ "$MTL_MACHINE" = emulated ]; then
    seconds=$((4 * seconds))
    cp /etc/mtld/mtld.conf "$work/mtld.conf"
    echo "window_seconds = $seconds" >>"$work/mtld.conf"
else
    : >"$work/mtld.conf"
fi
mtld --socket "$MTL_SOCKET" --config "$work/mtld.conf" 2>"$OUT/mtld.log" &
daemon=$!
until mtl status >/dev/null 2>&1; do sleep 0.1; done
cd "$work"
make_inputs .

cpu_of() { awk '{ printf "%.6f\n", $1 / 1e9 }' "/proc/$1/schedstat"; }

redis_up() {
    eval "exec $(unit_command redis-server 1)" >/dev/null 2>&1 &
    target=$!
    until [ "$(redis-cli -s "$redis_socket" ping 2>/dev/null)" = PONG ]; do sleep 0.1; done
    feed_units 1
}

forever() { while :; do feed_units 1; done; }

# CPU seconds of a unit: those of some more than 2 less those of 2
more=$([ "$MTL_MACHINE" = emulated ] && echo 4 || echo 200)
unit_seconds() { # PROGRAM
    if [ "$1" = redis-server ]; then
        redis_up
        before=$(cpu_of $target)
        feed_units $more
        after=$(cpu_of $target)
        kill $target
        wait $target || true
        echo "$before $after $more" | awk '{ print ($2 - $1) / $3 }'
        return
    fi
    for n in 2 $((2 + more)); do
        # shellcheck disable=SC2046
        eval usage "$work/usage" $(unit_command "$1" $n) >/dev/null 2>&1
    done
    awk -v more=$more '{ v[NR] = $1 } END { print (v[2] - v[1]) / more }' "$work/usage"
    rm "$work/usage"
}

run() { # PROGRAM
    if [ "$1" = redis-server ]; then
        redis_up
        forever &
        feeder=$!
    else
        # shellcheck disable=SC2046
        eval exec_in_background $(unit_command "$1" 20000)
    fi
}

exec_in_background() {
    "$@" >/dev/null 2>&1 &
    target=$!
}

# The working set as the kernel's Referenced bits have it: KiB of pages touched within so many seconds.
referenced_within() { # SECONDS PID
    echo 1 >"/proc/$2/clear_refs"
    sleep "$1"
    awk '/^Referenced:/ { print $2 }' "/proc/$2/smaps_rollup"
}

for program; do
    unit_seconds "$program" >"$OUT/$program.unit"
    run "$program"
    sleep 1
    mtl track "$target"
    sleep "$seconds"
    mtl curve "$target" --json --reference 256K --record "$OUT/$program.record" \
        --sizes 32K,46336,64K,92672,128K,185344,256K,370752,512K,741440,1M,1482880,2M,2965824,4M,5931648,8M,11863296,16M,23726592,32M \
        >"$OUT/$program.json" || echo "no curve of $program" >&2
    mtl untrack "$target"
    referenced_within 1 $target >"$OUT/$program.referenced"
    kill $target ${feeder:-} 2>/dev/null || true
    wait $target 2>/dev/null || true
    feeder=
    echo "$program: $(cat "$OUT/$program.unit") s a unit, $(jq -r .observations "$OUT/$program.json") observations" >&2
done
target=
