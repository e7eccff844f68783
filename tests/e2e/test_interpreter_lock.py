"""Threads of a worker that wait for the interpreter's lock: how long, and that more workers are no answer first."""
import json
import os

import pytest

import harness


@pytest.fixture(scope="module", params=["python", "hashing"])
def threaded(request, tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp(request.param)))
    outcome, trace = tracers[-1].trace([*harness.program("interpreter_lock"), request.param])
    assert outcome.code == 0, outcome.stderr.decode()
    return request.param, json.loads(outcome.stdout), trace


def test_time_waited(threaded):
    """A thread that waits for the lock and then for a core is told as waiting for the lock."""
    kind, truth, trace = threaded
    told = trace.report["interpreter_lock"]
    if kind == "python":
        assert truth["waited"] * 0.8 < told["waited_s"] < (truth["waited"] + truth["delayed"]) * 1.2
        assert 0.5 < told["waiting_threads"] < 4
    else:
        assert told["waiting_threads"] < 0.5


def test_the_cause(threaded):
    kind, _, trace = threaded
    verdict = trace.report["verdict"]
    if kind == "python":
        assert verdict["cause"] == "gil", verdict
        assert "interpreter's lock" in verdict["message"]
    else:
        assert "gil" not in [cause["cause"] for cause in verdict["causes"]]


def test_the_fetch_computes_in_its_threads(threaded):
    """More workers than cores are not predicted to gain as if the threads took no core."""
    kind, _, trace = threaded
    if kind != "python":
        return
    cores = len(os.sched_getaffinity(0))
    asked = harness.run([harness.ANALYZE, "whatif", "--json", "--workers", str(4 * cores), trace.path])
    answer = json.loads(asked.stdout)
    assert answer["recorded"]["epoch_s"] < 1.3 * cores * answer["asked"]["epoch_s"], answer
