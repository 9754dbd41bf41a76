// SPDX-License-Identifier: Apache-2.0
// The client of @hey-api/openapi-ts.
import {client} from "./hey/client.gen";
import {
    createCharge, createOrder, createPartialRefund, initiateTransaction, listBanks, listRefunds, listTransactions,
    verifyTransaction,
} from "./hey/sdk.gen";
import type {ChargeConflictError, ChargeRequest, InvalidBodyError, Transaction} from "./hey/types.gen";
import {base, email, key, must, reference, report} from "./world";

client.setConfig({baseUrl: base, auth: () => key});

async function main(): Promise<void> {
    const request: ChargeRequest = {token: "tok_test_success", amount: "1500.50", email, reference};
    const charged = must((await createCharge({body: request})).data, "charge").data;
    const slow = await createCharge({body: {...request, token: "tok_test_timeout", reference: `${reference}-slow`}});
    const verify = await verifyTransaction({path: {reference}});
    const transaction: Transaction = must(verify.data, "transaction").data;
    const refund = await createPartialRefund(
        {body: {reference, amount: 500.5}, headers: {"Idempotency-Key": reference}});
    const refunds = await listRefunds({path: {startDate: "2000-01-01", endDate: "2099-12-31"}});
    const page = await listTransactions({query: {status: "successful", currency: "NGN", limit: 10}});
    const checkout = await initiateTransaction({
        body: {
            transactionReference: `${reference}-checkout`, amount: 10,
            checkoutCustomerData: {email, firstName: "Ada", lastName: "Obi"}, metaData: {cart: 7},
        },
    });
    const order = await createOrder({
        body: {
            customer: {firstname: "Ada", lastname: "Obi", email},
            order: {amount: 10, reference: `${reference}-order`},
        },
    });
    const banks = await listBanks({path: {country: "NG"}});
    const invalid = await createCharge({body: {...request, reference: `${reference}-bad`, amount: -1}});
    const conflict = await createCharge({body: {...request, amount: 2}});
    const unknown = await verifyTransaction({path: {reference: "never"}});
    const refused = must(invalid.error, "refusal") as InvalidBodyError;
    const missing = must(unknown.error, "error");
    report({
        charged: must(charged.paymentStatus === "successful" && charged.paymentStatus, "approval"),
        pending: must(slow.data?.data.paymentStatus === "pending" && slow.data.data.paymentStatus, "pending charge"),
        verified: transaction.paymentStatus,
        amount: transaction.amount,
        refunded: must(refund.data?.refundReference, "refund"),
        refunds: must(refunds.data, "list").map((one) => one.refundReference),
        transactions: must(page.data, "page").data.transactions.map((one) => one.reference),
        page: must(checkout.data, "checkout").data.paymentRedirectUrl,
        order: must(order.data, "order").data.order.status,
        banks: must(banks.data, "banks").data.bankDetails.map((one) => one.bank_code),
        invalid: {
            code: must(refused.data.responseCode, "code"),
            fields: (refused.data.errors ?? []).map((one) => one.field),
        },
        conflict: {
            status: conflict.response.status,
            code: (must(conflict.error, "conflict") as ChargeConflictError).data.responseCode,
        },
        unknown: {status: unknown.response.status, code: missing.data.responseCode, message: missing.message},
    });
}

main();
