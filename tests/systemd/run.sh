#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Makes the Debian packages, boots a fresh Debian 12 with its own systemd in a container and runs check.sh
# in it, which installs them (all steps are there). Needs root; works from a plain chroot.
# A container shares the kernel and its watchpoints; where these never fire the same steps run under
# the systemd of an emulated machine (tests/machine) instead.
#
# Under build/systemd:  root/  where a tmpfs with the booted system is mounted, in a mount namespace of
#                              our own: it vanishes with the last process in it
#                       out/   what the container wrote: results, journal, curves
#
# The script runs itself again for each stage: outside (clean-up), in the mount namespace.

set -eu
cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/sbin:/sbin
. tests/steps.sh
. tests/machine/machine.sh
. tests/systemd/varlinkctl.sh

self=$PWD/tests/systemd/run.sh
work=$build/systemd
root=$work/root
out=$work/out
boot_seconds=${MTL_BOOT_SECONDS:-480}

old_version=0.0.1

# twice, of the same objects
make_packages() {
    packaging/deb.sh $old_version && packaging/deb.sh || die "no packages"
    tests/systemd/unpacked.sh || die "the packages in $build/deb are not as they should be"
    varlinkctl_unpacked "$build/varlinkctl"
}

# --- outside

clean_up() {
    [ -z "${inside:-}" ] || kill "$inside" 2>/dev/null || true
    wait
    if mountpoint -q "$work/host"; then # only where mounts propagate out of our namespace
        mount --make-rprivate "$work/host"
        umount -R -l "$work/host"
    fi
    rmdir "$work/host" "$root" 2>/dev/null || true
}

# Give this process a mount namespace whose root is a mount: nspawn cannot do with a plain chroot.
enter() {
    if unshare -m true 2>/dev/null; then
        exec unshare -m "$self" inside
    fi
    mkdir -p "$work/host"
    exec unshare -m --propagation unchanged "$self" rebind
}

# What the steps need in a root, installed systems' units and programs beside ours.
fill() { # ROOT
    mkdir -p "$1/check/debs/old" "$1/etc/systemd/system" "$1/usr/bin"
    for package in mtld mtl libmtl0; do
        cp "$build/deb/${package}"_[0-9]*.deb "$1/check/debs"
        cp "$build/deb/$old_version/${package}"_[0-9]*.deb "$1/check/debs/old"
    done
    cp tests/systemd/check.sh tests/systemd/packages.sh tests/systemd/trouble.sh tests/systemd/varlink.sh \
        tests/steps.sh "$1/check"
    cp -R "$build/varlinkctl" packaging/examples "$1/check"
    {
        echo "old_version=$old_version"
        echo "new_version=$(sed -n '1s/^mtl (\(.*\)) .*/\1/p' packaging/debian/changelog)"
        echo "exposure=$(sed -n 's/.*exposure level of mtld.service is \*\*\([0-9.]*\)\*\*.*/\1/p' docs/SYSTEMD.md)"
    } >"$1/check/versions"
    mkdir -p "$1/etc/dpkg/dpkg.cfg.d"
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/check"
    cp "$build/workload" "$1/usr/bin/workload"
    cp tests/systemd/*.service "$1/etc/systemd/system"
}

# An emulated trap takes as long as ten thousands of instructions, so at the usual 1 % there would be a
# few observations a second; and programs start as slowly as they run.
emulated() {
    machine_prepare
    make_packages
    job=$(mktemp -d "${TMPDIR:-/tmp}/mtl-systemd.XXXXXX")
    trap 'kill ${qemu:-} 2>/dev/null || true; wait; rm -rf "$job"' EXIT
    trap 'exit 1' INT TERM HUP
    fill "$job/root"
    mkdir "$job/out"
    ln -s /job/out "$job/root/check/out"
    # without udev its device never appears, and everything would wait for it for 90 s
    ln -s /dev/null "$job/root/etc/systemd/system/serial-getty@ttyS0.service"
    echo 'start_limit=2000 overhead=5% daemon_cpu=20% own_kernel=yes' >"$job/root/check/limits"
    echo '/lib/systemd/systemd --unit=check.service' >"$job/init"
    exec 3>/dev/null 4>/dev/null
    machine_boot "$job" "$boot_seconds" 0 1024 || true
    rm -rf "$out"
    cp -R "$job/out" "$out"
    cp "$job/console" "$work/boot.log"
    [ -e "$out/done" ] || machine_explain "$job" "$boot_seconds" >&2
    report
}

outside() {
    [ "$(id -u)" = 0 ] || die "needs root, to boot a container"
    [ -e /proc/self/ns/mnt ] || die "/proc is not mounted here: mount it (and /sys, /dev) first"
    [ -x "$build/workload" ] || die "$build/workload is not there: run make check-systemd"
    [ -e /sys/kernel/btf/vmlinux ] ||
        die "no /sys/kernel/btf/vmlinux: mount /sys, or use a kernel with BTF"
    packaging/build-deps.sh deb systemd
    mkdir -p "$work"
    why=$(machine_obstacle)
    if [ -n "$why" ]; then
        echo "$why: under systemd in an emulated machine"
        emulated
        exit $?
    fi
    exec 9>"$work/lock"
    flock -n 9 || die "another run is using $work"
    trap clean_up EXIT
    trap 'exit 1' INT TERM HUP
    machine_root
    make_packages
    rm -rf "$out"
    mkdir -p "$root" "$out"
    enter &
    inside=$!
    wait $inside || status=$?
    inside=
    exit "${status:-0}"
}

# --- in the mount namespace

rebind() {
    mount --rbind / "$work/host"
    mount --make-rprivate "$work/host"
    exec chroot "$work/host" "$self" inside
}

fill_root() {
    mount -t tmpfs -o mode=755,size=1G tmpfs "$root"
    tar -C "$root" -xf "$machine/root.tar"
    fill "$root"
}

# The container's cgroups: one unified tree of its own, the same on every kind of host.
prepare_host() {
    mkdir -p /run/systemd/nspawn
    mount -t tmpfs tmpfs /run/systemd/nspawn
    mount -t cgroup2 cgroup2 /sys/fs/cgroup || die "cannot mount cgroup2 on /sys/fs/cgroup"
    cgroup=/sys/fs/cgroup/mtl-check-$$
    mkdir "$cgroup"
}

stop_container() {
    [ -z "${nspawn:-}" ] || kill "$nspawn" 2>/dev/null || true
    wait
    find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || true
}

boot() {
    sh -c "echo \$\$ >$cgroup/cgroup.procs; exec \"\$@\"" in-cgroup \
        timeout -k 10 "$boot_seconds" systemd-nspawn --quiet \
        --directory="$root" --bind="$out:/check/out" \
        --boot --register=no --keep-unit --private-network --console=pipe \
        --capability=all --system-call-filter='bpf perf_event_open' --bind-ro=/sys/kernel/btf \
        -- --unit=check.service >"$work/boot.log" 2>&1 </dev/null &
    nspawn=$!
    wait $nspawn || boot_status=$?
    nspawn=
}

report() {
    [ -s "$out/results" ] && cat "$out/results" "$out/start_time"
    [ -e "$out/done" ] && return "$(cat "$out/done")"
    tail -n 5 "$work/boot.log" >&2
    die "the container ended before its steps did (status ${boot_status:-0}, at most $boot_seconds s); see $work/boot.log and $out"
}

inside() {
    fill_root
    prepare_host
    trap stop_container EXIT
    trap 'exit 1' INT TERM HUP
    boot
    report
}

case ${1:-outside} in
outside | rebind | inside) "${1:-outside}" ;;
*) die "unknown stage $1" ;;
esac
