#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run_unit.sh BUILD TEST...: every unit test three times: plain, under ASan+UBSan, under valgrind
# (beside the other two, since it takes longest). Output of what failed, then one line at the very
# end, "N passed, N failed", counting cmocka tests; a program that dies without a verdict is one
# failure. Exits 1 when anything failed or nothing ran.

set -u
build=$1
shift
limit=${UNIT_TEST_TIMEOUT:-120}
logs=$build/logs
rm -rf "$logs"
mkdir -p "$logs"

# test programs that valgrind does not run, and why
without_valgrind() {
    case $1 in
    test_process | test_plot_file) echo "valgrind 3.19 does not know pidfd_open()" ;;
    test_clock_rest) echo "valgrind does not know what BPF writes" ;;
    *) return 1 ;;
    esac
}

sum() { # PATTERN FILE: cmocka prints "[  PASSED  ] 3 test(s)."
    sed -n "s/.*\[  $1  \] \([0-9][0-9]*\) test(s).*/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

run() { # MODE NAME COMMAND...: adds a line "passed failed" to the mode's tally
    mode=$1
    name=$2
    shift 2
    log=$logs/$name.$mode
    status=0
    timeout "$limit" "$@" >"$log" 2>&1 </dev/null || status=$?
    good=$(sum PASSED "$log")
    bad=$(sum FAILED "$log")
    if [ "$bad" -eq 0 ] && { [ $status -ne 0 ] || [ "$good" -eq 0 ]; }; then
        bad=1
    fi
    echo "$good $bad" >>"$logs/tally.$mode"
    [ "$bad" -eq 0 ] && return
    tail -n 60 "$log" | sed "s/^/    /"
    [ $status -eq 124 ] && echo "    (stopped after $limit s)"
    echo "FAIL $name ($mode, status $status)"
}

under_valgrind() {
    for name in "$@"; do
        if reason=$(without_valgrind "$name"); then
            echo "$name not under valgrind: $reason"
        else
            run valgrind "$name" valgrind -q --error-exitcode=9 --leak-check=full \
                --errors-for-leak-kinds=definite "$build/unit/$name"
        fi
    done
}

under_valgrind "$@" >"$logs/said.valgrind" 2>&1 &
for name in "$@"; do
    run plain "$name" "$build/unit/$name"
    run sanitize "$name" "$build/sanitize/unit/$name"
done
wait
cat "$logs/said.valgrind"
cat "$logs"/tally.* 2>/dev/null | awk '
    { passed += $1; failed += $2 }
    END { print passed + 0 " passed, " failed + 0 " failed"; exit failed > 0 || passed == 0 }'
