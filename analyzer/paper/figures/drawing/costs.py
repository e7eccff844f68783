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
    several = any(len(values) > 1 for values in times)
    for place, values in enumerate(times):
        if several:
            plot.plot([place] * len(values), values, "o", color=style.GREY, markeredgecolor="white", markersize=5, zorder=4)
        style.number_on(plot, f"{'mean ' if several else ''}{style.short(means[place])}", (place, max(values)))
    style.ticks(plot, groups)
    plot.set_xlim(-0.6, len(groups) - 0.4)
    plot.set_ylim(0, 1.15 * max(map(max, times)))
    plot.set_ylabel("end-to-end time of an epoch in s")
    plot.grid(axis="y")
    if several:
        style.note(figure, "numbers: mean of the epochs; grey dots: the epochs")
    return figure


def operation_times(rows, title):
    for row in rows:
        row["value"] = row["seconds"]
    return stacked(rows, title, lambda row: row["operation"], "Σ of durations in s")


def functions(rows, title):
    return counter(rows, title, lambda row: row["label"])


def operations(rows, title):
    return counter(rows, title, lambda row: row["operation"])


def counter(rows, title, name):
    counted = rows[0]["counter"]
    unit = "clockticks" if rows[0]["was_percent"] == "1" else ""
    counted = counted.removesuffix("(%)").rstrip() if unit else counted
    if counted.lower().startswith("cpu time"):
        return stacked(rows, title, name, "CPU time in s")
    unit = "ns" if counted == "task-clock" else unit
    of = title.partition(" counter ")[2]  # "of operations"
    return stacked(rows, f"{counted} {of}", name, f"{counted}{', in ' + unit if unit else ''}")


def top(sums):
    """The largest of `sums`, {name: {group: value}}, and (their number, {group: sum}) of all others."""
    names = sorted(sums, key=lambda key: -sum(sums[key].values()))
    kept = MOST if len(names) > MOST + 1 else len(names)
    rest = names[kept:]
    groups = next(iter(sums.values()))
    return {key: sums[key] for key in names[:kept]}, (len(rest), {group: sum(sums[key][group] for key in rest) for group in groups})


def about_others(shown, others):
    """What the bar of all others is: not one of them, but many, each smaller than any that is shown."""
    count, values = others
    share = 100 * sum(values.values()) / (sum(sum(of.values()) for of in shown.values()) + sum(values.values()) or 1)
    return style.wrapped(f"{count} others together: {share:.0f} %, each less than those shown")


def stacked(rows, title, name, label):
    """One bar a configuration; what is largest over all of them lies at the bottom. One alone: bars side by side."""
    groups = style.by_workers(rows)
    sums = {}
    for label_of_group, group in groups.items():
        for row in group:
            sums.setdefault(name(row), dict.fromkeys(groups, 0.0))[label_of_group] += float(row["value"])
    shown, others = top(sums)
    if len(groups) == 1:
        return beside(shown, others, title, label)
    bars = [(style.wrapped(key), values, {"color": style.COLOURS[place % len(style.COLOURS)]})
            for place, (key, values) in enumerate(shown.items())]
    if others[0]:
        bars.append((about_others(shown, others), others[1], style.MANY))
    lines = sum(key.count("\n") + 1 for key, _, _ in bars)
    figure, plot = style.axes(title, width=max(7.4, 5.0 + 0.6 * len(groups)), height=max(3.6, 0.9 + 0.2 * lines))
    base, drawn = [0.0] * len(groups), []
    for _, values, look in bars:
        heights = [values[group] for group in groups]
        drawn.append(plot.bar(range(len(groups)), heights, 0.62, base, **{"edgecolor": "white", "linewidth": 0.5, **look}))
        base = [low + height for low, height in zip(base, heights)]
    style.ticks(plot, groups)
    plot.set_ylim(0, 1.06 * max(base) or 1)
    plot.set_ylabel(label)
    plot.grid(axis="y")
    # Explicit, and behind a space: Matplotlib leaves out labels that begin with an underscore, as __memcpy's.
    plot.legend(drawn[::-1], [" " + key.replace("\n", "\n ") for key, _, _ in reversed(bars)], loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def beside(shown, others, title, label):
    bars = [(style.wrapped(key), sum(values.values()), {"color": style.COLOURS[0]}) for key, values in shown.items()]
    if others[0]:
        bars.append((about_others(shown, others), sum(others[1].values()), style.MANY))
    lines = sum(key.count("\n") + 1.6 for key, _, _ in bars)
    figure, plot = style.axes(title, width=8.2, height=max(2.0, 1.1 + 0.18 * lines))
    for place, (_, value, look) in enumerate(bars):
        plot.barh(place, value, 0.66, **look)
        plot.annotate(style.short(value), (value, place), (4, 0), textcoords="offset points", va="center", fontsize=8)
    plot.set_yticks(range(len(bars)), [key for key, _, _ in bars])
    plot.invert_yaxis()
    plot.set_xlim(0, 1.12 * max(value for _, value, _ in bars) or 1)
    plot.set_xlabel(label)
    plot.grid(axis="x")
    return figure
