"""What Python's garbage collector takes when Python begins a collection by itself, on every CPython of the machine."""
import json

import pytest

import harness
import interpreters


PYTHONS = {**interpreters.supported(), **interpreters.supported("d"), **interpreters.free_threaded()}


@pytest.mark.parametrize("python", sorted(PYTHONS))
def test_share_of_making_batches(python, tracer):
    command = harness.program("collects_by_itself", python=PYTHONS[python])
    outcome, trace = tracer.trace(command, PYTHONPATH=harness.FAKE_TORCH, LOTUS_SAMPLE_HZ="1000")
    assert outcome.code == 0, outcome.stderr
    truth = 100 * json.loads(outcome.stdout)["share"]
    garbage = trace.report["garbage"]
    assert garbage["calls"] == 0
    assert garbage["cpu_percent"] == pytest.approx(truth, abs=18)  # five times what 140 samples differ by
