"""Code of the dataset that training steps call is told, by name; asking once before the loop is not."""
import json

import pytest

import harness


@pytest.fixture(scope="module", params=["each", "once"])
def called(request, tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp(request.param)))
    outcome, trace = tracers[-1].trace([*harness.program("dataset_in_step"), request.param])
    assert outcome.code == 0, outcome.stderr.decode()
    return request.param, json.loads(outcome.stdout), trace


def test_calls_and_their_time(called):
    """Outermost calls only, none that is cheap, none of the loader's own."""
    kind, truth, trace = called
    told = {call["name"].split(".")[-1]: call for call in trace.report["dataset_calls"]}
    if kind == "once":
        assert not told
        return
    assert {name: call["calls"] for name, call in told.items()} == truth["calls"]
    total = sum(call["total_s"] for call in told.values())
    assert total == pytest.approx(sum(truth["spent"].values()), rel=0.05, abs=0.02)
    assert told["__len__"]["total_s"] == pytest.approx(truth["spent"]["__len__"], rel=0.05, abs=0.02)


def test_the_cause(called):
    kind, _, trace = called
    verdict = trace.report["verdict"]
    causes = [cause["cause"] for cause in verdict["causes"]]
    if kind == "once":
        assert "dataset_in_step" not in causes
        return
    assert verdict["cause"] == "dataset_in_step", verdict
    assert "schedule" in verdict["message"] and "ask once before the loop" in verdict["message"]
