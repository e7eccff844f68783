"""Threads of a worker that wait for the interpreter's lock: how long, and that more workers are no answer first."""
import json
import os

import pytest

import checks
import harness


@pytest.fixture(params=["python", "hashing"])
def kind(request):
    return request.param


@pytest.fixture
def threaded(kind, measured):
    return measured(kind, harness.program("interpreter_lock", kind))


def test_time_waited(kind, threaded):
    """A thread that waits for the lock and then for a core is told as waiting for the lock."""
    waited, delayed = threaded.truth["waited"], threaded.truth["delayed"]
    told = threaded.trace.report["interpreter_lock"]
    if kind == "python":
        checks.agree(waited * 0.8 < told["waited_s"] < (waited + delayed) * 1.2, told, threaded.truth)
        checks.agree(0.5 < told["waiting_threads"] < 4, told)
    else:
        checks.agree(told["waiting_threads"] < 0.5, told)


def test_the_cause(kind, threaded):
    verdict = threaded.trace.report["verdict"]
    if kind == "python":
        assert verdict["cause"] == "gil", verdict
        assert "interpreter's lock" in verdict["message"]
    else:
        assert "gil" not in [cause["cause"] for cause in verdict["causes"]]


def test_the_fetch_computes_in_its_threads(kind, threaded):
    """More workers than cores are not predicted to gain as if the threads took no core."""
    if kind != "python":
        return
    cores = len(os.sched_getaffinity(0))
    asked = harness.run([harness.ANALYZE, "whatif", "--json", "--workers", str(4 * cores), threaded.trace.path])
    answer = json.loads(asked.stdout)
    checks.agree(answer["recorded"]["epoch_s"] < 1.3 * cores * answer["asked"]["epoch_s"], answer)
