"""Datasets whose __getitems__ asks their own __getitem__ for a whole batch, as in tests/programs/batched_rows.py."""
import json

import pytest

import harness


@pytest.mark.parametrize("kind", ["rows", "wrapped", "each"])
def test_batches_have_their_true_size(tracer, kind):
    outcome, trace = tracer.trace(harness.program("batched_rows", kind))
    told = json.loads(outcome.stdout)
    rows = sorted(trace.batches, key=lambda row: row["batch"])
    assert [row["samples"] for row in rows] == told["batches"]
    assert trace.report["batches"]["samples"] == told["samples"]
    verdict = trace.report["verdict"]
    assert verdict["unit"] == "samples"
    slow = trace.report["slow_samples"]
    if kind == "each":  # one by one after all
        assert trace.report["batches"]["sample_ms"]["max"] >= 10 and all(row["index"] is not None for row in slow)
    else:  # what the dataset makes is a batch, and no slow sample
        assert slow == [] and trace.report["batches"]["sample_ms"]["max"] is None
