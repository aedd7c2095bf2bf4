#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-doctor: `mtl doctor` of machines that are not here, whose files tests/unit/data/machines
# has, and what becomes of a rung that is asked for by name. Needs neither root nor a PMU.

cd "$(dirname "$0")/../.." || exit 1
command=doctor
. tests/steps.sh
. tests/mtl_steps.sh

[ -x "$build/mtld" ] || die "$build/mtld is not there"

machines=tests/unit/data/machines
for machine in intel-server amd-server hybrid-laptop vm-without-pmu vm-with-counters arm-server; do
    $machines/unpack.sh $machine "$work/$machine"
done

# altered NAME FROM PATH CONTENT: $work/NAME is the machine FROM with another file
altered() {
    cp -r "$work/$2" "$work/$1"
    mkdir -p "$work/$1/${3%/*}"
    printf '%s' "$4" >"$work/$1/$3"
}
altered old-kernel intel-server proc/sys/kernel/osrelease 5.10.0-28-amd64
altered new-kernel intel-server proc/sys/kernel/osrelease 6.12.9
altered no-types intel-server sys/kernel/btf/other ''

rung() { # NAME works|fails PATTERN: a jq expression
    echo "any(.rungs[]; .name == \"$1\" and .works == $([ "$2" = works ] && echo true || echo false) and (.reason + .fix | test(\"$3\")))"
}

# says PATTERN ARG...: reports, and PATTERN stands in it
says() {
    pattern=$1
    shift
    run "$@"
    [ "$status" = 0 ] && [ ! -s "$work/err" ] && tr '\n' ' ' <"$work/out" | grep -qE -- "$pattern" || shown
}

# opens_nothing NAME: of that machine's files no event and no program is made
opens_nothing() {
    strace -f -qq -e trace=perf_event_open,bpf -o "$work/calls" "$mtl" doctor --root "$work/$1" >"$work/out" &&
        ! grep -qE 'perf_event_open|bpf\(' "$work/calls" || { cat "$work/calls"; return 1; }
}

# ends STATUS EXPRESSION ARG...: with STATUS, and one JSON object of which EXPRESSION is true
ends() {
    wanted=$1
    expression=$2
    shift 2
    run "$@" --json
    [ "$status" = "$wanted" ] && jq -es "length == 1 and (.[0] | ($expression))" "$work/out" >/dev/null || shown
}

# --- other machines

not_tried='by what its files say, not tried'
step "a dump is not tried" answers '.tried == false and .processor.microarchitecture == "Sapphire Rapids" and .processor.pmus == ["cpu"]' \
    --root "$work/intel-server"
step "an Intel server: PEBS" answers "$(rung pebs works "$not_tried.*ALL_LOADS on cpu.*paranoid is 3")" --root "$work/intel-server"
step "an Intel server: no IBS" answers "$(rung ibs fails 'Intel family 6 model 143')" --root "$work/intel-server"
step "an AMD server: IBS" answers "$(rung ibs works ibs_op)" --root "$work/amd-server"
step "an AMD server: no PEBS" answers "$(rung pebs fails 'AMD family 25 model 17')" --root "$work/amd-server"
step "an AMD server: counters" answers "$(rung counters works ls_dispatch)" --root "$work/amd-server"
step "a hybrid laptop: both halves" answers "$(rung pebs works 'cpu_core.*cpu_atom')" --root "$work/hybrid-laptop"
step "a VM without a PMU: why, and the fix" answers "$(rung counters fails 'no PMU here: the hypervisor.*KVM')" --root "$work/vm-without-pmu"
step "a VM without a PMU: watchpoints" answers '.chosen == "watchpoints"' --root "$work/vm-without-pmu"
step "a VM without a PMU: what one would give" says 'Only a try there tells whether sampling works there .*virtual machine.* Its files promise the rung watchpoints\. The rung ibs would add addresses .* The rung counters would add true miss ratios' \
    --root "$work/vm-without-pmu"
step "a VM that counts: counters without PEBS" answers "$(rung pebs fails max_precise) and $(rung counters works ALL_LOADS)" \
    --root "$work/vm-with-counters"
step "what is taken: PEBS" answers '.chosen == "pebs"' --root "$work/intel-server"
step "and IBS" answers '.chosen == "ibs"' --root "$work/amd-server"
step "and PEBS of both halves" answers '.chosen == "pebs"' --root "$work/hybrid-laptop"
step "and counters" answers ".chosen == \"counters\" and $(rung counters works 'counts accesses: MEM_INST_RETIRED.ALL_LOADS')" \
    --root "$work/vm-with-counters"
step "every rung has its members" answers 'all(.rungs[]; [has("name", "works", "reason", "fix", "gain", "run_on_hardware")] | all) and ([.rungs[].name] == ["pebs", "ibs", "counters", "watchpoints", "none"])' \
    --root "$work/intel-server"
step "a table for people" says 'RUNG +WORKS +WHY .*pebs .*ibs .*counters .*watchpoints +yes .*none' --root "$work/amd-server"
for machine in intel-server amd-server; do
    step "no event of this machine is opened for the dump $machine" opens_nothing $machine
done
step "a directory that is no dump" refuses 1 'proc/cpuinfo is missing: --root names no dump' --root "$work"

step "a rung that was never run on hardware says so" says 'should work there: rung pebs\. This rung has never yet been run on hardware' \
    --root "$work/intel-server"
step "and in JSON" answers '[.rungs[] | select(.run_on_hardware) | .name] == ["watchpoints", "none"]' --root "$work/intel-server"
step "a proven one does not" says 'there: rung watchpoints\. *RUNG' --root "$work/hybrid-laptop" --rung watchpoints
step "an ARM machine: not supported" says 'Sampling is impossible there: .*not x86-64, and mtl supports nothing else: [^.]*\. *RUNG' \
    --root "$work/arm-server"
step "no rung of it works, for that reason" answers '.chosen == "none" and ([.rungs[] | select(.name != "none") | .works == false and (.reason | test("not x86-64")) and .gain == ""] | all)' \
    --root "$work/arm-server"
step "an old kernel" answers ".chosen == \"none\" and $(rung watchpoints fails 'Linux 5.10, and mtld is made for 6.1')" --root "$work/old-kernel"
step "a new one" answers '.chosen == "pebs"' --root "$work/new-kernel"
step "a kernel without BTF" answers ".chosen == \"none\" and $(rung watchpoints fails 'btf/vmlinux is missing.*DEBUG_INFO_BTF')" --root "$work/no-types"
step "where nothing works nothing is promised" says 'impossible there: .*Linux 5.10, .* Fix: use Linux 6.1 or later\. *RUNG .*nothing else works there' --root "$work/old-kernel"

told_once() { # PATTERN MACHINE: in the verdict, not in the table too
    run --root "$work/$2"
    [ "$status" = 0 ] && [ "$(tr '\n' ' ' <"$work/out" | grep -oE -- "$1" | wc -l)" = 1 ] &&
        grep -qE '^watchpoints +no +see above$' "$work/out" || shown
}
step "why nothing works is told once" told_once 'Linux 5.10' old-kernel
step "... also where it is that of all rungs" told_once 'mtl supports nothing else' arm-server
step "... and its fix" told_once 'use Linux 6.1 or later' old-kernel

# --- this machine

step "where nothing fires here, what works here is said" answers 'all(.rungs[] | select(.reason | test("are accepted but do not fire")); .fix | test("mtl trace.*tests/machine/run.sh"))'
without_privileges() { # of who may nothing: one fix that holds by itself
    cp "$mtl" "$build/mtld" "$work" # where anybody may go
    setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all "$work/mtl" doctor --json >"$work/out" 2>"$work/err" || return 1
    level=$(cat /proc/sys/kernel/perf_event_paranoid)
    if [ "$level" -ge 3 ]; then wanted='with CAP_SYS_ADMIN and CAP_SYS_PTRACE'; else wanted='with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE'; fi
    is_true "[.rungs[] | select(.name == \"watchpoints\") | .fix | test(\"$wanted\") and (test(\"lower it\") | not)] == [true]" "$work/out" || shown
}
[ "$(id -u)" != 0 ] || step "without privileges: one fix, and a true one" without_privileges
run_without_privileges() { # the privilege, the fix, and that nothing was run
    setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all "$work/mtl" run -- echo it ran >"$work/out" 2>"$work/err"
    [ $? = 4 ] && [ ! -s "$work/out" ] && grep -q 'not started: you are not root.*needs root.*sudo mtl run.*mtl doctor' "$work/err" || shown
}
[ "$(id -u)" != 0 ] || step "mtl run without privileges: which, and what to do" run_without_privileges
run_where_nothing_fires() { # but for what mtld says, where to look
    "$mtl" run -- echo it ran >"$work/out" 2>"$work/err"
    [ $? = 4 ] && [ ! -s "$work/out" ] && grep -q 'mtl trace' "$work/err" &&
        grep -q 'not started; .mtl doctor. says what works' "$work/err" && ! grep -q 'not root' "$work/err" || shown
}
"$mtl" doctor --json | jq -e '.chosen != "none" or (any(.rungs[]; .reason | test("are accepted but do not fire")) | not)' >/dev/null ||
    step "mtl run where nothing fires: what works, and mtl doctor" run_where_nothing_fires

# --- commands whose children do the work, with a stand-in for mtld

mkdir "$work/stand-in"
cp "$mtl" tests/stub_mtld.py "$work/stand-in"
printf '%s\n' '#!/bin/sh' 'here=${0%/*}' 'exec "$here/stub_mtld.py" "$2" "$here/scenario"' >"$work/stand-in/mtld"
chmod 755 "$work/stand-in/mtld"
cat >"$work/stand-in/scenario" <<'END'
{"processes": [], "error": {"Track": {"parameters": {}},
    "Curve": {"error": "io.mtld.NotEnoughObservations", "parameters": {"pid": 1, "observations": 0, "needed": 60}}}}
END
count='i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
runs() { # SCRIPT: of a shell, too short for a curve
    "$work/stand-in/mtl" run -- sh -c "$1" >"$work/out" 2>"$work/err"
    status=$?
    [ $status = 3 ] && grep -q 'not enough yet' "$work/err" || shown
}
child_works() { runs "($count); true" && grep -qE 'its children used .* of CPU time.*exec PROGRAM' "$work/err" || shown; }
works_itself() { runs "$count" && ! grep -q children "$work/err" || shown; }
step "mtl run of a shell whose child works says so" child_works
step "... and not of one that works itself" works_itself

# --- the recipe of docs/HARDWARE.md, on this machine

recipe() {
    sed -n '/^    mkdir dump/,/^$/p' docs/HARDWARE.md | sed 's/^    //' >"$work/recipe"
    mkdir "$work/here" && (cd "$work/here" && bash -eu "$work/recipe") >"$work/said" 2>&1 && [ ! -s "$work/said" ] ||
        { cat "$work/said"; return 1; }
}
like_here() { # FILE...: the dump has them as this machine has
    for file in "$@"; do
        if [ -e "/$file" ]; then [ -e "$work/here/dump/$file" ]; else [ ! -e "$work/here/dump/$file" ]; fi ||
            { echo "$file is not as here"; return 1; }
    done
}
step "the recipe of a dump says nothing" recipe
step "and copies what is judged" like_here proc/cpuinfo proc/sys/kernel/osrelease proc/sys/kernel/perf_event_paranoid \
    sys/kernel/btf/vmlinux sys/kernel/security/lockdown sys/devices/system/cpu/online sys/bus/event_source/devices/cpu/type
step "which mtl doctor reads" answers '.tried == false' --root "$work/here/dump"

# --- a rung by its name

step "asked for, and not there: 4, the reason" ends 4 '.chosen == "none"' --root "$work/amd-server" --rung pebs
step "asked for, and there: 0" ends 0 '.chosen == "watchpoints"' --root "$work/amd-server" --rung watchpoints
step "auto is the default" ends 0 '.chosen != "none"' --root "$work/amd-server" --rung auto
step "no such rung" refuses 2 "'none' is no rung: give auto, pebs, ibs" --rung none
command=run
step "mtl run has no rung either" refuses 2 'is no rung' --rung '' -- true
command=

mtld_refuses() {
    status=0
    "$build/mtld" --rung gold 2>"$work/err" || status=$?
    [ "$status" = 2 ] && grep -q 'gold.*is none of auto' "$work/err" || shown
}
step "mtld neither" mtld_refuses

steps_total
