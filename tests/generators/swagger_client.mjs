// SPDX-License-Identifier: Apache-2.0
// swagger-client: reads the document of the running server, and calls operations by their names.
import SwaggerClient from "swagger-client";

const {PAYMENTS_DOCUMENT: url, PAYMENTS_KEY: key, PAYMENTS_REFERENCE: reference} = process.env;
const client = await SwaggerClient({
    url,
    requestInterceptor: (request) => {
        request.headers.Authorization = `Bearer ${key}`;
        return request;
    },
});
if (client.errors.length > 0) {
    throw new Error(JSON.stringify(client.errors));
}

/** The answer of an operation, whatever its status. */
async function call(operationId, parameters, requestBody, contentType = "application/json") {
    try {
        return await client.execute({
            operationId, parameters, requestBody,
            requestContentType: requestBody && contentType,
            securities: {authorized: {secretKey: {value: key}}},
        });
    } catch (error) {
        if (!error.response) {
            throw error;
        }
        return error.response;
    }
}

const email = "ada@example.com";
const request = {token: "tok_test_success", amount: "1500.50", email, reference};
const charge = await call("createCharge", {}, request);
const slow = await call("createCharge", {}, {...request, token: "tok_test_timeout", reference: `${reference}-slow`});
const verify = await call("verifyTransaction", {reference});
const refund = await call("createPartialRefund", {"Idempotency-Key": reference}, {reference, amount: 500.5});
const refunds = await call("listRefunds", {startDate: "2000-01-01", endDate: "2099-12-31"});
const page = await call("listTransactions", {status: "successful", currency: "NGN", limit: 10});
const checkout = await call("initiateTransaction", {}, {
    transactionReference: `${reference}-checkout`, amount: 10,
    checkoutCustomerData: {email, firstName: "Ada", lastName: "Obi"}, metaData: {cart: 7},
});
const order = await call("createOrder", {}, {
    customer: {firstname: "Ada", lastname: "Obi", email},
    order: {amount: 10, reference: `${reference}-order`},
});
const banks = await call("listBanks", {country: "NG"});
const invalid = await call("createCharge", {}, {...request, reference: `${reference}-bad`, amount: -1});
const conflict = await call("createCharge", {}, {...request, amount: 2});
const unknown = await call("verifyTransaction", {reference: "never"});

console.log(JSON.stringify({
    charged: charge.body.data.paymentStatus,
    pending: slow.body.data.paymentStatus,
    verified: verify.body.data.paymentStatus,
    amount: verify.body.data.amount,
    refunded: refund.body.refundReference,
    refunds: refunds.body.map((one) => one.refundReference),
    transactions: page.body.data.transactions.map((one) => one.reference),
    page: checkout.body.data.paymentRedirectUrl,
    order: order.body.data.order.status,
    banks: banks.body.data.bankDetails.map((one) => one.bank_code),
    invalid: {code: invalid.body.data.responseCode, fields: invalid.body.data.errors.map((one) => one.field)},
    conflict: {status: conflict.status, code: conflict.body.data.responseCode},
    unknown: {status: unknown.status, code: unknown.body.data.responseCode, message: unknown.body.message},
    operations: Object.values(client.apis).flatMap((tag) => Object.keys(tag)).sort(),
}));
