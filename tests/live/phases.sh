#!/bin/sh
# SPDX-License-Identifier: MIT
#
# phases.sh GROUP...: programs that change, seen to change. `quick` takes a minute; `slow` has
# the programs of the accuracy run: turns every 5 s between 1 MB and 24 MB, and one from 4 to 32 MB. What counts
# is how long a pass takes beside what the instrument can tell apart: emulated memory is two orders slower, so
# there all sizes are an eighth.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

part=1
[ "$MTL_MACHINE" != emulated ] || part=8

# curve EXPRESSION: of the target, kept in $OUT
curve() {
    mtl curve "$target" --json --wait 20 --sizes 64K,512K,2M,8M,40M >"$OUT/curve.json" 2>"$work/err" || { cat "$work/err"; return 1; }
    jq -c '[.cpu_seconds, .observations, .phase_seconds, .phase_changes, .phase_reason, .footprint_bytes]' \
        "$OUT/curve.json" >>"$OUT/curves"
    is_true "$1" "$OUT/curve.json" || { tail -n 12 "$OUT/curves"; return 1; }
}

# Its latest turn was seen: since it, and not since long before; the curve holds what came after.
has_turned() { curve ".phase_seconds != null and .phase_seconds < $1 and .phase_changes >= 1"; }

target_turns() { # SECONDS MIB...
    length=$1
    shift
    start target turns "$length" $(for mib in "$@"; do jq -n "$mib / $part"; done)
    target=$pid
    mtl track "$target"
}

turned_to() { # N: the N'th turn was made
    [ "$(wc -l <"$work/target.out")" -ge "$1" ]
}

quick() {
    start_mtld
    step "a program that changes: mtl track" target_turns 8 1 16
    target=$(cat "$work/target.pid") # a step is a shell of its own
    step "it turns" within 60 turned_to 2
    step "within 10 s of its time the curve says so" within 60 has_turned 10
    step "in words too" says_changed
    step "its history has a change" within 90 history_has_change
    stop target
    stop mtld
}

says_changed() {
    run mtl curve "$target"
    grep -qE '^changed .* ago \(.*\): the window holds what came since$' "$work/out" || shown
}

history_has_change() {
    mtl curve "$target" --history --json --sizes 512K,8M >"$OUT/history.json" &&
        is_true '(.entries | length > 0 and any(.changed)) and (.sizes == [524288, 8388608])' "$OUT/history.json" ||
        { cat "$OUT/history.json"; return 1; }
}

# --- slow

bytes_between() { curve ".footprint_bytes * $part > $1 * 1048576 and .footprint_bytes * $part < $2 * 1048576 and .phase_seconds != null and .phase_seconds < 12"; }

slow() {
    start_mtld
    target_turns 20 4 32
    within 120 turned_to 2
    begin=$(jq -n "$(tail -n 1 "$work/target.out" | cut -d' ' -f1)")
    step "from 4 to 32 MB: the curve has moved and says so" within 60 bytes_between 24 44
    echo "$(jq -c "[.cpu_seconds - $begin, .phase_seconds, .footprint_bytes]" "$OUT/curve.json")" >"$OUT/moved.json"
    step "within 10 s of its time" is_true '.[0] < 10' "$OUT/moved.json"
    cat "$OUT/moved.json"
    stop target
    target_turns 5 1 24
    for turn in 2 3 4 5 6 7; do
        within 60 turned_to $turn
    done
    step "turns every 5 s: it is said that it turns" within 60 curve '.phase_changes >= 2 and .phase_seconds < 10'
    stop target
    stop mtld
}

for group in "$@"; do
    $group
done
steps_total
