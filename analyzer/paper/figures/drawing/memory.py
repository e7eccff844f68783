"""What memory a training step holds over its time, by what it is to training."""
import style

PHASES = {"forward": style.COLOURS[0], "backward": style.COLOURS[1], "optimizer": style.COLOURS[2]}
MIB = 2**20


def step(rows, title):
    figure, plot = style.axes(title, width=8.4, height=4.2)
    plot.set_title(title, pad=20)  # the names of phases stand below
    used = [row for row in rows if row["kind"] == "in use"]
    (peak,) = (row for row in rows if row["kind"] == "peak")
    floor = next((row for row in rows if row["kind"] == "floor"), None)
    at = [style.number(ms) for ms in style.ordered(row["begin_ms"] for row in used)]
    parts = {name: [style.number(row["bytes"]) / MIB for row in used if row["name"] == name]
             for name in style.ordered(row["name"] for row in used)}
    parts = {name: values for name, values in parts.items() if max(values) > 0}
    # What stays all along lies below what comes and goes.
    names = sorted(parts, key=lambda name: max(parts[name]) - min(parts[name]))
    colours = {name: style.COLOURS[number % len(style.COLOURS)] for number, name in enumerate(names)}
    plot.stackplot(at, [parts[name] for name in names], labels=names, colors=[colours[name] for name in names], step="post",
                   linewidth=0)
    top = style.number(peak["bytes"]) / MIB
    highest = max([top, *(sum(values) for values in zip(*parts.values()))])
    plot.plot([style.number(peak["begin_ms"])], [top], "v", color=style.INK, markersize=6)
    plot.annotate(f"peak {style.short(top)} MiB", (style.number(peak["begin_ms"]), top), (6, 6), textcoords="offset points",
                  fontsize=8, path_effects=style.HALO)
    if floor:
        least = style.number(floor["bytes"]) / MIB
        plot.axhline(least, color=style.INK, linestyle="--", linewidth=0.9)
        plot.annotate(f"floor {style.short(least)} MiB", (1, least), (-2, 3), xycoords=("axes fraction", "data"),
                      textcoords="offset points", ha="right", fontsize=8, path_effects=style.HALO)
    band = 0.025 * highest
    for row in rows:
        if row["kind"] == "phase":
            begin, end = style.number(row["begin_ms"]), style.number(row["end_ms"])
            plot.broken_barh([(begin, end - begin)], (-1.6 * band, band), color=PHASES[row["name"]], linewidth=0)
    for number, (name, colour) in enumerate(PHASES.items()):
        plot.annotate(name, (0.01 + 0.11 * number, 1.0), xycoords="axes fraction", color=colour, fontsize=8, va="bottom")
    plot.set_ylim(-2 * band, 1.14 * highest)
    plot.set_xlim(0, max(at))
    plot.set_xlabel("ms after the step began; the band at the foot: its phases")
    plot.set_ylabel("MiB in use")
    plot.grid(axis="y")
    handles, labels = plot.get_legend_handles_labels()
    plot.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure
