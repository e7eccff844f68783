"""What lotus-analyze control-flow says of the workloads, beside what timing.py measured of them and their twins."""
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import published

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests/programs/cocktailer"
ROUNDS, CALLS = 12, 8  # calls of a round, at least; of all a fifth is only timed
A_ROUND_S = 0.02       # of calls, as in timing.py: the first ones find the twin's data in the caches
DISPATCH_S = 1e-7  # an operator's call from a compiled program, at most
PATIENCE_S = 60
# Of all programs that are compared. A twin keeps tensors for other times than the model, so that the allocator would give other
# memory back to the kernel: what page faults that costs is no control flow, and is more than it where tensors are large.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
               "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}


def waited_for(path):
    """The collector writes on after the program's end."""
    last = time.monotonic() + PATIENCE_S
    while time.monotonic() < last:
        if path.exists() and (told := json.loads(analyzed(path)))["regions"]:
            return told
        time.sleep(0.2)
    raise RuntimeError(f"{path}: no region was recorded")


def analyzed(path):
    return subprocess.run([ROOT / "build/release/bin/lotus-analyze", "control-flow", "--json", path], check=True,
                          stdout=subprocess.PIPE).stdout


def recorded(python, workload, size, batch, seed, rate, t_cf):
    """(what the program counts of one call, what control-flow says of its calls, the twin's times in turns with them)."""
    arguments = ["--size", size, "--batch", str(batch), "--seed", str(seed), *(["--rate", str(rate)] if rate is not None else [])]
    environment = os.environ | ENVIRONMENT
    known = json.loads(subprocess.run([python, PROGRAMS / f"{workload}.py", *arguments, "--calls", "1"], check=True,
                                      stdout=subprocess.PIPE, env=environment).stdout)
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        (place / "segments").mkdir(mode=0o700)
        trace = place / "run.lotus"
        environment |= {"LD_PRELOAD": str(ROOT / "build/release/lib/liblotus.so"), "LOTUS_REGION": known["region"],
                        "LOTUS_STEPS": "most", "LOTUS_OUTPUT": str(trace), "LOTUS_DIR": str(place / "segments")}
        calls = max(CALLS, math.ceil(A_ROUND_S / t_cf))
        command = [python, ROOT / "bench/controlflow/turns.py", workload, str(ROUNDS), str(calls), *arguments]
        ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        return known["truth"], waited_for(trace), json.loads(ran.stdout)["trace"]


def counts_of(told):
    """Of all constructs, comparable with a program's own."""
    loops = sorted((row["line"], row["entries"], row["iterations"]) for row in told["constructs"] if row["kind"] == "loop")
    branches = sorted((row["line"], row["taken"], row["not_taken"]) for row in told["constructs"] if row["kind"] == "branch")
    recursions = sorted((row["line"], row["calls"], row["depth"]) for row in told["constructs"] if row["kind"] == "recursion")
    return loops, branches, recursions


def counts_wanted(truth):
    return (sorted((row["line"], row["entries"], row["iterations"]) for row in truth["loops"] if row["iterations"]),
            sorted((row["line"], row["taken"], row["not_taken"]) for row in truth["branches"] if row["taken"] + row["not_taken"]),
            sorted((row["line"], row["calls"], row["depth"]) for row in truth["functions"] if row["depth"] > 1))


def compared(options, row):
    """What is said of a row of results.py, with errors. The twin's time is that in turns with the recorded calls, as machines
    change their speed within minutes, and with it the program's by the O that was measured without Lotus."""
    truth, told, trace = recorded(options.python, row["workload"], options.size, row["batch"], options.seed, row["rate_percent"],
                                   row["t_cf_ms"] / 1e3)
    region = told["regions"][0]
    predicted = region["native_s"] + DISPATCH_S * (region["operators"] - region["control_operators"])
    t_trace = statistics.median(trace["seconds"])
    skips = [one["skip"]["break_even_share"] for one in told["constructs"] if one.get("skip")]
    return {"workload": row["workload"], "batch": row["batch"], "rate_percent": row["rate_percent"],
            "t_trace_ms": 1e3 * t_trace, "t_cf_ms": 1e3 * t_trace / (1 - row["overhead"]),
            "wall_ms": 1e3 * (region["wall_s"] - region["tracing_s"]), "tracing_ms": 1e3 * region["tracing_s"],
            "predicted_ms": 1e3 * predicted, "prediction_error": predicted / t_trace - 1,
            "estimated_overhead": region["overhead"], "overhead_error": region["overhead"] - row["overhead"],
            **against_twin(region, predicted, row["overhead"]),
            "counts_equal": counts_of(told) == counts_wanted(truth),
            "break_even_percent": 100 * skips[0] if skips else None}


def against_twin(region, predicted, measured):
    """The overhead where what calls the operators counts as work, as it does in the twin's time."""
    estimated = 1 - predicted / (region["wall_s"] - region["tracing_s"])
    return {"estimated_twin_overhead": estimated, "twin_overhead_error": estimated - measured}


def all_of(options, rows):
    return [compared(options, row) for row in rows if row["skips"] is not False]


def text(found, rows, sweeps):
    """A line for each, and how far off they are."""
    measured = {(row["workload"], row["batch"], row["rate_percent"]): row for row in rows}
    crossing = {(sweep["workload"], sweep["batch"]): sweep for sweep in sweeps if sweep["clock"] == "seconds"}
    lines = [f"{'':33}{'T_cf ms:':>18}{'T_trace ms:':>20}{'O:':>26}", f"{'workload':11}{'batch':>5} {'':16}{'measured':>9}{'told':>9}"
             f"{'measured':>11}{'told':>9}{'measured':>10}{'as twin':>8}{'told':>8}  counts  pays up to"]
    for one in found:
        row = measured[one["workload"], one["batch"], one["rate_percent"]]
        variant = "" if one["rate_percent"] is None else f"{row['executed_percent']:.0f} % executed"
        pays = ""
        if one["break_even_percent"] is not None:
            pays = f"{one['break_even_percent']:.0f} % (measured {crossing[one['workload'], one['batch']]['break_even_percent']:.0f} %)"
        lines.append(f"{published.WORKLOADS[one['workload']][0]:11}{one['batch']:>5} {variant:16}{one['t_cf_ms']:>9.3f}{one['wall_ms']:>9.3f}"
                     f"{one['t_trace_ms']:>11.3f}{one['predicted_ms']:>9.3f}{100 * row['overhead']:>9.1f}%"
                     f"{100 * one['estimated_twin_overhead']:>7.1f}%{100 * one['estimated_overhead']:>7.1f}%"
                     f"  {'equal' if one['counts_equal'] else 'DIFFER':7} {pays}")
    errors, as_twin, off = ([abs(one[what]) for one in found] for what in ("prediction_error", "twin_overhead_error", "overhead_error"))
    lines.append(f"operators and their calls predict the twin's time within {100 * statistics.median(errors):.1f} % (median), "
                 f"{100 * max(errors):.1f} % (most); O is off by {statistics.median(as_twin):.3f} (median), {max(as_twin):.3f} (most) where "
                 f"an operator's call counts as work, as in the twin, else by {statistics.median(off):.3f} and {max(off):.3f}")
    errors = [abs(one["wall_ms"] / one["t_cf_ms"] - 1) for one in found]
    costs = [one["tracing_ms"] / one["wall_ms"] for one in found]
    lines.append(f"a call's time without recording is told within {100 * statistics.median(errors):.1f} % (median), {100 * max(errors):.1f} % "
                 f"(most); recording took {100 * min(costs):.0f} to {100 * max(costs):.0f} % of it")
    return "\n".join(lines)
