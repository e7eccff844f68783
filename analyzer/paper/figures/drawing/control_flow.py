"""Cocktailer's figures from recorded regions: what is work on tensors and what is control flow."""
import style

PARTS = {"native_ms": ("operators", style.COLOURS[4]), "control_ms": ("operators only for tests", style.COLOURS[1]),
         "python_ms": ("Python", style.COLOURS[0])}
MOST_BARS = 12


def stacked(rows, title):
    """Figures 2, 15, 16 and 18: horizontal bars, the longest first."""
    def whole(row):
        return sum(style.number(row[part]) for part in PARTS)

    rows = sorted(rows, key=whole, reverse=True)[:MOST_BARS]
    figure, plot = style.axes(title, height=1.5 + 0.34 * len(rows))
    places = range(len(rows))
    left = [0] * len(rows)
    for part, (name, colour) in PARTS.items():
        values = [style.number(row[part]) for row in rows]
        plot.barh(places, values, 0.64, left, color=colour, label=name)
        left = [before + value for before, value in zip(left, values)]
    for place, row in enumerate(rows):
        share = 1 - style.number(row["native_ms"]) / max(whole(row), 1e-12)
        plot.annotate(f"{style.short(whole(row))} ms, {100 * share:.0f} % control flow", (whole(row), place), (4, 0),
                      textcoords="offset points", va="center", fontsize=8)
    plot.set_yticks(places, [style.wrapped(row["label"]) for row in rows])
    plot.invert_yaxis()
    plot.set_xlim(0, 1.45 * max(map(whole, rows)))
    plot.set_xlabel("ms of a call, without what recording took")
    plot.grid(axis="x")
    plot.legend(loc="upper center", bbox_to_anchor=(0.5, -0.32 if len(rows) < 3 else -0.18), ncol=3)
    return figure


def sweep(rows, title):
    """Figure 17."""
    rows = sorted(rows, key=lambda row: style.number(row["executed_percent"]))
    figure, plot = style.axes(title, width=5.2)
    shares = [style.number(row["executed_percent"]) for row in rows]
    plot.plot(shares, [style.number(row["ms"]) for row in rows], "o-", color=style.COLOURS[0], label="with control flow")
    plot.plot(shares, [style.number(row["operators_ms"]) for row in rows], "o-", color=style.COLOURS[4], label="its operators")
    if rows[0]["no_skip_ms"]:
        plot.axhline(style.number(rows[0]["no_skip_ms"]), color=style.GREY, linestyle="--", label="without branches")
    plot.set_xlim(-3, 103)
    plot.set_ylim(0)
    plot.set_xlabel("executed, % of the branch's visits")
    plot.set_ylabel("ms of a call")
    plot.grid(axis="y")
    plot.legend()
    return figure


def ladder(rows, title):
    """Figure 19: one group of bars for each region."""
    labels = style.ordered(row["label"] for row in rows)
    rungs = style.ordered(row["rung"] for row in rows)
    figure, plot = style.axes(title, width=max(4.8, 2.6 + 1.8 * len(labels)))
    width = 0.84 / len(rungs)
    for number, rung in enumerate(rungs):
        of_rung = [style.number(row["ms"]) for row in rows if row["rung"] == rung]
        at = [place + (number - (len(rungs) - 1) / 2) * width for place in range(len(labels))]
        plot.bar(at, of_rung, 0.94 * width, color=style.COLOURS[number], label=rung)
        for place, value in zip(at, of_rung):
            plot.annotate(style.short(value), (place, value), (0, 3), textcoords="offset points", ha="center", fontsize=7)
    plot.set_xticks(range(len(labels)), [style.wrapped(label) for label in labels])
    plot.set_ylabel("ms of a call")
    plot.grid(axis="y")
    plot.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure
