#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-top: `mtl top` on a terminal (tmux), driven by keys, beside a stand-in for mtld whose answers
# are made up. Every step waits until the screen shows what it should, and fails when it never does.

set -u
command=
cd "$(dirname "$0")/../.." || exit 1
. tests/steps.sh
. tests/mtl_steps.sh

terminals=0
tmux=
socket=$work/io.mtld
scenario=$work/scenario
stub=
trap '[ -z "$tmux" ] || $tmux kill-server 2>/dev/null; [ -z "$stub" ] || kill "$stub" 2>/dev/null; rm -rf "$work"' EXIT

processes() { # JSON of processes, comma-separated: written as a whole, since the stand-in reads it at any time
    printf '{"processes": [%s]}\n' "$1" >"$scenario.new" && mv "$scenario.new" "$scenario"
}

redis='{"pid": 101, "comm": "redis-server", "misses": [[4194304, 9e6]], "cpu_seconds": 50}'
postgres='{"pid": 202, "comm": "postgres", "misses": [[262144, 3e6]], "footprint_bytes": 9437184}'
early='{"pid": 303, "comm": "bzip2", "observations": 12}'
strange='{"pid": 150, "comm": "strange", "answers": {"parameters": {"curve": {"points": 7}}}}'
empty='{"pid": 151, "comm": "empty", "answers": {"parameters": {}}}'
foreign='{"pid": 160, "comm": "größe-東京", "misses": [[4194304, 9e6]]}'
paused='{"pid": 404, "comm": "traced", "state": "paused", "reason": "a debugger is attached", "observations": 80}'
processes "$redis, $postgres, $early, $paused"

mtld() {
    tests/stub_mtld.py "$socket" "$scenario" >"$work/stub.log" 2>&1 &
    stub=$!
    within 10 test -S "$socket" || die "no stand-in for mtld: $(cat "$work/stub.log")"
}

screen() { $tmux capture-pane -p; }

on_screen() { # PATTERN...
    screen >"$work/screen"
    for pattern in "$@"; do
        grep -qE -- "$pattern" "$work/screen" || { echo "not shown: $pattern"; cat "$work/screen"; return 1; }
    done
}

shows() { within 10 on_screen "$@"; }

keys() { $tmux send-keys "$@"; }

press() { # KEY PATTERN...
    keys "$1"
    shift
    shows "$@"
}

start() { # COLUMNS LINES ENVIRONMENT ARG...: in a terminal of a server of its own, since one that ends takes its time; the shell that ran it says how it ended
    columns=$1
    lines=$2
    environment=$3
    shift 3
    [ -z "$tmux" ] || $tmux kill-server
    terminals=$((terminals + 1))
    tmux="tmux -L mtl-check-$$-$terminals -f /dev/null"
    $tmux -u new-session -d -x "$columns" -y "$lines" \
        "env -u NO_COLOR $environment '$mtl' --socket '$socket' top $*; echo ended \$?; sleep 60"
}

# the process of the line whose letters are reversed; attributes go on from one line to the next
selected() {
    $tmux capture-pane -p -e | awk '{ plain = ""; marked = 0
        while (match($0, /\033\[[0-9;]*m/)) {
            if (RSTART > 1 && on) marked = 1
            plain = plain substr($0, 1, RSTART - 1)
            codes = ";" substr($0, RSTART + 2, RLENGTH - 3) ";"
            if (codes ~ /;0?;|;27;/) on = 0
            if (codes ~ /;7;/) on = 1
            $0 = substr($0, RSTART + RLENGTH)
        }
        if (length && on) marked = 1
        split(plain $0, words, " ")
        if (marked && NR > 3) { print words[1]; exit } }'
}

selected_is() { [ "$(selected)" = "$1" ] || { echo "selected: $(selected)"; screen; return 1; }; }

selects() { within 10 selected_is "$1"; } # PID

order_is() { # PID...
    seen=$(screen | awk '$1 ~ /^[0-9]+$/ && NR > 3 { printf "%s%s", s, $1; s = " " }')
    [ "$seen" = "$*" ] || { echo "order: $seen"; screen; return 1; }
}

in_order() { within 10 order_is "$@"; } # PID...: lines from above

fits() { # COLUMNS LINES: nothing is wider, the keys are in the last line, no number runs into another
    shows "q quit" >/dev/null || { screen; return 1; }
    screen >"$work/screen"
    [ "$(LC_ALL=C.UTF-8 wc -L <"$work/screen")" -le "$1" ] &&
        [ "$(grep -n 'q quit' "$work/screen" | cut -d: -f1)" = "$2" ] || { cat "$work/screen"; return 1; }
}

in_ascii() { shows 'redis-serve.*#' && ! LC_ALL=C grep -q '[^ -~]' "$work/screen" || { cat "$work/screen"; return 1; }; }
no_colour() { ! $tmux capture-pane -p -e | grep -qE "$(printf '\033')\[[0-9;]*(3[0-7]|4[0-7])m"; }
restored() { # the terminal is as before: the prompt's text is there, the cursor shown
    shows 'ended 0' && [ "$($tmux display-message -p '#{cursor_flag}')" = 1 ]
}

mtld
start 80 24 LC_ALL=C.UTF-8
step "it starts" shows 'mtl top +4 of 4 processes by cpu' 'PID COMMAND' 'redis-serve'
step "curves come" shows '101 .*[▁█]' '202 .*[▁█]' 'L2 1M'
step "too few observations, a pause" shows '303 .* 12 of 60' '404 .* paused'
step "80 columns, 24 lines" fits 80 24
step "what the curve says" shows 'holds? its working set'
step "by the pid" press '<' 'by command'
keys '<'
step "in its order" in_order 101 202 303 404
step "the other way round" press r 'reversed'
step "in that order" in_order 404 303 202 101
keys r
step "the first is selected" selects 101
keys Down j
step "down" selects 303
keys Up
step "up" selects 202
step "a curve" press Enter 'postgres \(pid 202\)' 'misses per second of CPU time' '90 % interval|below resolution'
step "with its numbers" press t 'FILLS IN'
step "the next one has none yet" press n '12 of 60'
step "and back" press Escape 'q quit' '101'
step "a filter" press / 'only with: _'
keys o s t
step "as it is typed" in_order 202
keys Enter
step "it stays" shows 'only with: post|only with: ost'
keys Escape
step "all again" in_order 101 202 303 404
step "help" press h 'the curve of the selected process'
step "its end" press NPage 'MISS@L2' 'the last column'
keys Escape
$tmux resize-window -x 44 -y 12
step "a narrow window" fits 44 12
$tmux resize-window -x 20 -y 5
step "a tiny one" shows 'too small'
$tmux resize-window -x 132 -y 40
step "a wide one" fits 132 40
step "columns that had no room" shows 'FILL LL' 'debugger is attached'
processes "$redis, $early"
step "who ends goes" in_order 101 303
processes ""
step "nobody is tracked" shows 'mtl track PID'
processes "$redis"
shows '^ *101 ' >/dev/null
kill $stub
wait $stub 2>/dev/null
rm -f "$socket"
step "mtld goes away: what is listed is old, why, and what to do" \
    shows 'mtld is not reached: this is as it last was' '^ *101 ' 'mtld is not running at .*io.mtld' 'mtl doctor'
mtld
step "and comes back" shows '1 of 1 processes' '101 .*[▁█]'
keys q
step "quit" restored

kill $stub
wait $stub 2>/dev/null
rm -f "$socket"
start 60 24 LC_ALL=C.UTF-8
step "no mtld from the start: that is said in full, over lines" \
    shows 'mtld is not reached *$' 'mtld is not running at' 'systemctl start mtld' 'mtl doctor' 'every second; q ends this'
mtld
step "it is found when it comes" shows '101 .*[▁█]'
keys q

start 80 24 "LC_ALL=C TERM=vt100" --sort pid --filter redis
step "no UTF-8, no colours" in_ascii
step "none are used" no_colour
keys C-c
step "interrupted" restored
processes "$strange, $empty, $postgres"
start 132 24 LC_ALL=C.UTF-8 --sort pid
step "an answer that cannot be read" shows '150 .*cannot be read' '151 .*cannot be read'
step "... costs only that curve" shows '202 .*[▁█]'
step "... the line is there all the same" selects 150
processes '{"pid": 150, "comm": "strange", "misses": [[4194304, 9e6]]}'
step "... which comes when it can be" shows '150 .*[▁█]'
keys q
step "quit again" restored

processes "$foreign, $redis"
start 80 24 LC_ALL=C.UTF-8 --sort pid
step "names that are not ASCII" shows '^ *160 größe-東京  +[0-9-]+ +32M' '160 .*[▁█]'
keys /
keys -l ö
step "... in the filter" shows 'only with: ö_' '1 of 2'
keys BSpace
step "... which loses the whole letter" shows 'only with: _' '2 of 2'
keys -l 東
step "... two columns wide" shows 'only with: 東_' '1 of 2'
keys Escape
keys q
step "quit once more" restored
start 80 24 LC_ALL=C --sort pid
step "... without UTF-8" shows '160 gr[?][?][?][?]e-'
keys q

start 80 24 TERM=dumb
step "a terminal without a cursor" shows "of type 'dumb' cannot place its cursor" 'mtl list' 'ended 1'
start 80 24 TERM=nonsense
step "an unknown terminal" shows "cannot use a terminal of type 'nonsense'" 'ended 1'
step "no terminal" refuses 2 'no terminal; use .mtl list --json' --socket "$socket" top
step "an unknown column" sh -c "script -qec '$mtl top --sort size' /dev/null | grep -q 'there are pid, command, cpu'"
steps_total
