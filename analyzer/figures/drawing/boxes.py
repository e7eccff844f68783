"""Figures 4, 5a and 5b: distributions over the batches of each configuration."""
import style

LINE_MS = 500  # waits and delays above it are called long


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
        note(figure, f"{dropped} batch{'es are' if dropped > 1 else ' is'} left out (below Q1 − 2·IQR)")
    return figure


def note(figure, text):
    figure.supxlabel(text, fontsize=7.5, color=style.GREY, x=0.99, ha="right")


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def distribution(rows, title, column, what, shares):
    """`shares`: (name, share of a group), shown in a row each above the boxes."""
    groups = style.by_workers(rows)
    figure, plot = style.axes(title, width=width_for(groups))
    box_plot(plot, groups, column)
    low, high = min(values_of(rows, column)), max(max(values_of(rows, column)), LINE_MS)
    plot.set_yscale("log" if low > 0 else "symlog")
    plot.set_ylim(low / 2 if low > 0 else None, high * 2.5)
    plot.axhline(LINE_MS, color=style.WARNING, linewidth=1, linestyle="--", zorder=0.9)
    plot.text(1.005, LINE_MS, "500 ms", color=style.WARNING, fontsize=7.5, va="center", transform=plot.get_yaxis_transform())
    plot.set_ylabel(f"{what} in ms")
    plot.set_title(title, pad=12 + 11 * len(shares))
    for row, (name, share_of) in enumerate(reversed(shares)):
        height = 1.02 + 0.05 * row
        plot.text(-0.01, height, name, ha="right", va="bottom", fontsize=7.5, color=style.GREY, transform=plot.transAxes)
        for place, group in enumerate(groups.values()):
            plot.text(place, height, share_of(group), ha="center", va="bottom", fontsize=7.5,
                      transform=plot.get_xaxis_transform())
    return figure


def over(rows, column):
    return percent(sum(value > LINE_MS for value in values_of(rows, column)), len(rows))


def early(group):
    return percent(sum(row["out_of_order"] == "1" for row in group), len(group))


def wait(rows, title):
    return distribution(rows, title, "wait_ms", "wait",
                        [("> 500 ms", lambda group: over(group, "wait_ms")), ("out of order", early)])


def delay(rows, title):
    return distribution(rows, title, "delay_ms", "delay", [("> 500 ms", lambda group: over(group, "delay_ms"))])
