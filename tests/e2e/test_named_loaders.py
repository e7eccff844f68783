"""Loaders are told by what they are assigned to and where they are made: tests/programs/named_loaders.py."""
import json

import harness


def test_variable_place_and_length(tracer):
    outcome, trace = tracer.trace(harness.program("named_loaders"))
    assert outcome.code == 0, outcome.stderr
    told = json.loads(outcome.stdout)
    loaders = trace.report["loaders"]
    assert [[one["variable"], one["line"], one["epoch_batches"]] for one in loaders] == told
    assert all(one["file"].endswith("/named_loaders.py") for one in loaders)
    for name, line, _ in told:
        assert (f"{name}, named_loaders.py:{line}" if name else f"named_loaders.py:{line}") in trace.text
