-- SPDX-License-Identifier: Apache-2.0
-- Charges a test token under a reference of its own at each request; references are in series.
local threads = 0

function setup(thread)
    thread:set("id", threads)
    threads = threads + 1
end

function init(args)
    run = args[1]
    count = 0
    wrk.method = "POST"
    wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_KEY")
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    count = count + 1
    return wrk.format(nil, nil, nil, string.format(
        '{"token":"tok_test_success","amount":1500.50,"email":"ada@example.com","reference":"order-%s-%d-%09d"}',
        run, id, count))
end
