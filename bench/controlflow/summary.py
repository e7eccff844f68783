"""Says results as text and as a page, with the paper's numbers beside ours."""
import base64
import html

import page  # of bench/replication
import published

NOT_THEIRS = ("Ours are of one thread of a CPU, in eager PyTorch and traced by torch.jit; theirs of a GPU, on which launching a kernel "
              "costs more: compare which workload loses how much, not milliseconds.")
METHOD = ("T_cf: a call of the model as it is written. T_trace: of its twin, torch.jit.trace of the same model and input, which has "
          "no control flow; its outputs are compared with the model's. O = 1 - T_trace / T_cf, increase = T_cf / T_trace - 1. Both are "
          "timed in turns: times are medians of the rounds, O and the break-even are medians of the rounds' own, with their intervals "
          "of 95 %. Other programs on the machine change a thread's CPU time less than the clock's time, so figures are of CPU time.")
EXECUTED = "Shares are 0, 25, 50, 75 and 100 %, of BlockDrop's 15 gated blocks the nearest number that there is."


def percent(value, digits=1):
    return f"{100 * value:.{digits}f} %"


def interval(row, name):
    return f"{percent(row[name])} [{100 * row[name + '_low']:.1f}, {100 * row[name + '_high']:.1f}]"


def variant(row):
    if row["skips"] is None:
        return ""
    return f"{row['executed_percent']:.0f} % executed" if row["skips"] else "no skip"


def unbroken(words):
    """In one line of a table."""
    return words.replace(" ", "\u00a0")


def name_of(row):
    return published.WORKLOADS[row["workload"]][0]


def cells(row):
    equal = "bit by bit" if row["bit_equal"] else f"within {row['largest_difference']:.1g}"
    return [name_of(row), row["batch"], unbroken(variant(row)), row["t_cf_ms"], row["t_trace_ms"], unbroken(interval(row, "overhead")),
            percent(row["increase"], 0), row["t_cf_cpu_ms"], row["t_trace_cpu_ms"], unbroken(interval(row, "overhead_cpu")), equal]


HEADING = ["workload", "batch", "", "T_cf ms", "T_trace ms", "O", "increase", "CPU T_cf ms", "CPU T_trace ms", "O of CPU time",
           "twin equal"]


def said(sweep):
    """What a sweep found, in words."""
    name = f"{published.WORKLOADS[sweep['workload']][0]}, batch {sweep['batch']}"
    by = "by the clock" if sweep["clock"] == "seconds" else "of CPU time"
    return (f"{name}: skipping pays up to {sweep['break_even_percent']:.0f} % of the blocks executed "
            f"[{sweep['break_even_low']:.0f}, {sweep['break_even_high']:.0f}], {by}")


def text(about, rows, sweeps):
    lines = [f"{about['size']} sizes, {about['machine']}, torch {about['torch']}; load of the machine {about['load_before']:.1f} before, "
             f"{about['load_after']:.1f} after", f"{'':33}{'by the clock:':44}of CPU time:",
             f"{'workload':11}{'batch':>5} {'':16}{'T_cf ms':>9}{'T_trace':>9}  {'O':22}increase{'T_cf':>9}{'T_trace':>9}  O"]
    for row in rows:
        lines.append(f"{name_of(row):11}{row['batch']:>5} {variant(row):16}{row['t_cf_ms']:>9.3f}{row['t_trace_ms']:>9.3f}"
                     f"  {interval(row, 'overhead'):22}{percent(row['increase'], 0):>8}{row['t_cf_cpu_ms']:>9.3f}"
                     f"{row['t_trace_cpu_ms']:>9.3f}  {interval(row, 'overhead_cpu')}")
    return "\n".join([*lines, *map(said, sweeps)])


def beside(rows):
    """The paper's times of NASRNN, and ours of the same batch size."""
    table = [[name, "V100", ms] for name, ms in published.NASRNN_MS]
    for row in rows:
        if row["workload"] == "nasrnn" and row["batch"] == published.NASRNN_BATCH:
            table += [["PyTorch, eager, here", "CPU, one thread", row["t_cf_ms"]],
                      ["torch.jit.trace, here", "CPU, one thread", row["t_trace_ms"]]]
    return page.table(["NASRNN, batch 64", "on", "ms a call"], table)


def write_page(directory, about, rows, sweeps, made):
    """Returns the page's path. made: {number of a figure: path of its SVG}."""
    machine = (f"{about['machine']}; torch {about['torch']}, Python {about['python']}; {about['size']} sizes, {about['rounds']} rounds; "
               f"load of the machine {about['load_before']:.1f} before and {about['load_after']:.1f} after")
    pictures = "".join(f'<img alt="figure {number}" src="data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}">'
                       for number, path in made.items())
    small = "" if about["size"] == "paper" else " Small sizes here, the paper's there."
    parts = [f"<!doctype html><meta charset=utf-8><title>Lotus: what control flow costs</title><style>{page.STYLE}</style>",
             f"<h1>What loops, branches and recursion cost</h1><p class=paper>{html.escape(machine)}.</p>", page.here(METHOD),
             page.table(HEADING, [cells(row) for row in rows]), page.here(EXECUTED),
             page.section("Figures", pictures, *(page.here(said(sweep) + ".") for sweep in sweeps)),
             page.section("Beside the paper's numbers", page.here(NOT_THEIRS + small), beside(rows),
                          page.said(f"{published.UP_TO} ({published.PAPER})")),
             page.here("Data: rows.csv and results.json beside this page.")]
    path = directory / "index.html"
    path.write_text("\n".join(parts))
    return path
