#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make.sh DIRECTORY: completions for bash (DIRECTORY/bash/mtl, mtld), zsh (zsh/_mtl) and fish (fish/mtl.fish,
# mtld.fish), from what the programs say of themselves (packaging/usage.sh): commands, their options, and after an option or in
# an operand's place the values it can have, files or process numbers, as its name in the usage has it.

set -eu
here=$(dirname "$0")
to=$1
mkdir -p "$to/bash" "$to/zsh" "$to/fish"
facts=$(mktemp)
trap 'rm -f "$facts"' EXIT
"$here/../usage.sh" >"$facts"

# what an argument or operand named so is: a file, a directory, a process
kind='function kind(s) { return s ~ /DIR/ ? "directory" : s ~ /FILE|PATH/ ? (s ~ /PID/ ? "both" : "file") : s ~ /PID/ ? "process" : s ~ /CMD/ ? "command" : "none" }'

bash_completion() {
    cat <<'TOP'
# SPDX-License-Identifier: MIT
# bash completion for mtl and mtld

_mtl_reply() { # KIND [VALUES]
    case $1 in
    values) mapfile -t COMPREPLY < <(compgen -W "$2" -- "$cur") ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && compopt -o filenames ;;
    directory) mapfile -t COMPREPLY < <(compgen -d -- "$cur") && compopt -o filenames ;;
    process) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$cur") ;;
    command) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
    both)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur"; compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$cur")
        compopt -o filenames
        ;;
    esac
}

TOP
    awk -F '\t' "$kind"'
        $1 == "command" { commands = commands " " $2; operand[$2] = kind($3) }
        $1 == "option" { if (!($2 in options)) order[++n] = $2
            options[$2] = options[$2] " " $3
            if ($4 && $4 !~ /^\[/) takes[$2] = takes[$2] sprintf("        %s) _mtl_reply %s; return ;;\n", $3, $6 ? "values \"" $6 "\"" : kind($4)) }
        END {
            print "_mtl_options() { # COMMAND: words, and what its operands are"
            print "    case $1 in"
            for (i = 1; i <= n; i++) printf "    %s) words=\"%s\" operand=%s ;;\n", order[i], substr(options[order[i]], 2), order[i] in operand ? operand[order[i]] : "none"
            print "    *) words=\"--socket --root --help --version\" operand=none ;;\n    esac\n}\n"
            print "_mtl_argument() { # COMMAND OPTION: completes what the option takes; fails when it takes nothing"
            print "    case $1 in"
            for (i = 1; i <= n; i++) printf "    %s)\n        case $2 in\n%s        esac\n        ;;\n", order[i], takes[order[i]]
            print "    *)\n        case $2 in\n        --socket) _mtl_reply file; return ;;\n        --root) _mtl_reply directory; return ;;\n        esac\n        ;;"
            print "    esac\n    return 1\n}\n"
            printf "_mtl_commands=\"%s\"\n\n", substr(commands, 2)
        }' "$facts"
    cat <<'END'
_mtl() {
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command="" words operand i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ " $_mtl_commands " == *" ${COMP_WORDS[i]} "* ]] && { command=${COMP_WORDS[i]}; break; }
    done
    [[ ${COMP_WORDS[0]##*/} == mtld ]] && command=mtld
    _mtl_options "$command"
    _mtl_argument "$command" "$previous" && return
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    elif [[ -z $command ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_mtl_commands" -- "$cur")
    else
        _mtl_reply "$operand"
    fi
} && complete -F _mtl mtl mtld
END
}

# a meaning within single quotes and brackets of _arguments
zsh_completion() {
    printf '%s\n' '#compdef mtl mtld' '# SPDX-License-Identifier: MIT' ''
    awk -F '\t' "$kind"'
        function quoted(s) { gsub(/\047/, "\047\\\047\047", s); return s }
        function clean(s) { gsub(/\[/, "(", s); gsub(/\]/, ")", s); gsub(/`/, "", s); gsub(/:/, "\\:", s); return quoted(s) }
        function chosen(s) { gsub(/:/, "\\:", s); return "(" s ")" }
        function action(s) { k = kind(s); return k == "file" ? "_files" : k == "directory" ? "_files -/" : k == "process" ? "_pids" : k == "command" ? "_command_names -e" : k == "both" ? "{ _pids; _files }" : " " }
        $1 == "command" { commands = commands sprintf("        \047%s:%s\047\n", $2, clean($4)); operand[$2] = $3 }
        $1 == "option" { if (!($2 in options)) order[++n] = $2
            if (!$4) spec = sprintf("\047%s[%s]\047", $3, clean($5))
            else if ($4 ~ /^\[/) spec = sprintf("\047%s=-[%s]::file:_files\047", $3, clean($5))
            else spec = sprintf("\047%s=[%s]:%s:%s\047", $3, clean($5), clean($4), $6 ? chosen($6) : action($4))
            options[$2] = options[$2] "            " spec " \\\n" }
        END {
            printf "_mtl_command() {\n    case $1 in\n"
            for (i = 1; i <= n; i++) printf "    %s)\n        _arguments -s \\\n%s            \047*:%s:%s\047\n        ;;\n", order[i], options[order[i]], order[i] in operand && operand[order[i]] ? clean(operand[order[i]]) : "nothing", order[i] in operand ? action(operand[order[i]]) : " "
            printf "    esac\n}\n\n_mtl_commands() {\n    local -a commands=(\n%s    )\n    _describe command commands\n}\n\n", commands
        }' "$facts"
    cat <<'END'
_mtl() {
    if [[ $service == mtld ]]; then
        _mtl_command mtld
        return
    fi
    local curcontext=$curcontext state line
    _arguments -C \
        '--socket=[where mtld listens]:PATH:_files' \
        '--root=[take /proc and /sys from below DIR]:DIR:_files -/' \
        '--help[show this help]' '--version[show the version]' \
        '1:command:_mtl_commands' '*::argument:->command'
    [[ $state == command ]] && _mtl_command "$line[1]"
}

_mtl "$@"
END
}

fish_completion() {
    printf '%s\n' '# SPDX-License-Identifier: MIT' '# fish completion for mtl' '' 'complete -c mtl -f'
    printf '%s\n' '# SPDX-License-Identifier: MIT' '# fish completion for mtld' '' 'complete -c mtld -f' >"$1"
    awk -F '\t' -v daemon="$1" "$kind"'
        function quoted(s) { gsub(/\\/, "\\\\", s); gsub(/\047/, "\\\047", s); return "\047" s "\047" }
        function how(s) { k = kind(s); return k == "file" ? " -r -F" : k == "directory" ? " -x -a \047(__fish_complete_directories)\047" : k == "process" ? " -x -a \047(__fish_complete_pids)\047" : " -x" }
        $1 == "command" { printf "complete -c mtl -n __fish_use_subcommand -a %s -d %s\n", $2, quoted($4)
            k = kind($3)
            if (k == "process" || k == "both") printf "complete -c mtl -n \047__fish_seen_subcommand_from %s\047 -a \047(__fish_complete_pids)\047\n", $2
            if (k == "file" || k == "both") printf "complete -c mtl -n \047__fish_seen_subcommand_from %s\047 -F\n", $2
            if (k == "command") printf "complete -c mtl -n \047__fish_seen_subcommand_from %s\047 -x -a \047(__fish_complete_subcommand)\047\n", $2 }
        $1 == "option" && $2 != "mtld" { printf "complete -c mtl -n \047__fish_seen_subcommand_from %s\047 -l %s%s -d %s\n", $2, substr($3, 3), $6 ? " -x -a " quoted($6) : $4 && $4 !~ /^\[/ ? how($4) : "", quoted($5) }
        $1 == "option" && $2 == "mtld" { printf "complete -c mtld -l %s%s -d %s\n", substr($3, 3), $6 ? " -x -a " quoted($6) : $4 ? how($4) : "", quoted($5) >>daemon }' "$facts"
    printf '%s\n' "complete -c mtl -n __fish_use_subcommand -l socket -r -F -d 'where mtld listens'" \
        "complete -c mtl -n __fish_use_subcommand -l root -x -a '(__fish_complete_directories)' -d 'take /proc and /sys from below DIR'" \
        "complete -c mtl -n __fish_use_subcommand -l help -d 'show this help'" \
        "complete -c mtl -n __fish_use_subcommand -l version -d 'show the version'"
}

bash_completion >"$to/bash/mtl"
printf '%s\n' '# SPDX-License-Identifier: MIT' '. "${BASH_SOURCE[0]%/*}/mtl"' >"$to/bash/mtld"
zsh_completion >"$to/zsh/_mtl"
fish_completion "$to/fish/mtld.fish" >"$to/fish/mtl.fish"
