"""Classes and callables of C that a runner calls are operations: tests/programs/other_callables.py."""
import json

import pytest

import checks
import harness
import interpreters

PYTHONS = {"with PyTorch": harness.PYTHON, **interpreters.supported(), **interpreters.free_threaded()}


@pytest.mark.parametrize("python", PYTHONS)
def test_each_is_an_operation(python, tracer):
    # Whether a queue's thread is still there at the next fork, which Python warns of, is chance.
    bare = {} if python == "with PyTorch" else {"PYTHONPATH": harness.FAKE_TORCH,
                                                "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    outcome, trace = tracer.trace(harness.program("other_callables", python=PYTHONS[python]), **bare)
    assert outcome.code == 0, outcome.stderr
    truth, ops = json.loads(outcome.stdout), trace.ops()
    for name, seconds in truth.items():
        assert ops[name]["count"] == len(seconds), name
        # The call begins before the program's own measurement and ends after it.
        assert sum(seconds) <= ops[name]["total_s"], name
        checks.agree(ops[name]["total_s"] <= sum(seconds) + len(seconds) * 1e-3, name)
    assert ops["sorted"]["count"] == len(truth["Record"])
