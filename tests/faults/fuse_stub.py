# SPDX-License-Identifier: Apache-2.0
"""The least of a FUSE file system: an empty directory. It stands for all that serve files over a network.

`fuse_stub.py DIRECTORY` mounts itself there, says "mounted", and serves until it is killed.
"""

import ctypes
import os
import stat
import struct
import sys

FORGET, GETATTR, STATFS, INIT, OPENDIR, RELEASEDIR, BATCH_FORGET = 2, 3, 17, 26, 27, 29, 42
VERSION = (7, 31)
ENOSYS = 38
NO_REPLY = (FORGET, BATCH_FORGET)
REQUEST_MAX = 1 << 18


def attributes():
    """A directory that belongs to root, with the time for which the kernel may believe it."""
    times = (0,) * 3 + (0,) * 3
    return struct.pack("<QII6Q10I", 1, 0, 0, 1, 0, 0, *times[:3], *times[3:], stat.S_IFDIR | 0o700, 2, 0, 0, 0, 4096, 0)


ANSWERS = {
    INIT: struct.pack("<4I2H2I2H8I", *VERSION, 0, 0, 0, 0, 4096, 1, 0, 0, *(0,) * 8),
    GETATTR: attributes(),
    STATFS: struct.pack("<5Q4I6I", 1 << 20, 1 << 20, 1 << 20, 1, 1, 4096, 255, 4096, 0, *(0,) * 6),
    OPENDIR: struct.pack("<QII", 1, 0, 0),
    RELEASEDIR: b"",
}


def mount(directory):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"stub", directory.encode(), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), "mount")
    return device


def serve(device):
    while True:
        try:
            data = os.read(device, REQUEST_MAX)
        except OSError:  # it was unmounted
            return
        _, operation, unique = struct.unpack_from("<IIQ", data)
        if operation in NO_REPLY:
            continue
        body = ANSWERS.get(operation)
        error = -ENOSYS if body is None else 0
        os.write(device, struct.pack("<IiQ", 16 + len(body or b""), error, unique) + (body or b""))


if __name__ == "__main__":
    DEVICE = mount(sys.argv[1])
    print("mounted", flush=True)
    serve(DEVICE)
