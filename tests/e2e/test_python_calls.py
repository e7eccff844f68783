"""What Python calls cost under the tracer is counted: each that the evaluator has seen, in the operation that made it."""
import json

import pytest

import checks
import harness

FEW = 64  # calls that may be counted in what comes next: kFewCalls of preload/python/call_costs.hpp


@pytest.fixture(scope="module", params=["0", "2"], ids=["alone", "workers"])
def calling(request, tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("calls")))
    outcome, trace = tracers[-1].trace(harness.program("python_calls", request.param))
    assert outcome.code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout), trace


def op(trace, name):
    return next(op for op in trace.report["ops"] if op["name"] == name)


@pytest.mark.parametrize("name", ["Often", "Method", "Seldom"])
def test_calls_are_counted_where_they_are_made(calling, name):
    truth, trace = calling
    expected = truth["samples"] * truth["calls"][name]
    assert abs(op(trace, name)["python_calls"] - expected) <= truth["samples"] * FEW


def test_calls_of_a_library_are_counted(calling):
    truth, trace = calling
    assert op(trace, "Copies")["python_calls"] >= truth["samples"] * truth["at_least"]["Copies"]


def test_all_of_them_are_in_the_sum(calling):
    _, trace = calling
    assert trace.report["trace"]["python_calls"] >= sum(op["python_calls"] for op in trace.report["ops"])


def test_operations_of_many_calls_are_marked(calling):
    """By what a call cost when the process attached, on this machine at that time."""
    _, trace = calling
    often, seldom = (op(trace, name)["tracing_percent"] for name in ("Often", "Seldom"))
    checks.agree(seldom < 1 < often < 100, (seldom, often))
    checks.agree("is tracing, of" in trace.text, trace.text)
    assert trace.report["trace"]["overhead_percent"] > 0
