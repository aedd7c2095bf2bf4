# shellcheck shell=sh disable=SC2086,SC2154
# SPDX-License-Identifier: MIT
#
# Sourced after steps.sh by scripts that try mtl. They set $command, which is empty unless all of it
# is about one command; $build is absolute, $work a directory that goes at the end.

build=${MTL_BUILD:-build}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
mtl=$build/mtl
[ -x "$mtl" ] || die "$mtl is not there"
work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# status of mtl $command ARG..., with its output in $work/out and $work/err
run() {
    status=0
    "$mtl" $command "$@" >"$work/out" 2>"$work/err" || status=$?
}

shown() { # what the last run gave, for a step that failed; fails
    echo "status $status"
    head -c 2000 "$work/out"
    head -c 2000 "$work/err"
    return 1
}

# refuses STATUS PATTERN ARG...: ends with STATUS, says PATTERN on standard error and nothing else
refuses() {
    wanted=$1
    pattern=$2
    shift 2
    run "$@"
    [ "$status" = "$wanted" ] && [ ! -s "$work/out" ] && grep -qE -- "$pattern" "$work/err" || shown
}

# answers EXPRESSION ARG...: one JSON object of which EXPRESSION is true, and nothing on standard error
answers() {
    expression=$1
    shift
    run "$@" --json
    [ "$status" = 0 ] && [ ! -s "$work/err" ] &&
        jq -es "length == 1 and (.[0] | ($expression))" "$work/out" >/dev/null || shown
}
