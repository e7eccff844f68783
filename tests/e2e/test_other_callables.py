"""A class and callables of C that a runner calls are operations: tests/programs/other_callables.py."""
import json

import checks
import harness
import interpreters


def test_each_is_an_operation(tracer):
    outcome, trace = tracer.trace(harness.program("other_callables"))
    assert outcome.code == 0, outcome.stderr
    truth, ops = json.loads(outcome.stdout), trace.ops()
    if interpreters.version(harness.PYTHON) >= (3, 12):
        truth.pop("Record")  # CPython runs its __init__ in the caller's loop
        assert "Record" not in ops
    for name, seconds in truth.items():
        assert ops[name]["count"] == len(seconds), name
        # The call begins before the program's own measurement and ends after it.
        assert sum(seconds) <= ops[name]["total_s"], name
        checks.agree(ops[name]["total_s"] <= sum(seconds) + len(seconds) * 1e-3, name)
    assert ops["sorted"]["count"] == len(truth["Open"])
