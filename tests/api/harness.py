# SPDX-License-Identifier: Apache-2.0
"""A private httpd with mod_payments on a free port, its store, and accounts in it."""

import concurrent.futures
import contextlib
import functools
import http.client
import json
import os
import pathlib
import random
import re
import secrets
import shutil
import signal
import socket
import string
import subprocess
import tempfile
import threading
import time

from expectation import expectation
from virtual_clock import Clock

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PAYMENTS_BUILD", TOP / "build"))
MODULE = BUILD / "mod_payments/.libs/mod_payments.so"
PAYMENTSCTL = os.environ.get("PAYMENTSCTL", str(BUILD / "mod_payments/paymentsctl"))
PLAIN = BUILD / "plain"  # in a run under the sanitizers: the tool as users build it
SETUP_CTL = str(PLAIN / "paymentsctl") if PLAIN.exists() else PAYMENTSCTL
SETUP_LINES = PLAIN if PLAIN.exists() else BUILD / "tests/api/.libs"
# The same without libcurl, if it was built (tests/Makefile.am), for commands that neither send nor read a URL: loading
# libcurl's forty libraries is two thirds of the cost of a call.
SILENT_CTL = (PLAIN if PLAIN.exists() else BUILD / "tests/api") / "silent_ctl"
SILENT = {
    f"{noun} {verb}" for noun, verbs in {
        "account": "create grant grants list mode revoke show", "audit": "list", "charge": "list show",
        "event": "drop list retry show", "held": "list", "key": "create import list revoke rotate", "link": "list show",
        "mail": "set show", "refund": "import list show", "store": "check stat", "token": "create list revoke",
        "webhook": "secret show"}.items() for verb in verbs.split()}
SANITIZE = bool(os.environ.get("PAYMENTS_SANITIZE"))
WAIT_S = 60  # longest wait for any condition
WAITS = os.environ.get("PAYMENTS_WAITS")  # the file of the waits that ./dev test reports
SHOPS_AT_ONCE = 32  # of a server that many tests share: they then cost one process, and no test waits for them long
# A busy machine must not cause refusals: tests of the limit set their own.
COMMIT_WAIT = "PaymentsCommitWait 20s"
ROOT = os.geteuid() == 0
PORTS_FROM = 10240  # the first port for servers of tests
MODULES = (
    "authn_core authz_core authz_host authz_user auth_basic authn_file unixd log_config mime dir alias rewrite headers"
    " env setenvif deflate reqtimeout watchdog status info http2 negotiation include").split()
# From httpd itself: a connection that was being set aside while its process ended; a machine whose OpenSSL is older
# than the one that its mod_ssl was built with, which Debian treats as the same.
NOISE = re.compile(r"AH0309[23]|AH01882")
# The same while a server stops at once: its process closes the sockets of its threads (event's
# close_worker_sockets), and a thread that closes its own then finds it closed; on a busy machine a child takes longer
# than three seconds to end (a child that hangs is killed after nine, AH00046, which is not noise).
STOP_NOISE = re.compile(r"\(9\)Bad file descriptor: AH00468|AH00045")
# httpd logs this, at most once a second, while all slots for requests or processes are taken. That is no fault in a
# server to which a test gave few of them, and whether it appears depends on timing.
CROWDED = "AH00484|AH10159|AH03490"
# Workers as in Debian's package apache2 (/etc/apache2/mods-available/mpm_*.conf), and the settings of connections in
# its apache2.conf.
DEBIAN_SIZES = {
    "event": "StartServers 2\nMinSpareThreads 25\nMaxSpareThreads 75\nThreadLimit 64\nThreadsPerChild 25\n"
             "MaxRequestWorkers 150\nMaxConnectionsPerChild 0",
    "worker": "StartServers 2\nMinSpareThreads 25\nMaxSpareThreads 75\nThreadLimit 64\nThreadsPerChild 25\n"
              "MaxRequestWorkers 150\nMaxConnectionsPerChild 0",
    "prefork": "StartServers 5\nMinSpareServers 5\nMaxSpareServers 10\nMaxRequestWorkers 150\n"
               "MaxConnectionsPerChild 0",
}
DEBIAN_CONNECTIONS = "Timeout 300\nKeepAlive On\nMaxKeepAliveRequests 100\nKeepAliveTimeout 5"
# Its log lines about killed children: about each, and about several in a row.
KILLED = "AH00051|AH00052|AH10392|AH10393"
# The module's log lines about a store that is replaced or removed while it is open.
STORE_GONE = "PAY00100|PAY00114"
# About a store whose directory does not exist when the server starts: neither the store nor its master key can be
# created, and a second later a call tries again and logs the failure.
STORE_NEVER_WAS = "PAY00100|PAY00303|PAY00350"
# Lines of these levels fail a test that does not expect them.
LOUD = re.compile(r"\[[a-z0-9_]*:(warn|error|crit|alert|emerg)\]")
os.environ["PAYMENTS_OVERLAYFS"] = "tests"  # in a container the stores of tests may be in its own layers


def loaded(name):
    """The path of a loadable file that tests/Makefile.am builds: loaded("faults/mod_counter")."""
    folder, name = name.split("/")
    return BUILD / "tests" / folder / ".libs" / f"{name}.so"


@functools.cache
def apxs(name):
    tool = shutil.which("apxs") or shutil.which("apxs2")
    return subprocess.run([tool, "-q", name], capture_output=True, text=True, check=True).stdout.strip()


def httpd_binary():
    return os.path.join(apxs("SBINDIR"), apxs("progname"))


@functools.cache
def sanitizers():
    """The libraries to preload first into programs that load files built with the sanitizers."""
    if not SANITIZE:
        return []
    return [subprocess.run(["gcc", f"-print-file-name={lib}"], capture_output=True, text=True,
                           check=True).stdout.strip() for lib in ("libasan.so", "libubsan.so")]


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def parent_of(pid):
    """Its parent's pid; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def wait_for(condition, what, seconds=WAIT_S):
    """Polls until `condition()` is true and returns its value; fails after `seconds`."""
    begun = time.monotonic()
    while True:
        value = condition()
        waited = time.monotonic() - begun
        if value:
            note_wait(waited, what)
            return value
        if waited > seconds:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(min(0.02 + waited / 20, 0.1))  # frequent polling takes processor time from the process it waits for


def note_wait(seconds, what):
    """Writes a long wait to the file WAITS, which many processes share."""
    if WAITS and seconds >= 1:
        with open(WAITS, "a", encoding="utf-8") as file:
            file.write(f"{seconds:.1f}\t{' '.join(what.split())}\t{os.environ.get('PYTEST_CURRENT_TEST', '')}\n")


def beside(call):
    """Starts the call in its own thread; returns a Future whose result() returns the answer or raises its exception."""
    future = concurrent.futures.Future()

    def run():
        try:
            future.set_result(call())
        except BaseException as failure:
            future.set_exception(failure)
            raise  # the test also fails if nobody asks for the result

    threading.Thread(target=run, daemon=True).start()
    return future


def at_once(calls):
    """Makes the calls at the same time; returns their answers in order, and raises the exception of any of them."""
    gate = threading.Barrier(len(calls))

    def run(call):
        gate.wait(WAIT_S)
        return call()

    return [one.result(WAIT_S) for one in [beside(functools.partial(run, call)) for call in calls]]


def setup_ctl(*commands):
    """The program to run these setup commands, each a list of words."""
    silent = SILENT_CTL.exists() and all(" ".join(words[:2]) in SILENT for words in commands)
    return str(SILENT_CTL) if silent else SETUP_CTL


def run_ctl(store, *args, stdin=None, check=True, env=None, timeout=300):
    """paymentsctl on `store` (a directory); returns the CompletedProcess.

    Tests of the server set up and inspect with the quicker of its builds, if there are two, unless `env` loads
    something into it. Tests of the tool run the build under test (ctl_program.py).
    """
    program = PAYMENTSCTL if env else setup_ctl(args)
    done = subprocess.run([program, "-s", f"lmdb:{store}", *args], input=stdin, text=True,
                          capture_output=True, timeout=timeout, env=env, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"paymentsctl {' '.join(args)}: exit {done.returncode}\n{done.stderr}")
    return done


def setup_preload():
    """The environment with which the setup tool takes many commands."""
    lines = str(SETUP_LINES / "preload_lines.so")
    return lines if PLAIN.exists() else " ".join([*sanitizers(), lines])


def pairs_preload(program=None):
    """What makes pairs of RSA keys in an eighth of the time (preload_pairs.c), for httpd, or that build of the tool."""
    if program is None:
        return str(loaded("api/preload_pairs"))
    if PLAIN in pathlib.Path(program).parents:
        return str(PLAIN / "preload_pairs.so")
    return " ".join([*sanitizers(), str(loaded("api/preload_pairs"))])


def run_ctl_lines(store, commands):
    """Runs several commands, without options of the whole program, in one process; returns their JSON output, in order.

    The tests of the tool run it like a user, once for each command.
    """
    line = [setup_ctl(*(command.split() for command in commands)), "-s", f"lmdb:{store}", "--json"]
    done = subprocess.run(line, input="".join(command + "\n" for command in commands), text=True, capture_output=True,
                          env={**os.environ, "LD_PRELOAD": setup_preload()}, timeout=WAIT_S, check=False)
    assert done.returncode == 0, f"paymentsctl: {commands}: exit {done.returncode}\n{done.stderr}"
    values, rest = [], done.stdout.lstrip()
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        values.append(value)
        rest = rest[end:].lstrip()
    return values


class Response:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # list of (lower-case name, value)
        self.body = body

    def header(self, name):
        found = [v for n, v in self.headers if n == name.lower()]
        return ", ".join(found) if found else None

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


class Httpd:
    """One private server. `extra` is configuration text, `env` is added to the environment of its process.

    In every value of `env`, {root} stands for the server's directory. With `clock` the test sets its clocks (Clock).
    A server that many tests share creates `shops_at_once` shops at a time, in advance.
    """

    def __init__(self, mpm="event", extra="", engine=True, threads=None, modules=(), host_extra="",
                 without=(), address="127.0.0.1", env=None, clock=False, shops_at_once=1):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="mod_payments-"))
        self.root.chmod(0o755)
        self.mpm, self.extra, self.engine, self.threads = mpm, extra, engine, threads
        self.host_extra, self.without = host_extra, set(without)
        self.clock = Clock(self.root / "clock", loaded("faults/preload_clock")) if clock else None
        self.env = {name: str(value).replace("{root}", str(self.root)) for name, value in (env or {}).items()}
        if clock:
            preload = [self.env.get("LD_PRELOAD"), self.clock.env["LD_PRELOAD"]]
            self.env.update(self.clock.env, LD_PRELOAD=" ".join(filter(None, preload)))
        if mpm == "prefork":
            self.without.add("http2")  # it does not work there, and logs this at each start
        self.modules = [m for m in [*MODULES, *modules] if m not in self.without]
        self.address = address
        self.shops_at_once, self.shops_ready = shops_at_once, []
        self.nonce = secrets.token_hex(8)
        self.store = self.root / "store"
        self.docroot = self.root / "htdocs"
        self.error_log = self.root / "error.log"
        self.reports = self.root / "reports"  # of the sanitizers
        self.expected = []
        self.always_expected = [] if threads is None else [expectation(CROWDED)]
        self.checked = 0  # length of the error log that earlier tests have checked
        self.stops = []  # (length before, length after) of the error log, for each time it was stopped
        self.process = None
        self.port = None
        self.docroot.mkdir()
        self.reports.mkdir()
        self.reports.chmod(0o1777)  # written by the children's user
        (self.docroot / "nonce.txt").write_text(self.nonce)

    # --- configuration ---
    def load_lines(self):
        libexec, builtin = apxs("LIBEXECDIR"), self.builtin()
        lines = []
        for name in [f"mpm_{self.mpm}", *self.modules]:
            path = f"{libexec}/mod_{name}.so"
            if f"mod_{name}.c" not in builtin and os.path.exists(path):
                lines.append(f"LoadModule {name}_module {path}")
        if "payments" not in self.without:
            lines.append(f"LoadModule payments_module {MODULE}")
        return "\n".join(lines)

    @staticmethod
    @functools.cache
    def builtin():
        return subprocess.run([httpd_binary(), "-l"], capture_output=True, text=True, check=True).stdout

    def sizes(self):
        if self.threads is not None:
            return self.threads
        if self.mpm == "prefork":
            return "StartServers 4\nMinSpareServers 2\nMaxSpareServers 20\nMaxRequestWorkers 128"
        # mod_http2 has the same maximum of threads for its streams as without these two, but begins with one: a server
        # is started a thousand times here, and few tests use HTTP/2.
        return ("StartServers 2\nServerLimit 8\nThreadsPerChild 16\nThreadLimit 16\n"
                "MaxRequestWorkers 128\nMinSpareThreads 16\nMaxSpareThreads 128\n"
                "<IfModule mod_http2.c>\nH2MinWorkers 1\nH2MaxWorkers 24\n</IfModule>")

    def config(self):
        user = ("User www-data\nGroup www-data" if ROOT else "")
        engine = f"PaymentsEngine On\nPaymentsStore lmdb:{self.store}" if self.engine else ""
        return f"""
ServerRoot {self.root}
ServerName localhost
Listen {self.address}:{self.port}
PidFile {self.root}/httpd.pid
DefaultRuntimeDir {self.root}
ErrorLog {self.error_log}
LogLevel warn{"" if "payments" in self.without else " payments:info"}
Mutex file:{self.root} default
GracefulShutdownTimeout 5
{self.load_lines()}
{user}
{self.sizes()}
Timeout 20
KeepAliveTimeout 10
MaxKeepAliveRequests 0
<IfModule mod_http2.c>
Protocols h2c http/1.1
</IfModule>
<IfModule mod_log_config.c>
LogFormat "%h %u %>s %{{PAYMENTS_REFERENCE}}e %{{PAYMENTS_ACCOUNT}}e %{{PAYMENTS_MODE}}e %{{PAYMENTS_KEY_ID}}e \\"%r\\"" payments
CustomLog {self.root}/access.log payments
</IfModule>
<IfModule mod_mime.c>
TypesConfig /dev/null
</IfModule>
DocumentRoot {self.docroot}
<Directory {self.docroot}>
AllowOverride All
Require all granted
</Directory>
{"" if "payments" in self.without else f"PaymentsMailTemplates {TOP}/share/mail"}
{"" if "payments" in self.without else COMMIT_WAIT}
{self.extra.replace("@PORT@", str(self.port))}
<VirtualHost {self.address}:{self.port}>
ServerName localhost
ServerAlias 127.0.0.1
DocumentRoot {self.docroot}
{engine}
{self.host_extra.replace("@PORT@", str(self.port))}
</VirtualHost>
"""

    def write_config(self):
        path = self.root / "httpd.conf"
        path.write_text(self.config())
        return path

    # --- life ---
    def environment(self):
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR", "PAYMENTS_OVERLAYFS")}
        if SANITIZE:
            env["LD_PRELOAD"] = " ".join(sanitizers())
            env["ASAN_OPTIONS"] = f"detect_leaks=0:abort_on_error=0:log_path={self.reports}/asan"
            env["UBSAN_OPTIONS"] = f"print_stacktrace=1:log_path={self.reports}/ubsan"
        preload = [env.get("LD_PRELOAD"), self.env.get("LD_PRELOAD")]  # a sanitizer must be the first
        env.update(self.env)
        if any(preload):
            env["LD_PRELOAD"] = " ".join(filter(None, preload))
        return env

    def command(self, *args):
        return [httpd_binary(), "-d", str(self.root), "-f", str(self.root / "httpd.conf"),
                *args]

    def configtest(self, *options):
        self.port = self.port or free_port()
        self.write_config()
        return subprocess.run(self.command("-t", *options), capture_output=True, text=True, timeout=60,
                              env=self.environment(), check=False)

    def resumed(self):
        """How often it has logged that it serves: its first children answer earlier, and signals wait until then."""
        return self.log_text().count("resuming normal operations")

    def start(self):
        before = self.resumed()
        for _ in range(5):
            self.port = free_port()
            self.write_config()
            self.process = subprocess.Popen(self.command("-DFOREGROUND"), stdin=subprocess.DEVNULL,
                                            stdout=open(self.root / "stdout", "wb"),
                                            stderr=subprocess.STDOUT, env=self.environment(),
                                            start_new_session=True)  # it ends its process group
            wait_for(lambda: self.process.poll() is not None or (self.answers() and self.resumed() > before),
                     "httpd to answer")
            if self.process.poll() is None:
                return self
            said = (self.root / "stdout").read_text() + self.log_text()
            if "AH00072" not in said:
                raise AssertionError(f"httpd did not start:\n{said}")
        raise AssertionError("no free port in five tries")

    def answers(self):
        try:
            return self.request("GET", "/nonce.txt").body.decode() == self.nonce
        except (OSError, http.client.HTTPException):
            return False

    def pids(self):
        """The children's pids."""
        return [pid for pid in processes() if parent_of(pid) == self.process.pid]

    def signal(self, number):
        os.kill(self.process.pid, number)

    def graceful(self):
        """One graceful restart; returns once the parent has logged that it resumed."""
        before = self.resumed()
        self.signal(signal.SIGUSR1)
        wait_for(lambda: self.resumed() > before, "the graceful restart")

    def children_have_started(self):
        """A child of event or worker no longer ends inside a signal handler once its first thread blocks signals: the
        threads of mod_watchdog exist before that.

        Other child processes, such as the program of a piped log, are not httpd and never block signals for good.
        """
        for pid in self.pids():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
                if "\nSigBlk:\t0000000000000000\n" in status and os.path.samefile(f"/proc/{pid}/exe", httpd_binary()):
                    return False
        return True

    def let_children_start(self):
        """httpd's signal handler in a child that is just starting frees memory. A sanitizer's allocator that was
        interrupted then waits for itself, and the child for its SIGKILL, which the log reports.
        """
        single = self.mpm == "prefork" or "cgid" in self.modules  # single-threaded children
        if SANITIZE and not single:
            with contextlib.suppress(AssertionError):  # a child that never starts is stopped anyway
                wait_for(self.children_have_started, "the children to have started")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.let_children_start()
            if self.clock:
                self.clock.go_on()
            before = len(self.log_text())
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
            self.stops.append((before, len(self.log_text())))

    def close(self):
        """Stops, and fails on unexpected log lines or a sanitizer's report."""
        self.stop()
        reports = [p.read_text(errors="replace") for p in self.reports.glob("*")]
        loud = self.unexpected()
        if not loud and not reports:
            shutil.rmtree(self.root, ignore_errors=True)
        assert not reports, "\n".join(reports)
        assert not loud, "unexpected in the error log:\n" + "\n".join(loud)

    # --- log ---
    def log_text(self):
        try:
            return self.error_log.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def expect_log(self, pattern, always=False):
        """Allows these lines until the next call of `unexpected`, or always."""
        (self.always_expected if always else self.expected).append(expectation(pattern))

    def unexpected(self):
        """Returns unexpected loud lines since the last call; forgets the expectations."""
        text = self.log_text()
        begin, expected = self.checked, self.expected + self.always_expected
        self.checked, self.expected = len(text), []
        loud = []
        for line in text[begin:].splitlines(keepends=True):
            if LOUD.search(line) and not self.forgiven(line, begin) and not any(e.search(line) for e in expected):
                loud.append(line.rstrip())
            begin += len(line)
        return loud

    def forgiven(self, line, offset):
        """Returns whether the line is httpd's own noise; `offset` is where it begins in the log."""
        stopping = any(before <= offset < after for before, after in self.stops)
        return NOISE.search(line) or (stopping and STOP_NOISE.search(line))

    def access_lines(self):
        path = self.root / "access.log"
        return path.read_text().splitlines() if path.exists() else []

    # --- requests ---
    def connect(self, timeout=WAIT_S):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def connected(self):
        """An open connection, ready for a request."""
        connection = self.connect()
        connection.connect()
        return connection

    def request(self, method, path, body=None, headers=None, connection=None):
        conn = connection or self.connect()
        try:
            pairs = headers.items() if isinstance(headers, dict) else (headers or [])
            conn.putrequest(method, path, skip_accept_encoding=True)
            names = {n.lower() for n, _ in pairs}
            for name, value in pairs:
                conn.putheader(name, value)
            data = body.encode() if isinstance(body, str) else body
            if data is not None and not names & {"content-length", "transfer-encoding"}:
                conn.putheader("Content-Length", str(len(data)))
            conn.endheaders(data)
            answer = conn.getresponse()
            got = answer.read()
            return Response(answer.status, [(n.lower(), v) for n, v in answer.getheaders()], got)
        finally:
            if connection is None:
                conn.close()

    def raw(self, data, shutdown=False, timeout=WAIT_S):
        """Sends raw bytes, and returns everything received until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as sock:
            sock.sendall(data)
            if shutdown:
                sock.shutdown(socket.SHUT_WR)
            parts = []
            while True:
                part = sock.recv(65536)
                if not part:
                    return b"".join(parts)
                parts.append(part)

    # --- store ---
    def ctl(self, *args, **kwargs):
        if self.clock:
            kwargs.setdefault("env", {**os.environ, **self.environment()})
        return run_ctl(self.store, *args, **kwargs)

    def shop(self, name=None):
        """Returns one that no test has used."""
        if name:
            return self.make_shops([name])[0]
        if not self.shops_ready:
            self.shops_ready = self.make_shops([any_name("shop-") for _ in range(self.shops_at_once)])
        return self.shops_ready.pop()

    def make_shops(self, names):
        made = run_ctl_lines(self.store, [command for name in names for command in (
            f"account create {name}", f"key create {name} --mode test --kind secret")])
        return [Shop(self, name, key["key"]) for name, key in zip(names, made[1::2])]


class Shop:
    """An account, its keys, and the calls of a shop."""

    def __init__(self, httpd, name, secret):
        self.httpd, self.name, self.secret = httpd, name, secret

    def key(self, mode, kind):
        return self.httpd.ctl("key", "create", self.name, "--mode", mode, "--kind", kind).stdout.strip()

    # Most tests need none of these: each is created on first use.
    @functools.cached_property
    def public(self):
        return self.key("test", "public")

    @functools.cached_property
    def live_secret(self):
        return self.key("live", "secret")

    @functools.cached_property
    def live_public(self):
        return self.key("live", "public")

    def call(self, method, path, body=None, key=None, headers=None, connection=None):
        pairs = [("Authorization", "Bearer " + (self.secret if key is None else key))]
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        given = list(headers.items()) if isinstance(headers, dict) else list(headers or [])
        if body is not None and not any(n.lower() == "content-type" for n, _ in given):
            pairs.append(("Content-Type", "application/json"))
        return self.httpd.request(method, path, body, pairs + given, connection)

    def charge(self, connection=None, key=None, headers=None, **fields):
        return self.call("POST", "/api/v1/tokenized-card-charge", charge_body(**fields), key=key,
                         headers=headers, connection=connection)

    def refund(self, reference, amount=None, **options):
        args = ["refund", "create", self.name, "--mode", "test", "--reference", reference, "--json"]
        if amount is not None:
            args += ["--amount", amount]
        for name, value in options.items():
            args += ["--" + name.replace("_", "-"), value]
        return json.loads(self.httpd.ctl(*args).stdout)

    # --- notifications ---
    def webhook(self, url, mode="test"):
        """Sets its webhook; returns the secret, which the first call creates."""
        made = json.loads(self.httpd.ctl("webhook", "set", self.name, url, "--mode", mode, "--json").stdout)
        return made["secret"] or self.webhook_secret(mode)

    def webhook_off(self, mode="test"):
        self.httpd.ctl("webhook", "set", self.name, "off", "--mode", mode)

    def webhook_secret(self, mode="test"):
        return self.httpd.ctl("webhook", "secret", "show", self.name, "--mode", mode).stdout.strip()

    def webhook_state(self, mode="test"):
        return json.loads(self.httpd.ctl("webhook", "show", self.name, "--mode", mode, "--json").stdout)

    def events(self, *options, mode="test"):
        """The undelivered events."""
        return json.loads(self.httpd.ctl("event", "list", self.name, "--mode", mode, *options, "--json").stdout)

    def event(self, verb, *args, mode="test", **kwargs):
        """paymentsctl event show|retry|drop."""
        return self.httpd.ctl("event", verb, self.name, *args, "--mode", mode, **kwargs)

    def refunds(self, start="2000-01-01", end="2099-12-31", **kwargs):
        return self.call("GET", f"/api/v1/refund/{start}/{end}", **kwargs)


def any_name(prefix):
    """A unique name of letters only: tests search for digits of cards and codes in output that may contain it."""
    return prefix + "".join(secrets.choice(string.ascii_lowercase) for _ in range(16))


def reference():
    return any_name("ref-")


def first_status(token="tok_test_success", **_):
    """Of the first answer to a charge in Test Mode: with two tokens there is no outcome yet."""
    return 202 if token in ("tok_test_timeout", "tok_test_error") else 200


def charge_body(**fields):
    """A charge's body; a field given as ... is omitted."""
    body = {"token": "tok_test_success", "amount": 1000, "email": "ada@example.com",
            "reference": fields.get("reference") or reference()}
    body.update(fields)
    return {name: value for name, value in body.items() if value is not ...}


def checkout_body(**fields):
    """A request of /api/v1/initiate."""
    return {"transactionReference": reference(), "amount": 1000, "currency": "NGN",
            "checkoutCustomerData": {"email": "payer@shop.example", "firstName": "Ada", "lastName": "Obi"},
            "redirectUrl": "https://shop.example/done", **fields}


def link_body(link, **fields):
    """A request of /api/v1/paymentlink/initiate."""
    body = checkout_body(**{"paymentLinkReference": link, **fields})
    del body["transactionReference"]
    return body


def order_body(payment=None, customer=None, **order):
    """A request of /payment/order/create."""
    return {"customer": {"firstname": "Ada", "lastname": "Obi", "mobile": "+2348000000000", "country": "NG",
                         "email": "payer@shop.example", **(customer or {})},
            "order": {"reference": reference(), "amount": 1000, "currency": "NGN", "description": "Shoes", **order},
            "payment": {"RedirectUrl": "https://shop.example/done"} if payment is None else payment}


def free_port():
    """A port where nobody listens, below the ports that the kernel gives to connections of other tests."""
    low = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(100):
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", random.randrange(PORTS_FROM, low)))
            return sock.getsockname()[1]
    raise AssertionError(f"no free port from {PORTS_FROM} to {low} in a hundred tries")
