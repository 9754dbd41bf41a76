# SPDX-License-Identifier: Apache-2.0
"""The request header Idempotency-Key over HTTP (docs/api.md, "Retries")."""

import collections
import functools
import json
import secrets

import pytest

from harness import at_once, charge_body, first_status, reference, wait_for


CHARGE, FULL, PARTIAL = "/api/v1/tokenized-card-charge", "/api/v1/refund", "/api/v1/partial-refund"
VERIFY, VOID = "/api/v1/transaction/verify", "/api/v1/void-transaction"


def charged(shop, **fields):
    answer = shop.charge(**fields)
    assert answer.status == first_status(**fields), answer
    return answer.json["data"]["reference"]


def post(shop, path, body, key, auth=None, connection=None):
    return shop.call("POST", path, body, key=auth, headers=[("Idempotency-Key", key)], connection=connection)


def partial(shop, ref, amount, key, **fields):
    return post(shop, PARTIAL, {"reference": ref, "amount": amount, **fields}, key)


def new_key():
    return secrets.token_hex(16)


def code_of(answer):
    return answer.status, answer.json["data"]["responseCode"]


def is_replay(answer):
    return answer.header("idempotent-replayed") == "true"


def same_error(one, other):
    """The same except for the request's own id."""
    strip = lambda a: (a.status, a.json["message"], {**a.json["data"], "requestId": None})
    return strip(one) == strip(other)


REPLAYED = [
    pytest.param(FULL, lambda ref: {"reference": ref, "customer_note": "n"}, id="full refund"),
    pytest.param(PARTIAL, lambda ref: {"reference": ref, "amount": "1.50"}, id="partial refund"),
    pytest.param(CHARGE, lambda ref: charge_body(reference=ref, amount=10), id="charge"),
]


@pytest.mark.parametrize("path, body", REPLAYED)
def test_replay_is_the_first_answer(shop, path, body):
    ref, key = charged(shop, amount=10), new_key()
    body = body(reference() if path == CHARGE else ref)
    first = post(shop, path, body, key)
    assert (first.status, is_replay(first)) == (200, False), first
    made = shop.refunds().body
    for spelling in (key, f'"{key}"', f"  {key}  "):
        again = post(shop, path, body, spelling)
        assert (again.status, again.body, is_replay(again)) == (200, first.body, True)
        assert again.header("content-type") == first.header("content-type")
    assert shop.refunds().body == made


@pytest.mark.parametrize("path, body", REPLAYED)
def test_replay_outlives_the_server(server, path, body):
    one = server()
    shop = one.shop()
    ref, key = charged(shop, amount=10), new_key()
    body = body(reference() if path == CHARGE else ref)
    first = post(shop, path, body, key)
    assert first.status == 200, first
    one.stop()
    one.start()
    again = post(shop, path, body, key)
    assert (again.status, again.body, is_replay(again)) == (200, first.body, True)


def test_replay_of_a_refund_after_all_was_refunded(shop):
    ref, key = charged(shop, amount=10), new_key()
    first = partial(shop, ref, 4, key)
    assert shop.call("POST", FULL, {"reference": ref}).status == 200
    again = partial(shop, ref, 4, key)
    assert (again.status, again.body, is_replay(again)) == (200, first.body, True)


def test_replay_of_a_failed_refund(shop):
    ref, key = charged(shop, token="tok_test_refund_fails"), new_key()
    first = post(shop, FULL, {"reference": ref}, key)
    assert (first.status, first.json["status"]) == (200, "failed")
    again = post(shop, FULL, {"reference": ref}, key)
    assert (again.body, is_replay(again)) == (first.body, True)
    assert len(shop.refunds().json) == 1
    other = post(shop, FULL, {"reference": ref}, new_key())
    assert other.json["refundReference"] != first.json["refundReference"]


def test_equal_partial_refunds_by_their_keys(shop):
    """Where both carry a key, two equal refunds are two: the repeat window is for clients without."""
    ref = charged(shop, amount=10)
    made = [partial(shop, ref, 2, new_key()) for _ in range(3)]
    assert [answer.status for answer in made] == [200] * 3
    assert len({answer.json["refundReference"] for answer in made}) == 3


# --- form of the key ---

@pytest.mark.parametrize("key, same", [
    pytest.param("k", '"k"', id="one character"),
    pytest.param("k" * 255, '"' + "k" * 255 + '"', id="255 characters"),
    pytest.param('"a\\"b\\\\c"', 'a"b\\c', id="escapes"),
    pytest.param('"a, b"', '"a, b"', id="a comma in quotes"),
    pytest.param("a,b", '"a,b"', id="a comma without a blank"),
    pytest.param("8e03978e-40d5-43dd-bc93-6894a57f9324", '"8e03978e-40d5-43dd-bc93-6894a57f9324"', id="UUID"),
    pytest.param("a b", '"a b"', id="a blank inside"),
    pytest.param("!~", '"!~"', id="the ends of the range"),
])
def test_forms_of_one_key(shop, key, same):
    ref = charged(shop, amount=10)
    first = partial(shop, ref, 1, key)
    assert first.status == 200, first
    again = partial(shop, ref, 1, same)
    assert (again.body, is_replay(again)) == (first.body, True)


def test_case_tells_keys_apart(shop):
    ref = charged(shop, amount=10)
    one, other = partial(shop, ref, 1, "Key"), partial(shop, ref, 1, "key")
    assert one.status == other.status == 200
    assert one.json["id"] != other.json["id"]


MALFORMED = [
    pytest.param([""], id="empty"), pytest.param(['""'], id="empty in quotes"), pytest.param(["  "], id="blanks"),
    pytest.param(["k" * 256], id="256 characters"), pytest.param(['"' + "k" * 256 + '"'], id="256 in quotes"),
    pytest.param(['"k'], id="no closing quote"), pytest.param(['"k" x'], id="something behind"),
    pytest.param(['"k";a=1'], id="parameters"), pytest.param(['"k\\x"'], id="an unknown escape"),
    pytest.param(["a\tb"], id="tab"), pytest.param(["k\u00e9"], id="non-ASCII"),
    pytest.param(['"k\u00e9"'], id="non-ASCII in quotes"),
    pytest.param(["a", "b"], id="two"), pytest.param(["a", "a"], id="twice the same"),
    pytest.param(['"a"', '"b"'], id="two in quotes"), pytest.param(["a", ""], id="one and none"),
    pytest.param(["", "a"], id="none and one"), pytest.param(["a, b"], id="two in one"),
]


@pytest.mark.parametrize("keys", MALFORMED)
def test_malformed_keys(shop, keys):
    ref = charged(shop, amount=10)
    bodies = {CHARGE: charge_body(), FULL: {"reference": ref}, PARTIAL: {"reference": ref, "amount": 1},
              VERIFY: {"transactionReference": ref}, VOID: {"transactionReference": ref},
              "/api/v1/initiate": {}, "/api/v1/paymentlink/initiate": {}, "/payment/order/create": {}}
    charges = shop.httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout
    headers = [("Idempotency-Key", key) for key in keys]
    for path, body in bodies.items():
        answer = shop.call("POST", path, body, headers=headers)
        assert code_of(answer) == (400, "T1"), (path, answer)
        assert [fault["field"] for fault in answer.json["data"]["errors"]] == ["Idempotency-Key"]
    assert shop.httpd.ctl("charge", "list", shop.name, "--mode", "test", "--json").stdout == charges
    assert shop.refunds(headers=headers).body == b"[]"  # a GET has no use for it
    assert shop.call("GET", f"/api/v1/transaction/{ref}/verify", headers=headers).status == 200


# --- another request ---

def test_another_body_is_d1(shop):
    ref, other, key = charged(shop, amount=10), charged(shop, amount=10), new_key()
    first = partial(shop, ref, 1, key, customer_note="n")
    assert first.status == 200
    made = shop.refunds().body
    for answer in (partial(shop, ref, 2, key, customer_note="n"), partial(shop, ref, 1, key),
                   partial(shop, ref, 1, key, customer_note="m"), partial(shop, ref, 1, key, customer_note=""),
                   partial(shop, ref, 1, key, merchant_note="n"),
                   partial(shop, ref, 1, key, customer_note="n", merchant_note="n"),
                   partial(shop, other, 1, key, customer_note="n"), partial(shop, ref, 11, key, customer_note="n")):
        assert code_of(answer) == (409, "D1"), answer
        assert not is_replay(answer)
    assert shop.refunds().body == made
    for amount in (1, "1", "1.00", "0.1e1"):  # however it is written: the same request
        again = partial(shop, ref, amount, key, customer_note="n", merchant_note=None, unknown=5)
        assert (again.body, is_replay(again)) == (first.body, True)


def test_errors_of_form_come_before_the_key(shop):
    ref, key = charged(shop, amount=10), new_key()
    assert partial(shop, ref, 1, key).status == 200
    assert code_of(partial(shop, ref, 0, key)) == (400, "T1")


def test_operations_keep_keys_apart(shop):
    ref, key = charged(shop, amount=10), new_key()
    answers = [partial(shop, ref, 1, key), post(shop, FULL, {"reference": ref}, key),
               post(shop, VERIFY, {"transactionReference": ref}, key),
               post(shop, CHARGE, charge_body(), key)]
    assert [answer.status for answer in answers] == [200] * 4, answers
    assert not any(is_replay(answer) for answer in answers)
    assert [row["amount"] for row in shop.refunds().json] == ["1.00", "9.00"]


def test_accounts_keep_keys_apart(httpd, shop):
    key, other = new_key(), httpd.shop()
    one = partial(shop, charged(shop), 1, key)
    two = partial(other, charged(other), 1, key)
    assert (one.status, two.status, is_replay(two)) == (200, 200, False)


def test_a_public_key_claims_nothing(shop):
    """Nor does a live key, or a call without one: a request refused by then stores no key."""
    ref, key = charged(shop), new_key()
    body = {"reference": ref, "amount": 1}
    for auth, want in ((shop.public, 403), (shop.live_secret, 403), (shop.live_public, 403), ("nonsense", 401)):
        assert post(shop, PARTIAL, body, key, auth=auth).status == want
    first = post(shop, PARTIAL, body, key)
    assert (first.status, is_replay(first)) == (200, False)
    for auth, want in ((shop.public, 403), (shop.live_secret, 403)):
        answer = post(shop, PARTIAL, body, key, auth=auth)
        assert (answer.status, is_replay(answer)) == (want, False)


# --- idempotency records ---

@pytest.mark.parametrize("amount, code", [("10.01", "R2"), (None, "R3")])
def test_refusals_are_kept(shop, amount, code):
    ref, key = charged(shop, amount=10), new_key()
    path, body = (PARTIAL, {"reference": ref, "amount": amount}) if amount else (FULL, {"reference": ref})
    if code == "R3":
        assert shop.call("POST", FULL, body).status == 200
    first = post(shop, path, body, key)
    assert (code_of(first), is_replay(first)) == ((409, code), False)
    again = post(shop, path, body, key)
    assert same_error(first, again) and is_replay(again)
    assert code_of(post(shop, path, {**body, "customer_note": "x"}, key)) == (409, "D1")


def test_a_refusal_that_time_may_lift_is_not_kept(shop):
    for _ in range(5):  # a slow machine may have reconciled the charge before it is asked about
        ref, key = charged(shop, token="tok_test_timeout"), new_key()
        first = post(shop, FULL, {"reference": ref}, key)
        if first.status == 409:
            break
    assert code_of(first) == (409, "R1")
    wait_for(lambda: shop.call("GET", f"/api/v1/transaction/{ref}/verify").json["data"]["status"] == "successful",
             "reconciliation")
    again = post(shop, FULL, {"reference": ref}, key)
    assert (again.status, is_replay(again)) == (200, False)


def test_the_refusal_of_a_failed_charge_is_kept(shop):
    ref, key = charged(shop, token="tok_test_declined"), new_key()
    first = post(shop, FULL, {"reference": ref}, key)
    assert (code_of(first), is_replay(first)) == ((409, "R1"), False)
    again = post(shop, FULL, {"reference": ref}, key)
    assert same_error(first, again) and is_replay(again)


@pytest.mark.parametrize("path, field", [(FULL, "reference"), (PARTIAL, "reference"), (VERIFY, "transactionReference")])
def test_other_errors_are_not_kept(shop, path, field):
    ref, key = reference(), new_key()
    for body, want in (({field: "a/b", "amount": 10}, 400), ({field: ref, "amount": 10}, 404)):
        for _ in range(2):
            answer = post(shop, path, body, key)
            assert (answer.status, is_replay(answer)) == (want, False), answer
    charged(shop, reference=ref, amount=10)
    answer = post(shop, path, {field: ref, "amount": 10}, key)
    assert (answer.status, is_replay(answer)) == (200, False)


def test_a_differing_amount_and_a_refused_void_are_not_kept(shop):
    ref, key = charged(shop, amount=10), new_key()
    for _ in range(2):
        for path, body, want in ((VERIFY, {"transactionReference": ref, "amount": 9}, "V1"),
                                 (VOID, {"transactionReference": ref}, "V2")):
            answer = post(shop, path, body, key)
            assert (code_of(answer), is_replay(answer)) == ((409, want), False)
    answer = post(shop, VERIFY, {"transactionReference": ref, "amount": 10}, key)
    assert (answer.status, is_replay(answer)) == (200, False)


def test_who_polls_with_one_key_sees_the_decision(shop):
    """While a transaction is pending no answer about it is stored; the first one with the decision is."""
    ref, key = charged(shop, token="tok_test_timeout"), new_key()
    seen = []

    def decided():
        answer = post(shop, VERIFY, {"transactionReference": ref}, key)
        seen.append((answer.json["data"]["status"], is_replay(answer)))
        return answer if seen[-1][0] != "pending" else None

    first = wait_for(decided, "reconciliation")
    assert set(seen[:-1]) <= {("pending", False)} and seen[-1] == ("successful", False)
    again = post(shop, VERIFY, {"transactionReference": ref}, key)
    assert (again.body, is_replay(again)) == (first.body, False)


def test_verify_with_a_key_tells_what_is(shop):
    """It only reads, so no key stores its answer: each call returns the current state, whatever came before."""
    ref, key = charged(shop, amount=10), new_key()
    body = {"transactionReference": ref}
    assert post(shop, VERIFY, body, key).json["data"]["refundedAmount"] == 0
    assert shop.call("POST", FULL, {"reference": ref}).status == 200
    for now in (post(shop, VERIFY, body, key), shop.call("POST", VERIFY, body),
                post(shop, VERIFY, {**body, "amount": 10}, key)):
        assert (now.json["data"]["status"], is_replay(now)) == ("reversed", False)


# --- charges: the reference is judged first ---

def test_charges_are_known_by_their_reference_first(shop):
    body, key = charge_body(), new_key()
    first = post(shop, CHARGE, body, key)
    assert (first.status, is_replay(first)) == (200, False)
    for other in (key, new_key()):
        again = post(shop, CHARGE, body, other)
        assert (again.body, is_replay(again)) == (first.body, True)
    again = shop.call("POST", CHARGE, body)
    assert (again.body, is_replay(again)) == (first.body, True)
    for auth_key in (key, new_key()):
        assert code_of(post(shop, CHARGE, {**body, "amount": 5}, auth_key)) == (409, "D1")


@pytest.mark.parametrize("token", ["tok_test_success", "tok_test_declined", "tok_test_timeout"])
def test_a_key_makes_one_charge(shop, token):
    key = new_key()
    first = post(shop, CHARGE, charge_body(token=token), key)
    assert first.status == first_status(token)
    ref = reference()
    for _ in range(2):
        answer = post(shop, CHARGE, charge_body(token=token, reference=ref), key)
        assert (code_of(answer), is_replay(answer)) == ((409, "D1"), False)
    assert code_of(shop.call("GET", f"/api/v1/transaction/{ref}/verify")) == (404, "N1")
    assert post(shop, CHARGE, charge_body(reference=ref), new_key()).status == 200


def test_a_refused_charge_keeps_no_key(shop):
    key, body = new_key(), charge_body()
    for _ in range(2):
        assert code_of(post(shop, CHARGE, {**body, "token": "tok_gone"}, key)) == (400, "T1")
    assert post(shop, CHARGE, body, key).status == 200


# --- at once ---

@pytest.mark.parametrize("path", [FULL, PARTIAL])
def test_many_at_once_refund_once(shop, path):
    ref, key = charged(shop, amount=100), new_key()
    body = {"reference": ref, "amount": 7}
    connections = [shop.httpd.connected() for _ in range(16)]
    answers = at_once([functools.partial(post, shop, path, body, key, connection=one) for one in connections])
    rows = shop.refunds().json
    assert [row["amount"] for row in rows] == ["100.00" if path == FULL else "7.00"]
    kinds = collections.Counter()
    for answer in answers:
        if answer.status == 200:
            assert json.loads(answer.body) == rows[0] or answer.json["status"] == "pending"
            kinds["replay" if is_replay(answer) else "made"] += 1
        elif answer.status == 503:
            kinds["busy"] += 1
        else:
            assert code_of(answer) == (409, "D2"), answer
            assert answer.header("retry-after") == "1"
            kinds["in flight"] += 1
    assert kinds["made"] == 1, kinds
    again = post(shop, path, body, key)
    assert (again.status, again.json, is_replay(again)) == (200, rows[0], True)
