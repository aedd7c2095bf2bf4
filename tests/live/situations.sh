#!/bin/sh
# SPDX-License-Identifier: MIT
#
# situations.sh GROUP...: what mtl and mtld do when something is not as it should be, a function a
# group. Every step names its expectation: the exit status, the words, and what must be unharmed.

cd "$(dirname "$0")/../.." || exit 1
. tests/live/common.sh

# --- helpers

listed() { # PID EXPRESSION: true of it in mtl list
    answers ".processes | any(.pid == $1 and ($2))" mtl list --json
}

state_is() { listed "$1" ".state == \"$2\""; }
has_observations() { listed "$1" ".observations >= $2"; }

# the footprint in MiB lies between; a curve of few observations may reach no further than some milliseconds,
# in which a slow machine touches less than all, the more so where others take its processors: who asks for it at
# once asks again (within)
curve_of() { # PID LOW HIGH [OPTION...]
    low=$2
    high=$3
    pid=$1
    shift 3
    answers ".pid == $pid and .footprint_bytes > $low * 1048576 and .footprint_bytes < $high * 1048576" \
        mtl curve "$pid" --json --wait 60 "$@"
}

settled_curve() { # PID LOW HIGH [OPTION...]: when there is enough to be held to
    within 60 has_observations "$1" 120 && within 60 curve_of "$@"
}

count_goes_on() { # FILE written by ticker
    before=$(cat "$1")
    within 20 sh -c "[ \"\$(cat '$1')\" -gt $before ]"
}

# A target that needs to do no more than go round: mtl stub FILE, a word of each line
round_and_round() { # MIB: the file
    printf '%s\n' pattern,working_set_MiB,stride_bytes,repeats "stride,$1,64,1000000000" >"$work/round-$1.csv"
    echo "$work/round-$1.csv"
}

as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }

# --- processes

gone_pid() {
    sh -c 'echo $$'
}

executes() { # the same process goes on as another program
    start exec sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exec workload scan --working-set 4M'
    mtl track $pid && within 60 listed $pid '.comm == "workload"' &&
        settled_curve $pid 3.2 6
}

watch_ends() { # with the process, with status 0 and a curve
    start gone workload scan --working-set 2M
    gone=$pid
    mtl track "$gone" && within 60 mtl curve "$gone" --json || return 1
    mtl curve "$gone" --watch --json >"$work/watch.out" 2>"$work/watch.err" &
    watcher=$!
    within 30 test -s "$work/watch.out" && within 60 curve_of "$gone" 1.6 4 || return 1
    stop gone
    within 20 dead $watcher || return 1
    wait $watcher || { echo "status $?"; cat "$work/watch.err"; return 1; }
    jq -es 'length > 0 and all(.pid == '"$gone"')' "$work/watch.out" >/dev/null || { cat "$work/watch.out"; return 1; }
}

ends_too_early() {
    start brief workload scan --working-set 2M
    mtl track "$pid" && stop brief || return 1
    gives 3 'not enough yet: [0-9]+ of about [0-9]+ observations' mtl curve "$pid" --wait 3
}

processes() {
    start_mtld
    start target mtl stub "$(round_and_round 4)"
    target=$pid
    gone=$(gone_pid)
    step "no such process: track" gives 1 "there is no process $gone: it has ended, or the number is wrong" mtl track "$gone"
    step "no such process: curve" gives 1 "there is no process $gone" mtl curve "$gone"
    step "not tracked: untrack" gives 1 "process $target is not tracked" mtl untrack "$target"
    kthread=$(pgrep -o -x kthreadd || echo 2)
    step "kernel thread" gives 1 "process $kthread is a kernel thread: it has no memory of its own" mtl track "$kthread"
    step "somebody else's process: track" gives 1 'not permitted: .*; ask as its owner' as_nobody mtl track "$target"
    step "somebody else's process: curve" gives 1 'not permitted: ' as_nobody mtl curve "$target"
    step "mtl track" mtl track "$target"
    step "a tracked process gives a curve" settled_curve "$target" 3.2 6
    step "saved observations are saved" settled_curve "$target" 3.2 6 --record "$work/record"
    step "and give the same curve without mtld" \
        answers '.footprint_bytes > 3.2 * 1048576 and .points != []' mtl --socket /nowhere curve --from "$work/record" --json
    step "target executes another program: that one is observed" executes
    step "pid gone while watching: the watch ends well" watch_ends
    step "pid gone: its last curve is kept" curve_of "$(jq -s '.[0].pid' "$work/watch.out")" 1.6 4
    step "pid gone: its state is exited" state_is "$(jq -s '.[0].pid' "$work/watch.out")" exited
    step "pid gone too early: not enough" ends_too_early
    step "untrack" mtl untrack "$target"
    step "the target knows of nothing" alive "$target"
    stop exec
    stop target
    stop mtld
}

# --- privileges and what the machine lacks

without_btf() {
    unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$@"
}

capable_nobody() {
    caps=+bpf,+perfmon,+sys_ptrace,+sys_resource
    as_nobody --inh-caps $caps --ambient-caps $caps "$@"
}

paranoid() {
    old=$(cat /proc/sys/kernel/perf_event_paranoid)
    echo 3 >/proc/sys/kernel/perf_event_paranoid
    result=0
    gives 4 'sampling is impossible here: .*perf_event_paranoid at 3' capable_nobody mtl run -- true || result=1
    echo "$old" >/proc/sys/kernel/perf_event_paranoid
    return $result
}

registers_taken() {
    start holder hold_registers
    within 10 grep -q held "$work/holder.out" || { cat "$work/holder.err"; return 1; }
    gives 4 'sampling is impossible here: .*debug registers' mtl run --duration 5 -- \
        mtl stub "$(round_and_round 2)"
    result=$?
    stop holder
    return $result
}

privileges() {
    step "no privileges: mtl run" gives 4 'sampling is impossible here: .*; run mtld as root' as_nobody mtl run -- true
    step "no privileges: mtl doctor reports" answers '.chosen == "none" and any(.rungs[]; .name == "watchpoints" and .works == false and .reason != "")' \
        as_nobody mtl doctor --json
    step "no BTF: mtl run" gives 4 'sampling is impossible here: .*type information.*CONFIG_DEBUG_INFO_BTF' without_btf mtl run -- true
    # Debian's kernels know a level 3; it is a setting of the whole machine, so only of an emulated one
    [ "$MTL_MACHINE" != emulated ] || step "paranoid level 3, no CAP_SYS_ADMIN: mtl run" paranoid
    step "all debug registers taken: mtl run" registers_taken
    step "free again: mtl doctor" answers '.chosen == "watchpoints"' mtl doctor --json
}

# --- configuration and socket

bad_config() { # PATTERN LINE...
    pattern=$1
    shift
    printf '%s\n' "$@" >"$work/bad.conf"
    gives 2 "$work/bad.conf:$pattern" mtld --socket "$MTL_SOCKET" --config "$work/bad.conf"
}

not_a_socket() {
    echo precious >"$work/file"
    gives 1 'file exists and is not a socket' mtld --socket "$work/file" && [ "$(cat "$work/file")" = precious ]
}

killed_while_watching() {
    start target ticker "$work/count"
    target=$pid
    mtl track "$target" && within 60 has_observations "$target" 5 || return 1
    stop mtld KILL
    alive "$target" || { echo "the target is dead"; return 1; }
    [ -S "$MTL_SOCKET" ] || { echo "no socket was left over"; return 1; }
    count_goes_on "$work/count"
}

end_mtld() { # its status in $status; where it stands, if it does not end
    mtld=$(cat "$work/mtld.pid")
    rm "$work/mtld.pid"
    : >"$work/stacks"
    kill "$mtld"
    within 30 dead "$mtld" || { grep -H . "/proc/$mtld"/task/*/stack >"$work/stacks"; kill -9 "$mtld"; }
    status=0
    wait "$mtld" || status=$?
}

ended_clean() {
    [ "$status" = 0 ] || { echo "status $status"; cat "$work/stacks" "$work/mtld.err"; return 1; }
    [ ! -e "$MTL_SOCKET" ] || { echo "the socket is still there"; return 1; }
}

sockets() {
    step "config: unknown key" bad_config '2: unknown key "colour"; known are .*max_overhead' '[mtld]' 'colour = red'
    step "config: bad value" bad_config '2: max_overhead = "lots" is not accepted; it must be' '[mtld]' 'max_overhead = lots'
    step "config: out of range" bad_config '3: max_clients = "0" is not accepted' '[mtld]' 'max_processes = 4' 'max_clients = 0'
    step "config: named, but not there" gives 2 'nowhere.conf: No such file' mtld --config "$work/nowhere.conf"
    step "socket path: a file that is no socket" not_a_socket
    step "no mtld: mtl says so" gives 1 'mtld is not running at .*: `systemctl start mtld`, or use `mtl run`' mtl status
    start_mtld
    step "second mtld on the same socket" gives 1 "another mtld \(pid $(cat "$work/mtld.pid")\) already serves" \
        mtld --socket "$MTL_SOCKET"
    step "mtld killed while watching: target alive and running" killed_while_watching
    step "its stale socket: mtl says so" gives 1 'mtld is not running at .* \(its socket is left over\)' mtl status
    start_mtld
    step "next start on the stale socket works" mtl status
    step "and it observes the same process" within 60 curve_of "$(cat "$work/target.pid")" 1.6 4
    end_mtld
    step "SIGTERM: ends with 0, socket gone" ended_clean
    stop target
}

# --- clients

says() { # SECONDS STATUS PATTERN [deaf]: what talk gives for the input on $work/input
    run sh -c 'talk "$1" "$2" $3 <"$4"' sh "$MTL_SOCKET" "$1" "${4:-}" "$work/input"
    [ "$status" = "$2" ] && grep -qE -- "$3" "$work/out" || shown
}

half_a_message() {
    printf '{"method":"io.mtld.Sta' >"$work/input"
    talk "$MTL_SOCKET" 8 <"$work/input" >/dev/null &
    talker=$!
    sleep 1
    result=0
    answers '.processes == 0' mtl status --json || result=1
    kill $talker
    return $result
}

never_reads() {
    printf '{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.mtld"}}\0' >"$work/input"
    talk "$MTL_SOCKET" 60 deaf <"$work/input" >/dev/null 2>&1 &
    talker=$!
    sleep 2
    answers '.clients == 2' mtl status --json || return 1
    wait $talker || { echo "still connected after a minute"; return 1; }
    resident=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(cat "$work/mtld.pid")/status")
    [ "$resident" -lt 65536 ] || { echo "mtld grew to $resident KiB"; return 1; }
}

clients() {
    start_mtld
    printf 'GET / HTTP/1.1\r\n\0' >"$work/input"
    step "client sends garbage: told, then closed" says 10 0 'io.mtld.MalformedMessage'
    head -c 1048576 /dev/zero | tr '\0' '[' >"$work/input"
    step "client sends 1 MB: told, then closed" says 10 0 'io.mtld.MalformedMessage'
    step "client sends half a message: others are served" half_a_message
    step "client never reads: others are served, it is dropped" never_reads
    printf '{"method":"io.mtld.Curve","parameters":{"pid":"one"}}\0' >"$work/input"
    step "client sends the wrong type: told, not closed" says 1 3 'org.varlink.service.InvalidParameter'
    step "mtld goes on" answers '.clients == 1 and .processes == 0' mtl status --json
    stop mtld
}

# --- mtl run

only_the_object() {
    run mtl run --json --duration 6 -- sh -c 'echo noise; echo loud >&2; exec workload scan --working-set 2M'
    [ "$status" = 0 ] && jq -es 'length == 1 and .[0].comm == "workload"' "$work/out" >/dev/null &&
        grep -qx noise "$work/err" && grep -qx loud "$work/err" || shown
}

command_ends_itself() {
    answers '.points != []' mtl run --json --duration 100 -- workload scan --working-set 2M --seconds 6
}

ignores_sigterm() {
    before=$(centiseconds)
    answers '.comm == "ticker"' mtl run --json --duration 6 -- sh -c 'trap "" TERM; exec ticker' || return 1
    ! pgrep -x ticker || { echo "it was not killed"; return 1; }
    [ $(($(centiseconds) - before)) -lt 4000 ] || { echo "ended too late"; return 1; }
}

commands() {
    step "mtl run: command not found" gives 1 'cannot run /nowhere/prog: no such program' mtl run -- /nowhere/prog
    step "mtl run: not a program" gives 1 'cannot run ./README.md: Permission denied' mtl run -- ./README.md
    step "mtl run: no command" gives 2 'CMD .* is missing' mtl run --json
    step "mtl run: too short for a curve" gives 3 'not enough yet: ' mtl run --duration 0.2 -- \
        mtl stub "$(round_and_round 2)"
    step "mtl run --json: standard output is the object alone" only_the_object
    step "mtl run: the command ends first" command_ends_itself
    step "mtl run: the command ignores SIGTERM" ignores_sigterm
    step "mtl run leaves nothing behind" sh -c '! ls -d /tmp/mtl-?????? 2>/dev/null && ! pgrep -x mtld'
}

# --- debuggers

# what gdb says when `ticks` changes three times
gdb_watches() { # PID
    timeout 100 gdb -batch -nx -p "$1" -ex 'watch ticks' -ex continue -ex continue -ex continue -ex detach \
        >"$work/gdb.out" 2>"$work/gdb.err" </dev/null
    [ "$(grep -c '^New value' "$work/gdb.out")" -ge 3 ] && grep -q '^Hardware watchpoint' "$work/gdb.out" ||
        { tail -n 12 "$work/gdb.out" "$work/gdb.err"; return 1; }
}

mtld_yields() { # gdb comes to a process that is watched
    mtl track "$target" && within 60 has_observations "$target" 5 && gdb_watches "$target"
}

paused_under_gdb() { # gdb is there already; the refusal is honest, then it is let go
    timeout 100 gdb -batch -nx -p "$target" -ex 'watch ticks' -ex continue -ex 'shell sleep 6' -ex continue -ex detach \
        >"$work/gdb.out" 2>"$work/gdb.err" </dev/null &
    debugger=$!
    within 60 grep -q '^New value' "$work/gdb.out" || { cat "$work/gdb.out" "$work/gdb.err"; return 1; }
    mtl track "$target" && within 5 state_is "$target" paused && listed "$target" '.reason | test("debugger \\(pid [0-9]+\\) is attached")' &&
        gives 3 'not enough yet: .*debugger' mtl curve "$target" --wait 1 || return 1
    wait $debugger
    [ "$(grep -c '^New value' "$work/gdb.out")" -ge 2 ] || { cat "$work/gdb.out" "$work/gdb.err"; return 1; }
}

debuggers() {
    start_mtld
    start target ticker "$work/count"
    target=$pid
    within 60 test -s "$work/count"
    step "gdb first: its watchpoint works, mtl says paused" paused_under_gdb
    step "gdb gone: there is a curve" within 60 curve_of "$target" 1.6 4
    stop target
    start target ticker "$work/count"
    target=$pid
    step "mtld first: gdb's watchpoint works" mtld_yields
    step "gdb gone: sampling goes on" within 60 state_is "$target" sampling
    step "the target goes on" count_goes_on "$work/count"
    stop target
    stop mtld
}

# --- many

three() {
    mtl track "$one" && mtl track "$two" && mtl track "$three" &&
        settled_curve "$one" 1.6 3.5 && settled_curve "$two" 3.2 6 && settled_curve "$three" 6.4 10.5
}

# a whole message: talk ends it with a newline
answered() { [ -s "$work/talked" ] && [ -z "$(tail -c 1 "$work/talked")" ]; }

call() { # METHOD PARAMETERS: the answer's parameters in $work/METHOD.json
    printf '{"method":"io.mtld.%s","parameters":{%s}}\0' "$1" "$2" >"$work/input"
    rm -f "$work/talked"
    talk "$MTL_SOCKET" 20 <"$work/input" >"$work/talked" 2>&1 &
    talker=$!
    within 20 answered || return 1
    kill $talker
    jq -e 'select(.error == null) | .parameters' "$work/talked" >"$work/$1.json" || { cat "$work/talked"; return 1; }
}

# same METHOD COMMAND OPTION...: what mtl says, but for the masks, which are its own
same() {
    method=$1
    shift
    mtl "$@" "$one" "$two" --json 2>"$work/err" >"$work/said.json" || { cat "$work/err"; return 1; }
    jq -S 'if .groups then .groups[] |= del(.mask) else . end' "$work/said.json" >"$work/sorted.json"
    jq -S . "$work/$method.json" | diff - "$work/sorted.json"
}

# What both touch in the fill time, each in its part of that time, is what the cache holds. Fill times
# are of the least concave majorant, footprints are not: twice as far as their intervals is allowed.
adds_up() {
    time=$(jq .fill_time "$work/Share.json")
    for pid in "$one" "$two"; do
        window=$(mtl curve "$pid" --json | jq "$time * .cpu_seconds / .wall_seconds") || return 1
        call Curve "\"pid\":$pid,\"windows\":[$window]" || return 1
        cat "$work/Curve.json"
    done >"$work/curves"
    jq -es 'length == 2 and ([.[].curve.footprint[0]] | ((map(.bytes) | add) - 3145728 | fabs) <=
        (map(.high - .low) | add))' "$work/curves" >/dev/null ||
        { jq -c '.curve | [.cpu_seconds, .wall_seconds, .footprint]' "$work/curves"; return 1; }
}

# The rates that the workloads report of themselves: each step touches another line until all are
# touched. Bounds are those of a single run's slopes (accuracy.sh).
as_reported() {
    for name in one two; do
        grep -h '^{"kind"' "$work/$name.out" "$work/$name.err"
    done | jq -s --slurpfile share "$work/Share.json" --slurpfile curves "$work/curves" '
        ([range(2) as $i | .[$i].lines_touched_per_cpu_second * 64 *
            ($curves[$i].curve | .cpu_seconds / .wall_seconds)] | add) as $rate |
        {predicted: $share[0].fill_time, reported: (3145728 / $rate)} | .ratio = .predicted / .reported' \
        >"$OUT/fill-time.json" && jq -e '.ratio > 0.6 and .ratio < 1.6' "$OUT/fill-time.json" >/dev/null ||
        { cat "$OUT/fill-time.json"; return 1; }
}

both_exited() { state_is "$one" exited && state_is "$two" exited; }

# of two scans whose curves are there, and that have ended: nothing changes between the questions
sharing() {
    pids="\"pids\":[$one,$two]"
    within 20 both_exited
    step "Share, of their last curves" call Share "$pids,\"size\":3145728"
    step "mtl share says the same" same Share share --size 3M
    step "Partition" call Partition "$pids,\"size\":33554432,\"ways\":16,\"objective\":\"guarantee\""
    step "mtl partition says the same" same Partition partition --size 32M --ways 16 --objective guarantee
    step "the joint fill time is that of the footprints' sum" adds_up
    step "and that of what the workloads report" as_reported
}

# mtld is stopped while threads come and go, more of them than its ring has room for
overflow() {
    mtl track "$pid" && within 60 has_observations "$pid" 1 || return 1
    kill -STOP "$(cat "$work/mtld.pid")"
    sleep 3
    kill -CONT "$(cat "$work/mtld.pid")"
    within 20 answers '.lost > 0' mtl status --json
}

# a program that starts threads as fast as it can has hardly a watch from the usual budget
start_generous_mtld() {
    printf '%s\n' '[mtld]' 'max_overhead = 10%' 'max_daemon_cpu = 50%' >"$work/generous.conf"
    start_mtld --config "$work/generous.conf"
}

many() {
    start_mtld
    start sixteen workload scan --working-set 8M --threads 16 --private
    sixteen=$pid
    step "16 threads: mtl track" mtl track "$sixteen"
    step "16 threads: a curve" settled_curve "$sixteen" 6.4 10.5
    stop sixteen
    start one workload scan --working-set 2M
    one=$pid
    start two workload stride --working-set 4M
    two=$pid
    start three workload mixed --working-set 8M
    three=$pid
    step "three processes at once: a curve of each" three
    step "Share, of two that run" call Share "\"pids\":[$one,$two],\"size\":3145728"
    step "others may not ask about them" gives 1 'not permitted: ' as_nobody mtl share "$one" "$two" --size 3M
    stop one
    stop two
    stop three
    sharing
    stop mtld
    start_generous_mtld
    start spawner spawner
    step "ring full: what was lost is counted" overflow
    step "ring full: there is a curve nevertheless" settled_curve "$pid" 0.7 3
    stop spawner
    stop mtld
}

for group in "$@"; do
    $group
done
steps_total
