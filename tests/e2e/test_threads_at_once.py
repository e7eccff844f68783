"""Threads of one process that make batches at the same time, with and without Python's own lock."""
import json

import pytest

import harness
import interpreters

FREE_THREADED = interpreters.free_threaded()
ORDINARY = interpreters.supported()
NEWEST = max(ORDINARY, key=lambda name: int(name.split(".")[1]), default=None)
PYTHONS = {f"{name}-{lock}": (path, lock) for name, path in FREE_THREADED.items() for lock in ("0", "1")}
MEANWHILE = {
    "alone": [],
    "garbage": ["--collect"],
    "changes": ["--change", "--collect"],
    "made": ["--make"],
    "forks": ["--fork", "5"],
    "all": ["--collect", "--change", "--make", "--fork", "5"],
}


def count(tracer, python, options, **environment):
    """Each call and each batch of every thread is in the trace, by its name."""
    command = [python, "-W", "ignore", *harness.program("threads_at_once", *options, python=python)[1:]]
    outcome, trace = tracer.trace(command, PYTHONPATH=harness.FAKE_TORCH, **environment)
    assert outcome.code == 0, outcome.stderr
    told = json.loads(outcome.stdout)
    calls = told["calls"]
    batches = calls.pop("batches")
    assert trace.report["trace"]["lost_events"] == 0
    assert {name: op["count"] for name, op in trace.ops().items() if op["role"] != "runner"} == calls
    assert sum(row["consumed_at_ns"] is not None for row in trace.batches) == batches
    return told


@pytest.mark.skipif(NEWEST is None, reason="no ordinary Python here that Lotus supports")
@pytest.mark.parametrize("meanwhile", sorted(MEANWHILE))
def test_with_the_lock(meanwhile, tracer):
    assert count(tracer, ORDINARY[NEWEST], MEANWHILE[meanwhile])["gil"]


@pytest.mark.skipif(not PYTHONS, reason="no free-threaded Python here that Lotus supports")
@pytest.mark.parametrize("meanwhile", sorted(MEANWHILE))
@pytest.mark.parametrize("python", sorted(PYTHONS))
def test_free_threaded(python, meanwhile, tracer):
    path, lock = PYTHONS[python]
    assert count(tracer, path, MEANWHILE[meanwhile], PYTHON_GIL=lock)["gil"] is (lock == "1")
