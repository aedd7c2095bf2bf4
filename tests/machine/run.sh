#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh [--cpus N] [--memory MIB] [--seconds LIMIT] [--out DIR] [--program FILE]... -- SCRIPT [ARG]...
#
# Runs a shell script on a machine where hardware watchpoints fire: here when they do, else in an
# emulated one (machine.sh), and says which. A script of the checkout finds its neighbours; one from
# elsewhere is taken along alone. Either way the script finds
#     the checkout as its working directory (read-only when emulated),
#     mtl, mtld, workload and every --program FILE in PATH,
#     OUT, a directory whose files end up in DIR,
#     MTL_MACHINE, "native" or "emulated",
# its output arrives as it comes, and its exit status is that of run.sh. 124: it took too long.
# --cpus 0 is one processor whose clock is exact however busy this machine is, when emulated.
# MTL_MACHINE=native and MTL_MACHINE=emulated in the environment decide instead of trying.
#
# run.sh --prepare makes beforehand what an emulated machine needs, where one would be used.

set -eu
from=$PWD
cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/sbin:/sbin
. tests/steps.sh
. tests/machine/machine.sh

if [ "$*" = --prepare ]; then
    why=$(machine_obstacle)
    [ -z "$why" ] || machine_prepare
    exit
fi

cpus=2
memory=1024
seconds=300
out=
programs="$build/mtl $build/mtld $build/workload"

usage() { die "usage: run.sh [--cpus N] [--memory MIB] [--seconds LIMIT] [--out DIR] [--program FILE]... -- SCRIPT [ARG]..."; }

while [ $# -gt 0 ] && [ "$1" != -- ]; do
    [ $# -gt 1 ] || usage
    case $1 in
    --cpus) cpus=$2 ;;
    --memory) memory=$2 ;;
    --seconds) seconds=$2 ;;
    --out) out=$2 ;;
    --program) programs="$programs $2" ;;
    *) usage ;;
    esac
    shift 2
done
[ $# -gt 1 ] || usage
shift
script=$1
shift
[ -f "$script" ] || script=$from/$script
[ -f "$script" ] || die "there is no script ${script#"$from"/}"
[ -r "$script" ] || die "the script $script may not be read"

quoted() { # ARG...: as words of a shell
    for word in "$@"; do
        printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
    done
}

clean_up() {
    trap - INT TERM HUP
    [ -z "${qemu:-}" ] || kill "$qemu" 2>/dev/null || true
    [ -z "${child:-}" ] || kill "$child" 2>/dev/null || true
    wait
    rm -rf "$job"
}

keep_output() {
    [ -n "$out" ] || return 0
    mkdir -p "$out"
    cp -R "$job/out/." "$out"
}

run_native() { # [ARG]...
    take_script "$job"
    for program in $programs; do
        ln -s "$(realpath "$program")" "$job/bin"
    done
    PATH=$job/bin:$PATH OUT=$job/out MTL_MACHINE=native \
        timeout --foreground -k 5 "$seconds" sh "$script" "$@" </dev/null &
    child=$!
    status=0
    wait $child || status=$?
    child=
}

# take_script JOB: of the checkout by its path there, another one as a copy in the job, which is at JOB
take_script() {
    script=$(realpath "$script")
    case $script in
    "$(pwd -P)"/*) script=${script#"$(pwd -P)"/} ;;
    *)
        mkdir "$job/script"
        cp "$script" "$job/script"
        script=$1/script/${script##*/}
        ;;
    esac
}

# rows and columns when a person is watching
terminal() {
    [ -t 1 ] && size=$(stty size 2>/dev/null <&1) || return 0
    echo "rows ${size% *} cols ${size#* }"
}

run_emulated() { # REASON [ARG]...
    take_script /job
    machine_prepare
    echo "$1: running in an emulated one (Debian 12, qemu without KVM; 10 to 50 times slower)" >&2
    shift
    cp $programs "$job/bin"
    TERMINAL=$(terminal)
    {
        echo "TERMINAL='$TERMINAL'"
        echo "export TERM='${TERM:-dumb}' LANG=C.UTF-8"
        echo "LIMIT=$seconds"
    } >"$job/environment"
    echo /tree/tests/machine/inside.sh >"$job/init"
    quoted sh "$script" "$@" >"$job/command"
    exec 3>&1 4>&2
    machine_boot "$job" "$seconds" "$cpus" "$memory" || true
    status=$(cat "$job/status" 2>/dev/null) && return
    machine_explain "$job" "$seconds" >&2
    status=$machine_status
    [ "$status" != 0 ] || status=1
}

for program in $programs; do
    must_be_made "$program"
done
why=$(machine_obstacle)
job=$(mktemp -d "${TMPDIR:-/tmp}/mtl-machine.XXXXXX")
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$job/bin" "$job/out"
if [ -z "$why" ]; then
    run_native "$@"
else
    run_emulated "$why" "$@"
fi
keep_output
exit "$status"
