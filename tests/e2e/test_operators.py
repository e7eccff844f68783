"""PyTorch's operators: if counting all of them cost too much, some batches are counted and extrapolated."""
import json

import pytest

import harness

SPARSE = 3 * 12  # batches of the second loader, each of which is counted


class Run:
    def __init__(self, tracer, **environment):
        outcome, self.trace = tracer.trace(harness.program("operators"), **environment)
        assert outcome.code == 0, outcome.stderr.decode()
        told = json.loads(outcome.stdout)
        self.truth, self.cold_s = {(op, name): calls for op, name, calls in told["calls"]}, told["cold_s"]
        found = harness.run([harness.ANALYZE, "map", "--full", self.trace.path])
        self.points = {(op["name"], point["function"]): point
                       for op in json.loads(found.stdout)["ops"] for point in op["entry_points"]}


@pytest.fixture(scope="module")
def some(tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("some")))
    return Run(tracers[-1])


def test_some_batches_stand_for_all(some):
    dense, even = some.points["Dense", "aten::add"], some.points["Even", "aten::mul"]
    assert dense["estimated"] and even["estimated"]
    # Even has the same number in each call, so the estimate is exact. Dense has 10 to 49, drawn anew for each of
    # a batch's 4 samples: by the number of batches that were counted, four times the estimate's own error.
    fetches = sum(record["kind"] == "fetch" for record in some.trace.records)
    counted = fetches - len(some.trace.named("no_operators")) - SPARSE
    error = 4 * 0.39 / (4 * counted) ** 0.5
    assert counted >= 10
    assert even["calls"] == some.truth["Even", "aten::mul"]
    assert dense["calls"] == pytest.approx(some.truth["Dense", "aten::add"], rel=error)
    assert 0 < even["total_s"] < 60


def test_a_slow_batch_that_is_counted_does_not_stand_for_all(some):
    ones = some.points["Cold", "aten::ones"]
    assert ones["estimated"]
    assert ones["calls"] == some.truth["Cold", "aten::ones"]
    assert ones["total_s"] < 2 * some.cold_s


def test_what_costs_little_is_counted_exactly(some):
    sparse = some.points["Sparse", "aten::full"]
    assert not sparse["estimated"]
    assert sparse["calls"] == some.truth["Sparse", "aten::full"]


def test_info_says_so(some):
    operators = some.trace.info["operators"]
    assert operators["batches"] == 3 * (600 + 12)
    assert 3 * 12 < operators["observed"] < operators["batches"] / 4
    assert sum(record["kind"] == "no_operators" for record in some.trace.records) == (
        operators["batches"] - operators["observed"])
    text = harness.run([harness.ANALYZE, "info", some.trace.path]).stdout.decode()
    assert f"PyTorch's operators were counted in {operators['observed']} of" in text
    text = harness.run([harness.ANALYZE, "map", some.trace.path]).stdout.decode()
    assert f"~{some.truth['Even', 'aten::mul']:,}" in text


def test_all_batches_on_request(tracer):
    run = Run(tracer, LOTUS_TORCH_OPS="top")
    for names, calls in run.truth.items():
        assert run.points[names]["calls"] == calls and not run.points[names]["estimated"], names
    operators = run.trace.info["operators"]
    assert operators["observed"] == operators["batches"]
