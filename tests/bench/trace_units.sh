# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
#
# Sourced: units of real programs (units.sh) in qemu's user-mode emulator with memory_trace.c. It is that of the
# emulated machine (tests/machine), so that libraries choose the same code in both. Wants $build.
#
#     begin_tracing DIR       inputs made, in a directory $work below DIR that is gone in the end
#     is_there PROGRAM        else it is said to be left out
#     trace_units PROGRAM N   the addresses of all data accesses of one process that does N units, to $work/trace

. tests/bench/units.sh

begin_tracing() { # DIR
    packaging/build-deps.sh bench >&2
    export LC_ALL=C PYTHONHASHSEED=0
    work=$(mktemp -d "$1/units.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' INT TERM
    make_inputs "$work"
}

is_there() { # PROGRAM
    command -v "$(unit_needs "$1")" >/dev/null || { echo "no $1 here: left out" >&2; return 1; }
}

traced_run() { # COMMAND...
    program=$(command -v "$1")
    shift
    qemu-x86_64 -cpu max -plugin "$build/tests/bench/memory_trace.so,out=$work/trace" "$program" "$@"
}

ready() {
    for _ in $(seq 600); do
        [ "$(redis-cli -s "$work/redis.sock" ping 2>/dev/null)" != PONG ] || return 0
        sleep 0.2
    done
    echo "redis-server does not answer" >&2
    return 1
}

served() { # N
    trap 'kill ${server:-} 2>/dev/null || true' EXIT
    redis_socket=$work/redis.sock
    # shellcheck disable=SC2046
    eval traced_run $(unit_command redis-server "$1") >/dev/null &
    server=$!
    ready
    feed_units "$1"
    redis-cli -s "$redis_socket" shutdown nosave 2>/dev/null || true
    wait $server
    server=
}

trace_units() { # PROGRAM N
    (
        cd "$work"
        if [ "$1" = redis-server ]; then
            served "$2"
        else
            # shellcheck disable=SC2046
            eval traced_run $(unit_command "$1" "$2") >/dev/null
        fi
    )
}
