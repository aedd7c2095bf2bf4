#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage.sh: what the programs say of themselves (--help), one fact a line, fields apart by tabs, for the
# manual pages and completions that are made from it:
#
#     command  NAME  OPERANDS  MEANING
#     option   COMMAND  --NAME  ARGUMENT  MEANING  VALUES     COMMAND "mtld": of that program
#
# VALUES are the words that a meaning lists as what an argument can be, apart by blanks: three or more with
# "or" before the last, or each before its own meaning ("total: ...; fair: ..."). What may follow a word
# ends it with a colon ("shards:").
#
# MTL and MTLD name the programs (default: those under $MTL_BUILD).

set -eu
mtl=${MTL:-${MTL_BUILD:-build}/mtl}
mtld=${MTLD:-${MTL_BUILD:-build}/mtld}

# an argument is written in capitals; a meaning goes on in lines that are indented further
options() { # COMMAND
    awk -v command="$1" '
        function put() { if (name) printf "option\t%s\t%s\t%s\t%s\t%s\n", command, name, argument, meaning, values(meaning); name = "" }
        function values(text,    n, parts, i, found, rest) {
            if (argument !~ /^(NAME|FORMAT|METHOD|WHAT|COLUMN)$/) return ""
            rest = text ~ /[(](default: )?auto[,:]/ ? " auto" : ""
            gsub(/ *\([^)]*\)/, "", text)
            n = split(text, parts, /; /)
            for (i = 1; n > 1 && i <= n; i++) if (match(parts[i], /^[a-z0-9-]+: /)) found = found " " substr(parts[i], 1, RLENGTH - 2)
            if (!found && match(text, /([a-z0-9-]+(:[A-Z]+)?, )+[a-z0-9-]+(:[A-Z]+)? or [a-z0-9-]+(:[A-Z]+)?/)) {
                found = " " substr(text, RSTART, RLENGTH); gsub(/,/, "", found); gsub(/ or /, " ", found); gsub(/:[A-Z]+/, ":", found)
            }
            return substr(found rest, 2)
        }
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
