# SPDX-License-Identifier: Apache-2.0
"""Refund lists against Apache's static file that holds exactly the same bytes; draws the curve."""

import plots
from bench import Bench, Side, check, main, median, rounds
from workload import LIST_PATH, WARM_UP_S, SECONDS, Server, all_good, import_history, serving, wrk

# Records: clients, at least, aim. Fewer clients for long lists: what all of them read at one time is
# to stay far below the memory, and a run is to have many answers.
SIZES = {100: (64, 1.0, 1.0), 1000: (32, None, None), 10000: (16, 0.85, 1.0), 100000: (8, 0.65, 1.0)}


def fetch(server, path, clients, key, length):
    """A side's run; each answer must have come in full."""
    def once(seconds=SECONDS):
        result = all_good(path, wrk(server, path, clients, key, seconds=seconds))
        check(result["bytes"] > 0.98 * result["requests"] * length, f"{path}: answers were cut: {result}")
        return result
    once(WARM_UP_S)
    return once


def compare(bench, server, count, clients, at_least, aim):
    shop = server.shop()
    import_history(server, shop, count)
    answer = shop.call("GET", LIST_PATH)
    check(answer.status == 200 and len(answer.json) == count, f"a list of {count} records has others")
    name = f"/list-{count}.json"
    (server.docroot / name[1:]).write_bytes(answer.body)
    check(shop.call("GET", name).body == answer.body, f"{name} has other bytes")
    ours = Side("list", fetch(server, LIST_PATH, clients, shop.secret, len(answer.body)))
    peer = Side("static file", fetch(server, name, clients, shop.secret, len(answer.body)))
    print(f"  {count:,} records, {len(answer.body):,} bytes, {clients} clients")
    rounds(ours, peer)
    bench.compare(f"list of {count:,} refunds, {clients} clients, against a static file", ours, peer, at_least, aim,
                  key=at_least and f"refund_list_{count}")
    bench.data.setdefault("curve", []).append(
        {"records": count, "bytes": len(answer.body), "clients": clients,
         **{name: {"rate": median(side.figures()), "low": min(side.figures()), "high": max(side.figures())}
            for name, side in (("list", ours), ("file", peer))}})


def run():
    bench = Bench("refund_list", "Refund lists against a static file of the same bytes")
    with serving(Server()) as server:
        for count, (clients, at_least, aim) in SIZES.items():
            compare(bench, server, count, clients, at_least, aim)
    bench.note("One httpd with its default EnableSendfile and EnableMMAP, no .htaccess; both sides are sent the same "
               "header fields. Fewer clients for long lists.")
    status = bench.finish()
    plots.draw("lists")
    return status


if __name__ == "__main__":
    main(run)
