# SPDX-License-Identifier: Apache-2.0
"""What the audit holds beside changes: files that left the dashboard, and changes that were refused (docs/dashboard.md)."""

import json

import pytest

from conftest import MPMS
from dashboard import Person, settings
from harness import Httpd
from shares import ALIKE
from test_dashboard import Desk

pytestmark = ALIKE


@pytest.fixture(scope="module", params=MPMS)
def running(request):
    httpd = Httpd(mpm=request.param)
    httpd.host_extra = settings(httpd)
    httpd.start()
    yield httpd
    httpd.close()


@pytest.fixture
def desk(running):
    yield Desk(running)
    assert not running.unexpected()


def entries(desk, account=True):
    """(who, what, subject, detail) of the dashboard's entries, oldest first: the account's, or the whole store's."""
    found = json.loads(desk.shop.httpd.ctl("audit", "list", *([desk.name] if account else []), "--json").stdout)
    return [(one["who"], one["what"], one["subject"], one["detail"]) for one in reversed(found)
            if one["from"].startswith("dashboard") and (account or one["account"] is None)]


EXPORTS = [
    pytest.param("export/charges.csv", "", "export charges", "CSV, the first to the last", id="charges, CSV"),
    pytest.param("export/charges.json", "?from=2026-01-01&to=2026-01-31", "export charges",
                 "JSON, 2026-01-01 to 2026-01-31", id="charges, a range"),
    pytest.param("export/refunds.csv", "?to=2026-01-31", "export refunds", "CSV, the first to 2026-01-31", id="refunds"),
    pytest.param("export/refunds.json", "", "export refunds", "JSON, the first to the last", id="refunds, JSON"),
]


@pytest.mark.parametrize("path, query, what, detail", EXPORTS)
def test_an_export_is_entered(desk, path, query, what, detail):
    for mode in "test", "live":
        assert desk.viewer.get(desk.scope(path + query, mode)).status == 200
    assert entries(desk) == [("vera", what, mode, detail) for mode in ("test", "live")]


def test_what_leaves_no_file_is_not_entered(desk):
    """Lists that are looked at, an export's head, one with a malformed range, and one of somebody else's account."""
    desk.get("charges")
    assert desk.viewer.get(desk.scope("export/charges.csv"), method="HEAD").status == 200
    assert desk.viewer.get(desk.scope("export/charges.csv?from=nonsense")).status == 400
    assert Person(desk.shop.httpd, "stranger").get(desk.scope("export/charges.csv")).status == 404
    assert entries(desk) == []


def test_refusals_are_entered(running, desk):
    """A role that is too low: in the account's audit. No such account, and another site's page: in the store's."""
    assert desk.viewer.post(f"accounts/{desk.name}/keys", {"kind": "public", "mode": "test"}).status == 403
    assert Person(running, "stranger").post(f"accounts/{desk.name}/keys", {"kind": "public"}).status == 404
    assert Person(running, "stranger").post("accounts/nobody-has-this/keys", {"kind": "public"}).status == 404
    assert desk.owner.post(f"accounts/{desk.name}/keys", {}, {"Origin": "https://evil.example"}).status == 403
    assert desk.owner.post(f"accounts/{desk.name}/keys", {"kind": "nonsense"}).status == 400
    path = f"/api/accounts/{desk.name}/keys"
    assert entries(desk) == [("vera", "refused", path, "the role does not allow it")]
    assert entries(desk, account=False)[-3:] == [
        ("stranger", "refused", path, "the user has no such account"),
        ("stranger", "refused", "/api/accounts/nobody-has-this/keys", "the user has no such account"),
        ("olga", "refused", path, "it did not come from a page of the dashboard")]


def test_refusals_do_not_fill_the_store(desk):
    for _ in range(40):
        assert desk.viewer.post(f"accounts/{desk.name}/mode", {"mode": "live"}).status == 403
    assert 10 <= len(entries(desk)) <= 11
    assert "PAY00782" in desk.shop.httpd.log_text()
