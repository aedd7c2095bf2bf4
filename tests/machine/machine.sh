# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# Sourced: an emulated Debian 12 machine, its kernel (6.1) and userland unmodified. No KVM is needed
# (qemu's TCG), and hardware watchpoints fire in it whatever the machine below can do. The caller is
# in the root of the checkout and has sourced tests/steps.sh.
#
# Under build/machine, made once and kept:
#     root.tar      the distribution, by mmdebstrap (remade when the list of packages changes)
#     root.img      the same as a file system; machines boot from it and write nothing back
#     vmlinux, modules/  from the Debian package, which is unpacked, never installed
#     initramfs     busybox, the modules, and initramfs-init
#
# A machine has a job, a directory that it mounts at /job (9p) and may write to:
#     job/init      the program that takes over once the root is mounted, and its arguments
#     job/root/     optional: goes over the root before that
#     job/console   what the kernel said
# The checkout is at /tree, read-only. Standard output and error of the machine are two character
# devices that are no terminals, /dev/vport*p1 and /dev/vport*p2; with TERMINAL set, the first of them
# is a terminal, /dev/ttyS1.

suite=bookworm
build=$(realpath "${MTL_BUILD:-build}")
machine=$build/machine
# what mtl and mtld are linked with; what the tests need; systemd, for the tests that boot it
packages=libarchive13,libbpf1,libjson-c5,libsmartcols1,libinih1,libsystemd0,libzydis4.0,libncursesw6,libmicrohttpd12
packages=$packages,bzip2,gdb-minimal,jq,procps,strace,systemd,systemd-sysv
# MTL_MACHINE_MORE: packages besides, in a root of their own
distribution=root
[ -z "${MTL_MACHINE_MORE:-}" ] || { distribution=root-more && packages=$packages,$MTL_MACHINE_MORE; }
# in the order in which they load
modules="virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk
    virtio_console crc16 mbcache jbd2 crc32c_generic ext4 netfs fscache 9pnet 9p 9pnet_virtio"

# --- the distribution

# the mirror that apt uses here, so that nothing else has to be reachable
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" \
        'Component: main' 2>/dev/null | head -n 1
}

made_from() { # FILE RECIPE: whether FILE is there and was made so
    [ -s "$machine/$1" ] && [ "$(cat "$machine/$1.recipe" 2>/dev/null)" = "$2" ]
}

now_made() { # FILE RECIPE: FILE.new becomes FILE
    printf '%s\n' "$2" >"$machine/$1.recipe"
    mv "$machine/$1.new" "$machine/$1"
}

logged() { # LOG WHAT COMMAND...: die with the end of the log when the command fails
    log=$machine/$1.log
    what=$2
    shift 2
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 5 "$log" >&2
        die "$what failed; its log is $log"
    }
}

make_root_tar() {
    made_from $distribution.tar "$packages" && return
    [ "$(id -u)" = 0 ] || die "needs root, to make a Debian 12 root with mmdebstrap"
    echo "making a Debian 12 root with mmdebstrap (once, about a minute)" >&2
    logged mmdebstrap mmdebstrap timeout 900 mmdebstrap --variant=minbase --include=$packages \
        --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --format=tar \
        $suite "$machine/$distribution.tar.new" $(mirror)
    now_made $distribution.tar "$packages"
}

make_root_image() {
    made_from $distribution.img "$packages" && return
    rm -rf "$machine/new" "$machine/$distribution.img.new"
    mkdir "$machine/new"
    tar -C "$machine/new" -xf "$machine/$distribution.tar"
    logged mke2fs mke2fs mke2fs -q -t ext4 -O ^has_journal -d "$machine/new" "$machine/$distribution.img.new" 1G
    rm -rf "$machine/new"
    now_made $distribution.img "$packages"
}

# --- the kernel

# the package that linux-image-amd64 stands for
kernel_package() {
    apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-6\.1\..*-amd64\)$/\1/p' | head -n 1
}

download() { (cd "$machine/kernel.new" && timeout 300 apt-get -q download "$1"); }

# The ELF file in a bzImage: qemu starts it as it is, which saves unpacking it in emulation. What
# follows the compressed data makes xz complain at its end.
unpack_kernel() { # BZIMAGE
    start=$(LC_ALL=C grep -abo -m 1 -P '\xfd7zXZ\x00' "$1" | head -n 1 | cut -d: -f1)
    tail -c "+$((${start:-0} + 1))" "$1" | xz -dc 2>/dev/null >"$machine/kernel.new/vmlinux" || true
    [ "$(head -c 4 "$machine/kernel.new/vmlinux" | tail -c 3)" = ELF ] || die "no kernel packed with xz in ${1##*/}"
    cat "$machine/kernel.new/vmlinux"
}

get_kernel() {
    made_from vmlinux "$modules" && return
    packaged=$(kernel_package)
    [ -n "$packaged" ] || { logged apt "apt-get update" apt-get -q update && packaged=$(kernel_package); }
    [ -n "$packaged" ] || die "apt knows no 6.1 kernel behind linux-image-amd64: is this Debian 12?"
    echo "getting $packaged (once)" >&2
    rm -rf "$machine/kernel.new"
    mkdir "$machine/kernel.new"
    download "$packaged" >"$machine/apt.log" 2>&1 || {
        logged apt "apt-get update" apt-get -q update
        logged apt "the download of $packaged" download "$packaged"
    }
    wanted=$(for module in $modules; do echo "*/$module.ko"; done)
    dpkg-deb --fsys-tarfile "$machine"/kernel.new/*.deb |
        tar -C "$machine/kernel.new" -x --wildcards './boot/vmlinuz-*' $wanted
    mkdir -p "$machine/modules"
    find "$machine/kernel.new" -name '*.ko' -exec mv {} "$machine/modules" \;
    unpack_kernel "$machine"/kernel.new/boot/vmlinuz-* >"$machine/vmlinux.new"
    rm -rf "$machine/kernel.new"
    now_made vmlinux "$modules"
}

make_initramfs() {
    recipe=$(echo $modules && cat tests/machine/initramfs-init)
    made_from initramfs "$recipe" && return
    rm -rf "$machine/new"
    mkdir -p "$machine/new/bin" "$machine/new/modules" "$machine/new/dev" "$machine/new/proc" "$machine/new/root"
    cp "$(command -v busybox)" "$machine/new/bin/busybox"
    cp tests/machine/initramfs-init "$machine/new/init"
    for module in $modules; do
        cp "$machine/modules/$module.ko" "$machine/new/modules" || die "the kernel has no module $module"
        echo "$module" >>"$machine/new/modules/order"
    done
    (cd "$machine/new" && find . | cpio -o -H newc -R 0:0 --quiet) >"$machine/initramfs.new"
    rm -rf "$machine/new"
    now_made initramfs "$recipe"
}

# --- for the caller

must_be_made() { # PROGRAM
    [ -x "$1" ] || die "${1#"$(pwd -P)"/} is not there: use \`make ${1#"$(pwd -P)"/}\`"
}

# why what needs watchpoints cannot run here; nothing when it can
machine_obstacle() {
    case ${MTL_MACHINE:-} in
    native) return ;;
    emulated) echo "MTL_MACHINE=emulated" && return ;;
    '') ;;
    *) die "MTL_MACHINE=$MTL_MACHINE: it may be native or emulated" ;;
    esac
    probe=$build/tests/machine/watchpoints_fire
    must_be_made "$probe"
    said=$("$probe") && return
    hypervisor=$(dmesg 2>/dev/null | sed -n 's/.*Hypervisor detected: //p' | head -n 1)
    echo "hardware watchpoints $said${hypervisor:+ (hypervisor $hypervisor)}"
}

# the distribution alone, root.tar
machine_root() { made_once make_root_tar; }

machine_prepare() { made_once make_root_tar make_root_image get_kernel make_initramfs; }

made_once() { # STEP...: one caller at a time
    packaging/build-deps.sh machine >&2
    mkdir -p "$machine"
    exec 8>"$machine/lock"
    flock 8
    for make_it in "$@"; do
        $make_it
    done
    exec 8>&-
}

# machine_boot JOB SECONDS CPUS MEBIBYTES: until it is switched off; fails when that takes longer.
# Its standard output and error are our descriptors 3 and 4. With CPUS 0 there is one processor, and
# its clock counts executed instructions, 4 ns each: then what else this machine does has no influence
# on what is measured in the emulated one. no_timer_check: the kernel gives the timer a few ticks to
# show that it works, and panics (IO-APIC) when a busy host held the machine up just then.
machine_boot() {
    job=$1
    output="-device virtio-serial-pci -device virtserialport,nr=1,chardev=stdout"
    [ -z "${TERMINAL:-}" ] || output="-serial chardev:stdout -device virtio-serial-pci"
    mkfifo "$job/stdout" "$job/stderr"
    cat "$job/stdout" >&3 &
    cat "$job/stderr" >&4 &
    processors="-accel tcg,thread=multi -smp $3"
    [ "$3" != 0 ] || processors="-accel tcg,thread=single -smp 1 -icount shift=2"
    timeout -k 5 "$2" qemu-system-x86_64 $processors -cpu max -m "$4" \
        -nodefaults -display none -no-reboot -kernel "$machine/vmlinux" -initrd "$machine/initramfs" \
        -append "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check mitigations=off cryptomgr.notests ${MTL_KERNEL_OPTIONS:-}" \
        -drive "file=$machine/$distribution.img,if=virtio,format=raw,snapshot=on" \
        -virtfs "local,path=$job,mount_tag=job,security_model=none,multidevs=remap" \
        -virtfs "local,path=$PWD,mount_tag=tree,security_model=none,readonly=on,multidevs=remap" \
        -serial "file:$job/console" \
        -chardev "file,id=stdout,path=$job/stdout" -chardev "file,id=stderr,path=$job/stderr" \
        $output -device virtserialport,nr=2,chardev=stderr \
        >"$job/qemu.log" 2>&1 </dev/null 3>&- 4>&- &
    qemu=$!
    machine_status=0
    wait $qemu || machine_status=$?
    qemu=
    wait
    return $machine_status
}

# what became of a machine that did not finish its job
machine_explain() { # JOB SECONDS
    [ "$machine_status" != 124 ] || echo "the emulated machine took more than $2 s"
    tail -n 5 "$1/qemu.log" "$1/console" 2>/dev/null
    [ ! -e "$1/late" ] || { echo "shortly before:" && grep -v '\]$' "$1/late"; }
}
