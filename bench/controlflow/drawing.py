"""Draws the paper's figures 2 and 15 to 18 from the rows of results.py, of CPU time."""
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import published  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "analyzer/paper/figures/drawing"))
import style  # noqa: E402

LOOKS = {"no skip": style.GREY, "trace": style.COLOURS[4], "control flow": style.COLOURS[0]}


def title_of(row):
    return published.WORKLOADS[row["workload"]][0]


def chosen(rows, construct=None, skips=None):
    """One row for each workload and batch size: of branches those of one share, or of the network without gates."""
    return [row for row in rows if (construct in (None, row["construct"])) and row["skips"] == skips
            and row["rate_percent"] in (None, published.BARS_RATE)]


def bars(plot, values):
    """Bars with their numbers, in the looks of their names: {name: ms}."""
    for place, (name, value) in enumerate(values.items()):
        plot.bar(place, value, 0.66, color=LOOKS[name], label=name)
        plot.annotate(style.short(value), (place, value), (0, 3), textcoords="offset points", ha="center", fontsize=8)
    plot.set_xticks([])
    plot.set_ylim(0, 1.15 * max(values.values()))
    plot.grid(axis="y")


def panels(title, pairs):
    """A panel for each (heading, {name: ms}, remark below it): their times differ too much for one axis."""
    figure, plots = matplotlib.pyplot.subplots(1, len(pairs), figsize=(1.8 + 1.4 * len(pairs), 3.0), layout="constrained",
                                               squeeze=False)
    for plot, (heading, values, remark) in zip(plots[0], pairs):
        bars(plot, values)
        plot.set_title(heading, fontsize=9)
        plot.set_xlabel(remark, fontsize=8)
    plots[0][0].set_ylabel("CPU time of a call in ms")
    figure.suptitle(title, fontsize=10.5, fontweight="bold", x=0.01, ha="left")
    plots[0][-1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def pair(row):
    return {"trace": row["t_trace_cpu_ms"], "control flow": row["t_cf_cpu_ms"]}


def increase(row):
    return f"+{100 * row['increase_cpu']:.0f} %"


def heading(row):
    return f"{title_of(row)}, {row['batch']}"


def figure_2(rows, _):
    found = {row["workload"]: row for row in rows if row["batch"] == 1 and row["skips"] is not False
             and row["rate_percent"] in (None, published.BARS_RATE)}
    found = [found[name] for name in published.EXAMPLES if name in found]
    if not found:
        return None
    figure, plot = style.axes("Figure 2: control flow's share of a call, batch 1", width=5.6, height=3.2)
    share = [100 * row["overhead_cpu"] for row in found]
    places = range(len(found))
    plot.bar(places, [100 - value for value in share], 0.55, color=LOOKS["trace"], label="the trace's time")
    plot.bar(places, share, 0.55, [100 - value for value in share], color=LOOKS["control flow"], label="control flow")
    for place, value in enumerate(share):
        style.number_on(plot, f"{value:.0f} %", (place, 100))
    plot.set_xticks(places, [title_of(row) for row in found])
    plot.set_ylim(0, 112)
    plot.set_ylabel("%")
    plot.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def figure_15(rows, _):
    found = chosen(rows, "loop")
    return panels("Figure 15: loops (workload, batch size)", [(heading(row), pair(row), increase(row)) for row in found]) if found else None


def figure_16(rows, _):
    plain = {(row["workload"], row["batch"]): row["t_cf_cpu_ms"] for row in chosen(rows, "branch", skips=False)}
    found = chosen(rows, "branch", skips=True)
    return panels(f"Figure 16: branches, of which {published.BARS_RATE} % execute their block",
                  [(heading(row), {"no skip": plain[row["workload"], row["batch"]], **pair(row)}, increase(row))
                   for row in found]) if found else None


def figure_17(rows, sweeps):
    sweeps = [sweep for sweep in sweeps if sweep["clock"] == "cpu_seconds"]
    if not sweeps:
        return None
    figure, plots = matplotlib.pyplot.subplots(1, len(sweeps), figsize=(1.2 + 2.9 * len(sweeps), 3.0), layout="constrained", squeeze=False)
    for plot, sweep in zip(plots[0], sweeps):
        of_it = [row for row in rows if (row["workload"], row["batch"]) == (sweep["workload"], sweep["batch"])]
        gated = [row for row in of_it if row["skips"]]
        plain = next(row for row in of_it if not row["skips"])
        shares = [row["executed_percent"] for row in gated]
        plot.axhline(plain["t_cf_cpu_ms"], color=LOOKS["no skip"], linestyle="--", label="no skip")
        plot.plot(shares, [row["t_trace_cpu_ms"] for row in gated], color=LOOKS["trace"], marker="o", markersize=4, label="trace")
        plot.plot(shares, [row["t_cf_cpu_ms"] for row in gated], color=LOOKS["control flow"], marker="o", markersize=4,
                  label="control flow")
        plot.axvline(sweep["break_even_percent"], color=style.WARNING, linewidth=1)
        plot.annotate(f"{sweep['break_even_percent']:.0f} %", (sweep["break_even_percent"], 0), (-4, 4), color=style.WARNING,
                      textcoords="offset points", ha="right", fontsize=8)
        plot.set_title(heading(plain), fontsize=9)
        plot.set_ylim(bottom=0)
        plot.set_xlabel("blocks executed in %")
        plot.grid(axis="y")
    plots[0][0].set_ylabel("CPU time of a call in ms")
    figure.suptitle("Figure 17: up to which share skipping pays", fontsize=10.5, fontweight="bold", x=0.01, ha="left")
    plots[0][-1].legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def figure_18(rows, _):
    found = chosen(rows, "recursion")
    return panels("Figure 18: recursion", [(heading(row), pair(row), increase(row)) for row in found]) if found else None


FIGURES = {"2": figure_2, "15": figure_15, "16": figure_16, "17": figure_17, "18": figure_18}


def draw_all(directory, rows, sweeps):
    """{number: path of the SVG} of the figures that these rows have."""
    style.begin()
    made = {}
    for number, draw in FIGURES.items():
        figure = draw(rows, sweeps)
        if figure is not None:
            made[number] = directory / f"figure_{number}.svg"
            style.save(figure, str(made[number]))
            matplotlib.pyplot.close(figure)
    return made
