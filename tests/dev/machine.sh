#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What ./dev test bare does inside of namespaces of its own (mounts, processes, IPC), of which this is
# the first process:
#   make ROOT SUITE MIRROR DEBS     the base of Debian in ROOT, with the settings of ROOT.settings
#   run ROOT DEBS DIRECTORY COMMAND a command there, with ROOT as the root of all files
set -euo pipefail

machine_make() { # ROOT SUITE MIRROR DEBS
    local root=$1 settings=$1.settings
    debootstrap --variant=minbase --cache-dir="$4" "$2" "$root" "$3"
    cp "$settings/sources.list" "$root/etc/apt/sources.list"
    cp "$settings/apt.conf" "$root/etc/apt/apt.conf.d/90bare"
    cp "$settings/npmrc" "$root/root/.npmrc"
    cp "$settings/environment" "$root/root/.bare"
    chmod 644 "$root/etc/apt/sources.list" "$root/etc/apt/apt.conf.d/90bare"
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp "$settings"/certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    # The network is shared: no package starts a server there.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
}

# What a running Debian has mounted; ROOT itself too, so that it can be the root.
mount_machine() { # ROOT DEBS
    mount --bind "$1" "$1"
    mount -t proc -o nosuid,nodev,noexec proc "$1/proc"
    mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$1/sys"
    mount --bind /dev "$1/dev"
    mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts "$1/dev/pts"
    mount -t tmpfs -o nosuid,nodev,mode=1777 shm "$1/dev/shm"
    mount --bind "$2" "$1/var/cache/apt/archives"
}

# The old root is mounted over the new one by the first, and taken away by the second.
enter() { # ROOT
    cd "$1"
    pivot_root . .
    umount -l .
    cd /
}

machine_run() { # ROOT DEBS DIRECTORY COMMAND
    local environment
    mount_machine "$1" "$2"
    enter "$1"
    mapfile -t environment </root/.bare
    cd "$3"
    # No exec: this shell stays the first process, and waits for those that lose their parent.
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive "${environment[@]}" bash -c "$4"
}

"machine_$1" "${@:2}"
