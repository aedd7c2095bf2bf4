#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage.sh: what the programs say of themselves (--help), one fact a line, fields apart by tabs, for the
# manual pages and completions that are made from it:
#
#     command  NAME  OPERANDS  MEANING
#     option   COMMAND  --NAME  ARGUMENT  MEANING     COMMAND "mtld": of that program
#
# MTL and MTLD name the programs (default: those under $MTL_BUILD).

set -eu
mtl=${MTL:-${MTL_BUILD:-build}/mtl}
mtld=${MTLD:-${MTL_BUILD:-build}/mtld}

# an argument is written in capitals; a meaning goes on in lines that are indented further
options() { # COMMAND
    awk -v command="$1" '
        function put() { if (name) printf "option\t%s\t%s\t%s\t%s\n", command, name, argument, meaning; name = "" }
        /^  --/ {
            put()
            match($0, /^  --[a-z-]+/); name = substr($0, 3, RLENGTH - 2); $0 = substr($0, RLENGTH + 1)
            argument = ""
            if (match($0, /^( |\[=)[A-Z][^ ]*/)) { argument = substr($0, 1, RLENGTH); $0 = substr($0, RLENGTH + 1) }
            sub(/^ /, "", argument); sub(/^ +/, ""); meaning = $0; next
        }
        name && /^     / { sub(/^ +/, ""); meaning = meaning " " $0; next }
        { put() }
        END { put() }'
}

commands=$("$mtl" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
for command in $commands; do
    help=$("$mtl" "$command" --help)
    operands=$(echo "$help" | sed -n "1s/^usage: mtl $command \[OPTION\]... *//p")
    printf 'command\t%s\t%s\t%s\n' "$command" "$operands" "$(echo "$help" | sed -n 3p)"
    echo "$help" | options "$command"
done
"$mtld" --help | options mtld
