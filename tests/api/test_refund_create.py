# SPDX-License-Identifier: Apache-2.0
"""POST /api/v1/refund and /api/v1/partial-refund over HTTP (docs/api.md, "Refunds")."""

import json
from urllib.parse import quote

import pytest

from harness import first_status, reference, run_ctl_lines, wait_for
from shares import ALIKE

pytestmark = ALIKE

FULL, PARTIAL = "/api/v1/refund", "/api/v1/partial-refund"
MEMBERS = ["id", "refundReference", "amount", "currency", "domain", "channel", "merchantNote",
           "customerNote", "status", "transactionReference", "createdAt", "updatedAt"]


def charged(shop, amount=1000, **fields):
    """A charge that was made; its reference."""
    answer = shop.charge(amount=amount, **fields)
    assert answer.status == first_status(**fields), answer
    return answer.json["data"]["reference"]


def full(shop, ref, headers=None, key=None, **fields):
    return shop.call("POST", FULL, {"reference": ref, **fields}, headers=headers, key=key)


def partial(shop, ref, amount, headers=None, key=None, **fields):
    return shop.call("POST", PARTIAL, {"reference": ref, "amount": amount, **fields}, headers=headers, key=key)


def verify(shop, ref):
    answer = shop.call("GET", f"/api/v1/transaction/{quote(ref, safe='')}/verify")
    assert answer.status == 200, answer
    return answer.json["data"]


def code_of(answer):
    return answer.status, answer.json["data"]["responseCode"]


def fields_of(answer):
    return [fault["field"] for fault in answer.json["data"]["errors"]]


def stored(shop):
    """All that the account holds, as paymentsctl sees it."""
    return run_ctl_lines(shop.httpd.store, [f"{noun} list {shop.name} --mode {mode}"
                                            for noun in ("charge", "refund") for mode in ("test", "live")])


def test_full_refund(shop):
    ref = charged(shop, 1000)
    answer = full(shop, ref)
    assert answer.status == 200, answer
    assert answer.header("content-type") == "application/json; charset=utf-8"
    assert answer.header("idempotent-replayed") is None
    row = answer.json
    assert list(row) == MEMBERS
    assert (row["amount"], row["currency"], row["domain"], row["channel"]) == ("1000.00", "NGN", "test", "API")
    assert (row["status"], row["transactionReference"]) == ("processed", ref)
    assert (row["merchantNote"], row["customerNote"]) == (None, None)
    assert row["id"] and row["refundReference"] and row["id"] != row["refundReference"]
    single = shop.call("GET", FULL + "/" + row["refundReference"])
    assert (single.status, single.body) == (200, answer.body)
    listed = shop.refunds()
    assert listed.body == b"[" + answer.body + b"]"
    assert code_of(full(shop, ref)) == (409, "R3")
    assert shop.refunds().body == listed.body


def test_life_of_a_charge_to_reversed(shop):
    ref = charged(shop, "1000.00")
    first = partial(shop, ref, 250.5, customer_note="late \u2603", merchant_note='say "no"')
    assert first.status == 200, first
    assert (first.json["amount"], first.json["status"]) == ("250.50", "processed")
    assert (first.json["customerNote"], first.json["merchantNote"]) == ("late \u2603", 'say "no"')
    data = verify(shop, ref)
    assert (data["status"], data["refundedAmount"], data["amount"]) == ("successful", 250.5, 1000)
    assert code_of(partial(shop, ref, "749.51")) == (409, "R2")
    rest = full(shop, ref)
    assert (rest.status, rest.json["amount"]) == (200, "749.50")
    data = verify(shop, ref)
    assert (data["status"], data["paymentStatus"], data["refundedAmount"]) == ("reversed", "reversed", 1000)
    assert data["refunds"] == [first.json["refundReference"], rest.json["refundReference"]]
    for answer in (full(shop, ref), partial(shop, ref, 1)):
        assert code_of(answer) == (409, "R3")
    assert len(shop.refunds().json) == 2


@pytest.mark.parametrize("literal, currency, written", [
    pytest.param("10", "NGN", "10.00", id="a whole number"),
    pytest.param("0.01", "NGN", "0.01", id="the smallest"),
    pytest.param('"19.99"', "NGN", "19.99", id="numeric string"),
    pytest.param("1e1", "NGN", "10.00", id="exponent"),
    pytest.param("10.500", "NGN", "10.50", id="zeros beyond the currency's decimals"),
    pytest.param("1000", "NGN", "1000.00", id="all of it"),
    pytest.param("7", "JPY", "7", id="yen"),
    pytest.param("1.234", "KWD", "1.234", id="three decimals"),
])
def test_amounts_that_are_well(shop, literal, currency, written):
    ref = charged(shop, 1000, currency=currency)
    answer = shop.call("POST", PARTIAL, '{"reference":"%s","amount":%s}' % (ref, literal))
    assert answer.status == 200, answer
    assert (answer.json["amount"], answer.json["currency"]) == (written, currency)
    assert verify(shop, ref)["refundedAmount"] == float(written)


# One of each rule: the notations of amounts stand in the table of unit/base/text/test_money.c.
@pytest.mark.parametrize("literal, currency, want", [
    pytest.param("0", "NGN", 400, id="nought"),
    pytest.param("-1", "NGN", 400, id="negative"),
    pytest.param("1.001", "NGN", 400, id="a third decimal"),
    pytest.param("1.5", "JPY", 400, id="yen have none"),
    pytest.param("1000.001", "NGN", 400, id="above by less than the smallest"),
    pytest.param("1000000000000", "NGN", 400, id="one past the largest"),
    pytest.param("true", "NGN", 400, id="boolean"),
    pytest.param('"1,000"', "NGN", 400, id="grouped"),
    pytest.param("1000.01", "NGN", 409, id="above the charge by the smallest"),
    pytest.param("1001", "JPY", 409, id="above the charge, yen"),
    pytest.param("999999999999.99", "NGN", 409, id="the largest"),
])
def test_amounts_that_are_not(shop, literal, currency, want):
    ref = charged(shop, 1000, currency=currency)
    before = stored(shop)
    answer = shop.call("POST", PARTIAL, '{"reference":"%s","amount":%s}' % (ref, literal))
    assert code_of(answer) == (want, {400: "T1", 409: "R2"}[want]), answer
    assert fields_of(answer) == ["/amount"]
    assert stored(shop) == before


def test_amount_is_required_of_a_partial_refund_alone(shop):
    ref = charged(shop, 10)
    answer = shop.call("POST", PARTIAL, {"reference": ref})
    assert (code_of(answer), fields_of(answer)) == ((400, "T1"), ["/amount"])
    answer = full(shop, ref, amount=3)  # no member of a full refund: unknown ones are ignored
    assert (answer.status, answer.json["amount"]) == (200, "10.00")


def test_all_faults_at_once(shop):
    answer = partial(shop, "a/b", 0, customer_note="n" * 501, merchant_note="a\nb")
    assert code_of(answer) == (400, "T1")
    assert sorted(fields_of(answer)) == ["/amount", "/customer_note", "/merchant_note", "/reference"]
    answer = shop.call("POST", FULL, {"customer_note": 5})
    assert sorted(fields_of(answer)) == ["/customer_note", "/reference"]


# --- which charges ---

@pytest.mark.parametrize("path", [FULL, PARTIAL])
@pytest.mark.parametrize("token", [
    pytest.param("tok_test_declined", id="failed"),
    pytest.param("tok_test_error", id="pending, which fails later"),
])
def test_charge_that_is_not_successful(shop, path, token):
    ref = charged(shop, 1000, token=token)
    answer = shop.call("POST", path, {"reference": ref, "amount": 1})
    assert code_of(answer) == (409, "R1")
    assert "errors" not in answer.json["data"]
    assert shop.refunds().json == []


@pytest.mark.parametrize("path", [FULL, PARTIAL])
def test_unknown_charge(shop, path):
    ref = reference()
    answer = shop.call("POST", path, {"reference": ref, "amount": 1})
    assert code_of(answer) == (404, "N1")
    assert answer.json["message"] == f"no record found for transaction with reference {ref}"


@pytest.mark.parametrize("path", [FULL, PARTIAL])
def test_charges_of_others(httpd, shop, path):
    ref = charged(shop)
    other = httpd.shop()
    body = {"reference": ref, "amount": 1}
    before = stored(shop), stored(other)
    assert code_of(other.call("POST", path, body)) == (404, "N1")
    # The account is in Test Mode, so a live key starts nothing, whatever it names.
    assert code_of(shop.call("POST", path, body, key=shop.live_secret)) == (403, "B02")
    assert code_of(shop.call("POST", path, {**body, "reference": reference()}, key=shop.live_secret)) == (403, "B02")
    for key in (shop.public, shop.live_public):
        assert code_of(shop.call("POST", path, body, key=key)) == (403, "B02")
    assert code_of(shop.call("POST", path, body, headers={"Origin": "https://shop.example"})) == (403, "B02")
    assert (stored(shop), stored(other)) == before


def test_live_key_sees_no_test_charge(shop):
    """Also where the account is live: no live acquirer is configured, so nothing is started either."""
    ref = charged(shop)
    shop.httpd.ctl("account", "mode", shop.name, "live")
    before = stored(shop)
    assert code_of(full(shop, ref, key=shop.live_secret)) == (403, "B02")
    assert code_of(shop.call("GET", f"/api/v1/transaction/{ref}/verify", key=shop.live_secret)) == (404, "N1")
    assert stored(shop) == before
    assert full(shop, ref).status == 200  # test keys work in both modes


# --- refused by the acquirer, in the way, repeated ---

def test_refund_that_the_acquirer_refuses(shop):
    ref = charged(shop, 100, token="tok_test_refund_fails")
    answer = full(shop, ref)
    assert (answer.status, answer.json["status"], answer.json["amount"]) == (200, "failed", "100.00")
    data = verify(shop, ref)
    assert (data["status"], data["refundedAmount"], data["refundsPendingAmount"]) == ("successful", 0, 0)
    assert data["refunds"] == [answer.json["refundReference"]]
    again = full(shop, ref)  # its amount can be refunded again
    assert (again.status, again.json["status"]) == (200, "failed")
    assert again.json["refundReference"] != answer.json["refundReference"]


def test_imported_history_counts(shop, tmp_path):
    """Even if pending there; no process here works on it, so it does not block other refunds."""
    ref = charged(shop, 100)
    row = {"id": "re_9", "refundReference": "rf_9", "amount": "5.00", "currency": "NGN", "domain": "test",
           "status": "pending", "transactionReference": ref, "createdAt": "2026-01-01T00:00:00Z"}
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(row) + "\n")
    shop.httpd.ctl("refund", "import", shop.name, "--mode", "test", str(path))
    assert code_of(partial(shop, ref, "100.01")) == (409, "R2")
    answer = full(shop, ref)
    assert (answer.status, answer.json["amount"]) == (200, "95.00")
    data = verify(shop, ref)
    assert (data["status"], data["refundedAmount"], data["refundsPendingAmount"]) == ("successful", 95, 5)
    assert data["refunds"] == ["rf_9", answer.json["refundReference"]]
    before = stored(shop)
    for answer in (full(shop, ref), partial(shop, ref, 1)):
        assert code_of(answer) == (409, "R3")
    assert stored(shop) == before


def test_repeated_partial_refund(shop):
    ref = charged(shop, 100)
    first = partial(shop, ref, "10.00", customer_note="x")
    before = stored(shop)
    for amount in ("10", 10, "1e1", "10.000"):
        answer = partial(shop, ref, amount, customer_note="x")
        assert code_of(answer) == (409, "R5"), answer
        assert first.json["refundReference"] in answer.json["message"]
    assert stored(shop) == before
    different = [partial(shop, ref, "10.01", customer_note="x"), partial(shop, ref, 10),
                 partial(shop, ref, 10, customer_note="y"), partial(shop, ref, 10, merchant_note="x"),
                 partial(shop, ref, 10, customer_note="x", headers={"Idempotency-Key": "k"})]
    assert [answer.status for answer in different] == [200] * 5
    assert len(shop.refunds().json) == 6


def test_repeat_window_can_be_switched_off(server):
    shop = server(host_extra="PaymentsRefundRepeatWindow 0").shop()
    ref = charged(shop, 100)
    first, second = partial(shop, ref, 10), partial(shop, ref, 10)
    assert (first.status, second.status) == (200, 200)
    assert first.json["refundReference"] != second.json["refundReference"]


# --- notes ---

@pytest.mark.parametrize("note", [
    pytest.param("", id="empty"),
    pytest.param("n" * 500, id="500 characters"),
    pytest.param("\U0001f600" * 500, id="500 characters of four bytes"),
    pytest.param("order 1718000000000, call +234 801 234 5678", id="a time and a phone number"),
    pytest.param('<b>"\\/\xa0', id="what other languages escape"),
    pytest.param("e\u0301 \u0915\u094d\u200d\u0937", id="combining and joining"),
])
def test_notes_that_are_well(shop, note):
    ref = charged(shop, 10)
    answer = full(shop, ref, customer_note=note, merchant_note=note)
    assert answer.status == 200, answer
    assert (answer.json["customerNote"], answer.json["merchantNote"]) == (note, note)
    assert shop.refunds().json == [answer.json]


@pytest.mark.parametrize("note", [
    pytest.param("\U0001f600" * 501, id="501 characters of four bytes"),
    pytest.param("a\nb", id="newline"),
    pytest.param("paid with 5555 5555 5555 4444", id="a card number in it"),
    pytest.param("refund \u202e00.01", id="turned round"),
    pytest.param("re\u200bfund", id="a space of no width"),
    pytest.param(5, id="a number"),
])
@pytest.mark.parametrize("field", ["customer_note", "merchant_note"])
def test_notes_that_are_not(shop, field, note):
    ref = charged(shop, 10)
    for path in (FULL, PARTIAL):
        answer = shop.call("POST", path, {"reference": ref, "amount": 1, field: note})
        assert (code_of(answer), fields_of(answer)) == ((400, "T1"), ["/" + field]), answer
        assert "5555" not in answer.body.decode()
    assert shop.refunds().json == []
    assert verify(shop, ref)["refundsPendingAmount"] == 0


def test_null_notes_are_none(shop):
    answer = full(shop, charged(shop), customer_note=None, merchant_note=None)
    assert (answer.status, answer.json["customerNote"], answer.json["merchantNote"]) == (200, None, None)


# --- references ---

BAD_REFERENCES = [
    pytest.param("r" * 101, id="101 characters"), pytest.param("", id="0 characters"),
    pytest.param("pay_testsk_" + "a1" * 20, id="an API key"),
    pytest.param(".", id="dot"), pytest.param("..", id="dots"), pytest.param("a/b", id="slash"),
    pytest.param("/", id="slash alone"), pytest.param("a?b", id="question mark"), pytest.param("a#b", id="hash"),
    pytest.param("a\\b", id="backslash"), pytest.param("a b", id="blank"), pytest.param("a\tb", id="tab"),
    pytest.param("a\x01b", id="control"), pytest.param("a\x7fb", id="delete"), pytest.param("r\u00e9f", id="non-ASCII"),
    pytest.param("\u0661\u0662", id="digits of another script"), pytest.param("5555555555554444", id="a card number"),
]


# One function judges them for all requests: what it says of each is seen at one of them.
@pytest.mark.parametrize("path, field, ref", [
    *(pytest.param(FULL, "reference", *one.values, id=f"refund, {one.id}") for one in BAD_REFERENCES),
    *(pytest.param(path, field, ref, id=f"{path}, {name}") for path, field in [
        (PARTIAL, "reference"), ("/api/v1/tokenized-card-charge", "reference"),
        ("/api/v1/transaction/verify", "transactionReference"), ("/api/v1/void-transaction", "transactionReference")]
      for ref, name in [("a/b", "slash"), ("5555555555554444", "a card number")])])
def test_bad_references(shop, path, field, ref):
    before = stored(shop)
    body = {"token": "tok_test_success", "amount": 10, "email": "ada@example.com", field: ref}
    answer = shop.call("POST", path, body)
    assert (code_of(answer), fields_of(answer)) == ((400, "T1"), ["/" + field]), answer
    if len(ref) > 2:
        assert ref not in answer.body.decode()
    assert stored(shop) == before


@pytest.mark.parametrize("value", [pytest.param(..., id="missing"), None, 5, True, [], {}])
@pytest.mark.parametrize("path, field", [
    (FULL, "reference"), (PARTIAL, "reference"),
    ("/api/v1/transaction/verify", "transactionReference"), ("/api/v1/void-transaction", "transactionReference")])
def test_reference_is_a_string(shop, path, field, value):
    body = {"amount": 10} if value is ... else {"amount": 10, field: value}
    answer = shop.call("POST", path, body)
    assert (code_of(answer), fields_of(answer)) == ((400, "T1"), ["/" + field]), answer


@pytest.mark.parametrize("ref, code", [
    pytest.param("r" * 101, "N1", id="101 characters"),
    pytest.param("a%5Cb", "N1", id="backslash"), pytest.param("a%3Fb", "N1", id="question mark"),
    pytest.param("a%23b", "N1", id="hash"), pytest.param("a%20b", "N1", id="blank"),
    pytest.param("a%01b", "N1", id="control"), pytest.param("r%C3%A9f", "N1", id="non-ASCII"),
    pytest.param("r%FFf", "N1", id="no UTF-8"), pytest.param("%22", "N1", id="a quote"),
    pytest.param("5555555555554444", "N1", id="a card number"),
    pytest.param("a%2Fb", "N2", id="an encoded slash"), pytest.param("a%00b", "N2", id="NUL"),
    pytest.param("a/b/c", "N2", id="slashes"), pytest.param("..", "N2", id="dots"),
    pytest.param("%2e%2E", "N2", id="encoded dots"), pytest.param(".", "N2", id="dot"),
    pytest.param("", "N2", id="nothing"),
])
@pytest.mark.parametrize("path", ["/api/v1/refund/{}", "/api/v1/checkout/{}/verify", "/api/v1/transaction/{}/verify"])
def test_references_in_paths_that_nothing_can_have(shop, path, ref, code):
    want = {(404, code)}
    if path.startswith("/api/v1/transaction") and ref in ("", "."):
        want = {(405, "M1")}  # what is left is /api/v1/transaction/verify
    answer = shop.call("GET", path.format(ref))
    assert code_of(answer) in want, answer
    if "errors" not in answer.json["data"] and code == "N1" and len(ref) > 16:
        assert ref not in answer.body.decode()


GOOD_REFERENCES = [
    pytest.param("r" * 100, id="100 characters"), pytest.param("a.b..c...", id="dots inside"),
    pytest.param("...", id="three dots"), pytest.param(".a", id="a dot first"),
    pytest.param("100%", id="a percent sign"), pytest.param("a%2Fb", id="an encoded slash in it"),
    pytest.param("%25%00", id="percent signs"), pytest.param("%", id="a percent sign alone"),
    pytest.param("1718000000000", id="a 13-digit time"), pytest.param("+2348012345678", id="a phone number"),
    pytest.param("08012345678", id="a phone number without its plus"), pytest.param("verify", id="a word of the paths"),
    pytest.param("a+b&c=d;e,f", id="what queries use"), pytest.param("<\"'>", id="what HTML uses"),
    pytest.param("!~", id="the ends of the range"), pytest.param("{}[]|^`", id="what URLs encode"),
    pytest.param("*", id="a star"), pytest.param("2026-01-01", id="a date"), pytest.param("0", id="nought"),
]


@pytest.mark.parametrize("ref", GOOD_REFERENCES)
def test_good_odd_references(shop, ref):
    charged(shop, 100, reference=ref)
    made = partial(shop, ref, 1)
    assert (made.status, made.json["transactionReference"]) == (200, ref), made
    path = quote(ref, safe="")
    for answer in (shop.call("GET", f"/api/v1/transaction/{path}/verify"),
                   shop.call("GET", f"/api/v1/checkout/{path}/verify", key=shop.public),
                   shop.call("POST", "/api/v1/transaction/verify", {"transactionReference": ref})):
        assert answer.status == 200, answer
        assert (answer.json["data"]["reference"], answer.json["data"]["refundedAmount"]) == (ref, 1)
    assert code_of(shop.call("POST", "/api/v1/void-transaction", {"transactionReference": ref})) == (409, "V2")
    assert full(shop, ref).json["amount"] == "99.00"
    assert [row["transactionReference"] for row in shop.refunds().json] == [ref, ref]


@pytest.mark.parametrize("ref", GOOD_REFERENCES)
def test_unknown_odd_references_are_named(shop, ref):
    """As they are: nothing is decoded twice, and JSON stays JSON."""
    for path in ("/api/v1/refund/{}", "/api/v1/checkout/{}/verify", "/api/v1/transaction/{}/verify"):
        answer = shop.call("GET", path.format(quote(ref, safe="")))
        assert code_of(answer) == (404, "N1"), answer
        assert answer.json["message"] == f"no record found for transaction with reference {ref}"


def test_access_log_names_the_reference(shop):
    ref = charged(shop, 10)
    full(shop, ref)
    wait_for(lambda: [line for line in shop.httpd.access_lines()
                      if f" {ref} {shop.name} test " in line and "POST /api/v1/refund HTTP" in line],
             "the access log's line")


def test_access_log_names_a_refund_that_is_looked_at(shop):
    given = partial(shop, charged(shop), 1).json["refundReference"]
    assert shop.call("GET", f"{FULL}/{given}").status == 200
    (line,) = wait_for(lambda: [line for line in shop.httpd.access_lines() if f"GET {FULL}/{given}" in line], "the access log")
    assert line.split()[3:6] == [given, shop.name, "test"]
