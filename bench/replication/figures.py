"""Makes all figures and tables of the paper by lotus-analyze, from the traces of the experiments."""
import csv
import dataclasses
import json

import plan

COUNT = 13


@dataclasses.dataclass
class Figure:
    number: str
    picture: object = None  # path of the SVG
    why: str = ""           # why there is no picture


def traces_for(number, lab, settings):
    grid, study = plan.grid(settings), plan.study(settings)
    if number in "23":
        # Traces with many workers have most batches out of order, those with small batches have enough
        # batches.
        most = max(grid, key=lambda run: (run.workers, -run.batch_size))
        return [most] if number == "2" else [most, *sorted(study, key=lambda run: -run.workers)]
    return grid if number[0] in "45" else study


def make(lab, settings):
    """Figures by number. Figure 3 is of the first trace that has a batch out of order."""
    directory = lab.directory / "figures"
    directory.mkdir(exist_ok=True)
    made = {}
    for number in ("2", "3", "4", "5a", "5b", "6a", "6b", "6c", "6d", "6e", "6f", "6g", "6h"):
        runs = [lab.trace_of(run) for run in traces_for(number, lab, settings)]
        figure = made[number] = Figure(number)
        for traces in ([[trace] for trace in runs] if number == "3" else [runs]):
            try:
                lab.analyze("figure", number, *traces, "-o", directory / f"figure_{number}", "--force")
                figure.picture, figure.why = directory / f"figure_{number}.svg", ""
                break
            except RuntimeError as error:
                figure.why = str(error).removeprefix("lotus-analyze: ")
    return made


def labels(lab, run):
    """Short names of a run's functions, by (function, library)."""
    path = lab.directory / "tables" / f"functions_{run.workload}.csv"
    path.parent.mkdir(exist_ok=True)
    lab.analyze("figure", "6c", lab.trace_of(run), "-o", path, "--force")
    with open(path, newline="") as file:
        return {(row["function"], row["library"]): row["label"] for row in csv.DictReader(file)}


def table(lab, name, runs, kept=None):
    """Rows of a table, which is also kept as the CSV file `kept`."""
    traces = [lab.trace_of(run) for run in runs]
    directory = lab.directory / "tables"
    directory.mkdir(exist_ok=True)
    (directory / f"{kept or name}.csv").write_text(lab.analyze("table", name, "--csv", *traces))
    return json.loads(lab.analyze("table", name, "--json", *traces))["rows"]
