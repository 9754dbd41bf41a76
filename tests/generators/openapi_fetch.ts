// SPDX-License-Identifier: Apache-2.0
// The types of openapi-typescript, with openapi-fetch.
import createClient from "openapi-fetch";
import type {components, paths} from "./openapi";
import {base, email, key, must, reference, report} from "./world";

type Schemas = components["schemas"];

const client = createClient<paths>({baseUrl: base, headers: {Authorization: `Bearer ${key}`}});
const path = {reference};
const range = {startDate: "2000-01-01", endDate: "2099-12-31"};

async function main(): Promise<void> {
    const request: Schemas["ChargeRequest"] = {token: "tok_test_success", amount: "1500.50", email, reference};
    const charge = await client.POST("/api/v1/tokenized-card-charge", {body: request});
    const charged = must(charge.data, "charge").data;
    const slow = await client.POST("/api/v1/tokenized-card-charge",
        {body: {...request, token: "tok_test_timeout", reference: `${reference}-slow`}});
    const verify = await client.GET("/api/v1/transaction/{reference}/verify", {params: {path}});
    const transaction: Schemas["Transaction"] = must(verify.data, "transaction").data;
    const refund = await client.POST("/api/v1/partial-refund",
        {body: {reference, amount: 500.5}, params: {header: {"Idempotency-Key": reference}}});
    const refunds = await client.GET("/api/v1/refund/{startDate}/{endDate}", {params: {path: range}});
    const page = await client.GET("/api/v1/transaction",
        {params: {query: {status: "successful", currency: "NGN", limit: 10}}});
    const checkout = await client.POST("/api/v1/initiate", {
        body: {
            transactionReference: `${reference}-checkout`, amount: 10,
            checkoutCustomerData: {email, firstName: "Ada", lastName: "Obi"}, metaData: {cart: 7},
        },
    });
    const order = await client.POST("/payment/order/create", {
        body: {
            customer: {firstname: "Ada", lastname: "Obi", email},
            order: {amount: 10, reference: `${reference}-order`},
        },
    });
    const banks = await client.GET("/api/v1/banks/{country}", {params: {path: {country: "NG"}}});
    const invalid = await client.POST("/api/v1/tokenized-card-charge",
        {body: {...request, reference: `${reference}-bad`, amount: -1}});
    const conflict = await client.POST("/api/v1/tokenized-card-charge", {body: {...request, amount: 2}});
    const unknown = await client.GET("/api/v1/transaction/{reference}/verify", {params: {path: {reference: "never"}}});
    const refused = must(invalid.error, "refusal") as Schemas["InvalidBodyError"];
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
            code: (must(conflict.error, "conflict") as Schemas["ChargeConflictError"]).data.responseCode,
        },
        unknown: {status: unknown.response.status, code: missing.data.responseCode, message: missing.message},
    });
}

main();
