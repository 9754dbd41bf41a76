# SPDX-License-Identifier: Apache-2.0
"""What one account may store, what its visitors may, and the size of the store in paymentsctl."""

import json
import os
import secrets

import pytest

from ctl_program import TEST_MODE, record
from dashboard import settings
from harness import checkout_body, reference, run_ctl, wait_for
from test_dashboard import Desk

INITIATE, VERIFY = "/api/v1/initiate", "/api/v1/transaction/verify"


def rows(shop, member="rows", of="test"):
    return json.loads(shop.httpd.ctl("account", "show", shop.name, "--json").stdout)[member][of]


def limit(httpd, quota):
    httpd.host_extra = f"PaymentsAccountQuota {quota}\nPaymentsRateLimit public off"
    httpd.write_config()
    httpd.graceful()


def check(httpd):
    return httpd.ctl("store", "check").returncode == 0


def refused(answer):
    assert (answer.status, answer.json["data"]["responseCode"]) == (503, "E2"), answer
    assert int(answer.header("retry-after")) > 0
    return True


def initiate(shop, key, ref=None, headers=None):
    return shop.call("POST", INITIATE, checkout_body(transactionReference=ref or reference()), key=key,
                     headers=headers)


def test_reads_leave_nothing(shop):
    """Verify with a fresh Idempotency-Key each time: nothing is stored, and it returns the current state."""
    ref = shop.charge().json["data"]["reference"]
    before, body = rows(shop), {"transactionReference": ref}
    for _ in range(20):
        answer = shop.call("POST", VERIFY, body, headers=[("Idempotency-Key", secrets.token_hex(16))])
        assert answer.status == 200 and answer.header("idempotent-replayed") is None
    assert rows(shop) == before
    header = [("Idempotency-Key", "one")]
    assert shop.call("POST", VERIFY, body, headers=header).json["data"]["refundedAmount"] == 0
    assert shop.call("POST", "/api/v1/refund", {"reference": ref}).status == 200
    assert shop.call("POST", VERIFY, body, headers=header).json["data"]["refundedAmount"] == 1000


def test_every_row_counts(server):
    """Checkouts, links and kept answers fill the quota as charges do; audit entries are shown beside them."""
    httpd = server()
    httpd.expect_log("PAY00190")
    shop = httpd.shop()
    entries = rows(shop, of="audit")
    assert rows(shop) == 0 and entries > 0  # of its account and key
    ref = reference()
    assert shop.charge(reference=ref).status == 200
    assert rows(shop) == 1
    assert initiate(shop, shop.secret, headers=[("Idempotency-Key", "one")]).status == 200
    assert rows(shop) == 4  # the charge, its checkout, the kept answer
    shop.httpd.ctl("link", "create", shop.name, "--mode", "test", "--title", "Shoes", "--amount", "10")
    full = rows(shop)
    assert full == 5 and rows(shop, of="audit") == entries + 1  # the link
    limit(httpd, full)
    assert refused(shop.charge()) and refused(initiate(shop, shop.secret))
    assert refused(shop.call("POST", "/api/v1/refund", {"reference": ref}))
    assert shop.charge(reference=ref).header("idempotent-replayed") == "true"
    assert shop.call("GET", f"/api/v1/transaction/{ref}/verify").status == 200
    assert httpd.shop().charge().status == 200
    shown = json.loads(httpd.ctl("account", "show", shop.name, "--json").stdout)
    assert (shown["quota"], shown["rows"]["test"]) == (full, full)
    assert "PaymentsAccountQuota" in httpd.log_text() and check(httpd)


def test_visitors_never_lock_the_shop_out(server):
    """A public key fills an eighth of the quota, and no more; what ended makes room once it is removed."""
    httpd = server(clock=True)
    httpd.expect_log("PAY00760")
    shop = httpd.shop()
    public = shop.public
    limit(httpd, 160)
    answers = [initiate(shop, public) for _ in range(11)]
    assert [answer.status for answer in answers] == [200] * 10 + [503]
    assert refused(answers[-1])
    assert rows(shop, "unpaidOfVisitors") == 10
    assert initiate(shop, shop.secret).status == 200 and shop.charge().status == 200
    assert "PAY00760" in httpd.log_text()
    ref = answers[0].json["data"]["transactionReference"]
    assert shop.call("POST", "/api/v1/void-transaction", {"transactionReference": ref}).status == 200
    assert refused(initiate(shop, public))
    httpd.host_extra += "\nPaymentsCheckoutKeep 1s"
    httpd.write_config()
    httpd.graceful()

    def gone():
        """After one more round of the watchdog."""
        httpd.clock.pass_seconds(10)
        return shop.call("GET", f"/api/v1/transaction/{ref}/verify").status == 404

    wait_for(gone, "the removal of a voided checkout")
    assert rows(shop, "unpaidOfVisitors") == 9
    assert initiate(shop, public, ref).status == 200, "its reference is free again"
    assert check(httpd)


def desk_of(httpd, quota, limits=""):
    """A shop with people at a dashboard, whose server allows so many rows."""
    httpd.host_extra = settings(httpd)
    httpd.start()
    desk = Desk(httpd)
    httpd.host_extra += f"\nPaymentsAccountQuota {quota}\n{limits}"
    httpd.write_config()
    httpd.graceful()
    return desk


def test_a_viewer_never_locks_the_shop_out(server):
    """A viewer's exports and refused changes fill half of the audit's share; charges go on, and the owner's changes."""
    httpd = server(start=False)
    httpd.expect_log("PAY00790")
    desk = desk_of(httpd, 24)
    shop, export = desk.shop, desk.scope("export/charges.csv")
    before = rows(shop, of="audit")
    answers = [desk.viewer.get(export) for _ in range(20)]
    assert [answer.status for answer in answers] == [200] * (12 - before) + [503] * (8 + before)
    assert refused(answers[-1])
    assert desk.viewer.post(f"accounts/{desk.name}/keys", {"kind": "public", "mode": "test"}).status == 403
    assert rows(shop, of="audit") == 12 and "PAY00790" in httpd.log_text()
    assert shop.charge().status == 200
    public = {"kind": "public", "mode": "test"}
    made = [desk.owner.post(f"accounts/{desk.name}/keys", public) for _ in range(14)]
    assert [answer.status for answer in made] == [200] * 12 + [503] * 2 and refused(made[-1])
    assert rows(shop, of="audit") == 24
    for path, body in (f"accounts/{desk.name}/team", {"user": "new", "role": "viewer"}), \
            (desk.scope("links"), {"title": "Shoes", "amount": "10"}), (f"accounts/{desk.name}/account", {"currency": "USD"}):
        assert refused(desk.owner.post(path, body))
    key = made[0].json["key"]["id"]
    assert desk.owner.post(f"accounts/{desk.name}/keys/{key}/revoke").status == 200, "what ends something is never refused"
    ref = reference()
    charge = shop.charge(reference=ref)
    assert charge.status == 200 and shop.call("POST", "/api/v1/refund", {"reference": ref}).status == 200
    httpd.ctl("link", "create", shop.name, "--mode", "test", "--title", "Shoes", "--amount", "10")
    assert check(httpd)


def test_exports_of_a_user_are_limited(server):
    httpd = server(start=False)
    desk = desk_of(httpd, 0)
    path = desk.scope("export/refunds.json")
    answers = [desk.viewer.get(path) for _ in range(40)]
    assert {answer.status for answer in answers[:30]} == {200} and answers[-1].status == 429
    assert 0 < int(answers[-1].header("retry-after")) <= 180
    assert answers[-1].json["data"]["responseCode"] == "L1"
    assert desk.viewer.get(path, method="HEAD").status == 200 and desk.operator.get(path).status == 200
    assert "PAY00791" in httpd.log_text()


def test_anonymous_failures_do_not_lock_the_shop_out(server):
    """Limits that anonymous clients reach are entered in half of the audit's share."""
    httpd = server(start=False)
    httpd.expect_log("PAY00790")
    desk = desk_of(httpd, 24, "PaymentsFailureLimit card 1/10min link off address off account off")
    for _ in range(30):
        shown = desk.shop.charge(token="tok_test_declined", email=f"{secrets.token_hex(6)}@example.com")
        assert shown.status in (200, 402, 429), shown
    assert rows(desk.shop, of="audit") <= 12
    assert desk.shop.charge(email="good@example.com").status == 200


def import_file(path, count):
    with open(path, "w") as out:
        for n in range(count):
            out.write(json.dumps({**record(n), "merchantNote": "n" * 200}) + "\n")
    return str(path)


def test_the_tool_keeps_the_size(server, tmp_path):
    """An import beyond PaymentsStoreSize fails as the server's writes do, and leaves nothing of it."""
    httpd = server(host_extra="PaymentsStoreSize 8M\nPaymentsStoreReserve 4M")
    shop = httpd.shop()
    os.chmod(tmp_path, 0o755)
    path = import_file(tmp_path / "refunds.jsonl", 7000)
    done = run_ctl(httpd.store, "refund", "import", shop.name, path, *TEST_MODE, check=False)
    assert done.returncode != 0
    assert "PaymentsStoreSize" in done.stderr, done.stderr
    assert (httpd.store / "data.mdb").stat().st_size <= 8 << 20
    stat = json.loads(httpd.ctl("store", "stat", "--json").stdout)
    assert stat["mapBytes"] == 8 << 20 and stat["refunds"] == 0, "nothing half done"
    assert check(httpd)
    httpd.host_extra = "PaymentsStoreSize 64M\nPaymentsStoreReserve 1M"
    httpd.write_config()
    httpd.graceful()
    httpd.ctl("refund", "import", shop.name, path, *TEST_MODE)
    assert len(shop.refunds().json) > 0 and shop.charge().status == 200
