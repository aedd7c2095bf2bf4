#!/bin/sh
# SPDX-License-Identifier: MIT
#
# followed.sh: processes that come and go by themselves: members of control groups, the top by CPU time,
# many at once, ended ones. Nothing here depends on what is seen, so it runs on this machine whether
# watchpoints fire or not (MTLD_DEBUG_CALIBRATION=assumed counts only where they do not).

set -u
command=
cd "$(dirname "$0")/../.." || exit 1
. tests/steps.sh
. tests/mtl_steps.sh
PATH=$build:$PATH
export MTL_SOCKET="$work/socket" MTLD_DEBUG_CALIBRATION=assumed

groups=
clean_up() {
    kill -9 $(cat "$work"/*.pid 2>/dev/null) 2>/dev/null
    wait
    for group in $groups; do
        until rmdir "$group" 2>/dev/null || [ ! -d "$group" ]; do sleep 0.1; done
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

start_mtld() { # LINE...: of its configuration
    printf '%s\n' '[mtld]' "$@" >"$work/conf"
    mtld --socket "$MTL_SOCKET" --config "$work/conf" 2>"$work/mtld.err" &
    mtld=$!
    echo $mtld >"$work/mtld.pid"
    within 20 mtl status || die "mtld does not start: $(tail -n 2 "$work/mtld.err")"
}

stop_mtld() {
    kill $mtld
    wait $mtld
    rm "$work/mtld.pid"
}

# new_group TYPE OPTION: a group of the first hierarchy of that type, in $group; fails when there is none
new_group() {
    mount=$(awk -v type="$1" -v option="$2" '$3 == type && $4 ~ option { print $2; exit }' /proc/mounts)
    group=$mount/mtl-test-$$
    [ -n "$mount" ] && mkdir "$group" 2>/dev/null && groups="$groups $group"
}

# idle N NAME [GROUP]: that many processes that sleep, members of the group; their pids in $work/NAME.pid
idle() {
    sh -c '[ -z "$3" ] || echo $$ >"$3/cgroup.procs"
        for i in $(seq "$1"); do sleep 1000 >/dev/null 2>&1 & echo $!; done >"$2"' sh "$1" "$work/$2.pid" "${3:-}"
}

pid_of() { head -n 1 "$work/$1.pid"; }

is() { # EXPRESSION: true of mtl list
    mtl list --json | is_true "$1" || { mtl list; mtl status --json | jq -c .cgroups; return 1; }
}

tracked_are() { is "[.processes[] | select(.state != \"exited\" and .tracked_by == \"$1\")] | length == $2"; }
status_is() { mtl status --json | is_true "$1" || { mtl status --json; return 1; }; }

descriptors() { ls "/proc/$mtld/fd" | wc -l; }
few_descriptors() { [ "$(descriptors)" -le "$1" ] || { echo "$1 became $(descriptors)"; return 1; }; }
resident_kib() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$mtld/status"; }

# --- control groups

members_come_and_go() {
    idle 3 "$1" "$group" && within 10 tracked_are cgroup 3 && kill -9 $(pid_of "$1") &&
        within 10 tracked_are cgroup 2 && is '[.processes[] | select(.state == "exited")] | length == 1'
}

one_leaves() {
    leaver=$(tail -n 1 "$work/$1.pid")
    echo "$leaver" >"$mount/cgroup.procs" && within 10 is "all(.processes[]; .pid != $leaver)"
}

by_its_group_only() { # untracked by its number it would come back, with nothing known of it
    refuses 1 "member of the control group /${group##*/}" untrack "$(sed -n 2p "$work/$1.pid")"
}

called_alike() {
    mtl track "cgroup://${group##*/}/" && mtl track "cgroup:$group" && status_is '.cgroups | length == 1'
}

# a group within the group has it, when the outer one is not followed any more: what is known of it stays
passed_on() {
    mkdir "$group/in" && groups="$group/in $groups" && idle 1 inner "$group/in" &&
        mtl track "cgroup:/${group##*/}" && within 10 is "any(.processes[]; .pid == $(pid_of inner))" && sleep 2 &&
        mtl track "cgroup:/${group##*/}/in" && mtl untrack "cgroup:/${group##*/}" &&
        is "any(.processes[]; .pid == $(pid_of inner) and .cgroup == \"/${group##*/}/in\" and .wall_seconds > 1.5)"
    result=$?
    mtl untrack "cgroup:/${group##*/}/in" && kill -9 $(cat "$work/inner.pid") && within 10 rmdir "$group/in" && return $result
}

named_stay() { # who was named by its number stays when its group is not followed any more
    mtl track "$(sed -n 2p "$work/$1.pid")" && mtl untrack "cgroup:/${group##*/}" &&
        is '[.processes[] | select(.state != "exited")] | length == 1'
}

removed_while_tracked() {
    mtl track "cgroup:/${group##*/}" && kill -9 $(cat "$work/$1.pid") 2>/dev/null
    within 10 rmdir "$group" && within 10 status_is '.cgroups == []' && mtl status >/dev/null
}

control_groups() { # NAME TYPE OPTION
    new_group "$2" "$3" || { echo "here is no $1 that can be written to"; return; }
    step "$1: mtl track cgroup:PATH" mtl track "cgroup:/${group##*/}"
    step "$1: members are tracked as they come, their curves kept as they end" members_come_and_go "$1"
    step "$1: who leaves is not tracked any more" one_leaves "$1"
    step "$1: members are not untracked by their numbers" by_its_group_only "$1"
    step "$1: a group has one name" called_alike
    step "$1: who was named stays" named_stay "$1"
    step "$1: a group within it takes its members over" passed_on "$1"
    step "$1: removed while it is followed: forgotten" removed_while_tracked "$1"
    mtl list --json | jq -r '.processes[].pid' | xargs -r -n 1 "$mtl" untrack
}

wrong_names() {
    refuses 1 'finds no control group /nowhere' track cgroup:/nowhere &&
        refuses 1 'finds no control group /nowhere' untrack cgroup:/nowhere &&
        refuses 2 'idle is for processes' track cgroup:/nowhere --idle 3
}

# --- many

too_many() { # members than places: said so, and the others are tracked
    idle 30 limit "$group" && mtl track "cgroup:/${group##*/}" && within 10 tracked_are cgroup 8 &&
        status_is '.cgroups[0] | .members == 30 and .tracked == 8 and (.reason | test("max_processes \\(8\\)"))' &&
        refuses 1 '8 processes are tracked, which is the limit' track $$
}

ended_are_bounded() {
    kill -9 $(cat "$work/limit.pid") 2>/dev/null
    within 20 is '[.processes[] | select(.state != "exited")] == [] and (.processes | length) == 4'
}

what_comes_goes() { # descriptors and memory after 400 processes and thousands of threads are as before
    within 10 is '.processes == []' || return 1
    before=$(descriptors)
    for i in 1 2 3 4; do
        idle 100 wave "$group" && within 20 tracked_are cgroup 100 && kill -9 $(cat "$work/wave.pid") &&
            within 20 is '.processes == []' || return 1
        [ $i != 2 ] || memory=$(resident_kib)
    done
    within 30 few_descriptors "$before" ||
        { cat "$work/tried"; ls -l "/proc/$mtld/fd" | sed 's/.*-> //' | sort | uniq -c | sort -n | tail -n 4; mtl list | head -n 4; return 1; }
    [ "$(resident_kib)" -le $((memory + 2048)) ] || { echo "$memory KiB became $(resident_kib)"; return 1; }
}

threads_leave_nothing() {
    "$build/tests/live/spawner" >/dev/null 2>&1 &
    echo $! >"$work/spawner.pid"
    mtl track "$(pid_of spawner)" && sleep 2
    before=$(descriptors) memory=$(resident_kib)
    sleep 3
    [ "$(descriptors)" -le $((before + 16)) ] || { echo "$before descriptors became $(descriptors)"; return 1; }
    [ "$(resident_kib)" -le $((memory + 2048)) ] || { echo "$memory KiB became $(resident_kib)"; return 1; }
    is "any(.processes[]; .pid == $(pid_of spawner) and .state != \"exited\")"
}

# --- top

busiest() {
    for name in a b; do
        sh -c "while :; do :; done" >/dev/null 2>&1 &
        echo $! >"$work/busy-$name.pid"
    done
    within 30 is "[.processes[] | select(.tracked_by == \"top\") | .pid] | contains([$(pid_of busy-a), $(pid_of busy-b)])"
}

only_so_many() { is '[.processes[] | select(.tracked_by == "top" and .state != "exited")] | length <= 60'; }

not_mtld() { is "all(.processes[]; .pid != $mtld)"; }

predicted() { is "any(.processes[]; .pid == $(pid_of busy-a) and .first_curve_seconds >= 0 and .first_curve_basis != \"\")"; }

start_mtld 'max_exited = 16'
control_groups v2 cgroup2 .
control_groups v1 cgroup memory
step "groups that are not there: told" wrong_names
step "hundreds of threads a second: nothing is left of them, the process stays" threads_leave_nothing
stop_mtld
start_mtld 'max_processes = 8' 'max_exited = 4'
new_group cgroup2 . || new_group cgroup . || die "here is no control group that can be written to"
step "more members than max_processes: told" too_many
step "curves of ended processes: max_exited of them" ended_are_bounded
stop_mtld
if [ "${1:-}" = waves ]; then # by hand: what is left is there for up to 30 s on a busy machine
    start_mtld 'max_processes = 200' 'keep_exited_seconds = 0' "cgroups = /${group##*/}"
    step "configured: hundreds of processes come and go: descriptors and memory stay" what_comes_goes
    stop_mtld
fi
start_mtld 'top = 60'
step "top: the busiest are tracked by themselves" busiest
step "top: no more than asked for" only_so_many
step "top: mtld itself is left out" not_mtld
step "the time to a first curve is predicted" within 20 predicted
stop_mtld
steps_total
