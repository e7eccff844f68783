"""From times by round to the paper's ratios. A row is one workload, batch size and executed share."""
import csv
import json
import statistics

import experiments
import published

MS = 1e3


def median_ms(seconds):
    return statistics.median(seconds) * MS


def ratios(control_flow, trace, suffix=""):
    """The median of the rounds' own 1 - T_trace / T_cf, which a round that was disturbed throughout does not change, its
    interval of 95 %, and the increase that it means, T_cf / T_trace - 1."""
    rounds = [1 - after / before for before, after in zip(control_flow, trace)]
    low, high, _ = experiments.median_interval(rounds)
    share = statistics.median(rounds)
    return {f"overhead{suffix}": share, f"overhead{suffix}_low": low, f"overhead{suffix}_high": high,
            f"increase{suffix}": 1 / (1 - share) - 1}


def row_of(workload, batch, case):
    """Times in ms a call, medians, by the clock and of CPU time. `skips`: whether the network has gates, None where none could
    be. The paper's figure 2 has `overhead`, figures 16 and 18 `increase`."""
    times, trace = case["control_flow"], case["trace"]
    construct = published.WORKLOADS[workload][1]
    return {"workload": workload, "construct": construct, "batch": batch, "rate_percent": case["rate"],
            "executed_percent": case.get("executed_percent"), "skips": "executed_percent" in case if construct == "branch" else None,
            "t_cf_ms": median_ms(times["seconds"]), "t_trace_ms": median_ms(trace["seconds"]),
            **ratios(times["seconds"], trace["seconds"]),
            "t_cf_cpu_ms": median_ms(times["cpu_seconds"]), "t_trace_cpu_ms": median_ms(trace["cpu_seconds"]),
            **ratios(times["cpu_seconds"], trace["cpu_seconds"], "_cpu"),
            "rounds": len(times["seconds"]), "calls_a_round": times["calls_a_round"],
            "bit_equal": case["comparison"]["bit_equal"], "largest_difference": case["comparison"]["largest_difference"]}


def crossing(points, flat):
    """The share up to which skipping pays: where the line through `points`, (share, time) by share, last rises above `flat`.

    Returns (share, "below"); (None, "always") or (None, "never") where it does not cross.
    """
    if points[-1][1] <= flat:
        return None, "always"
    for (share, time), (next_share, next_time) in reversed(list(zip(points, points[1:]))):
        if time <= flat < next_time:
            return share + (next_share - share) * (flat - time) / (next_time - time), "below"
    return None, "never"


def sweep_of(workload, batch, cases, clock):
    """Figure 17 of one workload: when skipping pays, from the medians, with the interval of the rounds' own crossings.

    `clock`: "seconds" or "cpu_seconds". A round without a crossing counts as one at 0 or 100 %.
    """
    gated, plain = [case for case in cases if "executed_percent" in case], cases[-1]

    def at(middle):
        points = [(case["executed_percent"], middle(case["control_flow"][clock])) for case in gated]
        return crossing(points, middle(plain["control_flow"][clock]))

    share, pays = at(statistics.median)
    rounds = [at(lambda values, number=number: values[number]) for number in range(len(plain["control_flow"][clock]))]
    ends = {"always": 100.0, "never": 0.0}
    low, high, _ = experiments.median_interval([ends.get(word, value) for value, word in rounds])
    return {"workload": workload, "batch": batch, "clock": clock, "skipping_pays": pays, "break_even_percent": share,
            "break_even_low": low, "break_even_high": high}


def collected(measured):
    """measured: {(workload, batch): what timing.py told}. Returns (rows, sweeps)."""
    rows, sweeps = [], []
    for (workload, batch), told in measured.items():
        rows += [row_of(workload, batch, case) for case in told["cases"]]
        if published.WORKLOADS[workload][1] == "branch":
            sweeps += [sweep_of(workload, batch, told["cases"], clock) for clock in ("seconds", "cpu_seconds")]
    return rows, sweeps


def write(directory, about, rows, sweeps):
    """rows.csv has a row for each of `rows`; results.json also the rest. What else is known of a row, such as what a trace of
    the same run tells, joins it by workload, batch and rate_percent."""
    (directory / "results.json").write_text(json.dumps({**about, "rows": rows, "sweeps": sweeps}, indent=1) + "\n")
    with open(directory / "rows.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
