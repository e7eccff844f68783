"""AutoTM's figures 7, 9 and 10: what plans for two memories predict, by size of fast memory; 11: how right that was."""
import matplotlib.pyplot

import style

MODES = ["numa", "greedy", "static", "synchronous", "offload"]
GB = 1e9


def colour_of(mode):
    return style.COLOURS[MODES.index(mode) % len(style.COLOURS)]


def modes_of(rows):
    return [mode for mode in MODES if any(row["mode"] == mode for row in rows)]


def of_ratios(rows):
    """Those of ratios, where there are any: the bars' figures would be too wide with all sizes."""
    return [row for row in rows if ":" in row["label"]] or rows


def panels(count, title, width):
    figure, plots = matplotlib.pyplot.subplots(1, count, figsize=(width, 3.9), layout="constrained")
    plots[0].set_title(title)
    return figure, plots


def sizes(rows):
    """What the labels of `rows` are."""
    return "slow : fast memory" if ":" in rows[0]["label"] else "fast memory"


def bars(plot, rows, column):
    """Groups of bars by size of fast memory, the smallest first; in each a bar for each plan."""
    labels = style.ordered(row["label"] for row in rows)
    modes = modes_of(rows)
    width = 0.8 / len(modes)
    for place, mode in enumerate(modes):
        of_mode = {row["label"]: style.number(row[column]) for row in rows if row["mode"] == mode}
        at = [index + (place - (len(modes) - 1) / 2) * width for index, label in enumerate(labels) if of_mode.get(label)]
        heights = [of_mode[label] for label in labels if of_mode.get(label)]
        plot.bar(at, heights, width, color=colour_of(mode), edgecolor="white", linewidth=0.5, label=mode)
    level = len(labels) <= 6
    plot.set_xticks(range(len(labels)), labels, rotation=0 if level else 35, ha="center" if level else "right")
    plot.grid(axis="y")


def line(plot, value, text):
    plot.axhline(value, color=style.WARNING, linewidth=1, linestyle="--", zorder=3, label=text)


def beside(plot):
    plot.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))


def speedup(rows, title):
    """Figure 7."""
    rows = of_ratios(rows)
    count = len({row["label"] for row in rows})
    figure, plot = style.axes(title, width=max(6.4, 2.4 + 0.7 * count))
    bars(plot, rows, "speedup")
    line(plot, float(rows[0]["all_fast_speedup"]), "all in fast memory")
    plot.set_xlabel(sizes(rows))
    plot.set_ylabel("speed-up over all in slow memory")
    beside(plot)
    style.note(figure, rows[0]["note"])
    return figure


def cost(rows, title):
    """Figure 9."""
    rows = of_ratios(rows)
    figure, (left, right) = panels(2, title, 10.5)
    bars(left, rows, "performance")
    line(left, 1, "all in fast memory")
    left.set_xlabel(sizes(rows))
    left.set_ylabel("performance, of all in fast memory")
    costs = {row["label"]: float(row["memory_cost"]) for row in rows}
    right.bar(range(len(costs)), costs.values(), 0.6, color=style.GREY)
    level = len(costs) <= 6
    right.set_xticks(range(len(costs)), list(costs), rotation=0 if level else 35, ha="center" if level else "right")
    right.set_xlabel(sizes(rows))
    right.set_ylabel("cost of memory, of all in fast memory")
    right.grid(axis="y")
    left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.1), ncols=5)
    ratio = style.short(float(rows[0]["cost_ratio"]))
    style.note(figure, f"A byte of fast memory costs {ratio} times as much as one of slow memory. {rows[0]['note']}")
    return figure


def by_limit(plot, rows, mode, column, scale=1.0, **look):
    points = sorted((float(row["fast_limit_bytes"]) / GB, float(row[column]) / scale)
                    for row in rows if row["mode"] == mode and row[column])
    if points:
        plot.plot(*zip(*points), marker="o", markersize=3.5, **look)


def limit(rows, title):
    """Figure 10: time; operands in fast memory; traffic. The latter two of the plan that moves, if it is there."""
    figure, (times, operands, traffic) = panels(3, title, 13.5)
    for mode in modes_of(rows):
        by_limit(times, rows, mode, "slowdown", color=colour_of(mode), label=mode)
    moving = modes_of(rows)[-1]
    by_limit(operands, rows, moving, "fast_input_share", color=style.COLOURS[0], label=f"inputs, {moving}")
    by_limit(operands, rows, moving, "fast_output_share", color=style.COLOURS[1], label=f"outputs, {moving}")
    by_limit(traffic, rows, moving, "bytes_moved_to_slow", GB, color=style.COLOURS[0], label=f"to slow memory, {moving}")
    by_limit(traffic, rows, moving, "bytes_moved_to_fast", GB, color=style.COLOURS[1], label=f"to fast memory, {moving}")
    for plot, label in ((times, "time, of all in fast memory"), (operands, "share of bytes in fast memory"),
                        (traffic, "moved in GB")):
        plot.set_xlabel("fast memory in GB")
        plot.set_ylabel(label)
        plot.grid(axis="both")
        plot.legend()
    style.note(figure, rows[0]["note"])
    return figure


def error(rows, title):
    """Figure 11."""
    figure, plot = style.axes(title, width=max(6.4, 2.4 + 0.5 * len(rows)))
    errors = [float(row["error_percent"]) for row in rows]
    plot.bar(range(len(rows)), errors, 0.7, color=style.COLOURS[0], edgecolor="white", linewidth=0.5)
    plot.axhline(0, color=style.GREY, linewidth=1)
    level = len(rows) <= 4
    plot.set_xticks(range(len(rows)), [row["label"] for row in rows], rotation=0 if level else 35,
                    ha="center" if level else "right")
    plot.set_ylabel("predicted over real time, less 1, in %")
    plot.grid(axis="y")
    style.note(figure, rows[0]["note"])
    return figure
