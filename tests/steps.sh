# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced by the test scripts that report step by step: one PASS or FAIL line a step, its output
# only where it failed, and a closing line with the totals. Plain sh, so that it also runs inside a
# bare container.

steps_passed=0
steps_failed=0

# step NAME COMMAND...: passes when COMMAND does
step() {
    step_name=$1
    shift
    if step_output=$("$@" 2>&1 </dev/null); then
        steps_passed=$((steps_passed + 1))
        echo "PASS $step_name"
    else
        steps_failed=$((steps_failed + 1))
        echo "FAIL $step_name"
        printf '%s\n' "${step_output:-(no output)}" | tail -n 12 | sed 's/^/     /'
    fi
}

# the closing line; fails when a step did, or when there was none
steps_total() {
    echo "$steps_passed passed, $steps_failed failed"
    [ "$steps_failed" = 0 ] && [ "$steps_passed" -gt 0 ]
}

# is_true EXPRESSION [FILE]: of the one JSON object on standard input or in the file; nothing at all, which
# pleases jq -e, is none
is_true() {
    jq -es "length == 1 and (.[0] | ($1))" ${2:+"$2"} >/dev/null
}

# die REASON...: what keeps the test from running at all is a failure, never a skip
die() {
    echo "FAIL ${0#"$PWD"/}: $*" >&2
    exit 1
}

# seconds of uptime, in hundredths: differences of it are durations
centiseconds() {
    read -r up _ </proc/uptime
    echo "${up%.*}${up#*.}"
}

# within SECONDS COMMAND...: COMMAND succeeds within that time, tried again and again; what it says goes
# to $work, a directory of the caller's, and is shown when it never did
within() {
    deadline=$(($(centiseconds) + 100 * $1))
    shift
    until "$@" >"$work/tried" 2>&1; do
        [ "$(centiseconds)" -lt $deadline ] || { cat "$work/tried"; return 1; }
        sleep 0.1
    done
}
