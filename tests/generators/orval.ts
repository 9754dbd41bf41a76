// SPDX-License-Identifier: Apache-2.0
// The client of orval.
import {
    createCharge, createOrder, createPartialRefund, initiateTransaction, listBanks, listRefunds, listTransactions,
    verifyTransaction,
} from "./orval/client";
import type {ChargeRequest, Transaction} from "./orval/model";
import {email, must, reference, report} from "./world";

/** The body of an answer that has this status. */
function body<Answer extends {status: number; data: unknown}, Status extends Answer["status"]>(
    answer: Answer, status: Status): Extract<Answer, {status: Status}>["data"] {
    return must(answer.status === status && answer, `${status}, but ${answer.status}`).data;
}

async function main(): Promise<void> {
    const request: ChargeRequest = {token: "tok_test_success", amount: "1500.50", email, reference};
    const charged = body(await createCharge(request), 200).data;
    const slow = await createCharge({...request, token: "tok_test_timeout", reference: `${reference}-slow`});
    const path = encodeURIComponent(reference); // orval puts it into the path as it is
    const transaction: Transaction = body(await verifyTransaction(path), 200).data;
    const refund = await createPartialRefund({reference, amount: 500.5}, {headers: {"Idempotency-Key": reference}});
    const refunds = await listRefunds("2000-01-01", "2099-12-31");
    const page = await listTransactions({status: "successful", currency: "NGN", limit: 10});
    const checkout = await initiateTransaction({
        transactionReference: `${reference}-checkout`, amount: 10,
        checkoutCustomerData: {email, firstName: "Ada", lastName: "Obi"}, metaData: {cart: 7},
    });
    const order = await createOrder({
        customer: {firstname: "Ada", lastname: "Obi", email},
        order: {amount: 10, reference: `${reference}-order`},
    });
    const banks = await listBanks("NG");
    const invalid = body(await createCharge({...request, reference: `${reference}-bad`, amount: -1}), 400);
    const conflict = await createCharge({...request, amount: 2});
    const unknown = await verifyTransaction("never");
    const missing = body(unknown, 404);
    report({
        charged: must(charged.paymentStatus === "successful" && charged.paymentStatus, "approval"),
        pending: must(body(slow, 202).data.paymentStatus, "pending charge"),
        verified: transaction.paymentStatus,
        amount: transaction.amount,
        refunded: body(refund, 200).refundReference,
        refunds: body(refunds, 200).map((one) => one.refundReference),
        transactions: body(page, 200).data.transactions.map((one) => one.reference),
        page: body(checkout, 200).data.paymentRedirectUrl,
        order: body(order, 200).data.order.status,
        banks: body(banks, 200).data.bankDetails.map((one) => one.bank_code),
        invalid: {code: invalid.data.responseCode, fields: (invalid.data.errors ?? []).map((one) => one.field)},
        conflict: {status: conflict.status, code: body(conflict, 409).data.responseCode},
        unknown: {status: unknown.status, code: missing.data.responseCode, message: missing.message},
    });
}

main();
