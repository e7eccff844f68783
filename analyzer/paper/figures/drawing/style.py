"""How all figures look."""
import textwrap

import matplotlib
import matplotlib.patheffects
import matplotlib.pyplot
import matplotlib.ticker

# Told apart by people who see colours differently (Okabe and Ito), in an order that keeps neighbours apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6BB1", "#B8A600", "#5B7083", "#7A4B2A"]
GREY = "#8A929B"
INK = "#1F2933"
WARNING = "#C62828"
MANY = {"facecolor": "#ECEFF2", "edgecolor": GREY, "hatch": "////", "linewidth": 0.6}  # a bar that stands for many
NAME_COLUMNS = 44  # of a line of a name
HALO = [matplotlib.patheffects.withStroke(linewidth=2.5, foreground="white")]  # keeps lines off a number


def begin():
    matplotlib.rcParams.update({
        "font.family": "sans-serif", "font.size": 9, "axes.titlesize": 10.5, "axes.titleweight": "bold",
        "axes.titlelocation": "left", "axes.titlepad": 10, "axes.labelsize": 9, "axes.edgecolor": "#5C6773",
        "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK, "axes.spines.top": False,
        "axes.spines.right": False, "axes.axisbelow": True, "grid.color": "#E3E7EB", "grid.linewidth": 0.8,
        "legend.frameon": False, "legend.fontsize": 8, "figure.dpi": 100, "savefig.dpi": 160,
        "svg.hashsalt": "lotus"})  # the same data makes the same bytes


def axes(title, width=7.2, height=3.6):
    figure, plot = matplotlib.pyplot.subplots(figsize=(width, height), layout="constrained")
    plot.set_title(title)
    return figure, plot


def panels(widths, height):
    """Plots side by side, with one y axis."""
    return matplotlib.pyplot.subplots(1, len(widths), figsize=(sum(widths), height), layout="constrained", sharey=True,
                                      gridspec_kw={"width_ratios": widths})


def log_axis(plot, scale):
    plot.set_yscale(scale)
    plot.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: short(value)))


def line(place):
    """How the line of the configuration at this place looks: colours first, then dashes."""
    lap, colour = divmod(place, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": ("-", "--", ":")[lap % 3], "linewidth": 1.1}


def note(figure, text, color=GREY):
    """Below the figure, in as many lines as its width needs."""
    points, em = 7.5, 0.56  # generous: no line may be cut off
    columns = int(72 * figure.get_figwidth() / (points * em)) - 2
    figure.supxlabel(textwrap.fill(text, columns), fontsize=points, color=color, x=0.99, ha="right", multialignment="left")


def wrapped(name):
    """A long name in several lines: nothing is cut off, so that different names stay different."""
    lines = textwrap.wrap(name, NAME_COLUMNS, break_on_hyphens=False) or [name]
    return "\n".join(lines).replace("$", r"\$")  # a pair of dollars would be a formula


def number_on(plot, text, place):
    """A number above a place."""
    plot.annotate(text, place, (0, 8), textcoords="offset points", ha="center", fontsize=8, zorder=5, path_effects=HALO)


def save(figure, path):
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def number(text):
    """Of a cell of CSV; None: not known."""
    return float(text) if text else None


def short(value):
    """A number for people: three digits, a thousand and more with their commas."""
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def ordered(values):
    """Each once, in order of appearance."""
    return list(dict.fromkeys(values))


def by_workers(rows):
    """Labels of the configurations, those with fewer workers, then smaller batches first; rows by label."""
    groups = {}
    for row in rows:
        groups.setdefault(row["configuration"], []).append(row)

    def order(label):
        first = groups[label][0]
        return number(first["batch_size"]) or 0, number(first.get("ranks")) or 0, number(first["workers"]) or 0, label

    return {label: groups[label] for label in sorted(groups, key=order)}


def only_workers_differ(groups):
    """Whether the number of workers tells the configurations apart, so that they can stand on an axis of it."""
    workers = [rows[0]["workers"] for rows in groups.values()]
    return len(set(workers)) == len(workers) and all(workers)


def ticks(plot, groups):
    """Names the places 0, 1, 2 … of the x axis."""
    if only_workers_differ(groups):
        plot.set_xlabel("DataLoader workers")
        labels = [rows[0]["workers"] for rows in groups.values()]
    else:
        labels = list(groups)
    longest = max(map(len, labels))
    level = len(labels) <= 8 and longest < 12
    if not level:  # they take their room from below, not from the plot
        plot.figure.set_figheight(plot.figure.get_figheight() + 0.04 * longest)
    plot.set_xticks(range(len(groups)), labels, rotation=0 if level else 35, ha="center" if level else "right")
