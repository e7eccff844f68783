"""Other programs use the cores: the report tells how long fetches waited for one, and blames nothing else."""
import json

import pytest

import harness


@pytest.fixture(scope="module")
def crowded(tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("crowded")))
    outcome, trace = tracers[-1].trace(harness.program("crowded"))
    assert outcome.code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout), trace


def test_waiting_for_a_core_is_told_from_sleeping(crowded):
    truth, trace = crowded
    assert truth["off_percent"] > 25, "the others did not run"
    assert trace.report["core_wait_percent"] == pytest.approx(truth["off_percent"], abs=10)


def test_what_lies_between_operations_is_not_blamed(crowded):
    _, trace = crowded
    assert "outside any operation" not in trace.report["verdict"]["message"]
    work = next(op for op in trace.report["ops"] if op["name"] == "Burns.work")
    assert work["share_percent"] > 50


def test_cpu_time_of_an_operation_is_its_own(crowded):
    truth, trace = crowded
    work = next(op for op in trace.report["ops"] if op["name"] == "Burns.work")
    assert work["cpu_s"] == pytest.approx(0.02 * truth["batches"], rel=0.15)
