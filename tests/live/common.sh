# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced by the groups of live steps, inside the machine that run.sh has found or made.

. tests/steps.sh

work=$(mktemp -d)
chmod 755 "$work"
trap 'kill $(cat "$work"/*.pid 2>/dev/null) 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# status of COMMAND..., with its output in $work/out and $work/err
run() {
    status=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

shown() { # what the last run gave, for a step that failed; fails
    echo "status $status"
    head -c 2000 "$work/out"
    head -c 2000 "$work/err"
    return 1
}

# gives STATUS PATTERN COMMAND...: ends with STATUS and says PATTERN on standard error
gives() {
    wanted=$1
    pattern=$2
    shift 2
    run "$@"
    [ "$status" = "$wanted" ] && grep -qE -- "$pattern" "$work/err" || shown
}

# answers EXPRESSION COMMAND...: ends with 0, standard output is one JSON object, EXPRESSION is true of it
answers() {
    expression=$1
    shift
    run "$@"
    [ "$status" = 0 ] && jq -es "length == 1 and (.[0] | ($expression))" "$work/out" >/dev/null || shown
}

# start NAME COMMAND...: in the background, its pid in $pid and $work/NAME.pid
start() {
    name=$1
    shift
    "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null &
    pid=$!
    echo $pid >"$work/$name.pid"
}

alive() { kill -0 "$1" && ! grep -q '^State:.[ZX]' "/proc/$1/status"; } 2>/dev/null

dead() { ! alive "$1"; }

stop() { # NAME [SIGNAL]
    ended=$(cat "$work/$1.pid")
    rm -f "$work/$1.pid"
    kill "-${2:-TERM}" "$ended" 2>/dev/null
    within 20 dead "$ended" || { echo "$1 does not end"; return 1; }
    wait "$ended" 2>/dev/null || true
}

export MTL_SOCKET=$work/socket
start_mtld() { # OPTION...: ours, answering
    start mtld mtld --socket "$MTL_SOCKET" "$@"
    within 20 mtl status || { cat "$work/mtld.err"; return 1; }
}
