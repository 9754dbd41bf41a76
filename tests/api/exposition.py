# SPDX-License-Identifier: Apache-2.0
"""A strict parser of Prometheus's text exposition format 0.0.4, and scrapes of PaymentsMetrics."""

import collections
import re

from harness import wait_for

METRICS = "/payments-metrics"
ON = f"PaymentsMetrics {METRICS}"
OPEN = f'{ON}\n<Location "{METRICS}">\nRequire local\n</Location>'
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
VALUE = re.compile(r"-?[0-9]+(\.[0-9]+)?|[+-]Inf|NaN")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")


def labels_of(text, line):
    labels, rest = {}, text
    while rest:
        found = LABEL.match(rest)
        assert found, line
        assert found[1] not in labels, line
        labels[found[1]] = found[2]
        rest = rest[found.end():]
        if rest:
            assert rest[0] == "," and len(rest) > 1, line
            rest = rest[1:]
    return labels


def judge_histogram(name, samples):
    """Checks that buckets grow up to +Inf, which equals the count, and that a sum and a count exist."""
    groups = collections.defaultdict(list)
    for (sample, labels), value in samples.items():
        if sample == f"{name}_bucket":
            pairs = dict(labels)
            groups[frozenset(pair for pair in labels if pair[0] != "le")].append((float(pairs["le"]), value))
    assert groups, name
    for rest, buckets in groups.items():
        bounds, counts = zip(*buckets)
        assert list(bounds) == sorted(set(bounds)) and bounds[-1] == float("inf"), name
        assert list(counts) == sorted(counts), name
        assert samples[(f"{name}_count", rest)] == counts[-1], name
        assert samples[(f"{name}_sum", rest)] >= 0, name


def parse(text):
    """Returns {(name, labels): value}; fails on anything that the exposition format 0.0.4 does not allow."""
    assert text.endswith("\n") and "\r" not in text
    types, helped, samples, family = {}, set(), {}, None
    for line in text[:-1].split("\n"):
        assert line and line == line.strip(), repr(line)
        if line.startswith("#"):
            _, kind, name, rest = line.split(" ", 3)
            assert NAME.fullmatch(name) and rest, line
            if kind == "HELP":
                assert name not in helped and name not in types, line
                helped.add(name)
            else:
                assert kind == "TYPE" and rest in TYPES and name not in types and name in helped, line
                types[name] = rest
            family = name
            continue
        head, value = line.rsplit(" ", 1)
        name, brace, labels = head.partition("{")
        assert NAME.fullmatch(name) and VALUE.fullmatch(value), line
        assert not brace or labels.endswith("}"), line
        pairs = frozenset(labels_of(labels[:-1], line).items())
        parts = ("_bucket", "_sum", "_count") if types[family] == "histogram" else ("",)
        assert name in [family + part for part in parts], f"{line}: a sample of {family}?"
        assert types[family] != "counter" or name.endswith("_total"), line
        assert (name, pairs) not in samples, line
        samples[(name, pairs)] = float(value)
    for name, kind in types.items():
        if kind == "histogram":
            judge_histogram(name, {key: value for key, value in samples.items() if key[0].startswith(name + "_")})
    return samples


def scrape(httpd, **kwargs):
    answer = httpd.request("GET", METRICS, **kwargs)
    assert answer.status == 200, answer
    assert answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.header("cache-control") == "no-store"
    return Metrics(parse(answer.body.decode()))


class Metrics:
    def __init__(self, samples):
        self.samples = samples

    def __call__(self, name, **labels):
        """The value of one sample; it does not exist for requests that nobody made."""
        key = (name, frozenset(labels.items()))
        return self.samples.get(key, 0) if name == "payments_requests_total" else self.samples[key]

    def requests(self, operation, status):
        return self("payments_requests_total", operation=operation, status=str(status))

    def charges(self, outcome, mode="test"):
        return self("payments_charges_total", mode=mode, outcome=outcome)

    def all_requests(self):
        return {key: value for key, value in self.samples.items() if key[0] == "payments_requests_total"}


def counted(httpd, condition, what="the counts"):
    """A scrape for which `condition` holds: an answer is counted just after its client receives it."""
    def ask():
        metrics = scrape(httpd)
        return metrics if condition(metrics) else None

    return wait_for(ask, what)


def is_bare(answer):
    assert answer.body == b"" and answer.header("cache-control") == "no-store"
    assert "text/plain" not in (answer.header("content-type") or "")
    return True
