#!/bin/sh
# SPDX-License-Identifier: MIT
#
# many.sh [SECONDS]: what many tracked processes cost mtld, on this machine: nothing here depends on what
# is seen, so it runs whether watchpoints fire or not (MTLD_DEBUG_CALIBRATION=assumed counts only where
# they do not; hits, which cost a wake of an armer each, are then missing). The bounds that mtl promises
# stand beside what is measured. CPU time is mtld's own (user and system), memory its anonymous pages and
# the programs and libraries it has mapped.

set -eu
cd "$(dirname "$0")/../.."
. tests/steps.sh
seconds=${1:-20}
settling=15 # their first surveys, a pace of their own
build=$(realpath "${MTL_BUILD:-build}")
PATH=$build:$PATH
work=$(mktemp -d)
export MTL_SOCKET="$work/socket" MTLD_DEBUG_CALIBRATION=assumed
[ "$(id -u)" = 0 ] || die "needs root, to observe processes"
group=$(awk '$3 == "cgroup2" || $3 == "cgroup" { print $2; exit }' /proc/mounts)/mtl-bench-$$

end_members() {
    kill -9 $(cat "$group/cgroup.procs") 2>/dev/null || true
}

clean_up() {
    end_members
    kill ${mtld:-} 2>/dev/null || true
    wait
    rmdir "$group" || true
    rm -rf "$work"
}
mkdir "$group"
trap clean_up EXIT
trap 'exit 1' INT TERM

members() { # N COMMAND...: so many in the group
    n=$1
    shift
    sh -c 'echo $$ >"$1/cgroup.procs"; n=$2; shift 2; while [ $n -gt 0 ]; do "$@" & n=$((n - 1)); done' \
        sh "$group" "$n" "$@" >/dev/null 2>&1
}

tracked() { mtl status --json | jq '.cgroups[0].tracked'; }

ticks() { sed 's/.*) //' "/proc/$mtld/stat" | awk '{ print $12 + $13 }'; }

resident() { awk '/^VmRSS/ { print $2 }' "/proc/$mtld/status"; }

row() { # NAME N COMMAND...: in a table
    name=$1
    n=$2
    shift 2
    members "$n" "$@"
    until [ "$(tracked)" = "$n" ]; do sleep 0.5; done
    begin=$(ticks)
    sleep $settling
    before=$(ticks)
    sleep "$seconds"
    after=$(ticks)
    bytes=$(mtl list --json | jq '[.processes[] | select(.state != "exited") | .resident_bytes] | add')
    awk -v name="$name" -v n="$n" -v bytes="$bytes" -v kib="$(resident)" -v hertz="$(getconf CLK_TCK)" \
        -v used=$((after - before)) -v seconds="$seconds" -v first=$((before - begin)) -v settling=$settling 'BEGIN {
            printf "| %s | %d | %.2f %% | %.2f %% | %.1f MiB | %.1f MiB |\n", name, n,
                100 * first / hertz / settling, 100 * used / hertz / seconds,
                kib / 1024, 16 + n / 4 + bytes / 2097152 * 32 / 1048576 }'
    end_members
    until [ "$(tracked)" = 0 ]; do sleep 0.5; done
}

printf '%s\n' '[mtld]' 'max_processes = 1024' 'keep_exited_seconds = 0' >"$work/conf"
mtld --socket "$MTL_SOCKET" --config "$work/conf" 2>"$work/err" &
mtld=$!
within 60 mtl status || { cat "$work/err" >&2; exit 4; }
mtl track "cgroup:${group#"$(dirname "$group")"}"
echo "machine: $(uname -r), $(nproc) CPUs; $seconds s each; $(mtl status --json | jq -r .reason)"
echo
echo '| tracked | processes | mtld, of one core: first 15 s | then | resident | bound |'
echo '|---|--:|--:|--:|--:|--:|'
row 'none' 0 true
row 'idle (bound: 0.5 %)' 1000 sleep 10000
row 'busy (bound: 1 %)' 50 workload scan --working-set 1M
row '16 threads each, busy' 4 workload scan --working-set 8M --threads 16 --private
row 'threads as fast as they come' 1 "$build/tests/live/spawner"
