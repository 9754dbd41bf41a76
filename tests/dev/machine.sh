#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The part of ./dev test bare that runs in its own namespaces (mounts, processes, IPC), as their first process:
#   make ROOT SUITE MIRROR DEBS     installs the base of Debian in ROOT, with the settings of ROOT.settings
#   run ROOT DEBS DIRECTORY COMMAND runs a command there, with ROOT as the root directory
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
    # The network is shared: packages must not start servers there.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod 755 "$root/usr/sbin/policy-rc.d"
}

# The mounts of a running Debian; ROOT is a mount, too, so that it can become the root.
mount_machine() { # ROOT DEBS
    mount --bind "$1" "$1"
    mount -t proc -o nosuid,nodev,noexec proc "$1/proc"
    mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$1/sys"
    mount --bind /dev "$1/dev"
    mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts "$1/dev/pts"
    mount -t tmpfs -o nosuid,nodev,mode=1777 shm "$1/dev/shm"
    mount --bind "$2" "$1/var/cache/apt/archives"
}

# The first command mounts the old root over the new one, the second unmounts it.
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
    # No exec: this shell stays the first process and reaps orphans.
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        DEBIAN_FRONTEND=noninteractive "${environment[@]}" bash -c "$4"
}

"machine_$1" "${@:2}"
