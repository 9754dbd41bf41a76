# SPDX-License-Identifier: Apache-2.0
"""A store out of service is 503 with the envelope, a log line that says what to do, and no more."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

import raw_lmdb
from harness import KILLED, ROOT, STORE_NEVER_WAS, reference, run_ctl, wait_for
from raw_lmdb import Raw, change_schema

LIST = "/api/v1/refund/2026-01-01/2026-01-02"
KEY = "Bearer pay_testsk_" + "a" * 48


def second_host(store):
    return f"""
<VirtualHost 127.0.0.1:@PORT@>
ServerName broken.example
PaymentsEngine On
PaymentsStore lmdb:{store}
PaymentsAuthFailureLimit 1/h burst=1
</VirtualHost>
"""


def ask(httpd, host, key=KEY):
    said = httpd.raw(f"GET {LIST} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
                     f"Authorization: {key}\r\n\r\n".encode())
    return int(said.split(b" ")[1]), said


def is_503(said):
    assert b'"responseCode":"E2"' in said
    assert b'"status":false' in said
    assert re.search(rb"\r\nRetry-After: [1-9]", said)
    return True


def break_parent_is_a_file(root):
    (root / "file").write_text("")
    return root / "file/store"


def break_parent_missing(root):
    return root / "missing/deep/store"


def break_not_an_environment(root):
    store = root / "other"
    store.mkdir()
    (store / "data.mdb").write_bytes(b"not an LMDB environment" * 1000)
    if ROOT:
        subprocess.run(["chown", "-R", "www-data:", str(store)], check=True)
    return store


def break_unreachable(root):
    closed = root / "closed"
    closed.mkdir(mode=0o700)
    if not ROOT:
        closed.chmod(0o000)
    return closed / "store"


@pytest.mark.plain("root's server has a user of its own")
@pytest.mark.parametrize("breaker", [break_parent_is_a_file, break_parent_missing,
                                     break_not_an_environment, break_unreachable])
def test_store_that_cannot_be_opened(server, breaker):
    httpd = server(start=False)
    httpd.expect_log(STORE_NEVER_WAS)
    store = breaker(httpd.root)
    httpd.extra = second_host(store)
    httpd.start()
    shop = httpd.shop()
    status, said = ask(httpd, "broken.example")
    assert status == 503 and is_503(said)
    assert shop.charge().status == 200, "the other host is affected"
    assert str(store) in httpd.log_text()
    httpd.graceful()
    assert shop.charge().status == 200
    assert ask(httpd, "broken.example")[0] == 503


@pytest.mark.plain("root's server has a user of its own")
def test_store_that_is_mended_works_without_a_restart(server):
    httpd = server(start=False)
    httpd.expect_log(STORE_NEVER_WAS)
    hidden = httpd.root / "hidden"
    httpd.extra = second_host(hidden / "store")
    httpd.start()
    assert ask(httpd, "broken.example")[0] == 503
    hidden.mkdir(mode=0o755)
    run_ctl(hidden / "store", "account", "create", "late")
    key = run_ctl(hidden / "store", "key", "create", "late", "--mode", "test", "--kind", "secret").stdout.strip()
    if ROOT:
        subprocess.run(["chown", "-R", "www-data:", str(hidden)], check=True)
    wait_for(lambda: ask(httpd, "broken.example", "Bearer " + key)[0] == 200, "the store to be tried again", 90)


def test_store_of_another_schema_version(server):
    httpd = server(start=False)
    httpd.expect_log("PAY00303")
    other = httpd.root / "other"
    run_ctl(other, "account", "create", "old")
    key = run_ctl(other, "key", "create", "old", "--mode", "test", "--kind", "secret").stdout.strip()
    change_schema(other, 99)
    httpd.extra = second_host(other)
    httpd.start()
    for _ in range(3):  # a key that cannot be judged is no refused key: PaymentsAuthFailureLimit counts none
        status, said = ask(httpd, "broken.example", "Bearer " + key)
        assert status == 503 and is_503(said)
    assert "paymentsctl store upgrade" in httpd.log_text()
    assert httpd.shop().charge().status == 200
    done = run_ctl(other, "account", "list", check=False)
    assert done.returncode != 0 and "version" in done.stderr


def test_schema_changed_under_a_running_server(server):
    httpd = server()
    httpd.expect_log("PAY00110")
    shop = httpd.shop()
    assert shop.charge().status == 200
    change_schema(httpd.store, 99)
    assert shop.charge().status == 503
    httpd.expect_log(f"PAY00307|{KILLED}")
    for pid in httpd.pids():  # whose successors meet it when they begin
        os.kill(pid, signal.SIGKILL)
    words = f"PAY00307: PaymentsStore lmdb:{httpd.store} cannot be opened by this process: "
    wait_for(lambda: words in httpd.log_text(), "a new child to say that it cannot open the store")


@pytest.mark.parametrize("table, number, words", [
    ("endpoint", "PAY00352", "the stored secrets could not be tested against its master key: "),
    ("encryption_key", "PAY00504", "the stored encryption keys could not be tested against its master key: "),
])
def test_secrets_that_cannot_be_read(server, table, number, words):
    httpd = server()
    shop = httpd.shop()
    with Raw(httpd.store) as raw:
        raw.begin()
        raw.put(table, bytes([0, 0, 0, 99, 0, 0]), b"no row")
        raw.commit()
    httpd.expect_log(f"{number}|PAY00104: table {table}")
    httpd.graceful()
    assert re.search(f"{number}: PaymentsStore .*: {words}", httpd.log_text())
    assert shop.charge().status == 200


def test_full_environment(server):
    httpd = server(host_extra="PaymentsStoreSize 2M\nPaymentsStoreReserve 1M")
    httpd.expect_log("PAY00105|PAY00107")
    shop = httpd.shop()
    connection = httpd.connect()
    done = []
    for _ in range(20000):
        ref = reference()
        answer = shop.charge(reference=ref, connection=connection)
        if answer.status != 200:
            break
        done.append(ref)
    assert answer.status == 503, "2 MiB were never full"
    assert answer.json["data"]["responseCode"] == "E2"
    assert int(answer.header("retry-after")) > 0
    assert len(done) > 100
    log = httpd.log_text()
    assert "PaymentsStoreSize" in log or "PaymentsStoreReserve" in log
    assert shop.refunds().status == 200, "reading goes on"
    assert shop.charge(reference=done[0], connection=connection).header("idempotent-replayed") == "true"
    connection.close()


def test_account_at_its_quota(server):
    """It gets nothing new, keeps what it has, and another account and mode are served."""
    httpd = server()
    httpd.expect_log("PAY00190")
    shop, other = httpd.shop(), httpd.shop()
    stored = json.loads(httpd.ctl("account", "show", shop.name, "--json").stdout)["rows"]["test"]
    httpd.host_extra = f"PaymentsAccountQuota {stored + 3}"
    httpd.write_config()
    httpd.graceful()
    first, second = reference(), reference()
    assert [shop.charge(reference=name).status for name in (first, second)] == [200, 200]
    partial = {"reference": first, "amount": 10}
    assert shop.call("POST", "/api/v1/partial-refund", partial).status == 200
    for answer in (shop.charge(), shop.call("POST", "/api/v1/refund", {"reference": second})):
        assert answer.status == 503 and answer.json["data"]["responseCode"] == "E2", answer
        assert int(answer.header("retry-after")) > 0
    assert "PaymentsAccountQuota" in httpd.log_text()
    assert shop.charge(reference=first).header("idempotent-replayed") == "true"
    assert shop.charge(reference=first, amount=1).json["data"]["responseCode"] == "D1"
    assert shop.call("POST", "/api/v1/partial-refund", partial).json["data"]["responseCode"] == "R5"
    assert shop.call("GET", f"/api/v1/transaction/{second}/verify").status == 200
    assert len(shop.refunds().json) == 1
    assert other.charge().status == 200


def test_new_store_is_told_of(server):
    httpd = server()
    assert f"PAY00116: store {httpd.store}: created a new, empty store" in httpd.log_text()
    httpd.graceful()
    assert httpd.log_text().count("PAY00116") == 1


def test_stopped_writer_never_holds_up_the_parent(server):
    """A reload with changed settings meets a held write lock: the site and SIGTERM go on."""
    httpd = server()
    httpd.expect_log("PAY00309")
    httpd.shop()
    (httpd.docroot / "page.txt").write_text("the site")
    child = subprocess.Popen([sys.executable, raw_lmdb.__file__, str(httpd.store)],
                             stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline().strip() == "held"
        httpd.host_extra = "PaymentsDefaultCurrency EUR"
        httpd.write_config()
        httpd.graceful()
        assert httpd.request("GET", "/page.txt").body == b"the site"
        assert "PAY00309" in httpd.log_text()
    finally:
        child.kill()
        child.wait()
    assert httpd.shop().charge().status == 200


@pytest.mark.plain("root's server has a user of its own")
def test_replaced_store_is_noticed_by_every_process(server):
    """A backup is put in place beside a running server: no reference is charged in both stores."""
    httpd = server()
    httpd.expect_log("PAY00114|PAY00700")
    shop = httpd.shop()
    assert shop.charge().status == 200
    copy = httpd.root / "copy"
    httpd.ctl("store", "backup", str(copy))
    if ROOT:
        subprocess.run(["chown", "-R", "www-data:", str(copy)], check=True)
    connections = [httpd.connect() for _ in range(24)]
    for connection in connections:
        shop.charge(connection=connection)
    httpd.store.rename(httpd.root / "gone")
    copy.rename(httpd.store)
    made = {}

    def sweep():
        statuses = set()
        for number in range(12):
            for connection in connections:
                answer = shop.charge(reference=f"same-{number}", connection=connection)
                statuses.add(answer.status)
                if answer.status == 200 and not answer.header("idempotent-replayed"):
                    made[number] = made.get(number, 0) + 1
        return statuses == {200}

    wait_for(sweep, "all processes to have opened the new store", 90)
    assert made == {number: 1 for number in range(12)}
    assert "was replaced" in httpd.log_text()
