#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make check-probe: `mtl probe` on this machine. What it says may be "not-measurable" where a machine
# is too busy or hides its caches; a number that it gives must not be wrong, so runs must agree, a
# false prediction must not be confirmed, and a control that does nothing must be found out.

cd "$(dirname "$0")/../.." || exit 1
command=probe
. tests/steps.sh
. tests/mtl_steps.sh

export STATE_DIRECTORY="$work/state"

# --- helpers

verdicts='["confirmed", "differs", "not-measurable", "control-broken"]'
l1='[.levels[] | select(.level == 1)][0]'

geometry() { # NAME WAYS SETS: a root in which L1 is that
    directory=$work/$1/sys/devices/system/cpu/cpu0/cache/index0
    mkdir -p "$directory"
    echo 1 >"$directory/level"
    echo Data >"$directory/type"
    echo "$(($2 * $3 / 16))K" >"$directory/size"
    echo "$2" >"$directory/ways_of_associativity"
    echo "$3" >"$directory/number_of_sets"
    echo 64 >"$directory/coherency_line_size"
}

agree() { # FILE...: they give one number, those that give any
    jq -es "map($l1 | .measured_onset | values) | unique | length <= 1" "$@" || ! jq -c "$l1" "$@"
}

saved() { # what the last run gave is kept, readable by everybody who reads it
    [ -s "$work/state/probe.json" ] &&
        jq -e --slurpfile out "$work/out" '.levels == $out[0].levels and .cpu == $out[0].cpu' \
            "$work/state/probe.json" >/dev/null
}

predicted_first() { # the table of predictions stands before the word that measuring begins
    run --level 1
    [ "$status" = 0 ] && grep -n 'Prediction\|^Measuring\|verdict' "$work/out" | sed 's/:.*//' | sort -nc &&
        [ "$(grep -c 'Prediction\|^Measuring' "$work/out")" = 2 ] && ! grep -q TLB "$work/out" || shown
}

not_a_file() { # what is in its place does not stop anybody
    mkdir "$work/fifo" && mkfifo "$work/fifo/probe.json" &&
        printf 'a b c\n' | STATE_DIRECTORY=$work/fifo timeout 10 "$mtl" trace - --format tokens --cache auto >/dev/null 2>&1
}

# --- steps

step "an answer of the right form" answers "$verdicts"' as $known |
    (.levels | length) > 0 and (.levels | map(.level)) == (.levels | map(.level) | sort) and
    all(.levels[], .tlb; .verdict as $v | $known | index([$v]) != null) and
    all(.levels[]; (keys | length) == 14 and .predicted_onset == (if .ways then .ways + 1 else null end)) and
    (.source | IN("sysfs", "cpuid")) and (.latency | length) > 20 and .seconds < 60' 
cp "$work/out" "$work/first"
step "it is kept" saved
step "a level of its own" answers '(.levels | length) == 1 and .levels[0].level == 1 and .tlb == null' --level 1
step "it is not kept then" jq -e '.levels | length > 1' "$work/state/probe.json"
step "runs agree" agree "$work/first" "$work/out"
step "prediction before measurement" predicted_first

# Three ways more or fewer than there are, and twice the sets: what is measured stays what it is.
if ways=$(jq -e "$l1 | select(.verdict == \"confirmed\") | .ways" "$work/first") &&
    sets=$(jq -e "$l1 | .sets" "$work/first"); then
    geometry fewer $((ways - 3)) "$sets"
    geometry more $((ways + 3)) "$sets"
    geometry sets "$ways" $((sets * 2))
    for root in fewer more; do
        step "$root ways are not confirmed" answers ".source == \"sysfs\" and ($l1 |
            .predicted_onset != $((ways + 1)) and (.verdict == \"not-measurable\" or
            (.verdict == \"differs\" and .measured_onset == $((ways + 1)))))" --level 1 --root "$work/$root"
    done
    step "twice the sets alias too" answers "$l1 | .verdict == \"not-measurable\" or
        .measured_onset == $((ways + 1))" --level 1 --root "$work/sets"
    step "nothing is kept of another root" [ ! -e "$work/fewer/var" ]
fi

MTL_DEBUG_PROBE_CONTROL=aliased
export MTL_DEBUG_PROBE_CONTROL
step "a control that does nothing is found out" answers "$l1 |
    (.verdict == \"control-broken\" and .measured_onset == null) or .verdict == \"not-measurable\"" --level 1
unset MTL_DEBUG_PROBE_CONTROL

step "--cache auto takes it" sh -c "
    printf 'a b c a b c\n' | '$mtl' trace - --format tokens --cache auto 2>&1 >/dev/null | grep 'as probe says'"

step "a pipe in its place is passed over" not_a_file

# --- messages

step "no such level" refuses 2 'no cache of level 8' --level 8
step "no level at all" refuses 2 'no level of a cache' --level x
step "two levels" refuses 2 'given twice' --level 1 --level 2
step "no operands" refuses 2 'too much' 1
step "a picture" sh -c "'$mtl' probe --level 1 --plot '$work/p.svg' >/dev/null && grep -q 'L1' '$work/p.svg'"
step "no picture" refuses 2 'ends in .svg' --plot "$work/p.txt"

steps_total
