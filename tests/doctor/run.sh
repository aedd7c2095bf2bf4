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

# unpack NAME: $work/NAME plays / for that machine
unpack() {
    while IFS='	' read -r path content; do
        case $path in
        '#'* | '') continue ;;
        esac
        mkdir -p "$work/$1/${path%/*}"
        printf '%b\n' "$content" >"$work/$1/$path"
    done <"tests/unit/data/machines/$1.tree"
}

for machine in intel-server amd-server hybrid-laptop vm-without-pmu vm-with-counters; do
    unpack $machine
done

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
step "a VM without a PMU: what one would give" says 'should work there: rung watchpoints\. The rung ibs would add addresses .* The rung counters would add true miss ratios' \
    --root "$work/vm-without-pmu"
step "a VM that counts: counters without PEBS" answers "$(rung pebs fails max_precise) and $(rung counters works ALL_LOADS)" \
    --root "$work/vm-with-counters"
step "what is taken: PEBS" answers '.chosen == "pebs"' --root "$work/intel-server"
step "and IBS" answers '.chosen == "ibs"' --root "$work/amd-server"
step "and PEBS of both halves" answers '.chosen == "pebs"' --root "$work/hybrid-laptop"
step "and counters" answers ".chosen == \"counters\" and $(rung counters works 'counts accesses: MEM_INST_RETIRED.ALL_LOADS')" \
    --root "$work/vm-with-counters"
step "every rung has its members" answers 'all(.rungs[]; [has("name", "works", "reason", "fix", "gain")] | all) and ([.rungs[].name] == ["pebs", "ibs", "counters", "watchpoints", "none"])' \
    --root "$work/intel-server"
step "a table for people" says 'RUNG +WORKS +WHY .*pebs .*ibs .*counters .*watchpoints +yes .*none' --root "$work/amd-server"
for machine in intel-server amd-server; do
    step "no event of this machine is opened for the dump $machine" opens_nothing $machine
done
step "a directory that is no dump" refuses 1 'proc/cpuinfo is missing: --root names no dump' --root "$work"

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
