# SPDX-License-Identifier: Apache-2.0
"""Draws the curves of what was measured as SVG files beside the JSON; with --docs in docs/ too."""

import json
import shutil
import sys

from bench import OUT, TOP

BLUE, GREY = "#1f5fa8", "#888888"
WIDTH_PX, HEIGHT_PX = 700, 400
# Of each plot: the benchmark that measured it.
SOURCES = {"clients": "clients", "stored": "stored", "lists": "refund_list"}


def axes(title, x_label, y_label):
    """Text stays text, and nothing in the file tells when or by which run it was drawn."""
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "mod_payments", "svg.fonttype": "none", "font.family": "sans-serif",
                                "font.sans-serif": ["DejaVu Sans"], "font.size": 10, "axes.spines.top": False,
                                "axes.spines.right": False, "axes.grid": True, "grid.color": "#dddddd"})
    from matplotlib import pyplot, ticker
    figure, ax = pyplot.subplots(figsize=(WIDTH_PX / 96, HEIGHT_PX / 96), layout="constrained")
    ax.set_title(title, loc="left")
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.set_axisbelow(True)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return figure, ax


def band(ax, xs, points, label, colour):
    """The medians as a line, the ranges as a band."""
    ax.plot(xs, [one["rate"] for one in points], "o-", color=colour, label=label)
    ax.fill_between(xs, [one["low"] for one in points], [one["high"] for one in points], color=colour, alpha=0.15,
                    linewidth=0)


def clients(curve):
    figure, ax = axes("Durable charges a second", "clients", "charges a second")
    xs = [one["clients"] for one in curve]
    ax.set_xscale("log", base=2)
    ax.set_xticks(xs, [str(x) for x in xs])
    band(ax, xs, curve, None, BLUE)
    ax.set_ylim(bottom=0)
    return figure


def stored(curve):
    figure, ax = axes("Durable charges a second, 64 clients, references in series", "charges in the store",
                      "charges a second")
    band(ax, [one["stored"] for one in curve], curve, None, BLUE)
    ax.set_ylim(bottom=0)
    return figure


def lists(curve):
    figure, ax = axes("Refund lists and a static file of the same bytes", "refunds in the list", "MiB a second")
    xs = [one["records"] for one in curve]
    ax.set_xscale("log")
    ax.set_xticks(xs, [f"{x:,}" for x in xs])
    ax.minorticks_off()
    for side, label, colour in (("file", "static file", GREY), ("list", "refund list", BLUE)):
        points = [{name: one[side][name] * one["bytes"] / 2**20 for name in ("rate", "low", "high")} for one in curve]
        band(ax, xs, points, label, colour)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return figure


def draw(name):
    """The file of one plot, from what its benchmark wrote last."""
    document = json.loads((OUT / f"{SOURCES[name]}.json").read_text())
    figure = {"clients": clients, "stored": stored, "lists": lists}[name](document["data"]["curve"])
    path = OUT / f"performance-{name}.svg"
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    print(f"  drawn: {path}", flush=True)
    return path


def main(options):
    if options not in ([], ["--docs"]):
        sys.exit("usage: plots [--docs]")
    missing = [source for source in SOURCES.values() if not (OUT / f"{source}.json").exists()]
    if missing:
        sys.exit(f"plots: not measured yet: {', '.join(missing)}")
    for name in SOURCES:
        path = draw(name)
        if options:
            shutil.copy(path, TOP / "docs" / path.name)
            print(f"  copied to docs/{path.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
