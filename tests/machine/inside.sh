#!/bin/sh
# SPDX-License-Identifier: MIT
#
# First process of an emulated machine that runs one script (run.sh): everything mounted, the
# script's status kept, the machine switched off. What outlives the script ends with the machine.
# Shortly before its time is over ($LIMIT seconds) a script that still runs leaves what it waits for.
#
# An emulated trap takes as long as tens of thousands of instructions, so at the usual 1 % there would
# be a few observations a second and hardly ever a curve. That is about this machine, not about mtld, so
# its mtld.conf allows more. A script that wants the defaults gives mtld another file (--config).

mount -t devtmpfs dev /dev 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs tmp /tmp
mount -t tmpfs shm /dev/shm 2>/dev/null
mkdir -p /dev/pts
mount -t devpts pts /dev/pts
. /job/environment
mkdir /run/programs
cp /job/bin/* /run/programs/
export PATH=/run/programs:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root OUT=/job/out MTL_MACHINE=emulated
mkdir -p /etc/mtld
printf '%s\n' '[mtld]' 'max_overhead = 10%' 'max_daemon_cpu = 50%' >/etc/mtld/mtld.conf
cd /tree
if [ -n "$TERMINAL" ]; then
    stty -F /dev/ttyS1 -opost $TERMINAL
    setsid -c sh /job/command </dev/ttyS1 >/dev/ttyS1 2>&1 &
else
    sh /job/command </dev/null >"$(echo /dev/vport*p1)" 2>"$(echo /dev/vport*p2)" &
fi
script=$!
(
    sleep $((LIMIT - LIMIT / 10))
    { ps axo pid,ppid,stat,etimes,wchan:20,args && grep -H . /proc/[0-9]*/task/*/stack; } >/job/late
) 2>/dev/null &
wait $script
echo $? >/job/status
echo b >/proc/sysrq-trigger
