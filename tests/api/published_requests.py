# SPDX-License-Identifier: Apache-2.0
"""The requests of published clients, one row each, and the members of the answer that the client reads.

In paths, headers, bodies and members, $ref stands for the transaction's reference, $encoded for the same with
percent signs, $never for an unknown one, $secret and $public for the keys, $link for a payment link, $refund for a
refund, $token for the token of a card that paid before, $today for a date and $week for one of six days before.
"""

import base64
import dataclasses

from published_clients import (
    AMOUNT, CURRENCY, EMAIL, all_of, android, array, decimal, filled, filled_object, flag, lowered, no_entries, not_offered,
    nullable_text, number, order_any_word, order_express, order_express_aes, order_ios, order_python, order_votes_first,
    order_votes_later, order_wallet, order_woo, page, payment_status, payroll, strictly_successful, text, time, truthy_envelope,
    whole, woo_newer_return, woo_newer_webhook, woo_older_return, woo_older_webhook)


@dataclasses.dataclass(frozen=True)
class Row:
    client: str
    does: str
    method: str
    path: str
    key: str = "public"  # which of the shop's
    body: object = None  # members, written as the client writes JSON; or a text that is sent as it is
    headers: dict = dataclasses.field(default_factory=dict)  # beside the client's; None: it sends none
    encrypted: bool = False  # the body goes as {"data": base64 of RSA}
    before: str = ""  # the state that $ref, or what the request is about, is in already
    status: int = 200
    reads: dict = dataclasses.field(default_factory=dict)  # path: a value, or a function that the value satisfies
    rule: object = None  # by which the client considers the order paid, if this request decides
    because: str = ""  # why an error is the right answer
    blind: str = ""  # why the client does not see that this order is paid

    @property
    def name(self):
        return f"{self.client}: {self.does}"

    @property
    def charges(self):
        return self.path == "/api/v1/tokenized-card-charge"

    @property
    def delivers(self):
        """The client considers the order paid after this request."""
        taken = self.body["token"] != "tok_test_declined" if self.charges else self.before == "paid"
        return taken and self.status == 200 and not self.blind


# ---- bodies

def payer(**more):
    return {"email": EMAIL, "firstName": "Ada", "lastName": "Obi", **more}


def woo_checkout(amount="1500.00", **more):
    """Of both WooCommerce plugins: totals are strings, and members that mean nothing are empty."""
    return {"transactionReference": "$ref", "amount": amount, "currency": CURRENCY,
            "redirectUrl": "https://shop.example/?wc-api=WC_Novac_Payment_Gateway&order_id=203&_wpnonce=0a1b2c3d4e",
            "checkoutCustomerData": payer(phoneNumber=""),
            "checkoutCustomizationData": {"logoUrl": "", "paymentMethodLogoUrl": "",
                                          "checkoutModalTitle": "Payment for Order #203 by Ada Obi"}, **more}


def without_return(body):
    return {name: value for name, value in body.items() if name != "redirectUrl"}


def give_checkout(**more):
    """The form's title goes into both texts."""
    title = "Help us to build the école – " + "a" * 200
    return {"transactionReference": "$ref", "amount": 19.99, "currency": CURRENCY, "redirectUrl": "https://give.example/?done=1",
            "checkoutCustomerData": payer(**more),
            "checkoutCustomizationData": {"paymentDescription": title, "checkoutModalTitle": title, "logoUrl": ""}}


def zapier_checkout(**more):
    """Fields that its user left empty are null."""
    return {"amount": AMOUNT, "currency": CURRENCY, "metaData": None, "redirectUrl": None,
            "checkoutCustomerData": payer(phoneNumber=None),
            "checkoutCustomizationData": {"logoUrl": None, "paymentDescription": None, "checkoutModalTitle": None}, **more}


def charge(**more):
    return {"token": "tok_test_success", "currency": CURRENCY, "amount": AMOUNT, "email": EMAIL, "firstName": "Ada",
            "lastName": "Obi", "reference": "$ref", **more}


def order(amount=AMOUNT, description="Shoes", mobile="+2348000000000", **more):
    return {"customer": {"firstname": "Ada", "lastname": "Obi", "mobile": mobile, "country": "NG", "email": EMAIL},
            "order": {"amount": amount, "reference": "$ref", "description": description, "currency": CURRENCY},
            "payment": {"RedirectUrl": "https://shop.example/?payment_success=true&ref=$ref"}, **more}


# ---- members that more than one client reads

MESSAGE = {"message": filled}
REFUSED = {"status": False, "message": filled}
CHECKOUT = {"status": True, "message": filled, "data.transactionReference": "$ref", "data.amount": AMOUNT,
            "data.statusCode": "01", "data.statusMessage": text, "data.publicKey": text, "data.paymentRedirectUrl": page}
REDIRECT = {"data.paymentRedirectUrl": page}
# As the document of the deployed API shows it.
TRANSACTION = {"status": True, "message": filled, "data.transactionReference": "$ref", "data.amount": AMOUNT, **all_of("data", {
    "status": filled, "id": whole, "chargedAmount": number, "currency": CURRENCY, "transactionFee": number,
    "gatewayResponseCode": text, "gatewayResponseMessage": text, "domain": "test", "channel": filled, "requestIp": text,
    "paymentDescriptor": text, "transactionType": text, "redirectUrl": text, "customer.id": whole, "customer.customerCode": text,
    "customer.email": text, "customer.name": text,
    **all_of("card", dict.fromkeys(("first6Digits", "last4Digits", "issuer", "country", "type"), text)),
    **all_of("transferDetail", dict.fromkeys(("bankCode", "bankName", "accountNumber", "sessionId", "creditAccountName",
                                              "originatorName", "originatorAccountNumber"), text))})}
PAID = {"status": True, "data.status": "successful", "data.currency": CURRENCY}
CHARGE = {"status": True, "message": "Charge successful", "data.reference": "$ref", "data.paymentStatus": "successful",
          "data.authCode": filled}
REFUND_TEXTS = ("currency", "domain", "channel", "status")
REFUND = {"id": filled, "refundReference": filled, "amount": decimal, "transactionReference": "$ref",
          "merchantNote": nullable_text, "customerNote": nullable_text, **dict.fromkeys(REFUND_TEXTS, filled),
          "createdAt": time, "updatedAt": time}
BANKS = {"status": True, "message": "Successful", "data.bankDetails": array, "data.bankDetails.0.bank_name": filled,
         "data.bankDetails.0.bank_code": filled, "data.bankDetails.0.ussd_string": text}
# A decoder without optional members requires all of these.
IOS_ORDER = {"status": filled, "statusCode": filled, "message": text, **all_of("data", {
    **all_of("order", {"reference": "$ref", "processorReference": text, "orderPaymentReference": nullable_text, "amount": whole,
                       "fee": whole, "feeRate": whole, "statusId": whole, "status": text, "currency": text, "narration": text}),
    **all_of("subsidiary", {"id": whole, "name": text, "country": text, "supportEmail": text, "customization": no_entries}),
    **all_of("customer", dict.fromkeys(("email", "firstName", "lastName", "mobile", "country"), text)),
    **all_of("payment", {"source": text, **dict.fromkeys(("code", "selectedOption", "accountNumber", "bankProviderName"),
                                                         nullable_text)}),
    "otherPaymentOptions": no_entries, "savedCards": no_entries,
    **all_of("subsidiaryOrderSummary", {"orderName": text, "totalAmount": whole, "reference": "$ref", "currency": text,
                                        "orderItems": no_entries})})}
IOS_STATUS = {"status": filled, "statusCode": filled, "message": text, **all_of("data", {
    "isFinalStatus": flag, "requeryNeeded": flag, "requeryType": nullable_text, "orderPayments": no_entries,
    **all_of("orderSummary", {
        "id": whole, "totalChargedAmount": number, "fee": number, "statusId": whole, "currencyId": whole, "dateCreated": time,
        "providerResponseDate": nullable_text, "datePaymentConfirmed": nullable_text, "paymentReference": "$ref",
        "orderReference": "$ref", **dict.fromkeys(("status", "paymentType", "paymentResponseCode", "paymentResponseMessage",
                                                   "narration", "remarks"), text)})})}
ONE_NAME = "the deployed API wants a last name too"
NO_CARDS = "card numbers never come to this server"
NO_CHANNEL = "the payer chooses on the page"
NO_PAYOUTS = "this server pays nothing out"
NO_ACCOUNTS = "virtual accounts are the bank's"


def verify(client, does, rule, path="/api/v1/checkout/$ref/verify", **more):
    """The payment is asked for, and this answer decides."""
    return Row(client, does, "GET", path, **{"key": "secret", "before": "paid", "reads": PAID, "rule": rule, **more})


def unknown(client, does, method="GET", path="/api/v1/checkout/$never/verify", **more):
    return Row(client, does, method, path, **{"key": "secret", "status": 404, "reads": REFUSED, "because": "no such transaction",
                                             **more})


def refused(client, does, method, path, body, because, **more):
    """An operation that this server will not have: the answer says so, and names the replacement."""
    return Row(client, does, method, path, **{
        "body": body, "status": 501, "because": because, "reads": {"status": False, "message": not_offered,
                                                                  "data.responseCode": "I1"}, **more})


# ---- shop plugins

OLDER, NEWER = "WooCommerce plugin, older", "WooCommerce plugin, newer"
GIVEWP, FORM = "GiveWP donations", "WordPress payment form"
SHOPS = [
    Row(OLDER, "makes a checkout, total as a string", "POST", "/api/v1/initiate", body=woo_checkout(), reads=REDIRECT),
    Row(OLDER, "makes a checkout, total without decimals", "POST", "/api/v1/initiate", body=woo_checkout("1500"), reads=REDIRECT),
    Row(OLDER, "payer without a last name", "POST", "/api/v1/initiate", status=400, because=ONE_NAME, reads=REFUSED,
        body=woo_checkout(checkoutCustomerData={**payer(phoneNumber=""), "lastName": ""})),
    Row(OLDER, "order of nothing", "POST", "/api/v1/initiate", body=woo_checkout("0.00"), status=400, reads=REFUSED,
        because="there is nothing to pay"),
    verify(OLDER, "payer returns", woo_older_return, "/api/v1//checkout/$ref/verify",
           reads={**PAID, "data.requested_amount": AMOUNT}),
    verify(OLDER, "payer returns after a decline", woo_older_return, "/api/v1//checkout/$ref/verify", before="declined",
           reads={"data.status": "failed", "log.history": no_entries}),
    verify(OLDER, "payer returns after a cancel", woo_older_return, "/api/v1//checkout/$ref/verify", before="cancelled",
           reads={"data.status": "failed", "data.requested_amount": 0, "log.history": no_entries}),
    verify(OLDER, "webhook asks", woo_older_webhook, "/api/v1//checkout/$ref/verify",
           reads={**PAID, "data.requested_amount": AMOUNT}),
    Row(NEWER, "makes a checkout", "POST", "/api/v1/initiate", body=woo_checkout(), reads=REDIRECT),
    Row(NEWER, "shows why a checkout is refused", "POST", "/api/v1/initiate", body=woo_checkout(currency="XXQ"), status=400,
        reads=REFUSED, because="no such currency"),
    Row(NEWER, "has a key that was revoked", "POST", "/api/v1/initiate", body=woo_checkout(), status=401, reads=REFUSED,
        headers={"Authorization": "Bearer nc_testpk_" + "a" * 48}, because="the key is unknown"),
    verify(NEWER, "payer returns", woo_newer_return, reads={**PAID, "data.amount": AMOUNT, "data.reference": "$ref"}),
    verify(NEWER, "webhook asks", woo_newer_webhook, reads={**PAID, "data.amount": AMOUNT}),
    verify(NEWER, "staff asks", None, before="declined", reads={"data.status": "failed", "data.amount": AMOUNT,
                                                                 "data.currency": CURRENCY}),
    Row(GIVEWP, "makes a checkout, amount 19.99, long titles", "POST", "/api/v1/initiate", body=give_checkout(),
        reads={**REDIRECT, "data.transactionReference": "$ref", "data.amount": 19.99}),
    Row(GIVEWP, "donor without a last name", "POST", "/api/v1/initiate", body=give_checkout(lastName=""), status=400,
        reads=REFUSED, because=ONE_NAME),
    verify(GIVEWP, "donor returns", strictly_successful),
    Row(FORM, "makes a checkout, amount as a float, no redirectUrl", "POST", "/api/v1/initiate",
        body=without_return(woo_checkout(1500.5, metadata={"post": 7})),
        reads={**REDIRECT, "data.transactionReference": "$ref", "data.amount": 1500.5}),
    Row(FORM, "payer with one name", "POST", "/api/v1/initiate", status=400, reads=REFUSED, because=ONE_NAME,
        body=woo_checkout(1500.5, checkoutCustomerData={**payer(phoneNumber=""), "lastName": ""})),
    Row(FORM, "first version makes a checkout of no link", "POST", "/api/v1/paymentlink/initiate", key="secret", status=400,
        body={"amount": 1500.5, "currency": CURRENCY, "customerEmail": EMAIL, "customerName": "Ada Obi",
              "description": "Payment", "callbackUrl": "https://shop.example/?novac-callback=1"},
        reads=REFUSED, because="the deployed API has no such members either"),
    verify(FORM, "asks with a bare key, dot in the reference", strictly_successful, headers={"Authorization": "$secret"}),
    unknown(FORM, "asks for what is not there", headers={"Authorization": "$secret"}),
]

# ---- shops of their own

TYPESCRIPT, NEXT = "TypeScript shop", "Next.js shop"
OWN_SHOPS = [
    Row(TYPESCRIPT, "makes a checkout", "POST", "/api/v1/initiate", reads=CHECKOUT, body={
        "transactionReference": "$ref", "amount": AMOUNT, "currency": CURRENCY, "redirectUrl": "https://shop.example/paid",
        "checkoutCustomerData": payer(), "checkoutCustomizationData": {"paymentDescription": "Dress – size 12",
                                                                       "checkoutModalTitle": "Dami"}}),
    Row(TYPESCRIPT, "shows why a checkout is refused", "POST", "/api/v1/initiate", status=400, reads=REFUSED, body={
        "transactionReference": "short", "amount": AMOUNT, "currency": CURRENCY, "checkoutCustomerData": payer()},
        because="the deployed API wants 16 characters too"),
    verify(TYPESCRIPT, "asks what became of it", lowered, "/api/v1/checkout/$encoded/verify"),
    unknown(TYPESCRIPT, "takes unknown for pending", rule=lowered),
    Row(NEXT, "makes a checkout with a secret key", "POST", "/api/v1/initiate", key="secret", reads=REDIRECT, body={
        "transactionReference": "$ref", "amount": AMOUNT, "currency": CURRENCY, "redirectUrl": "https://shop.example/paid",
        "checkoutCustomerData": payer(phoneNumber="08000000000"),
        "checkoutCustomizationData": {"paymentDescription": "Order of Ada"}}),
    verify(NEXT, "asks what became of it", truthy_envelope),
    unknown(NEXT, "reads status of an error", rule=truthy_envelope),
]

# ---- Zapier

ZAPIER = "Zapier app"
ZAPS = [
    Row(ZAPIER, "is connected", "GET", "/api/v1/ussd-getbanks", headers={"Content-Type": "application/json"}, reads=BANKS),
    Row(ZAPIER, "lists banks of USSD", "GET", "/api/v1/ussd-getbanks", reads=BANKS),
    Row(ZAPIER, "lists banks of a country", "GET", "/api/v1/banks/NG", reads=BANKS),
    Row(ZAPIER, "lists banks of virtual accounts", "GET", "/api/v1/virtual-accounts/bank-list", key="secret", reads=BANKS),
    Row(ZAPIER, "asks for the fee", "POST", "/api/v1/transaction-fee", key="secret", body={"amount": "1500.00", "currency": CURRENCY},
        reads={"status": True, "message": filled, "data.amount": AMOUNT, "data.transactionFee": number}),
    Row(ZAPIER, "makes a checkout, empty fields null", "POST", "/api/v1/initiate", reads=CHECKOUT,
        body={"transactionReference": "$ref", **zapier_checkout()}),
    Row(ZAPIER, "makes a checkout of a link", "POST", "/api/v1/paymentlink/initiate", before="link",
        reads={**CHECKOUT, "data.transactionReference": filled},
        body={"paymentLinkReference": "$link", **zapier_checkout(metaData="order 7")}),
    verify(ZAPIER, "verifies a checkout", strictly_successful, "/api/v1/checkout/$encoded/verify", key="public",
           reads=TRANSACTION),
    verify(ZAPIER, "verifies by reference", strictly_successful, "/api/v1/transaction/$encoded/verify", reads=TRANSACTION),
    Row(ZAPIER, "verifies by payload", "POST", "/api/v1/transaction/verify", key="secret", before="paid", reads=TRANSACTION,
        rule=strictly_successful, body={"transactionReference": "$ref", "amount": AMOUNT, "transactionType": "card"}),
    unknown(ZAPIER, "looks for words in the message of 404", "POST", "/api/v1/transaction/verify", rule=strictly_successful,
            body={"transactionReference": "$never", "amount": AMOUNT, "transactionType": "card"},
            reads={"status": False, "message": "no record found for transaction with reference $never"}),
    verify(ZAPIER, "retrieves a checkout", payment_status, "/api/v1/checkout/transaction/$encoded",
           reads={"status": True, "message": filled, "data.transactionReference": "$ref", "data.amount": AMOUNT,
                  "data.currency": CURRENCY, "data.paymentStatus": "successful", "data.paymentMethod": filled,
                  "data.paymentRedirectUrl": page}),
    Row(ZAPIER, "charges a token", "POST", "/api/v1/tokenized-card-charge", key="secret", body=charge(), reads=CHARGE,
        rule=payment_status),
    Row(ZAPIER, "charges a token that is declined", "POST", "/api/v1/tokenized-card-charge", key="secret",
        body=charge(token="tok_test_declined"), rule=payment_status,
        reads={"status": False, "message": filled, "data.reference": "$ref", "data.paymentStatus": "failed",
               "data.authCode": text}),
    Row(ZAPIER, "refunds the rest", "POST", "/api/v1/refund", key="secret", before="charged", reads=REFUND,
        body={"reference": "$ref", "customer_note": "Item came broken", "merchant_note": "agreed"}),
    Row(ZAPIER, "refunds the rest again", "POST", "/api/v1/refund", key="secret", before="refunded", status=409, reads=REFUSED,
        body={"reference": "$ref"}, because="nothing is left"),
    Row(ZAPIER, "refunds a part", "POST", "/api/v1/partial-refund", key="secret", before="charged",
        reads={**REFUND, "amount": "500.50"}, body={"reference": "$ref", "amount": 500.5, "customer_note": ""}),
    Row(ZAPIER, "retrieves a refund", "GET", "/api/v1/refund/$refund", key="secret", before="refunded in part", reads=REFUND),
    unknown(ZAPIER, "retrieves no refund", path="/api/v1/refund/$never"),
    Row(ZAPIER, "filters refunds", "GET", "/api/v1/refund/$week/$today", key="secret", before="refunded in part",
        reads={"": array, **all_of("0", {**REFUND, "transactionReference": filled})}),
    Row(ZAPIER, "filters refunds where there are none", "GET", "/api/v1/refund/2001-01-01/2001-01-08", key="secret",
        reads={"": no_entries}),
    Row(ZAPIER, "filters refunds by words", "GET", "/api/v1/refund/yesterday/today", key="secret", status=400, reads=REFUSED,
        because="these are not dates"),
    Row(ZAPIER, "voids a checkout", "POST", "/api/v1/void-transaction", key="secret", before="open",
        reads={"status": True, "message": filled, "data.transactionReference": "$ref"}, body={"transactionReference": "$ref"}),
    Row(ZAPIER, "voids what is paid", "POST", "/api/v1/void-transaction", key="secret", before="paid", status=409, reads=REFUSED,
        body={"transactionReference": "$ref"}, because="it is paid"),
    refused(ZAPIER, "pays by transfer", "POST", "/api/v1/bank-transfer", {"transactionReference": "$ref", "paymentType": None},
            NO_CHANNEL),
    refused(ZAPIER, "pays by USSD", "POST", "/api/v1/ussd-payment", {"transactionReference": "$ref", "bankCode": "000"},
            NO_CHANNEL),
    refused(ZAPIER, "pays by card", "POST", "/api/v1/card-payment", {
        "cardNumber": "5555555555554444", "expiryMonth": "12", "expiryYear": "40", "cvv": "123", "cardPin": "",
        "transactionReference": "$ref"}, NO_CARDS),
    refused(ZAPIER, "sends a code", "POST", "/api/v1/card/validate-otp", {"reference": "$ref", "otp": "123456"}, NO_CARDS),
    refused(ZAPIER, "charges a card", "POST", "/api/v1/direct-card-charge", {
        "amount": AMOUNT, "card": "ZW5jcnlwdGVk", "currency": CURRENCY, "reference": "$ref", "email": EMAIL,
        "enforceSecureAuth": True}, NO_CARDS, key="secret"),
    refused(ZAPIER, "authorises a card", "POST", "/api/v1/direct-card-charge-auth", {"reference": "$ref", "otp": "123456"},
            NO_CARDS, key="secret"),
    refused(ZAPIER, "charges a card by the third version", "POST", "/api/v3/direct-card-charge-internal", {
        "businessId": 7, "amount": AMOUNT, "currency": CURRENCY, "cardData": {"number": "5555555555554444", "cvv": "123"}},
        NO_CARDS),
    refused(ZAPIER, "encrypts a card", "POST", "/api/v1/encrypt-data", {"data": {"number": "5555555555554444", "cvv": "123"}},
            NO_CARDS, key="secret"),
    refused(ZAPIER, "decrypts a card", "POST", "/api/v1/decrypt-data", {"encryptedData": "ZW5jcnlwdGVk", "reference": "$ref"},
            NO_CARDS, key="secret"),
    refused(ZAPIER, "answers a challenge with a form", "POST", "/api/v1/threedschallenge",
            "data=%7B%22key%22%3A%22cres%22%2C%22value%22%3A%5B%22eyJ0%22%5D%7D", NO_CARDS, key="secret",
            headers={"Content-Type": "application/x-www-form-urlencoded"}),
    refused(ZAPIER, "asks how a challenge went", "GET", "/api/v1/threedschallenge?key=cres", None, NO_CARDS, key="secret"),
    refused(ZAPIER, "pays out", "POST", "/api/v1/transfers", {
        "currency": CURRENCY, "amount": AMOUNT, "bankCode": "000", "bankName": "Test Bank", "accountNumber": "0000000000",
        "accountName": "Ada Obi", "narration": "Thanks", "reference": "$ref"}, NO_PAYOUTS, key="secret", rule=payroll),
    refused(ZAPIER, "asks for a payout", "GET", "/api/v1/transfers/$encoded", None, NO_PAYOUTS, key="secret", rule=payroll),
    refused(ZAPIER, "asks for the balance", "GET", "/api/v1/balance/NGN", None, NO_PAYOUTS, key="secret"),
    refused(ZAPIER, "asks whose account it is", "POST", "/api/v1/banks/account/verify", {
        "bank_code": "000", "account_number": "0000000000", "currency": CURRENCY}, NO_PAYOUTS),
    refused(ZAPIER, "makes a virtual account", "POST", "/api/v1/virtual-account", {
        "reference": "$ref", "amount": AMOUNT, "accountType": "dynamic", "accountName": "Ada", "bankCode": "000",
        "firstName": "Ada", "lastName": "Obi", "customerEmail": EMAIL, "expiryInMinutes": 30}, NO_ACCOUNTS, key="secret"),
    refused(ZAPIER, "asks for a virtual account", "GET", "/api/v1/virtual-account/$encoded", None, NO_ACCOUNTS, key="secret"),
    refused(ZAPIER, "asks for a virtual account by number", "GET", "/api/v1/virtual-accounts/0000000000", None, NO_ACCOUNTS,
            key="secret"),
]

# ---- devices and payouts

SDK, POS, PAYROLL = "Android SDK", "point of sale", "payroll in PHP"
DEVICES = [
    Row(SDK, "makes a checkout, amount as a double, no redirectUrl", "POST", "/api/v1/initiate", reads=CHECKOUT, body={
        "transactionReference": "$ref", "amount": 1500.0, "currency": CURRENCY,
        "checkoutCustomerData": payer(phoneNumber="08000000000"),
        "checkoutCustomizationData": {"logoUrl": "https://shop.example/logo.png?a=1&b=2",
                                      "paymentDescription": "Ada's shoes & socks", "checkoutModalTitle": "Pay <now>"}}),
    verify(SDK, "polls", android, key="public", reads=TRANSACTION),
    verify(SDK, "polls after a cancel until there is an end", android, key="public", before="cancelled",
           reads={"status": True, "data.status": "failed"}),
    Row(POS, "makes a checkout", "POST", "/api/v1/initiate", reads=CHECKOUT, body={
        "transactionReference": "$ref", "amount": AMOUNT, "currency": CURRENCY, "checkoutCustomerData": payer()}),
    refused(POS, "encrypts a card", "POST", "/api/v1/encrypt-data", {
        "data": {"number": "5555555555554444", "expiryMonth": "12", "expiryYear": "40", "cvv": "123", "pin": "0000"},
        "reference": "$ref"}, NO_CARDS),
    refused(POS, "pays by card", "POST", "/api/v1/card-payment", {"data": "ZW5jcnlwdGVk", "transactionReference": "$ref"},
            NO_CARDS),
    verify(POS, "webhook asks", strictly_successful),
    refused(PAYROLL, "pays out, and waits for 100", "POST", "/api/v1/transfers", {
        "currency": CURRENCY, "amount": 1500.0, "bankCode": "000", "accountNumber": "0000000000", "narration": "Salary - Ada Obi",
        "reference": "$ref", "bankName": "Test Bank", "accountName": "Ada Obi", "metaData": '{"note":"' + "x" * 1200 + '"}'},
        NO_PAYOUTS, key="secret", rule=payroll, headers={"Expect": "100-continue"}),
]

# ---- plain HTTP and generated clients

CURL, PHP, GO, PYTHON, WITH_COLON = ("documented sample, curl", "documented sample, PHP", "documented sample, Go",
                                     "documented sample, Python", "key with a colon")
BY_FETCH, BY_AXIOS, BY_SWAGGER, BY_DOTNET = (f"generated client, {name}" for name in ("fetch", "axios", "swagger-client", ".NET"))
FORM_MEDIA = {"Content-Type": "application/x-www-form-urlencoded"}
HTTP = [
    Row(CURL, "makes a checkout with a bare key", "POST", "/api/v1/initiate", reads=CHECKOUT,
        body={"transactionReference": "$ref", **zapier_checkout(metaData="", redirectUrl="https://shop.example/paid")}),
    Row(CURL, "makes a checkout without a currency", "POST", "/api/v1/initiate", reads=CHECKOUT, body={
        "transactionReference": "$ref", "amount": AMOUNT, "currency": None, "checkoutCustomerData": payer()}),
    verify(CURL, "verifies with a bare key", payment_status, reads=TRANSACTION),
    Row(CURL, "charges the card of a payer who paid before", "POST", "/api/v1/tokenized-card-charge", key="secret",
        before="saved card", body=charge(token="$token"), reads=CHARGE, rule=payment_status),
    Row(CURL, "forgets the media type of its body", "POST", "/api/v1/tokenized-card-charge", key="secret", body=charge(),
        headers=FORM_MEDIA, status=415, reads=REFUSED, because="it says that the body is a form", rule=payment_status),
    Row(CURL, "sends no media type at all", "POST", "/api/v1/tokenized-card-charge", key="secret", body=charge(),
        headers={"Content-Type": None}, status=415, reads=REFUSED, because="nothing says what the body is", rule=payment_status),
    Row(CURL, "refunds a part", "POST", "/api/v1/partial-refund", key="secret", before="charged", reads=REFUND,
        body={"reference": "$ref", "amount": 123, "customer_note": "a", "merchant_note": None}),
    Row(CURL, "lists refunds of a week", "GET", "/api/v1/refund/$week/$today", key="secret", before="refunded in part",
        reads={"": array, "0.refundReference": filled, "0.amount": decimal}),
    Row(CURL, "reports", "GET", "/api/v1/report/$week/$today", key="secret", before="paid",
        reads={"": array, "0.transactionReference": filled, "0.amount": number, "0.status": filled}),
    Row(CURL, "adds a slash to the path", "GET", "/api/v1/checkout/$ref/verify/", key="secret", before="paid", status=404,
        reads=REFUSED, because="one address for one thing", rule=payment_status, blind="no path ends with a slash"),
    refused(CURL, "posts an acquirer's notification", "POST", "/api/v1/budpay-incoming-webhook", {"notify": "transaction"},
            "they come to a connector", key="secret"),
    Row(PHP, "makes a checkout, and waits for 100", "POST", "/api/v1/initiate", reads=CHECKOUT,
        headers={"Expect": "100-continue"},
        body={"transactionReference": "$ref", **zapier_checkout(metaData={"items": ["x" * 30] * 40})}),
    verify(PHP, "verifies on return", payment_status, reads=TRANSACTION),
    verify(PHP, "verifies with a query behind", payment_status, "/api/v1/checkout/$ref/verify?reference=$ref&status=successful"),
    verify(GO, "verifies on return", payment_status, reads=TRANSACTION),
    verify(PYTHON, "verifies on return", payment_status, reads=TRANSACTION),
    Row(PYTHON, "charges with an amount in a string", "POST", "/api/v1/tokenized-card-charge", key="secret",
        body=charge(amount="1500.00", firstName=None, lastName=None, metadata={"a": [1, 2.5, None, True]}), reads=CHARGE,
        rule=payment_status),
    verify(WITH_COLON, "verifies", payment_status, "/api/v1/transaction/$ref/verify", reads=TRANSACTION),
    Row(WITH_COLON, "charges a token", "POST", "/api/v1/tokenized-card-charge", key="secret", body=charge(), reads=CHARGE,
        rule=payment_status),
    verify(BY_FETCH, "verifies", payment_status, reads=TRANSACTION),
    Row(BY_FETCH, "charges a token", "POST", "/api/v1/tokenized-card-charge", key="secret", body=charge(), rule=payment_status,
        reads={**TRANSACTION, **CHARGE, "data.card.token": filled}),
    Row(BY_FETCH, "makes a checkout of a link", "POST", "/api/v1/paymentlink/initiate", before="link",
        body={"paymentLinkReference": "$link", **zapier_checkout()}, reads={**CHECKOUT, "data.transactionReference": filled}),
    Row(BY_AXIOS, "refunds the rest", "POST", "/api/v1/refund", key="secret", before="charged", body={"reference": "$ref"},
        reads=REFUND),
    Row(BY_AXIOS, "verifies by payload with nulls", "POST", "/api/v1/transaction/verify", key="secret", before="paid",
        body={"transactionReference": "$ref", "transactionType": None}, reads=TRANSACTION, rule=payment_status),
    Row(BY_SWAGGER, "reads the document", "GET", "/api/v1/openapi.json", reads={
        "openapi": "3.1.0", "info.version": filled, "servers.0.url": filled, "paths": filled_object}),
    Row(BY_SWAGGER, "voids a checkout", "POST", "/api/v1/void-transaction", key="secret", before="open",
        reads={"status": True, "data.paymentStatus": "void"}, body={"transactionReference": "$ref"}),
    Row(BY_DOTNET, "lists refunds as text/plain", "GET", "/api/v1/refund/$week/$today", key="secret", before="refunded in part",
        reads={"": array, **all_of("0", {**REFUND, "transactionReference": filled})}),
    Row(BY_DOTNET, "charges with a double in text/json", "POST", "/api/v1/tokenized-card-charge", key="secret",
        body=charge(amount=1500.0, currency="ngn"), reads=CHARGE, rule=payment_status),
]

# ---- clients of orders

BY_WOO, BY_IOS, BY_PYTHON, DEPOSITS, WALLET, EXPRESS, AES, VOTES_FIRST, VOTES, FOOD = (
    f"orders: {name}" for name in ("WooCommerce plugin", "iOS SDK", "Python service", "deposits, node-forge", "wallet, Next.js",
                                   "Express shop", "Express shop, AES", "voting site, first", "voting site, later", "food shop"))
CREATE, STATUS, VERIFY = "/payment/order/create", "/payment/order/status", "/payment/order/verify"
ASKED = {"reference": "$ref"}
AES_BLOCKS = base64.b64encode(bytes(range(256)) + bytes(64)).decode()
ORDER_PAID = {"status": filled, "data.status": "Successful", "data.totalAmountCharged": AMOUNT, "data.fee": number,
              "data.currencyName": CURRENCY, "data.paymentReference": "$ref"}
ORDERS = [
    Row(BY_WOO, "payer returns", "POST", VERIFY, key="secret", before="paid", body=ASKED, reads=ORDER_PAID, rule=order_woo),
    Row(BY_WOO, "webhook asks at a path with a colon", "GET", "/payment/order/transaction/verify/:$ref", key="secret",
        headers={"api-key": None, "Authorization": "Bearer $secret", "Content-Type": "application/json"}, before="paid",
        status=404, reads=REFUSED, rule=order_any_word, because="nobody documents this path",
        blind="it asks at a path that nobody documents"),
    Row(BY_IOS, "makes an order, two keys", "POST", CREATE, body=order(), encrypted=True, reads=IOS_ORDER),
    Row(BY_IOS, "asks for an order", "POST", STATUS, body=ASKED, before="paid", reads=IOS_STATUS, rule=order_ios),
    Row(BY_IOS, "asks for an open order", "POST", STATUS, body=ASKED, before="open", reads=IOS_STATUS, rule=order_ios),
    refused(BY_IOS, "pays by card", "POST", "/payment/order/pay", {
        "reference": "$ref", "paymentOption": "C", "country": "NG", "card": {"cardNumber": "5555555555554444", "cvv": "123"}},
        NO_CARDS),
    Row(BY_PYTHON, "makes an order, float, more members", "POST", CREATE, encrypted=True,
        reads={"status": filled, "message": filled, "data": filled_object},
        body=order(1500.0, "Deposit", "2348000000000", paymentMeta={"ipAddress": "127.0.0.1"})),
    Row(BY_PYTHON, "asks at a path below status", "GET", STATUS + "/$ref", before="paid", reads={"data.status": "Successful"},
        rule=order_python),
    Row(BY_PYTHON, "asks for the fee of a card", "POST", "/payment/order/fee",
        body={"amount": 1500.0, "currency": CURRENCY, "paymentoption": "C"},
        reads={"status": filled, "data.fee": number, "data.amount": AMOUNT}),
    refused(BY_PYTHON, "pays by transfer", "POST", "/payment/order/pay", {
        "reference": "$ref", "paymentoption": "bank-transfer", "country": "NG", "BankTransfer": {}}, NO_CARDS, encrypted=True),
    Row(DEPOSITS, "makes an order, no telephone, letters beyond ASCII", "POST", CREATE, encrypted=True,
        body=order(description="Wallet deposit – $ref", mobile=""), reads={"status": filled, "data.checkout_url": page}),
    Row(WALLET, "makes an order", "POST", CREATE, body=order(), encrypted=True, reads={"data.checkout_url": page}),
    Row(WALLET, "asks in secret", "POST", STATUS, body=ASKED, encrypted=True, before="paid", rule=order_wallet,
        reads={"status": filled, "data.orderSummary.status": "Successful", "data.orderSummary.totalChargedAmount": AMOUNT,
               "data.orderSummary.paymentType": filled}),
    Row(EXPRESS, "makes an order without encryption", "POST", CREATE, body=order(), reads={"data.order.paymentLink": page}),
    Row(EXPRESS, "asks by GET", "GET", "/payment/order/$ref", before="paid", reads={"data.order.status": "Successful"},
        rule=order_express),
    Row(AES, "makes an order that RSA does not decrypt", "POST", CREATE, body={"data": AES_BLOCKS}, status=400,
        reads={**REFUSED, "data.errors.0.field": "/data"}, because="the documents say RSA"),
    Row(AES, "asks by transaction_id", "POST", STATUS, body={"transaction_id": "$ref"}, before="paid", status=400,
        reads=REFUSED, rule=order_express_aes, because="the documents say reference", blind="it names no reference"),
    Row(VOTES_FIRST, "makes an order", "POST", CREATE, body=order(), reads={
        "status": filled, "message": filled, "data.checkoutUrl": page, "data.paymentUrl": page, "data.redirect_url": page}),
    Row(VOTES_FIRST, "asks with a secret key", "POST", VERIFY, key="secret", body=ASKED, before="paid", reads=ORDER_PAID,
        rule=order_votes_first, blind="it compares with a word in lower case"),
    Row(VOTES, "asks with a secret key", "POST", VERIFY, key="secret", body=ASKED, before="paid", rule=order_votes_later,
        reads={**ORDER_PAID, "data.statusId": 5, "statusCode": "00", "data.order.amount": AMOUNT}),
    Row(FOOD, "makes an order with a secret key", "POST", CREATE, key="secret", body=order(), reads={"data.checkout_url": page}),
    unknown(EXPRESS, "asks for no order", path="/payment/order/$never", key="public", rule=order_express),
    unknown(WALLET, "asks for no order", "POST", STATUS, key="public", body={"reference": "$never"}, encrypted=True,
            rule=order_wallet),
]

ROWS = [*SHOPS, *OWN_SHOPS, *ZAPS, *DEVICES, *HTTP, *ORDERS]

# ---- webhooks: the members that a client reads in an event of its transaction

# A client that asks verify reads no more than the reference and a word.
EVENTS = {
    OLDER: {"notify": "transaction", "notifyType": filled, "data.reference": "$ref"},
    NEWER: {"notify": "transaction", "notifyType": filled, "data.transactionReference": "$ref", "data.status": filled},
    TYPESCRIPT: {"data.transactionReference": "$ref"},
    ZAPIER: {"notify": "transaction", "notifyType": filled, "data.status": filled, "data.transactionReference": "$ref",
             "data.amount": AMOUNT, "data.currency": CURRENCY},
    POS: {"notifyType": filled, "data.transactionReference": "$ref"},
    # As the document of the deployed API shows it.
    CURL: {**{name: want for name, want in TRANSACTION.items() if name.startswith("data.") and not name.endswith("Type")},
           "data.card.token": text, "data.checkoutMetadata": text, "data.authorizationCode": text, "notify": "transaction",
           "notifyType": filled},
}
# A client that delivers on the event alone, without asking.
BELIEVES = {ZAPIER: lambda event: event["data"]["status"] == "successful",
            POS: lambda event: event["notifyType"] == "successful",
            CURL: lambda event: event["data"]["paymentStatus"] == "successful"}
