# SPDX-License-Identifier: Apache-2.0
"""All that the project wants of its speed in one table, from what the benchmarks wrote last."""

import json
import sys

from bench import BELOW, OUT, REACHED, AIM, commit, markdown_table, place_text, table, text_table

# In the order of the table; what each benchmark must have measured.
WANTED = (
    ("group_commit", "group_commit"), ("noop", "noop"), ("php_sqlite", "php_sqlite"),
    ("latency", "latency"), ("refund_list", "refund_list_100"),
    ("refund_list", "refund_list_10000"), ("refund_list", "refund_list_100000"), ("long_list", "first_byte"),
    ("long_list", "long_list_memory"), ("stored", "stored"), ("unknown", "unknown"), ("memory", "memory"),
    ("memory", "memory_after"), ("deliveries", "deliveries"))


def read(name):
    try:
        return json.loads((OUT / f"{name}.json").read_text())
    except FileNotFoundError:
        return None


def gather():
    """The measures that were made, what is missing, and the documents they come from."""
    made, missing, documents = [], [], {}
    for name, key in WANTED:
        document = documents.setdefault(name, read(name))
        found = [one for one in document["measures"] if one["key"] == key] if document else []
        made += found
        if not found:
            missing.append(f"{name} ({key})")
    return made, missing, {name: one for name, one in documents.items() if one}


def remarks(made, missing, documents):
    lines = []
    now = commit()
    for name, document in documents.items():
        if document["settings"]["trial"]:
            lines.append(f"{name} was a trial of {document['settings']['rounds']} rounds.")
        if document["commit"] != now:
            lines.append(f"{name} was measured at {document['commit']}, this is {now}.")
    if missing:
        lines.append("Not measured: " + ", ".join(missing) + ".")
    counts = [f"{sum(one['verdict'] == verdict for one in made)} {verdict}" for verdict in (AIM, REACHED, BELOW)]
    lines.append(f"{len(made)} measures: " + ", ".join(counts) + ".")
    return lines


def main():
    made, missing, documents = gather()
    if not made:
        sys.exit("summary: nothing was measured yet")
    lines = remarks(made, missing, documents)
    (OUT / "summary.json").write_text(json.dumps({"commit": commit(), "measures": made, "missing": missing,
                                                  "remarks": lines}, indent=2) + "\n")
    places = sorted({place_text(one) for one in documents.values()})
    (OUT / "summary.md").write_text(markdown_table(table(made)) + "".join(f"\n{line}\n" for line in lines + places))
    print("\nall measures, from " + str(OUT))
    print(text_table(table(made)))
    for line in lines:
        print("  " + line)


if __name__ == "__main__":
    main()
