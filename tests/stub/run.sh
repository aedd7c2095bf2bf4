#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-stub: `mtl stub` as people call it: what it says of the paper's example and of a random
# one, ten times each; bad files; the curve of phases beside `mtl trace`; a stub recorded, and replayed.
# Bytes are exact on every machine; times are what a busy machine lets them be, so here their bounds
# are wide; docs/BENCHMARKS.md has the figures.

set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/steps.sh
. tests/mtl_steps.sh

command=stub

file() { # NAME LINE...: a file of these lines
    name=$1
    shift
    printf '%s\n' "$@" >"$work/$name"
}

file paper.csv time_us,stack_bytes,heap_bytes 129,300,0 223,100,200 384,-100,-40 112,-300,-160

# 20 points of any size, the same every time
awk 'BEGIN { srand(7); print "time_us,stack_bytes,heap_bytes"
    for (i = 1; i <= 20; i++) { s = i < 20 ? int(rand() * 60000) : 0; h = i < 20 ? int(rand() * 200000) : 0
        print int(500 + rand() * 4500) "," s - a "," h - b; a = s; b = h } }' >"$work/random.csv"

# --- verified

# the members that docs/PROTOCOL.md promises
members='(.points[0] | keys) == ["line", "measured_heap_bytes", "measured_seconds", "measured_stack_bytes",
    "phase_seconds", "requested_heap_bytes", "requested_seconds", "requested_stack_bytes"] and
    (.max_deviation | keys) == ["heap_bytes", "stack_bytes", "time_fraction"] and .clock == "cpu"'
exact='all(.points[]; .measured_stack_bytes == .requested_stack_bytes and
    .measured_heap_bytes == .requested_heap_bytes) and .max_deviation.stack_bytes == 0 and
    .max_deviation.heap_bytes == 0'

ten_times() { # FILE: exact to the byte, never early, and mostly on time
    for i in 1 2 3 4 5 6 7 8 9 10; do
        "$mtl" stub "$work/$1" --json || return 1
    done >"$work/ten"
    jq -es "length == 10 and all($exact and all(.points[]; .measured_seconds > .requested_seconds - 1e-8))
        and (map(.total_time_fraction) | sort | .[4] < 0.01)" "$work/ten" >/dev/null ||
        { jq -c '[.max_deviation, .total_time_fraction]' "$work/ten"; return 1; }
}

step "what a stub says" answers "$members" "$work/paper.csv"
step "the paper's example, ten times: exact to the byte" ten_times paper.csv
step "20 random points, ten times: exact to the byte" ten_times random.csv
step "not calibrated: off, and said" answers '.max_deviation.stack_bytes > 100 and .max_deviation.heap_bytes >= 8 and
    .calibration == null and .points[-1].measured_stack_bytes == 0' "$work/paper.csv" --no-calibration
step "over and over" answers "$exact and .cpu_seconds > 20 * 848e-6" "$work/paper.csv" --repeat 20
file rows.json '{"points":[{"time_us":50,"heap_KiB":100},{"time_us":50,"heap_bytes":-102400}]}'
spreadsheet() { # a mark, quotes, carriage returns, no end
    printf '\357\273\277"time_us","stack_bytes","heap_bytes"\r\n129,300,0\r\n223,100,200\r\n384,-100,-40\r\n112,-300,-160' \
        >"$work/sheet.csv"
    answers "$exact and .points[2].requested_heap_bytes == 160" "$work/sheet.csv"
}
step "a file as spreadsheets write it" spreadsheet
step "a file of JSON" answers "$exact and .points[0].line == null" "$work/rows.json"
table() {
    run "$work/paper.csv" --verify
    [ "$status" = 0 ] && [ ! -s "$work/err" ] && grep -qE '^line 3 .* 400 +400 +200 +200 ' "$work/out" &&
        grep -q 'off by at most 0 bytes of stack, 0 bytes of heap' "$work/out" || shown
}
step "a table" table
what_was_kept() { # is measured again where it cannot be right, or is no file
    kept=$work/state/stub-calibration.json
    STATE_DIRECTORY=$work/state
    export STATE_DIRECTORY
    "$mtl" stub --calibrate >/dev/null && cp "$kept" "$work/kept" || return 1
    for cost in 1e308 -1 5; do
        jq ".stack_fault_seconds = $cost" "$work/kept" >"$kept"
        answers '.calibration | .stack_fault_seconds >= 0 and .stack_fault_seconds < 0.1' "$work/paper.csv" || return 1
    done
    rm "$kept" && mkfifo "$kept" && timeout 20 "$mtl" stub "$work/paper.csv" >/dev/null && [ -f "$kept" ]
    result=$?
    unset STATE_DIRECTORY
    return $result
}
step "a calibration that cannot be right" what_was_kept
step "what it costs here" answers '.stack_call_bytes > 0 and .heap_header_bytes > 0 and .heap_fault_seconds >= 0 and
    (.heap_padding_bytes | length) == 16' --calibrate

resident() { # while there are 64M of heap and 8M of stack they are there
    file large.csv time_ms,stack_MiB,heap_MiB 0,8,64 3000,-8,-64
    "$mtl" stub "$work/large.csv" >/dev/null &
    stub=$!
    i=0
    until [ "$(awk '/^RssAnon/ { print $2 }' "/proc/$stub/status")" -gt 73000 ]; do
        i=$((i + 1))
        [ $i -lt 100 ] || { grep -E 'RssAnon|VmStk' "/proc/$stub/status"; kill $stub; return 1; }
        sleep 0.1
    done
    grep -E 'VmStk:.* (8[2-9]|9)[0-9][0-9] kB' "/proc/$stub/status"
    kill $stub
}
step "memory is really there" resident

# --- what is wrong

bad() { # PATTERN LINE...
    pattern=$1
    shift
    file bad.csv "$@"
    refuses 1 "bad.csv: $pattern" "$work/bad.csv"
}
head=time_us,stack_bytes,heap_bytes
step "stack below zero" bad 'line 3: the stack comes to -1 bytes' $head 1,5,0 1,-6,0
step "heap below zero" bad 'line 4: the heap comes to -2 bytes' $head 1,0,5 1,0,0 1,0,-7
step "an unknown column" bad "line 1: there is no column 'colour'" $head,colour 1,2,3,4
step "a number too large" bad "line 2: '99999999999999999999' is out of range" $head 1,2,99999999999999999999
step "more than there is" bad 'line 3: memory .* are available' heap_GiB 0 8191
step "more stack than there can be" bad 'line 2: the stack comes to 4G' stack_GiB 4
step "no number" bad "line 2: 'NaN' is no number" $head NaN,0,0
cut_off() {
    printf '%s\n1,2,3\n1,2' $head >"$work/cut.csv"
    refuses 1 'cut.csv: line 3: it has 2 columns' "$work/cut.csv"
}
step "cut off" cut_off
empty() {
    : >"$work/empty.csv"
    refuses 1 'empty.csv: line 1: the file is empty' "$work/empty.csv"
}
step "empty" empty
step "no such file" refuses 1 'No such file' "$work/nowhere.csv"
step "nothing to do" refuses 2 'FILE is missing'
step "nothing is allocated before it is refused" sh -c '
    cd "$1" && printf "heap_MiB\n512\n-513\n" >late.csv && (ulimit -v 2000000; "$2" stub late.csv) 2>&1 |
        grep "line 3: the heap comes to" && (ulimit -v 200000; "$2" stub late.csv) 2>&1 |
        grep "line 2: memory .* are available"' sh "$work" "$mtl"
step "what ends above zero is not repeated" refuses 1 'line 3: stack and heap end at' \
    "$(file up.csv heap_bytes 1 2; echo "$work/up.csv")" --repeat 2

# --- the curve of phases

file phases.csv pattern,working_set_KiB,repeats,stride_bytes scan,64,3, stride,128,4,128 chase,256,2,
"$mtl" stub "$work/phases.csv" --emit-truth >"$work/truth.json"
step "a curve" jq -e '.format == "stub" and .deviation == 0 and .distinct == 6144 and .points[-1].fill_time_accesses == null' \
    "$work/truth.json"
# the same accesses, written down here: each phase has memory of its own; chase is any one order
same_as_trace() {
    perl -e '$base = 0;
        sub at { print pack("Q<", $base + $_[0]) }
        for (1 .. 3) { at(8 * $_) for 0 .. 8191 } $base += 1 << 20;
        for (1 .. 4) { at(128 * $_) for 0 .. 1023 } $base += 1 << 20;
        for (1 .. 2) { at(64 * (($_ * 1237) % 4096)) for 0 .. 4095 }' >"$work/phases.u64"
    "$mtl" trace "$work/phases.u64" --json --sizes "$(jq -r '[.points[].size_bytes] | join(",")' "$work/truth.json")" \
        >"$work/trace.json" || return 1
    jq -es '.[0] as $t | .[1] as $u | $t.accesses == $u.accesses and $t.distinct == $u.distinct and
        ([$t.points, $u.points] | transpose | all((.[0].miss_ratio - .[1].miss_ratio | fabs) < 1e-12 and
        .[0].size_bytes == .[1].size_bytes))' "$work/truth.json" "$work/trace.json"
}
step "the one that mtl trace sees" same_as_trace
step "mtl share and mtl partition take it" sh -c '"$1" share "$2" "$3" --size 256K --json >/dev/null &&
    "$1" partition "$2" "$3" --ways 4 --size 256K --json >/dev/null' sh "$mtl" "$work/truth.json" "$work/trace.json"
beside_the_run() {
    run "$work/phases.csv" --emit-truth="$work/beside.json" --json
    [ "$status" = 0 ] && cmp "$work/beside.json" "$work/truth.json" || shown
    # whoever else is given the processor meanwhile, and whenever: rows without a time take their phase's, and no more
    for i in 1 2 3 4 5 6 7 8 9 10; do
        run "$work/phases.csv" --json
        jq -e 'all(.points[]; .phase_seconds > 0)' "$work/out" >/dev/null || shown || return 1
    done
}
step "into a file, beside the run" beside_the_run
step "no phase, no curve" refuses 1 'has no access phase' "$work/paper.csv" --emit-truth

# --- recorded

recorded() { # 20M, then 20M more, then nothing, as an observer has it who comes a little late
    file slow.csv time_ms,heap_MiB,stack_KiB 0,20,256 600,20,-256 600,-40,0
    "$mtl" stub "$work/slow.csv" >/dev/null &
    stub=$!
    "$mtl" stub --from $stub --interval 0.02 >"$work/recorded.csv"
    wait $stub
    awk -F, 'NR > 1 { heap += $3; stack += $2; time += $1; if (heap > most) most = heap; if (stack > deep) deep = stack }
        END { print most, deep, time; exit !(most >= 40 * 1048576 && most < 43 * 1048576 && deep >= 262144 &&
        deep < 500000 && time > 3e5 && time < 1.5e6) }' "$work/recorded.csv" &&
        answers "$exact" "$work/recorded.csv"
}
step "a process recorded and replayed" recorded
step "nobody there" refuses 1 'there is no process 4194304' --from 4194304
step "no number of a process" refuses 2 "'me' is not a process number" --from me

steps_total
