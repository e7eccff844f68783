"""bench/cocktailer: what its results say of times that are made up, and that it writes all that it promises."""
import csv
import importlib.util
import json
import sys

import pytest

import harness

BENCH = harness.SOURCE / "bench"


@pytest.fixture(scope="module")
def results():
    places = [str(BENCH / "controlflow"), str(BENCH / "replication")]
    sys.path[:0] = places
    import results

    del sys.path[:len(places)]
    return results


def case(control_flow, trace, **more):
    times = {name: {"seconds": seconds, "cpu_seconds": seconds, "calls_a_round": 1}
             for name, seconds in (("control_flow", control_flow), ("trace", trace))}
    return {"rate": None, "comparison": {"bit_equal": True, "largest_difference": 0.0}, **times, **more}


def test_overhead_is_of_rounds(results):
    """A round in which both take ten times as long changes nothing; one in which only one does, not the median."""
    row = results.row_of("lstm", 1, case([4.0, 40.0, 4.0, 4.0, 40.0], [3.0, 30.0, 3.0, 3.0, 3.0]))
    assert row["overhead"] == pytest.approx(0.25) and row["increase"] == pytest.approx(1 / 3)
    assert row["overhead_low"] <= row["overhead"] <= row["overhead_high"] == pytest.approx(0.925)
    assert (row["t_cf_ms"], row["t_trace_ms"], row["skips"]) == (4000, 3000, None)


@pytest.mark.parametrize("times, found", [
    ((1, 2, 3, 4, 5), 50), ((1, 1, 2, 4, 5), 62.5), ((4, 4, 4, 4, 4), 0), ((1, 1, 2, 2, 3), 100), ((4, 2, 4, 2, 4), 87.5)])
def test_crossing(results, times, found):
    assert results.crossing(list(zip((0, 25, 50, 75, 100), times)), 3) == found


def test_sweep(results):
    """The rounds cross at 50, at 25 and, as skipping never pays, at 0 %."""
    gated = [case([low + 4.0 * share / 100 for low in (1.0, 2.0, 9.0)], [1.0] * 3, executed_percent=float(share))
             for share in (0, 50, 100)]
    found = results.sweep_of("skipnet", 1, [*gated, case([3.0] * 3, [1.0] * 3)], "seconds")
    assert (found["break_even_low"], found["break_even_percent"], found["break_even_high"]) == (0, 25, 50)


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="Matplotlib is not installed")
def test_writes_figures_tables_and_a_page(tmp_path):
    command = [sys.executable, BENCH / "cocktailer", "--only", "rae", "--only", "blockdrop", "--rounds", "2", "--output", tmp_path,
               "--python", harness.PYTHON]
    outcome = harness.run(command)
    assert outcome.code == 0, outcome.stderr.decode()
    place = tmp_path / "small"
    told = json.loads((place / "results.json").read_text())
    variants = [(row["workload"], row["batch"], row["rate_percent"]) for row in told["rows"]]
    rates = [0, 25, 50, 75, 100, None]
    assert variants == [("rae", 1, None), *(("blockdrop", batch, rate) for batch in (1, 64) for rate in rates)]
    assert all(row["bit_equal"] or row["largest_difference"] < 1e-4 for row in told["rows"])
    executed = [pytest.approx(100 * count / 15) for count in (0, 4, 8, 11, 15)]
    assert [row["executed_percent"] for row in told["rows"][1:7]] == [*executed, None]
    with open(place / "rows.csv", newline="") as file:
        assert [float(row["t_cf_ms"]) for row in csv.DictReader(file)] == [row["t_cf_ms"] for row in told["rows"]]
    assert sorted(path.name for path in place.glob("*.svg")) == [f"figure_{number}.svg" for number in (16, 17, 18, 2)]
    page = (place / "index.html").read_text()
    assert page.count("<img ") == 4 and "theirs of a GPU" in page and "25.4" in page
    again = harness.run(command)
    assert again.stdout == outcome.stdout and again.stderr == b""  # kept, not measured again
