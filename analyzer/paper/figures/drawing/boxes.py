"""Figures 4, 5a and 5b: distributions over the batches of each configuration."""
import style

LINE_MS = 500  # waits and delays above it are called long
BOXES = "box: quartiles and median; whiskers: to the last value within 1.5 IQR; orange dot: mean; grey dots: values beyond"


def values_of(rows, column):
    return [float(row[column]) for row in rows]


def box_plot(plot, groups, column):
    """Boxes: quartiles and median; whiskers to the last value within 1.5 interquartile ranges; a dot is the mean."""
    plot.boxplot([values_of(rows, column) for rows in groups.values()], positions=range(len(groups)), widths=0.55,
                 patch_artist=True, showmeans=True, whis=1.5,
                 medianprops={"color": style.INK, "linewidth": 1.4},
                 boxprops={"facecolor": "#BBD7EA", "edgecolor": style.COLOURS[0]},
                 whiskerprops={"color": style.COLOURS[0]}, capprops={"color": style.COLOURS[0]},
                 meanprops={"marker": "o", "markerfacecolor": style.COLOURS[5], "markeredgecolor": "white", "markersize": 5},
                 flierprops={"marker": ".", "markersize": 3, "markerfacecolor": style.GREY, "markeredgecolor": "none"})
    style.ticks(plot, groups)
    plot.grid(axis="y")


def width_for(groups):
    return max(5.2, 1.6 + 0.75 * len(groups))


def preprocessing(rows, title):
    kept = [row for row in rows if row["dropped"] != "1"]
    groups = style.by_workers(kept)
    figure, plot = style.axes(title, width=width_for(groups))
    box_plot(plot, groups, "preprocess_ms")
    plot.set_ylim(bottom=0)
    plot.set_ylabel("preprocessing of a batch in ms")
    dropped = len(rows) - len(kept)
    if dropped:
        style.note(figure, f"{BOXES}; {dropped} batch{'es are' if dropped > 1 else ' is'} left out (below Q1 − 2·IQR)")
    else:
        style.note(figure, BOXES)
    return figure


LINE_POINTS = 11  # of text above the boxes


def percent(part, whole):
    return f"{style.short(100 * part / whole)} %" if whole else "-"


def distribution(rows, title, column, what, shares, curve, remarks=()):
    """Box plots, and beside them `curve`, which draws (plot, values of a group, look of its line).

    `shares`: (name, share of a group), shown in a row each above the boxes.
    """
    groups = style.by_workers(rows)
    figure, (plot, beside) = style.panels([width_for(groups), 5.0], height=4.0)
    box_plot(plot, groups, column)
    low, high = min(values_of(rows, column)), max(max(values_of(rows, column)), LINE_MS)
    style.log_axis(plot, "log" if low > 0 else "symlog")
    plot.set_ylim(low / 2 if low > 0 else None, high * 2.5)
    for panel in (plot, beside):
        panel.axhline(LINE_MS, color=style.WARNING, linewidth=1, linestyle="--", zorder=0.9)
    plot.text(1.005, LINE_MS, "500 ms", color=style.WARNING, fontsize=7.5, va="center", transform=plot.get_yaxis_transform())
    plot.set_ylabel(f"{what} in ms")
    plot.set_title(title, pad=12 + LINE_POINTS * len(shares))
    for row, (name, share_of) in enumerate(reversed(shares)):
        above = {"textcoords": "offset points", "va": "bottom", "fontsize": 7.5}
        plot.annotate(name, (0, 1), (-3, 4 + LINE_POINTS * row), xycoords="axes fraction", ha="right", color=style.GREY, **above)
        for place, group in enumerate(groups.values()):
            plot.annotate(share_of(group), (place, 1), (0, 4 + LINE_POINTS * row), xycoords=plot.get_xaxis_transform(),
                          ha="center", **above)
    for place, (label, group) in enumerate(groups.items()):
        curve(beside, group, {"label": label, **style.line(place)})
    beside.grid(axis="both")
    beside.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    style.note(figure, "; ".join([BOXES, *remarks]))
    return figure


def over(rows, column):
    return percent(sum(value > LINE_MS for value in values_of(rows, column)), len(rows))


def early(group):
    return percent(sum(row["out_of_order"] == "1" for row in group), len(group))


def by_batch(plot, group, look):
    """Over all epochs, in the order in which training takes the batches. The line leaves out those out of order."""
    waits = values_of(group, "wait_ms")
    waited = [place for place, row in enumerate(group) if row["out_of_order"] != "1"]
    plot.plot(waited, [waits[place] for place in waited], **{**look, "linewidth": 0.8})
    plot.plot(range(len(group)), waits, linestyle="", marker=".", markersize=3.5, color=look["color"])
    plot.set_xlabel("batch, over all epochs")


def by_percentile(plot, group, look):
    delays = sorted(values_of(group, "delay_ms"))
    plot.plot([100 * (place + 1) / len(delays) for place in range(len(delays))], delays, drawstyle="steps-pre", **look)
    plot.set_xlabel("% of the batches with at most this delay")


def wait(rows, title):
    return distribution(rows, title, "wait_ms", "wait",
                        [("> 500 ms", lambda group: over(group, "wait_ms")), ("out of order", early)], by_batch,
                        ["0.001 ms: came out of order"])


def delay(rows, title):
    return distribution(rows, title, "delay_ms", "delay", [("> 500 ms", lambda group: over(group, "delay_ms"))], by_percentile)
