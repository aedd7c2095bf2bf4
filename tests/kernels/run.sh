#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The same programs on Debian 12's own 6.1 kernel: booted in qemu under software emulation (no KVM
# needed) with one processor, then with two, from an initramfs of busybox, our programs and the
# libraries they load. In it `mtl run` measures the scan workload, whose footprint is known; the
# bounds are wide because the emulated machine is slow, and miss rates are only compared with each
# other. See init for what runs inside.
#
# Under build/kernels:  vmlinuz-*  from the Debian package, which is unpacked, never installed
#                       smpN/      console, answers and their sections of the run with N processors

set -eu
cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/sbin:/sbin
. tests/steps.sh

build=$(realpath "${MTL_BUILD:-build}")
work=$build/kernels
working_set=2097152
boot_seconds=${MTL_BOOT_SECONDS:-150}

clean_up() {
    [ -z "${machine:-}" ] || kill "$machine" 2>/dev/null || true
    wait
    rm -rf "$work/root" "$work/package"
}

# the newest cached kernel, else the one that linux-image-amd64 stands for
get_kernel() {
    kernel=$(ls -v "$work"/vmlinuz-6.1.* 2>/dev/null | tail -n 1)
    [ -z "$kernel" ] || return 0
    packaged=$(apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-6\.1\..*-amd64\)$/\1/p' | head -n 1)
    [ -n "$packaged" ] || { apt-get -q update >"$work/apt.log" 2>&1 || true
        packaged=$(apt-cache depends linux-image-amd64 |
            sed -n 's/^ *Depends: \(linux-image-6\.1\..*-amd64\)$/\1/p' | head -n 1); }
    [ -n "$packaged" ] || die "apt knows no 6.1 kernel behind linux-image-amd64: is this Debian 12?"
    echo "getting $packaged (once)"
    rm -rf "$work/package"
    mkdir "$work/package"
    download "$packaged" || { apt-get -q update && download "$packaged"; } >"$work/apt.log" 2>&1 || {
        tail -n 5 "$work/apt.log" >&2
        die "cannot download $packaged"
    }
    dpkg-deb --fsys-tarfile "$work"/package/*.deb | tar -C "$work/package" -x --wildcards './boot/vmlinuz-*'
    mv "$work"/package/boot/vmlinuz-* "$work"
    kernel=$(ls -v "$work"/vmlinuz-6.1.* | tail -n 1)
}

download() { (cd "$work/package" && timeout 300 apt-get -q download "$1" >"$work/apt.log" 2>&1); }

add_program() { # FILE: it and all that it loads
    cp "$1" "$work/root/bin"
    ldd "$1" | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "$work/root${library%/*}"
        cp -L "$library" "$work/root$library"
    done
}

make_initramfs() {
    rm -rf "$work/root"
    mkdir -p "$work/root/bin" "$work/root/proc" "$work/root/sys" "$work/root/dev" "$work/root/run" "$work/root/tmp"
    cp /bin/busybox "$work/root/bin/busybox"
    for applet in sh mount stty timeout cat uname grep dmesg sync poweroff; do
        ln -s busybox "$work/root/bin/$applet"
    done
    for program in mtl mtld workload; do
        [ -x "$build/$program" ] || die "$build/$program is not there: run make check-kernels"
        add_program "$build/$program"
    done
    cp tests/kernels/init "$work/root/init"
    (cd "$work/root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$work/initramfs"
    rm -rf "$work/root"
}

boot() { # PROCESSORS
    here=$work/smp$1
    rm -rf "$here"
    mkdir "$here"
    : >"$here/answers"
    timeout -k 5 "$boot_seconds" qemu-system-x86_64 -accel tcg -smp "$1" -m 1024 -nodefaults \
        -display none -no-reboot -kernel "$kernel" -initrd "$work/initramfs" \
        -append 'console=ttyS0 quiet panic=-1' \
        -serial "file:$here/console" -serial "file:$here/answers" >"$here/qemu.log" 2>&1 </dev/null &
    machine=$!
    wait $machine || boot_status=$?
    machine=
    split_answers
}

# one file a section, its status in NAME.status
split_answers() {
    awk -v dir="$here" '
        /^=== / { name = $2; if (NF > 2) print $3 >(dir "/" name ".status"); next }
        name { print >(dir "/" name) }' "$here/answers"
}

ended_by_itself() {
    [ -e "$here/end.status" ] && [ "${boot_status:-0}" = 0 ] && return
    echo "qemu status ${boot_status:-0} (124: it took more than $boot_seconds s)"
    cat "$here/qemu.log"
    tail -n 8 "$here/console"
    return 1
}

kernel_is() { grep '^6\.1\.' "$here/kernel" && [ "$(head -n 1 "$here/cpus")" = "$1" ]; }

exits_0() { # SECTION
    [ "$(cat "$here/$1.status" 2>/dev/null)" = 0 ] && return
    echo "exit status $(cat "$here/$1.status" 2>/dev/null || echo unknown)"
    cat "$here/$1" "$here/$1.err" 2>/dev/null
    return 1
}

one_object() { jq -es 'length == 1 and (.[0] | type == "object")' "$here/curve"; }

curve_holds() { # JQ-EXPRESSION: of the curve, and with $ws the working set
    jq -e --argjson ws $working_set "$1" "$here/curve" >/dev/null && return
    jq -c . "$here/curve"
    return 1
}

kernel_is_content() {
    ! grep -hE "BUG:|WARNING:|Oops|Call Trace|soft lockup|self-detected stall" "$here/after" "$here/console"
}

steps_with() { # PROCESSORS
    boot "$1"
    step "$1 cpu: Debian's kernel boots, runs init and powers off" ended_by_itself
    ended_by_itself >/dev/null || return 0
    step "$1 cpu: it is 6.1, with $1 cpu" kernel_is "$1"
    step "$1 cpu: mtl doctor exits 0" exits_0 doctor
    sed -n 's/./     | &/p' "$here/doctor" 2>/dev/null || true
    step "$1 cpu: mtl run exits 0" exits_0 curve
    step "$1 cpu: it prints one JSON object" one_object
    step "$1 cpu: the rung is watchpoints" curve_holds '.rung == "watchpoints"'
    step "$1 cpu: enough observations" curve_holds '.observations >= 50'
    step "$1 cpu: the footprint is that of the scan" \
        curve_holds '.footprint_bytes > 0.6 * $ws and .footprint_bytes < 1.6 * $ws'
    step "$1 cpu: misses below the working set" \
        curve_holds '(.points | length) == 3 and .points[0].misses_per_second > 0'
    step "$1 cpu: hardly any above it" \
        curve_holds '.points[2].misses_per_second < 0.3 * .points[0].misses_per_second'
    step "$1 cpu: every point lies in its interval" \
        curve_holds '.points | all(.low <= .misses_per_second and .misses_per_second <= .high)'
    step "$1 cpu: the kernel has nothing to complain about" kernel_is_content
}

packaging/build-deps.sh kernels
command -v jq >/dev/null || die "jq is missing: apt-get install jq"
mkdir -p "$work"
exec 9>"$work/lock"
flock -n 9 || die "another run is using $work"
trap clean_up EXIT
trap 'exit 1' INT TERM HUP
get_kernel
make_initramfs
steps_with 1
steps_with 2
steps_total
