# SPDX-License-Identifier: Apache-2.0
"""Uses LMDB directly, bypassing our code: plants rows, lists readers, holds the write lock (liblmdb by ctypes).

As a program: `raw_lmdb.py DIRECTORY` takes the write lock, prints "held" and keeps it until killed;
`raw_lmdb.py DIRECTORY readers` takes every free slot of the reader table, and prints how many.
"""

import ctypes
import ctypes.util
import os
import signal
import struct
import sys
from pathlib import Path

LIB = ctypes.CDLL(ctypes.util.find_library("lmdb") or "liblmdb.so.0")


class Val(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p)]

    @classmethod
    def of(cls, data):
        one = cls(len(data), ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p))
        one.keep = data
        return one

    def bytes(self):
        return ctypes.string_at(self.data, self.size)


def check(code, what):
    if code:
        LIB.mdb_strerror.restype = ctypes.c_char_p
        raise OSError(f"{what}: {LIB.mdb_strerror(code).decode()}")


class Raw:
    """An environment and one write transaction in it."""

    def __init__(self, directory):
        self.env, self.txn = ctypes.c_void_p(), ctypes.c_void_p()
        check(LIB.mdb_env_create(ctypes.byref(self.env)), "create")
        check(LIB.mdb_env_set_maxdbs(self.env, 64), "maxdbs")
        check(LIB.mdb_env_open(self.env, str(directory).encode(), 0x200000, 0o600), "open")

    def begin(self):
        check(LIB.mdb_txn_begin(self.env, None, 0, ctypes.byref(self.txn)), "begin")

    def table(self, name):
        dbi = ctypes.c_uint()
        check(LIB.mdb_dbi_open(self.txn, name.encode(), 0, ctypes.byref(dbi)), "table")
        return dbi

    def get(self, table, key):
        value, name = Val(), Val.of(key)
        check(LIB.mdb_get(self.txn, self.table(table), ctypes.byref(name), ctypes.byref(value)), "get")
        return value.bytes()

    def put(self, table, key, data):
        name, value = Val.of(key), Val.of(data)
        check(LIB.mdb_put(self.txn, self.table(table), ctypes.byref(name), ctypes.byref(value), 0), "put")

    def delete(self, table, key):
        check(LIB.mdb_del(self.txn, self.table(table), ctypes.byref(Val.of(key)), None), "delete")

    def commit(self):
        txn, self.txn = self.txn, ctypes.c_void_p()  # it is closed in any case
        check(LIB.mdb_txn_commit(txn), "commit")

    def readers(self):
        """The lines of the reader table: pid, thread, transaction ("-" when idle)."""
        lines = []
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
        LIB.mdb_reader_list(self.env, kind(lambda text, _: lines.append(text.decode()) or 0), None)
        return [line.split() for line in lines if line.strip() and line.split()[0].isdigit()]

    def fill_readers(self):
        """Begins read transactions until no slot is left; returns how many."""
        for number in range(1 << 16):
            if LIB.mdb_txn_begin(self.env, None, 0x20000, ctypes.byref(ctypes.c_void_p())):
                return number
        raise AssertionError("the reader table has no end")

    def close(self):
        """Aborts an uncommitted transaction: a test that fails in between must not keep the write lock."""
        if self.txn:
            LIB.mdb_txn_abort(self.txn)
            self.txn = ctypes.c_void_p()
        LIB.mdb_env_close(self.env)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def change_schema(directory, version):
    """Sets the last byte of the stored schema version."""
    raw = Raw(directory)
    raw.begin()
    raw.put("meta", b"schema", raw.get("meta", b"schema")[:-1] + bytes([version]))
    raw.commit()
    raw.close()


def all_readers(directory):
    """The used slots of the reader table, as Raw.readers returns them."""
    raw = Raw(directory)
    try:
        return raw.readers()
    finally:
        raw.close()


def busy_readers(directory):
    return [line for line in all_readers(directory) if line[-1] != "-"]


def dead_readers(directory):
    """Those whose processes have ended."""
    return [line for line in all_readers(directory) if not os.path.exists(f"/proc/{line[0]}")]


def pages_begun(directory):
    """How many pages of data.mdb were ever in use, by the newer of its two headers: after them the file is zeros."""
    with open(Path(directory) / "data.mdb", "rb") as file:
        headers = [file.read(4096) for _ in range(2)]
    return max(struct.unpack_from("=QQ", header, 136)[::-1] for header in headers)[1] + 1


if __name__ == "__main__":
    holder = Raw(sys.argv[1])
    if sys.argv[2:] == ["readers"]:
        print(holder.fill_readers(), flush=True)
    else:
        holder.begin()
        print("held", flush=True)
    signal.pause()
