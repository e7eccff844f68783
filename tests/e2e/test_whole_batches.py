"""Loaders with batch_size=None, as in tests/programs/whole_batches.py: the size of what came, else batches/s."""
import json

import pytest

import harness


def run(tracer, kind):
    outcome, trace = tracer.trace(harness.program("whole_batches", kind))
    assert outcome.code == 0, outcome.stderr
    rows = sorted(trace.batches, key=lambda row: row["batch"])
    return json.loads(outcome.stdout), [row["samples"] for row in rows if row["consumed_at_ns"] is not None], trace


@pytest.mark.parametrize("kind", ["iterable", "images", "keys", "one"])
def test_size_of_what_came(tracer, kind):
    sizes, seen, trace = run(tracer, kind)
    report = trace.report
    assert seen == sizes
    assert report["batches"]["samples"] == sum(sizes)
    assert report["verdict"]["unit"] == "samples"
    if kind == "one":
        assert report["batches"]["sample_ms"]["max"] is not None
    else:
        assert report["slow_samples"] == [] and report["batches"]["sample_ms"]["max"] is None


@pytest.mark.parametrize("kind", ["texts", "list"])
def test_batches_of_unknown_size(tracer, kind):
    sizes, seen, trace = run(tracer, kind)
    assert seen == [None] * len(sizes)
    assert trace.report["batches"]["samples"] is None
    verdict = trace.report["verdict"]
    assert verdict["unit"] == "batches"
    assert verdict["images_per_s"] > 0
    assert "batches/s" in trace.text and "samples/s" not in trace.text
