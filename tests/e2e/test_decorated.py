"""Decorated operations are told apart by what their wrapper closes over: tests/programs/decorated.py."""
import json

import pytest

import checks
import harness
import interpreters

NAMES = {"plain": "around(plain)"}  # its decorator does not keep the name
# Up to 3.10 a frame does not say which function it is; a runner does.
CALLED = {name: f"wrapper({name})" for name in ("slow", "quick")} if interpreters.version(harness.PYTHON) < (3, 11) else {}


@pytest.mark.parametrize("kind", ["list", "called"])
def test_each_is_an_operation(tracer, kind):
    outcome, trace = tracer.trace(harness.program("decorated", kind))
    assert outcome.code == 0, outcome.stderr
    ops = trace.ops()
    for name, seconds in json.loads(outcome.stdout).items():
        op = ops[(CALLED if kind == "called" else NAMES).get(name, name)]
        assert op["count"] == len(seconds), name
        # The call begins before the program's own measurement and ends after it.
        assert sum(seconds) <= op["total_s"], name
        checks.agree(op["total_s"] <= sum(seconds) + len(seconds) * 1e-3, name)
