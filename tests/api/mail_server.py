# SPDX-License-Identifier: Apache-2.0
"""A mail relay for tests: aiosmtpd in its own thread, which records messages and refuses those that a test chooses."""

import asyncio
import collections
import email
import email.policy
import socket
import threading
import time

from aiosmtpd.smtp import SMTP, AuthResult

from harness import wait_for

USER, PASSWORD = "relay-user", "relay-password \u00fc \\ \" 'x"
LINE_MAX = 998  # RFC 5322 2.1.1


class Mail:
    """One message: envelope, session and the bytes as they came."""

    def __init__(self, session, envelope, wrapped):
        self.sender, self.recipients = envelope.mail_from, list(envelope.rcpt_tos)
        self.raw = envelope.original_content
        self.tls, self.user = wrapped or session.ssl is not None, session.auth_data
        self.at = time.monotonic()
        self.message = email.message_from_bytes(self.raw, policy=email.policy.default)

    def header(self, name):
        """The value of a header, decoded; the header must not appear twice."""
        found = self.message.get_all(name, [])
        assert len(found) <= 1, f"{name} stands there {len(found)} times"
        return str(found[0]) if found else None

    def part(self, kind):
        """The text of "plain" or "html"."""
        [found] = [one for one in self.message.walk() if one.get_content_type() == f"text/{kind}"]
        assert found.get_content_charset() == "utf-8"
        return found.get_content()

    @property
    def text(self):
        return self.part("plain")

    @property
    def html(self):
        return self.part("html")

    def check(self):
        """Checks every message: ASCII on the wire, lines that any relay accepts, two parts, no defects."""
        assert self.raw.isascii()
        lines = self.raw.split(b"\r\n")
        assert max(map(len, lines)) <= LINE_MAX
        assert not any(b"\r" in line or b"\n" in line for line in lines)
        assert self.message.get_content_type() == "multipart/alternative"
        assert [one.get_content_type() for one in self.message.iter_parts()] == ["text/plain", "text/html"]
        assert not [defect for one in self.message.walk() for defect in one.defects]
        assert len(self.recipients) == 1
        return self

    def __repr__(self):
        return f"<mail to {self.recipients}: {self.header('subject')}>"


class Session(SMTP):
    """One connection. It counts and records all commands."""

    def __init__(self, relay, **options):
        super().__init__(relay, hostname="relay.test", ident="relay of the tests", enable_SMTPUTF8=True, **options)
        self.relay = relay

    def connection_made(self, transport):
        self.relay.connections += self.session is None  # not again when TLS begins
        super().connection_made(transport)


class Relay:
    """Listens on a free port of 127.0.0.1. `tls` is a server's SSL context.

    `login`: accepts mail only after TLS and the login USER, PASSWORD. `wrapped`: TLS from the first byte on (smtps).
    """

    def __init__(self, tls=None, login=False, wrapped=False):
        self.tls, self.login, self.wrapped = tls, login, wrapped
        self.mails, self.asked, self.logins, self.connections = [], [], [], 0
        self.answers = collections.defaultdict(list)  # verb: [(answer, recipient or None)], each used once
        self.lock = threading.Lock()
        self.port = self.server = None
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.open()

    @property
    def url(self):
        return f"smtp{'s' if self.wrapped else ''}://localhost:{self.port}"

    # --- life ---
    def run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(20)

    def session(self):
        options = {}
        if self.tls and not self.wrapped:
            options = {"tls_context": self.tls, "require_starttls": self.login}
        if self.login:
            options.update(auth_required=True, authenticator=self.authenticate,
                           auth_require_tls=not self.wrapped)
        return Session(self, loop=self.loop, **options)

    def open(self):
        """Listens, again on the same port after `shut`."""
        async def listen():
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", self.port or 0))
            self.port = sock.getsockname()[1]
            self.server = await self.loop.create_server(self.session, sock=sock,
                                                        ssl=self.tls if self.wrapped else None)
        self.call(listen())

    def shut(self):
        """From now on connections are refused."""
        async def end():
            self.server.close()
            await self.server.wait_closed()
        self.call(end())

    def close(self):
        self.shut()

        async def cancel():
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self.call(cancel())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- its answers ---
    def refuse(self, verb, *answers, recipient=None):
        """Sets the answers to the next MAIL, RCPT or DATA (for `recipient`): "451 Later"."""
        with self.lock:
            self.answers[verb] += [(answer, recipient) for answer in answers]

    def answer(self, verb, recipient=None):
        with self.lock:
            for i, (answer, only) in enumerate(self.answers[verb]):
                if only in (None, recipient):
                    del self.answers[verb][i]
                    break
            else:
                answer = None
            self.asked.append((verb, recipient, answer))
            return answer

    def authenticate(self, _server, session, _envelope, mechanism, data):
        fits = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        self.logins.append((mechanism, self.wrapped or session.ssl is not None, fits))
        return AuthResult(success=fits, auth_data=data.login.decode() if fits else None, handled=False)

    async def handle_MAIL(self, _server, _session, envelope, address, options):
        refused = self.answer("MAIL")
        if refused:
            return refused
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 Sender taken"

    async def handle_RCPT(self, _server, _session, envelope, address, options):
        refused = self.answer("RCPT", address)
        if refused:
            return refused
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 Recipient taken"

    async def handle_DATA(self, _server, session, envelope):
        refused = self.answer("DATA", envelope.rcpt_tos[0])
        if refused:
            return refused
        with self.lock:
            self.mails.append(Mail(session, envelope, self.wrapped))
        return "250 Message taken"

    # --- received messages ---
    def to(self, recipient):
        with self.lock:
            return [mail for mail in self.mails if recipient in mail.recipients]

    def wait(self, recipient, count=1, **options):
        """The messages for a recipient, once that many have arrived, each checked."""
        wait_for(lambda: len(self.to(recipient)) >= count, f"{count} mails to {recipient}", **options)
        return [mail.check() for mail in self.to(recipient)]

    def refusals(self, verb, recipient=None):
        """The answers that were refusals."""
        with self.lock:
            return [answer for asked, whom, answer in self.asked if (asked, whom) == (verb, recipient) and answer]
