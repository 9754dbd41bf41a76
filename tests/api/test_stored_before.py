# SPDX-License-Identifier: Apache-2.0
"""A store that an earlier build wrote (6043bf0, before leases and indexes of events): it opens, and answers as that build did.

stored_before.mdb.gz has paid and declined charges, one that waits for its acquirer, and a refund; stored_before.json has
the key and the answers.
"""

import gzip
import json
from pathlib import Path

import pytest

from harness import Shop, wait_for

HERE = Path(__file__).parent


@pytest.fixture
def before():
    return json.loads((HERE / "stored_before.json").read_text())


def test_an_earlier_builds_store(server, before):
    httpd = server()
    httpd.stop()
    with gzip.open(HERE / "stored_before.mdb.gz") as file:
        (httpd.store / "data.mdb").write_bytes(file.read())
    httpd.expect_log("PAY00700")  # it is another file than that build's
    httpd.start()
    shop = Shop(httpd, before["account"], before["secret"])
    for reference, answer in before["verify"].items():
        assert shop.call("GET", f"/api/v1/transaction/{reference}/verify").body.decode() == answer, reference
    assert shop.call("GET", "/api/v1/refund/2026-01-01/2026-12-31").body.decode() == before["refunds"]
    assert shop.charge(reference="paid-0").json["data"]["id"] == 1  # the same request: no charge of its own
    assert shop.charge(reference="after").status == 200
    assert shop.call("POST", "/api/v1/partial-refund", {"reference": "paid-2", "amount": 1}).status == 200
    wait_for(lambda: shop.call("GET", "/api/v1/transaction/waits/verify").json["data"]["status"] == "successful",
             "reconciliation", 60)
    assert httpd.ctl("store", "check").returncode == 0
