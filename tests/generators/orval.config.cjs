// SPDX-License-Identifier: Apache-2.0
module.exports = {
    payments: {
        input: "openapi.json",
        output: {
            target: "orval/client.ts",
            schemas: "orval/model",
            client: "fetch",
            mode: "split",
            override: {mutator: {path: "./orval_call.ts", name: "call"}},
        },
    },
};
