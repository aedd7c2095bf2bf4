#!/bin/sh
# SPDX-License-Identifier: MIT
#
# soak.sh [MINUTES]: make soak. mtld and mtl export for as long (20 minutes; SOAK_MINUTES=1440 is a day), with
# everything that comes and goes: processes of a control group, threads as fast as they start, clients that
# ask, that never read, that talk nonsense, a configuration read anew, scrapes. Whoever leaks grows.
#
# Once a minute all of that ends, and when mtld has let go of it a line tells its memory (anonymous
# pages) and descriptors. What the last third of the minutes has (their median) is compared with the
# middle third; the first may still fill caches and histories. Answers do not depend on what is seen,
# so it runs whether watchpoints fire here or not (MTLD_DEBUG_CALIBRATION=assumed counts only where they
# do not). More overhead is allowed than by default: what is sampled more often leaks more.

set -u
cd "$(dirname "$0")/../.." || exit 1
command=
. tests/steps.sh
. tests/mtl_steps.sh
PATH=$build:$PATH
export MTL_SOCKET="$work/socket" MTLD_DEBUG_CALIBRATION=assumed
minutes=${1:-20}
members=40
slack_kib=1024
slack_descriptors=8
[ "$(id -u)" = 0 ] || die "needs root, to observe processes"
[ "$minutes" -ge 6 ] || die "takes 6 minutes at least: a third of them is compared with a third"
group=$(awk '$3 == "cgroup2" || $3 == "cgroup" { print $2; exit }' /proc/mounts)/mtl-soak-$$

end_members() {
    kill -9 $(cat "$group/cgroup.procs") 2>/dev/null || true
}

clean_up() {
    end_members
    kill $mtld $export $targets 2>/dev/null
    wait
    rmdir "$group"
    rm -rf "$work"
}
mtld='' export='' targets=''
mkdir "$group" || die "here is no control group that can be written to"
trap clean_up EXIT
trap 'exit 1' INT TERM

descriptors() { ls "/proc/$1/fd" | wc -l; }
resident() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; }
status_is() { mtl status --json | is_true "$1"; }
observing() { mtl list --json | jq "[.processes[] | select(.pid == $scan)][0].observations_per_second // 0 | round"; }

# --- what comes and goes

members_come() {
    sh -c 'echo $$ >"$1/cgroup.procs"; n=$2; while [ $n -gt 0 ]; do sleep 1000 & n=$((n - 1)); done' sh "$group" $members \
        >/dev/null 2>&1
    within 20 status_is ".cgroups[0].tracked == $members" || echo "members were not tracked" >>"$work/wrong"
    end_members
}

clients_come() {
    "$build/tests/bench/load" "$MTL_SOCKET" "$scan" 20 20 5 >"$work/load.out" 2>&1 || echo "load: $(cat "$work/load.out")" >>"$work/wrong"
    head -c 3000 /dev/urandom >"$work/nonsense"
    for i in 1 2 3 4 5 6 7 8; do
        "$build/tests/live/talk" "$MTL_SOCKET" 2 <"$work/nonsense" >/dev/null 2>&1
        printf '{"method":"io.mtld.Curve","param' | "$build/tests/live/talk" "$MTL_SOCKET" 0.1 >/dev/null 2>&1
    done
}

answers_come() {
    for i in 1 2 3 4 5 6 7 8 9 10; do
        { curl -sS --max-time 10 "$url/metrics" && curl -sS --max-time 10 "$url/curves.json"; } >/dev/null 2>"$work/curl.err" ||
            echo "mtl export: $(cat "$work/curl.err")" >>"$work/wrong"
        mtl curve "$scan" --history --json >/dev/null 2>&1
        mtl curve "$scan" --json --sizes 1M,8M >/dev/null 2>"$work/curve.err" || echo "mtl curve: $(cat "$work/curve.err")" >>"$work/wrong"
        sleep 1
    done
    mtl untrack "$idle" && mtl track "$idle"
    kill -HUP "$mtld"
}

one_minute() {
    end=$(($(centiseconds) + 6000))
    clients_come &
    load=$!
    members_come
    answers_come
    members_come
    wait $load
    within 30 status_is ".clients <= 2 and .processes == $tracked" || echo "still there: $(mtl status --json | jq -c '{clients, processes}')" >>"$work/wrong"
    while [ "$(centiseconds)" -lt $end ]; do sleep 0.5; done
}

# --- what is told

look() { # MINUTE: a line of the table, and of the file that is judged
    echo "$1 $(resident $mtld) $(descriptors $mtld) $(resident $export) $(descriptors $export) $(observing)" >>"$work/seen"
    tail -n 1 "$work/seen" | awk '{ printf "%6d %12d %12d %12d %12d %14d\n", $1, $2, $3, $4, $5, $6; fflush() }'
}

median() { # COLUMN FROM TO: of the lines of these minutes
    awk -v from="$2" -v to="$3" -v column="$1" '$1 > from && $1 <= to { print $column }' "$work/seen" | sort -n |
        awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

flat() { # COLUMN SLACK UNIT
    middle=$(median "$1" $((minutes / 3)) $((2 * minutes / 3)))
    last=$(median "$1" $((2 * minutes / 3)) "$minutes")
    echo "$3: $middle in the middle third, $last in the last" | tee -a "$work/told"
    [ "$last" -le $((middle + $2)) ]
}

nothing_wrong() { [ ! -s "$work/wrong" ] || { sort "$work/wrong" | uniq -c; return 1; }; }
goes_on() { kill -0 $mtld $export $targets; }
always_observed() { awk '$6 == 0 { print "none in minute " $1; failed = 1 } END { exit failed }' "$work/seen"; }

nothing_left() { # of processes: as before the first was tracked
    kill $targets $export # which has a connection
    within 30 status_is '.processes == 0' && now=$(descriptors $mtld) || return 1
    [ "$now" -le "$first" ] || { echo "$first descriptors became $now"; return 1; }
}

printf '%s\n' '[mtld]' 'max_processes = 200' 'keep_exited_seconds = 5' 'max_exited = 16' 'max_clients = 400' \
    'max_overhead = 10%' 'max_daemon_cpu = 20%' "cgroups = /${group##*/}" >"$work/conf"
mtld --socket "$MTL_SOCKET" --config "$work/conf" 2>"$work/mtld.err" &
mtld=$!
within 60 mtl status || die "mtld does not start: $(tail -n 2 "$work/mtld.err")"
mtl export --listen 127.0.0.1:0 2>"$work/export.err" &
export=$!
within 10 grep -q 'metrics http' "$work/export.err" || die "mtl export does not start: $(cat "$work/export.err")"
url=$(sed -n 's|.*page \(http://[^/]*\)/.*|\1|p' "$work/export.err")
first=$(descriptors $mtld)
for workload in 'scan --working-set 16M' 'zipf --working-set 64M' 'idle --working-set 1M'; do
    workload $workload >/dev/null 2>&1 &
    targets="$targets $!"
done
"$build/tests/live/spawner" >/dev/null 2>&1 &
targets="$targets $!"
tracked=4
set -- $targets
scan=$1 idle=$3
for target in $targets; do
    mtl track $target || die "$target is not tracked"
done
within 300 mtl curve "$scan" || die "no curve"

echo "machine: $(uname -r), $(nproc) CPUs; $(mtl status --json | jq -r .reason)"
echo "minute     mtld KiB  descriptors   export KiB  descriptors  observed a s"
minute=0
while [ $minute -lt "$minutes" ]; do
    one_minute
    minute=$((minute + 1))
    look $minute
done
step "mtld: memory is flat" flat 2 $slack_kib "mtld KiB"
step "mtld: descriptors are flat" flat 3 $slack_descriptors "mtld descriptors"
step "mtl export: memory is flat" flat 4 $slack_kib "export KiB"
step "mtl export: descriptors are flat" flat 5 $slack_descriptors "export descriptors"
step "everything goes on" goes_on
step "observations came in every minute" always_observed
step "everybody was served, and let go of" nothing_wrong
step "the last process goes: descriptors as before the first" nothing_left
cat "$work/told"
steps_total
