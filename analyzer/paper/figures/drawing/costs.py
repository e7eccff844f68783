"""Figures 6a to 6h: epochs, operations and native functions by configuration."""
import statistics

import style

MOST = 9  # rows of a legend; the rest is one more


def epochs(rows, title):
    groups = style.by_workers(rows)
    figure, plot = style.axes(title, width=max(5.2, 1.6 + 0.6 * len(groups)))
    times = [[float(row["seconds"]) for row in group] for group in groups.values()]
    means = [statistics.fmean(values) for values in times]
    places = range(len(groups))
    if style.only_workers_differ(groups) and len(groups) > 1:
        plot.plot(places, means, color=style.COLOURS[0], marker="o", linewidth=1.8)
    else:
        plot.bar(places, means, 0.6, color=style.COLOURS[0])
    for place, values in enumerate(times):
        plot.plot([place] * len(values), values, ".", color=style.GREY, markersize=4)
        plot.annotate(style.short(means[place]), (place, max(values)), (0, 8), textcoords="offset points", ha="center", fontsize=8)
    style.ticks(plot, groups)
    plot.set_xlim(-0.6, len(groups) - 0.4)
    plot.set_ylim(0, 1.15 * max(map(max, times)))
    plot.set_ylabel("end-to-end time of an epoch in s")
    plot.grid(axis="y")
    return figure


def operation_times(rows, title):
    for row in rows:
        row["value"] = row["seconds"]
    return stacked(rows, title, lambda row: row["operation"], "Σ of durations in s")


def functions(rows, title):
    return counter(rows, title, lambda row: name_of(row["function"]))


def operations(rows, title):
    return counter(rows, title, lambda row: row["operation"])


def counter(rows, title, name):
    counted = rows[0]["counter"]
    unit = "clockticks" if rows[0]["was_percent"] == "1" else ""
    counted = counted.removesuffix("(%)").rstrip() if unit else counted
    if counted.lower().startswith("cpu time"):
        return stacked(rows, title, name, "CPU time in s")
    return stacked(rows, f"{title}: {counted}", name, f"{counted}{', in ' + unit if unit else ''}")


def name_of(function):
    """Short enough for a legend."""
    base = function.split("(")[0]
    base = base if len(base) > 3 else function
    return base if len(base) <= 44 else base[:20] + "…" + base[-22:]


def stacked(rows, title, name, label):
    """One bar a configuration; what is largest over all of them lies at the bottom. One alone: bars side by side."""
    groups = style.by_workers(rows)
    sums = {}
    for label_of_group, group in groups.items():
        for row in group:
            sums.setdefault(name(row), dict.fromkeys(groups, 0.0))[label_of_group] += float(row["value"])
    names = sorted(sums, key=lambda key: -sum(sums[key].values()))
    shown = {key: sums[key] for key in names[:MOST]}
    if names[MOST:]:
        shown[f"{len(names) - MOST} others"] = {group: sum(sums[key][group] for key in names[MOST:]) for group in groups}
    if len(groups) == 1:
        return beside(shown, title, label)
    figure, plot = style.axes(title, width=max(6.4, 4.0 + 0.6 * len(groups)), height=max(3.6, 0.9 + 0.27 * len(shown)))
    base, bars = [0.0] * len(groups), []
    for place, (key, values) in enumerate(shown.items()):
        colour = style.GREY if key.endswith(" others") else style.COLOURS[place % len(style.COLOURS)]
        heights = [values[group] for group in groups]
        bars.append(plot.bar(range(len(groups)), heights, 0.62, base, color=colour, edgecolor="white", linewidth=0.5))
        base = [low + height for low, height in zip(base, heights)]
    style.ticks(plot, groups)
    plot.set_ylim(0, 1.06 * max(base) or 1)
    plot.set_ylabel(label)
    plot.grid(axis="y")
    # Explicit, and behind a space: Matplotlib leaves out labels that begin with an underscore, as __memcpy's.
    plot.legend(bars[::-1], [f" {key}" for key in reversed(shown)], loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def beside(shown, title, label):
    figure, plot = style.axes(title, height=max(2.0, 1.1 + 0.3 * len(shown)))
    values = [sum(of_groups.values()) for of_groups in shown.values()]
    plot.barh(range(len(shown)), values, 0.66, color=[style.GREY if key.endswith(" others") else style.COLOURS[0] for key in shown])
    for place, value in enumerate(values):
        plot.annotate(style.short(value), (value, place), (4, 0), textcoords="offset points", va="center", fontsize=8)
    plot.set_yticks(range(len(shown)), shown)
    plot.invert_yaxis()
    plot.set_xlim(0, 1.12 * max(values) or 1)
    plot.set_xlabel(label)
    plot.grid(axis="x")
    return figure
