// SPDX-License-Identifier: Apache-2.0
// What test_generators.py gives a program, and what the program reports.
declare const process: {env: Record<string, string | undefined>};

function given(name: string): string {
    const value = process.env[name];
    if (!value) {
        throw new Error(`${name} is not set`);
    }
    return value;
}

export const base = given("PAYMENTS_BASE");
export const key = given("PAYMENTS_KEY");
export const reference = given("PAYMENTS_REFERENCE");
export const email = "ada@example.com";

/** What each program finds out; test_generators.py compares it with the server's own answers. */
export type Report = {
    charged: "successful";
    pending: "pending";
    verified: string;
    amount: number;
    refunded: string;
    refunds: (string | null)[];
    transactions: string[];
    page: string;
    order: string;
    banks: string[];
    invalid: {code: "T1" | "400"; fields: string[]};
    conflict: {status: number; code: "D1" | "D2"};
    unknown: {status: number; code: string; message: string};
};

export function report(found: Report): void {
    console.log(JSON.stringify(found));
}

/** The value, or an error that ends the program. */
export function must<T>(value: T | null | undefined | false, what: string): T {
    if (value === null || value === undefined || value === false) {
        throw new Error(`no ${what}`);
    }
    return value;
}
