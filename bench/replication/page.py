"""Writes the page with all figures and tables, and the paper's numbers beside ours."""
import base64
import html
import os
import platform

import figures
import paper
import plan

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .4rem; border-bottom: 1px solid #e3e7eb; }
img { max-width: 100%; display: block; margin: .6rem 0; } p { max-width: 48rem; }
table { border-collapse: collapse; margin: .6rem 0 1rem; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .7rem; text-align: left; border-bottom: 1px solid #eef1f4; vertical-align: top; }
th { font-weight: 600; color: #5c6773; } .number { text-align: right; } td:first-child, th:first-child { padding-left: 0; } .wide { overflow-x: auto; }
.paper { color: #5c6773; } .missing { background: #f6f7f9; padding: .6rem .9rem; border-left: 3px solid #b8c0c8; }
@media (prefers-color-scheme: dark) { img { background: white; } }
"""


def text(value, unit=""):
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}{unit}" if abs(value) < 1000 else f"{value:,.0f}{unit}"
    return html.escape(f"{value}{unit}")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def table(heading, rows):
    """An HTML table. Columns that contain a number are formatted as numbers."""
    kinds = [' class="number"' if any(map(is_number, column)) else "" for column in zip(*rows)]
    head = "".join(f"<th{kind}>{html.escape(cell)}</th>" for kind, cell in zip(kinds, heading))
    body = "".join("<tr>" + "".join(f"<td{kind}>{text(cell)}</td>" for kind, cell in zip(kinds, row)) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def picture(figure):
    if figure.picture is None:
        return f'<p class="missing">Not here: {html.escape(figure.why)}</p>'
    data = base64.b64encode(figure.picture.read_bytes()).decode()
    return f'<img alt="figure {figure.number}" src="data:image/svg+xml;base64,{data}">'


def section(title, *parts):
    return f"<h2>{html.escape(title)}</h2>" + "".join(parts)


def said(words):
    return f'<p class="paper">Paper: {html.escape(words)}.</p>'


def here(words):
    return f"<p>{html.escape(words)}</p>"


class Page:
    def __init__(self, lab, settings, made, overhead):
        self.lab, self.settings, self.made, self.overhead = lab, settings, made, overhead
        self.workloads = plan.workloads(settings)

    def figures(self, *numbers):
        return "".join(picture(self.made[number]) for number in numbers)

    def operations(self):
        parts = []
        for workload, run in self.workloads.items():
            ours = {row["operation"]: row for row in figures.table(self.lab, "ops", [run], f"ops_{workload}")}
            rows = []
            for name, mean in paper.OPERATIONS[workload]:
                row = ours.get(name, {})
                rows.append([name, mean, row.get("mean_ms"), row.get("p90_ms"), row.get("under_10ms_percent"),
                             row.get("under_100us_percent"), row.get("count")])
            batch = f"Collation: batches of {paper.BATCH[workload]} in the paper, {run.batch_size} here"
            parts.append(f"<p><b>{workload}</b> ({batch})</p>" + table(
                ["operation", "paper: mean ms", "mean ms", "P90 ms", "< 10 ms %", "< 100 µs %", "calls"], rows))
        return section("Table II: how long operations take", *parts, here(
            "Photographs of 500 × 375 as in ImageNet; volumes of synthetic data of 64 × 128 × 128; photographs and boxes of "
            "labelme-examples. Other sizes and another machine make other times: compare orders and shares."))

    def mapping(self):
        parts = []
        for workload, run in self.workloads.items():
            functions, labels = {}, figures.labels(self.lab, run)
            for row in figures.table(self.lab, "mapping", [run], f"mapping_{workload}"):
                share = f" ({row['share_percent']:.0f} %)" if row["share_percent"] is not None else ""
                functions.setdefault(row["operation"], []).append(f"{labels[row['function'], row['library']]}{share}")
            rows = [[name, ", ".join(functions.get(name, ["–"])[:6])] for name, _ in paper.OPERATIONS[workload]]
            parts.append(f"<p><b>{workload}</b></p>" + table(["operation", "native functions (share of its CPU time)"], rows))
        return section("Table I: the native functions of each operation", *parts, said(
            "Loader: decode_mcu, jpeg_idct_islow, ycc_rgb_convert …; RandomResizedCrop: ImagingResampleHorizontal_8bpc and "
            "Vertical; ToTensor and Normalize: kernels of libtorch_cpu; found by running each operation alone 20 times"),
            here("Ours come from samples of one run of the real job. Stripped libraries, as Debian's libtorch_cpu, name functions "
                 "by their addresses; those of libjpeg-turbo are known by their code."))

    def preprocessing(self):
        rows = figures.table(self.lab, "batches", plan.grid(self.settings))
        kept = [row for row in rows if row["trimmed"]]
        variation = []
        for workload, run in self.workloads.items():
            ours = [row for row in figures.table(self.lab, "batches", [run], f"batches_{workload}") if row["trimmed"]]
            variation.append([workload, paper.VARIATION[workload], ours[0]["std_percent"] if ours else None])
        return section("Figure 4: preprocessing time of a batch", self.figures("4"), table(
            ["run", "batches", "mean ms", "std ms", "std % of mean", "median ms", "IQR ms"],
            [[row["run"], row["count"], row["mean_ms"], row["std_ms"], row["std_percent"], row["median_ms"], row["iqr_ms"]]
             for row in kept]), table(["std in % of the mean", "paper", "here"], variation))

    def waits(self):
        rows = figures.table(self.lab, "waits", plan.grid(self.settings))
        largest = self.settings.batch_sizes[-1]
        by_workers = {run.workers: row for run, row in zip(plan.grid(self.settings), rows) if run.batch_size == largest}
        beside = []
        for number, workers in enumerate((1, 2, 3, 4)):
            row = by_workers.get(workers, {})
            beside.append([workers, paper.WAITS_OVER_500MS[number], row.get("wait_over_500ms_percent"),
                           paper.OUT_OF_ORDER[number], row.get("out_of_order_percent"), paper.STALLED[number],
                           row.get("stall_percent")])
        return section("Figure 5: wait and delay", self.figures("5a", "5b"), table(
            ["workers", "waits > 500 ms, paper", "here", "out of order, paper", "here", "stalled, paper", "here"], beside),
            here(f"In %. Paper: batch 512, as many workers as GPUs. Here: batch {largest}, {plan.CORES} cores for training and "
                 "workers together, so that more workers than cores bring more batches out of order and no more speed."))

    def workers(self):
        study = plan.study(self.settings)
        sums = {}
        for row in figures.table(self.lab, "ops", study, "ops_by_workers"):
            sums[row["run"]] = sums.get(row["run"], 0) + row["sum_s"]
        seconds = list(sums.values())
        grown = 100 * (seconds[-1] / seconds[0] - 1) if len(seconds) > 1 else 0
        return section("Figure 6: the number of workers", self.figures("6a", "6b"), said(paper.WORKERS), here(
            f"Here: from {study[0].workers} to {study[-1].workers} workers on {plan.CORES} cores the operations' seconds grow by "
            f"{grown:.0f} %: beyond the cores, workers wait for each other inside of operations."),
            self.figures("6c", "6d"), here("Counters of the processor (6e to 6h):"), self.counters())

    def counters(self):
        numbers = [number for number in ("6e", "6f", "6g", "6h") if self.made[number].picture]
        return self.figures(*(numbers or ["6e"]))

    def costs(self):
        rows = [[name, wall, size, None, None] for name, wall, size in paper.OVERHEAD]
        rows += [[f"{row['name']}, here", "", "", f"{row['percent']:+.1f} % [{row['low_percent']:+.1f}, {row['high_percent']:+.1f}]", f"{row['bytes_per_image']:.0f} bytes an image"]
                 for row in self.overhead["rows"] if row["name"] != "none"]
        bare = next(row["seconds"] for row in self.overhead["rows"] if row["name"] == "none")
        spied = any(row["name"] == "py-spy" for row in self.overhead["rows"])
        note = "" if spied else " py-spy: not to be had here."
        return section("Table III: overhead", table(["tool", "paper: wall", "paper: log", "wall", "log"], rows), here(
            f"Wall time: medians of {self.overhead['rounds']} interleaved rounds of {bare:.0f} s, with the median's interval of "
            f"{100 * self.overhead['confidence']:.0f} % confidence, one worker, batch "
            f"{plan.overhead_run(self.settings).batch_size}; runs as short as these vary by several percent: bench/overhead and "
            f"bench/instructions measure more closely.{note} Not run: austin (its wheels want a "
            "newer glibc, or find no Python that is linked statically) and Scalene (took all memory of a machine of 24 GiB)."))

    def tools(self):
        rows = figures.table(self.lab, "functions", list(self.workloads.values()))
        keys = ("tool", "epoch", "batch", "interaction", "wait", "delay")
        return section("Table IV: what each tool sees", table(keys, [[row[key] for key in keys] for row in rows]))

    def html(self):
        machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"
        scale = "--quick" if self.settings is plan.QUICK else "in full"
        parts = [f"<!doctype html><meta charset=utf-8><title>Lotus: the paper's experiments here</title><style>{STYLE}</style>",
                 f"<h1>The paper's experiments on this machine</h1><p class=paper>{html.escape(machine)}; bench/replicate {scale}. "
                 "Data of every figure and table: as CSV in figures/ and tables/ beside this page.</p>",
                 section("Figure 2: batches in workers and in training", self.figures("2"), said(
                     "main and worker processes over time, with an arrow from the preprocessing of a batch to its consumption")),
                 section("Figure 3: a batch that arrives out of order", self.figures("3"), said(
                     "a batch that is ready waits behind others, since one thread takes the head of the shared queue")),
                 self.preprocessing(), self.waits(), self.workers(), self.mapping(), self.operations(), self.costs(), self.tools()]
        return "\n".join(parts)


def write(lab, settings, made, overhead):
    """Writes the page; returns its path."""
    path = lab.directory / "index.html"
    path.write_text(Page(lab, settings, made, overhead).html())
    return path
