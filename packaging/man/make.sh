#!/bin/sh
# SPDX-License-Identifier: MIT
#
# make.sh DIRECTORY VERSION: the manual pages into DIRECTORY. Prose stands in the .in files here; what
# the programs, etc/mtld.conf, the interface and the headers say of themselves is put in its places:
#
#     @COMMANDS@   of mtl, each with its options          @DAEMON@   options of mtld
#     @KEYS@       of etc/mtld.conf, with their comments  @METHODS@  @ERRORS@  of io.mtld.varlink
#     @FUNCTIONS@  of the headers, by their sections         @TABLEKEYS@  @TEXTKEYS@  @TOPCOLUMNS@  of mtl top

set -eu
here=$(dirname "$0")
top=$here/../..
to=$1
version=$2
mkdir -p "$to"
facts=$(mktemp)
trap 'rm -f "$facts"' EXIT
"$here/../usage.sh" >"$facts"

# what troff would take for its own
text='function text(s) { gsub(/\\/, "\\e", s); gsub(/`/, "", s); sub(/^[.\047]/, "\\\\\\&&", s); return s }'

options() { # COMMAND
    awk -F '\t' -v command="$1" "$text"'
        $1 == "option" && $2 == command && (command == "mtld" || $3 !~ /^--(socket|root|help|version)$/) {
            argument = $4
            if (!n++) print ".Bl -tag -width Ds"
            if (argument ~ /^\[/) printf ".It Fl Fl %s%s\n", substr($3, 3), argument
            else if (argument) printf ".It Fl Fl %s Ar %s\n", substr($3, 3), argument
            else printf ".It Fl Fl %s\n", substr($3, 3)
            word = $5; sub(/[^a-z0-9-].*/, "", word) # one that is typed stays as it is
            meaning = index(" " $6 " ", " " word " ") ? $5 : toupper(substr($5, 1, 1)) substr($5, 2)
            if (meaning !~ /[.)]$/) meaning = meaning "."
            print text(meaning)
        }
        END { if (n) print ".El" }' "$facts"
}

commands() {
    awk -F '\t' '$1 == "command" { print $2 }' "$facts" | while read -r command; do
        awk -F '\t' -v command="$command" "$text"'
            $1 == "command" && $2 == command {
                meaning = toupper(substr($4, 1, 1)) substr($4, 2) "."
                printf ".Ss mtl %s%s%s\n%s\n", command, $3 ? " " : "", $3, text(meaning)
            }' "$facts"
        options "$command"
    done
}

# "#key = value" below a comment
keys() {
    awk "$text"'
        /^#[a-z_]+ *=/ {
            sub(/^#/, ""); name = $1; value = $0; sub(/^[^=]*= */, "", value)
            printf ".It Ic %s No = %s\n%s", name, value == "" ? "(empty)" : value, comment; comment = ""; next
        }
        /^# / { sub(/^# /, ""); comment = comment text($0) "\n"; next }
        { comment = "" }' "$top/etc/mtld.conf"
}

top_keys() { # TABLE: rows that have words for the help
    awk -v table="$1" "$text"'
        index($0, table "[] = {") { inside = 1 }
        /^};/ { inside = 0 }
        inside && match($0, /"[^"]+", "[^"]+", [a-z_]+}/) {
            split(substr($0, RSTART, RLENGTH), part, "\"")
            meaning = toupper(substr(part[4], 1, 1)) substr(part[4], 2) "."
            keys = text(part[2]); gsub(/ /, "\\ ", keys)
            printf ".It Ic \\&%s\n%s\n", keys, text(meaning)
        }' "$top/cli/top_keys.c"
}

# {"name", "TITLE", numbers, "meaning", functions}, over several lines
top_columns() {
    awk "$text"'
        /top_columns\[\] = {/ { inside = 1; next }
        /^};/ { inside = 0 }
        inside {
            row = row $0
            if (!/},$/) next
            split(row, part, "\""); row = ""
            meaning = toupper(substr(part[6], 1, 1)) substr(part[6], 2) "."
            title = text(part[4]); gsub(/ /, "\\ ", title)
            printf ".It Ic \\&%s No (%s)\n%s\n", title, text(part[2]), text(meaning)
        }' "$top/cli/top_columns.c"
}

# comments above stay with what is below; a declaration may go over several lines
declared() { # method|error
    awk -v kind="$1" "$text"'
        /^#/ { sub(/^# ?/, ""); comment = comment text($0) "\n"; next }
        $1 == kind { whole = ""; inside = 1 }
        inside {
            line = $0; gsub(/[ \t]+/, " ", line); whole = whole line
            opened += gsub(/\(/, "(", line); opened -= gsub(/\)/, ")", line)
            if (opened == 0 && whole !~ /-> *$/) {
                sub(/^[a-z]+ /, "", whole); gsub(/\( /, "(", whole); gsub(/ \)/, ")", whole)
                name = whole; sub(/\(.*/, "", name); sub(/^[^(]*/, "", whole)
                printf ".It Ic %s Ns %s\n%s", name, whole, comment
                inside = 0; comment = ""
            }
            next
        }
        NF == 0 || /^[a-z]/ { comment = "" }' "$top/daemon/io.mtld.varlink"
}

# sections are "-- Name (files) --" in comments; names stand before a parenthesis
functions() {
    cat "$top/lib/mtl.h" "$top/lib/mtl_trace.h" "$top/lib/mtl_share.h" | awk '
        function close_list() { if (n) print ""; n = 0 }
        /^ \* -- .* --/ {
            close_list()
            section = $0; sub(/^ \* -- */, "", section); sub(/ *\(lib.*| --.*/, "", section)
            printf ".Ss %s\n", section; next
        }
        /^(int|double|void|bool|size_t|uint64_t|unsigned|struct|char)[ a-z_0-9*]*mtl_[a-z_0-9]+\(/ {
            match($0, /mtl_[a-z_0-9]+\(/)
            printf "%s.Fn %s", n++ ? " ,\n" : "", substr($0, RSTART, RLENGTH - 1)
        }
        END { if (n) print "" }'
}

put() { # PAGE: its places filled
    awk -v version="$version" -v places="$places" '
        /^@[A-Z]+@$/ { file = places "/" $0; while ((getline line <file) > 0) print line; next }
        { gsub(/@VERSION@/, version); print }' "$here/$1.in" >"$to/$1.new"
    mv "$to/$1.new" "$to/$1"
}

places=$(mktemp -d)
trap 'rm -rf "$facts" "$places"' EXIT
commands >"$places/@COMMANDS@"
options mtld >"$places/@DAEMON@"
keys >"$places/@KEYS@"
top_keys table_keys >"$places/@TABLEKEYS@"
top_keys text_keys >"$places/@TEXTKEYS@"
top_columns >"$places/@TOPCOLUMNS@"
declared method >"$places/@METHODS@"
declared error >"$places/@ERRORS@"
functions >"$places/@FUNCTIONS@"
for page in "$here"/*.in; do
    page=${page##*/}
    put "${page%.in}"
done
