# SPDX-License-Identifier: Apache-2.0
"""What tests move and stop a server's clocks with: the preloaded library and the object that writes its file."""

import json
import pathlib
import subprocess
import sys
import threading
import time

import pytest

from harness import WAIT_S, Httpd, wait_for
from virtual_clock import BOOT, MONOTONIC, REAL, WALL

NAMES = {"wall": WALL, "monotonic": MONOTONIC, "boot": BOOT}
LOOKS_S = 0.1  # in which a wait looks at its clock five times
HOUR = 3600
# One that is asked to: it answers with what it got and the moved clock's microseconds, on lines of JSON.
PROGRAM = r"""
import ctypes, errno, json, os, select, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
CLOCKS = (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME)

class Spec(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("nsec", ctypes.c_long)]

def spec(us):
    return ctypes.byref(Spec(us // 10**6, us % 10**6 * 1000))

def block(size=64):
    return ctypes.create_string_buffer(size)

def clocks(_):
    return [time.clock_gettime_ns(which) // 1000 for which in CLOCKS]

def others(_):
    return [time.time(), libc.time(None)]

def poll(seconds):
    return select.poll().poll(seconds * 1000)

def pipe(seconds):
    ends, made = os.pipe(), select.poll()
    made.register(ends[0], select.POLLIN)
    threading.Thread(target=lambda: time.sleep(0.05) or os.write(ends[1], b"x")).start()
    return len(made.poll(seconds * 1000))

def cond(until_us, which=1):
    attr, cond, mutex = block(), block(), block()
    libc.pthread_condattr_init(attr)
    libc.pthread_condattr_setclock(attr, CLOCKS[which])
    libc.pthread_cond_init(cond, attr)
    libc.pthread_mutex_init(mutex, None)
    libc.pthread_mutex_lock(mutex)
    said = 0
    while said == 0:
        said = libc.pthread_cond_timedwait(cond, mutex, spec(until_us))
    return errno.errorcode[said]

def wall_cond(until_us):
    return cond(until_us, 0)

def semaphore(wait):
    sem = block()
    libc.sem_init(sem, 0, 0)
    assert wait(sem) == -1
    return errno.errorcode[ctypes.get_errno()]

def sem(until_us):
    return semaphore(lambda sem: libc.sem_clockwait(sem, CLOCKS[1], spec(until_us)))

def wall_sem(until_us):
    return semaphore(lambda sem: libc.sem_timedwait(sem, spec(until_us)))

def held(lock):
    mutex, held, said = block(), threading.Event(), []
    libc.pthread_mutex_init(mutex, None)
    libc.pthread_mutex_lock(mutex)
    other = threading.Thread(target=lambda: said.append(lock(mutex)))
    other.start()
    other.join()
    return errno.errorcode[said[0]]

def mutex(until_us):
    return held(lambda mutex: libc.pthread_mutex_clocklock(mutex, CLOCKS[1], spec(until_us)))

def wall_mutex(until_us):
    return held(lambda mutex: libc.pthread_mutex_timedlock(mutex, spec(until_us)))

print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    name, given = json.loads(line)
    print(json.dumps("begins"), flush=True)
    print(json.dumps([globals()[name](given), clocks(None)]), flush=True)
"""


class Asked:
    """PROGRAM in an environment."""

    def __init__(self, env):
        self.process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.end = threading.Timer(WAIT_S, self.process.kill)  # one that never answers fails
        self.end.start()
        assert self.read() == "ready"

    def read(self):
        return json.loads(self.process.stdout.readline())

    def begin(self, name, given=0):
        self.process.stdin.write(json.dumps([name, given]) + "\n")
        self.process.stdin.flush()
        assert self.read() == "begins"

    def ask(self, name, given=0):
        self.begin(name, given)
        return self.read()[0]

    def waits(self):
        return "\nState:\tS" in pathlib.Path(f"/proc/{self.process.pid}/status").read_text()

    def close(self):
        self.end.cancel()
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def clocked():
    """A server that is not started, whose clocks these are, and a program under them."""
    httpd = Httpd(clock=True)
    asked = Asked(httpd.environment())
    yield httpd.clock, asked
    asked.close()
    httpd.close()


def ahead(asked):
    """By how many seconds each clock is ahead of the real one, to a tenth."""
    shown = asked.ask("clocks")
    return [round((us - time.clock_gettime_ns(which) / 1000) / 1e6, 1) for us, which in zip(shown, REAL)]


def test_as_the_real_ones(clocked):
    _, asked = clocked
    assert ahead(asked) == pytest.approx([0, 0, 0], abs=5)
    assert asked.ask("poll", 0.05) == [] and asked.ask("pipe", 60) == 1


@pytest.mark.parametrize("name", NAMES)
def test_each_clock_has_its_own_words(clocked, name):
    clock, asked = clocked
    clock.stop()
    at = asked.ask("clocks")
    clock.pass_seconds(HOUR, NAMES[name])
    assert asked.ask("clocks") == [us + HOUR * 1_000_000 * (which == NAMES[name]) for which, us in enumerate(at)]


def test_stopped(clocked):
    """It is exactly the time that it was, and then exactly as much later as the test says; all readers agree."""
    clock, asked = clocked
    clock.stop()
    at = asked.ask("clocks")
    time.sleep(0.01)  # the real time goes on meanwhile
    assert asked.ask("clocks") == at
    clock.pass_seconds(4.999999)
    assert asked.ask("clocks") == [us + 4_999_999 for us in at]
    clock.pass_seconds(0.000001)
    assert asked.ask("clocks") == [us + 5_000_000 for us in at]
    assert [int(seconds) for seconds in asked.ask("others")] == [int(clock.now())] * 2


def test_goes_on_from_where_it_stood(clocked):
    clock, asked = clocked
    clock.pass_seconds(HOUR)
    clock.stop()
    at = asked.ask("clocks")
    clock.pass_seconds(HOUR)
    clock.go_on()
    later = wait_for(lambda: (lambda now: now if now > [us + HOUR * 1_000_000 for us in at] else None)(
        asked.ask("clocks")), "the clocks to go on")
    assert all(after - us < (HOUR + 60) * 1_000_000 for us, after in zip(at, later))


def test_wall_clock_alone_is_set(clocked):
    clock, asked = clocked
    clock.set(-HOUR)
    assert ahead(asked) == pytest.approx([-HOUR, 0, 0], abs=5)
    clock.stop()
    clock.set(HOUR)
    first, second = asked.ask("clocks"), asked.ask("clocks")
    assert first == second
    assert ahead(asked) == pytest.approx([HOUR, 0, 0], abs=5)


@pytest.mark.parametrize("wait, which", [
    pytest.param("cond", MONOTONIC, id="a condition"),
    pytest.param("wall_cond", WALL, id="a condition of the wall clock"),
    pytest.param("sem", MONOTONIC, id="a semaphore"),
    pytest.param("wall_sem", WALL, id="a semaphore by the wall clock"),
    pytest.param("mutex", MONOTONIC, id="a mutex"),
    pytest.param("wall_mutex", WALL, id="a mutex by the wall clock"),
])
def test_waits_wake_at_their_time(clocked, wait, which):
    """Not a microsecond before, and then at once."""
    clock, asked = clocked
    clock.stop()
    until_us = asked.ask("clocks")[which] + HOUR * 1_000_000
    asked.begin(wait, until_us)
    clock.pass_seconds(HOUR - 0.000001)
    time.sleep(LOOKS_S)  # each of its looks could end it
    clock.pass_seconds(0.000001)
    got, woken = asked.read()
    assert (got, woken[which]) == ("ETIMEDOUT", until_us)


def test_poll_wakes_at_its_time(clocked):
    """libcurl waits by it."""
    clock, asked = clocked
    clock.stop()
    until_us = asked.ask("clocks")[MONOTONIC] + HOUR * 1_000_000
    asked.begin("poll", HOUR)
    wait_for(asked.waits, "the poll")
    clock.pass_seconds(HOUR - 0.000001)
    time.sleep(LOOKS_S)
    clock.pass_seconds(0.000001)
    got, woken = asked.read()
    assert (got, woken[MONOTONIC]) == ([], until_us)


def test_poll_ends_in_real_time_too(clocked):
    """A stopped clock starves nobody who polls."""
    clock, asked = clocked
    clock.stop()
    assert asked.ask("poll", 0.05) == []
    assert asked.ask("pipe", 60) == 1


def test_tool_has_the_clock_of_its_server():
    """What paymentsctl writes bears the time that the server would write."""
    httpd = Httpd(clock=True)
    try:
        httpd.clock.stop()
        httpd.clock.set(-365 * 24 * HOUR)
        httpd.ctl("account", "create", "shop")
        made = json.loads(httpd.ctl("account", "list", "--json").stdout)[0]["createdAt"]
        want = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(httpd.clock.now())))
        assert made.startswith(want)
    finally:
        httpd.close()
