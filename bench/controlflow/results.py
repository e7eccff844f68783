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
    """The share in percent up to which skipping pays: where the line through `points`, (share, time) by share, last rises above
    `flat`. 100 where it ends below, 0 where it is always above."""
    if points[-1][1] <= flat:
        return 100.0
    for (share, time), (next_share, next_time) in reversed(list(zip(points, points[1:]))):
        if time <= flat < next_time:
            return share + (next_share - share) * (flat - time) / (next_time - time)
    return 0.0


def sweep_of(workload, batch, cases, clock):
    """Figure 17 of one workload: up to which executed share skipping pays, the median of the rounds' own crossings with its
    interval. `clock`: "seconds" or "cpu_seconds"."""
    gated, plain = [case for case in cases if "executed_percent" in case], cases[-1]
    shares = [case["executed_percent"] for case in gated]
    times = zip(*(case["control_flow"][clock] for case in gated))
    crossings = [crossing(list(zip(shares, of_round)), flat) for of_round, flat in zip(times, plain["control_flow"][clock])]
    low, high, _ = experiments.median_interval(crossings)
    return {"workload": workload, "batch": batch, "clock": clock, "break_even_percent": statistics.median(crossings),
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
