#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check_layers.sh [TREE]: who may include whom, and the bounds every source file keeps to.
#
#   lib     only lib, and no header of the outside world (sockets, clocks, threads, systemd, bpf)
#   bpf     only bpf; event.h, the one kernel/user contract, nothing of ours
#   daemon  daemon, lib, bpf/event.h and what is generated; skeletons in one file only
#   cli     cli and lib, never daemon; page_files.h, which is generated
#
# Every file names its licence; none is over 600 lines (tests: 800), no function over 80.

set -u
cd "${1:-$(dirname "$0")/..}" || exit 1
bad=0

say() {
    echo "layers: $*"
    bad=1
}

includes() { # FILE: the names between quotes
    sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"
}

allowed() { # LAYER NAME FILE
    case $1:$2 in
    */*) return 1 ;;
    lib:*) [ -e "lib/$2" ] ;;
    bpf:*) [ -e "bpf/$2" ] && [ "$3" != bpf/event.h ] ;;
    daemon:event.h | daemon:*.skel.h | daemon:io.mtld.varlink.h) ;;
    daemon:*) [ -e "daemon/$2" ] || [ -e "lib/$2" ] ;;
    cli:page_files.h) ;;
    cli:*) [ -e "cli/$2" ] || [ -e "lib/$2" ] ;;
    esac
}

files() { # LAYER
    find "$1" -name '*.[ch]' 2>/dev/null | sort
}

for layer in lib bpf daemon cli; do
    [ -d $layer ] || say "no directory $layer"
    for file in $(files $layer); do
        for name in $(includes "$file"); do
            allowed $layer "$name" "$file" || say "$file must not include \"$name\""
        done
    done
done

# a script that is no script fails late, and far from here
for script in $(git ls-files '*.sh' 2>/dev/null || find tests packaging -name '*.sh'); do
    shell=$(sed -n '1s/^#!.*\/\(bash\|sh\).*/\1/p' "$script")
    said=$("${shell:-sh}" -n "$script" 2>&1) || say "$said"
done

# cleanup.h needs <unistd.h> for close(); what would make lib impure is refused by name
impure='<(systemd/|bpf/|linux/|sys/(socket|syscall|ioctl|mman|epoll)|pthread|syslog|time|fcntl|signal)'
for file in $(files lib); do
    found=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*$impure" "$file") &&
        say "$file is not pure: $found"
done

users=$(grep -lE '#include "[^"]*\.skel\.h"' daemon/*.c 2>/dev/null | wc -l)
[ "$users" -le 1 ] || say "$users files include BPF skeletons: $(grep -lE '\.skel\.h"' daemon/*.c | tr '\n' ' ')"

for file in $(files lib) $(files bpf) $(files daemon) $(files cli) $(files tests); do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || say "$file does not name its licence"
    case $file in
    tests/*) limit=800 ;;
    *) limit=600 ;;
    esac
    awk -v file="$file" -v limit=$limit '
        /^{/ { start = NR }
        /^}/ { if (start && NR - start > 80) { print file ":" start ": a function of " NR - start " lines"; bad = 1 } start = 0 }
        END { if (NR > limit) { print file ": " NR " lines are more than " limit; bad = 1 } exit bad }' \
        "$file" || bad=1
done
for file in $(files bpf); do
    head -n 2 "$file" | grep -q 'GPL-2.0' || say "$file is not dual licensed (MIT OR GPL-2.0-only)"
done

[ $bad -eq 0 ] && echo "layers: in order"
exit $bad
