"""Callables in sequences of other kinds, dicts and modules are operations: tests/programs/held.py."""
import json

import pytest

import checks
import harness


@pytest.mark.parametrize("kind", ["userlist", "sequence", "index", "items", "values", "children"])
def test_each_is_an_operation(tracer, kind):
    outcome, trace = tracer.trace(harness.program("held", kind))
    assert outcome.code == 0, outcome.stderr
    samples = json.loads(outcome.stdout)
    ops = trace.ops()
    for name, seconds in zip(("First", "Second"), zip(*samples)):
        assert ops[name]["count"] == len(samples)
        # The call begins before the program's own measurement and ends after it.
        assert sum(seconds) <= ops[name]["total_s"], name
        checks.agree(ops[name]["total_s"] <= sum(seconds) + len(seconds) * 1e-3, name)
