"""Figures 2 and 3: batches in the workers that make them and in the training process that takes them."""
from matplotlib import patheffects

import style

BAR = 0.62


def colour_of(batch):
    return style.COLOURS[int(batch) % len(style.COLOURS)]


def lane_order(rows):
    """The training process on top, then the workers by number."""
    lanes = style.ordered(row["lane"] for row in rows)
    return sorted(lanes, key=lambda lane: (lane != "training", len(lane), lane))


def draw(rows, title):
    lanes = lane_order(rows)
    spans = [(float(row["start_ms"]), float(row["duration_ms"])) for row in rows]
    whole = max(start + duration for start, duration in spans) or 1
    scale, unit = (1000, "s") if whole > 3000 else (1, "ms")
    figure, plot = style.axes(title, width=9.5, height=1.5 + 0.55 * len(lanes))
    ends = {}
    for row, (start, duration) in zip(rows, spans):
        lane, batch = lanes.index(row["lane"]), row["batch"]
        start, duration = start / scale, duration / scale
        if row["kind"] == "preprocessed":
            bar(plot, start, duration, lane, batch, whole / scale)
            ends[batch] = (start + duration, lane)
        elif row["kind"] == "wait" and row["out_of_order"] != "1":
            plot.barh(lane, duration, BAR, start, color="#ECEFF2", edgecolor=style.GREY, hatch="////", linewidth=0.6)
    early = [(float(row["start_ms"]) / scale, row["batch"]) for row in rows if row["kind"] == "wait" and row["out_of_order"] == "1"]
    arrivals(plot, early, lanes.index("training") if early else 0, whole / scale)
    arrows(plot, rows, ends, lanes, scale)
    plot.set_yticks(range(len(lanes)), lanes)
    plot.set_ylim(len(lanes) - 0.4, -0.75)
    plot.set_xlim(-0.01 * whole / scale, 1.01 * whole / scale)
    plot.set_xlabel(f"time in {unit}")
    plot.grid(axis="x")
    legend(plot, any(row["out_of_order"] == "1" for row in rows))
    return figure


def bar(plot, start, duration, lane, batch, whole):
    plot.barh(lane, duration, BAR, start, color=colour_of(batch), edgecolor="white", linewidth=0.8)
    if duration > 0.018 * whole:
        halo = [patheffects.withStroke(linewidth=3, foreground=colour_of(batch))]  # keeps arrows off the number
        plot.text(start + duration / 2, lane, batch, ha="center", va="center", color="white", fontsize=8, weight="bold", zorder=6,
                  path_effects=halo)


def arrivals(plot, early, lane, whole):
    """Marks of batches that come before their turn; those too close for a number each share a list of them."""
    places = []
    for start, batch in sorted(early):
        plot.plot(start, lane - 0.44, marker="v", markersize=6, color=style.WARNING, zorder=5, clip_on=False)
        if places and start - places[-1][0] < 0.025 * whole:
            places[-1][1].append(batch)
        else:
            places.append((start, [batch]))
    for start, batches in places:
        plot.text(start, lane - 0.56, ", ".join(batches), ha="center", va="bottom", color=style.WARNING, fontsize=7)


def out_of_order(rows, title):
    """The last batch of these came first: for how long it lay ready, and behind which others."""
    figure = draw(rows, title)
    last = max((row for row in rows if row["kind"] == "wait"), key=lambda row: int(row["batch"]))["batch"]
    times = {(row["kind"], row["batch"]): float(row["start_ms"]) for row in rows}
    ready, consumed = times["wait", last], times["consumed", last]
    behind = [batch for kind, batch in times if kind == "consumed" and ready < times[kind, batch] < consumed]
    note = f"batch {last} lies ready for {consumed - ready:.0f} ms, until training has taken {', '.join(behind)} before it"
    style.note(figure, note, style.WARNING)
    return figure


def arrows(plot, rows, ends, lanes, scale):
    """From the end of preprocessing to consumption."""
    for row in rows:
        if row["kind"] != "consumed":
            continue
        at, lane = float(row["start_ms"]) / scale, lanes.index(row["lane"])
        colour = colour_of(row["batch"])
        plot.plot([at, at], [lane - BAR / 2, lane + BAR / 2], color=colour, linewidth=2.4, zorder=4)
        if row["batch"] in ends:
            end, from_lane = ends[row["batch"]]
            tip = lane + BAR / 2 if from_lane > lane else lane
            plot.annotate("", (at, tip), (end, from_lane - (BAR / 2 if from_lane > lane else 0)),
                          arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1, "shrinkA": 0, "shrinkB": 0,
                                      "mutation_scale": 8})


def legend(plot, out_of_order):
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries = [Patch(facecolor=style.COLOURS[0], label="preprocessing of a batch"),
               Patch(facecolor="#ECEFF2", edgecolor=style.GREY, hatch="////", label="training waits"),
               Line2D([], [], color=style.COLOURS[0], linewidth=2.4, marker="|", label="batch consumed")]
    if out_of_order:
        entries.append(Line2D([], [], color=style.WARNING, marker="v", linestyle="", label="arrives out of order"))
    plot.legend(handles=entries, loc="lower left", ncols=len(entries), bbox_to_anchor=(-0.01, 1.0), borderaxespad=0)
    plot.set_title(plot.get_title("left"), pad=26)
