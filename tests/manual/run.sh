#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make check-manual: manual pages and completions have what the programs, the configuration, the interface and
# the library have, and nothing else; pages are well-formed; completions complete.

set -u
command=
cd "$(dirname "$0")/../.." || exit 1
. tests/steps.sh
. tests/mtl_steps.sh

man=$build/man
completions=$build/completions
packaging/usage.sh >"$work/usage"
for page in mtl.1 mtld.8 mtld.conf.5 io.mtld.7 libmtl.3; do
    mandoc -Tascii -O width=200 "$man/$page" 2>/dev/null | col -b >"$work/$page"
done

facts() { awk -F '\t' -v kind="$1" -v command="${2:-}" '$1 == kind && (kind == "command" || (command ? $2 == command : $2 != "mtld")) { print kind == "command" ? $2 : $3 }' "$work/usage" | sort -u; }
has_all() { # FILE: each line of standard input is a word of it
    bad=0
    while read -r word; do
        grep -qE -- "(^|[^A-Za-z_-])$word([^A-Za-z_-]|$)" "$1" || { echo "${1##*/} has no $word"; bad=1; }
    done
    return $bad
}
options_of() { grep -oE -- '--[a-z][a-z-]+' "$1" | sort -u; }
no_others() { # FILE KNOWN: options of a file that no program has
    others=$(options_of "$1" | grep -vxFf "$2")
    [ -z "$others" ] || { echo "${1##*/} has" $others; false; }
}

usage_is_read() { [ "$(facts command | wc -l)" -ge 13 ] && [ "$(facts option | wc -l)" -ge 40 ] && [ "$(facts option mtld | wc -l)" -ge 7 ]; }
well_formed() { mandoc -Tlint -W error "$man/$1" && ! grep -n '^@' "$man/$1" && [ "$(wc -l <"$work/$1")" -gt 20 ]; }
keys() { sed -nE 's/^#([a-z_]+) *= .*/\1/p' etc/mtld.conf; }
named() { sed -nE "s/^$1 ([A-Za-z]+).*/\1/p" daemon/io.mtld.varlink; }
functions() { sed -nE 's/^\t(mtl_[a-z_0-9]*);$/\1/p' lib/libmtl.map; }
a_page_each() { # every option of a command stands in that command's part of mtl.1, and in no other's
    awk -F '\t' '$1 == "option" && $2 != "mtld" && $3 !~ /^--(socket|root|help|version)$/ { print $2, $3 }' "$work/usage" | sort >"$work/wanted"
    awk '/^   mtl [a-z]+/ { command = $2 } /^[A-Z]/ { command = "" } command && match($0, /^ +--[a-z-]+/) { sub(/^ +/, ""); match($0, /^--[a-z-]+/); print command, substr($0, 1, RLENGTH) }' \
        "$work/mtl.1" | sort >"$work/found"
    [ -s "$work/wanted" ] && diff "$work/wanted" "$work/found"
}

step "usage texts are understood" usage_is_read
for page in mtl.1 mtld.8 mtld.conf.5 io.mtld.7 libmtl.3; do
    step "$page is well-formed" well_formed $page
done
step "mtl.1 has every command" has_all "$work/mtl.1" < <(facts command)
step "mtl.1 has each command's options, and no others" a_page_each
{ facts option; facts option mtld; } >"$work/known"
echo '--tool --trace-mem --log-file' | tr ' ' '\n' >>"$work/known"
step "pages name no option that is not there" no_others "$work/mtl.1" "$work/known"
step "mtld.8 has mtld's" has_all "$work/mtld.8" < <(facts option mtld)
step "mtld.conf.5 has every key" has_all "$work/mtld.conf.5" < <(keys)
step "io.mtld.7 has every method" has_all "$work/io.mtld.7" < <(named method)
step "io.mtld.7 has every error" has_all "$work/io.mtld.7" < <(named error)
step "libmtl.3 has every function" has_all "$work/libmtl.3" < <(functions)

values() { awk -F '\t' '$1 == "option" && $6 { for (i = split($6, word, " "); i > 0; i--) print $2, $3, word[i] }' "$work/usage" | sort -u; }
values_are_taken() { # what is said to be a value is one: the programs refuse any other word
    bad=0
    while read -r name option value; do
        program="$mtl $name"
        [ "$name" != mtld ] || program=$build/mtld
        [ "$name" != top ] || [ "$option" != --sort ] || ! grep -q "\"$value\"" cli/top_columns.c || continue # read on a terminal only
        case $value in shards:) value=shards:0.1 ;; shards-size:) value=shards-size:100 ;; esac
        if $program "$option" "$value" --help 2>&1 | grep -q -- "^  $option" && ! $program "$option" no-such --help >/dev/null 2>&1; then continue; fi
        echo "$name $option $value" && bad=1
    done < <(values)
    [ "$(values | wc -l)" -ge 40 ] && return $bad
}
as_typed() { # no value is written in capitals
    ! values | while read -r name option value; do
        awk -v option="$option" -v value="$value" '
            BEGIN { first = toupper(substr(value, 1, 1)) substr(value, 2) }
            $1 == option { inside = 2 }
            inside-- > 0 && match($0, "(^|[ ,])" first "([ ,:.]|$)") { print option ": " $0 }' "$work/mtl.1"
    done | grep .
}
top_keys() { sed -nE 's/.*\{\{.*"([^"]+)", "[^"]+", [a-z_]+\}.*/\1/p' cli/top_keys.c; }
has_keys() { [ "$(top_keys | wc -l)" -ge 20 ] && top_keys | while read -r keys; do grep -qF -- "     $keys" "$work/mtl.1" || { echo "no $keys"; return 1; }; done; }
top_columns() { tr -d '\n' <cli/top_columns.c | grep -oE '\{"[a-z0-9]+", "[^"]+"' | sed -E 's/\{"([^"]*)", "([^"]*)"/\2 (\1)/'; }
has_columns() { [ "$(top_columns | wc -l)" -ge 9 ] && top_columns | while read -r column; do grep -qF -- "     $column" "$work/mtl.1" || { echo "no $column"; return 1; }; done; }

of_one_process() { # what mtl curve refuses of several processes
    for option in csv watch record history; do
        $mtl curve --$option ${words[$option]:-} 1 2 2>&1 | grep -q 'are for one process' || { echo "--$option is taken"; return 1; }
        awk -F '\t' -v option="--$option" '$2 == "curve" && $3 == option && $5 ~ /of one process only/ { found = 1 } END { exit !found }' "$work/usage" || { echo "--$option does not say it"; return 1; }
    done
}
declare -A words=([record]=$work/record)
step "mtl curve --help says what is of one process only" of_one_process
step "what arguments can be is known, and true" values_are_taken
step "mtl.1 has it as it is typed" as_typed
step "mtl.1 has the keys of mtl top" has_keys
step "mtl.1 has its columns" has_columns

# --- completions

completes() { # SHELL-WORDS... => WANTED: as bash does it, a blank-separated list
    wanted=${*: -1}
    (
        . "$completions/bash/mtl"
        compopt() { :; }
        while [ "$1" != "=>" ]; do COMP_WORDS+=("$1") && shift; done
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _mtl
        [ "${COMPREPLY[*]}" = "$wanted" ] || { echo "${COMP_WORDS[*]}: ${COMPREPLY[*]}"; false; }
    )
}
mkdir "$work/d"
touch "$work/d/one.trace"
all_in() { has_all "$1" < <(facts option | sed 's/^--/(--|-l )/'; facts command); }
fish_completes() { fish -c "source $completions/fish/mtl.fish; complete -C '$1'" | cut -f 1 | tr '\n' ' ' | grep -qx -- "$2 "; }

step "bash: its syntax" bash -n "$completions/bash/mtl"
step "bash: every option and command" all_in "$completions/bash/mtl"
step "bash: a command" completes mtl cur '=>' curve
step "bash: its options" completes mtl untrack --v '=>' --version
step "bash: not those of others" completes mtl list --plot '=>' ''
step "bash: a file" completes mtl trace "$work/d/o" '=>' "$work/d/one.trace"
step "bash: a file after an option" completes mtl curve --plot "$work/d/o" '=>' "$work/d/one.trace"
step "bash: a directory" completes mtl --root "$work/d" '=>' "$work/d"
step "bash: a process" completes mtl curve $$ '=>' "$(cd /proc && compgen -W "$(echo [0-9]*)" -- $$ | tr '\n' ' ' | sed 's/ $//')"
step "bash: a value" completes mtl trace --format l '=>' lackey
step "bash: values" completes mtl partition --objective '' '=>' 'total fair guarantee'
step "bash: mtld" completes mtld --self '=>' --self-test
step "zsh: its syntax" zsh -n "$completions/zsh/_mtl"
step "zsh: every option and command" all_in "$completions/zsh/_mtl"
step "zsh: values" grep -q "'--objective=\\[.*\\]:WHAT:(total fair guarantee)'" "$completions/zsh/_mtl"
step "zsh: colons" grep -qF 'shards\:R (of a share R of the lines)' "$completions/zsh/_mtl"
step "fish: its syntax" fish --no-execute "$completions/fish/mtl.fish" "$completions/fish/mtld.fish"
step "fish: every option and command" all_in "$completions/fish/mtl.fish"
step "fish: a command" fish_completes "mtl cur" curve
step "fish: values" fish_completes "mtl top --sort foot" footprint
step "fish: its options" fish_completes "mtl untrack --ve" --version
steps_total
