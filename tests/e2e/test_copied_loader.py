"""A copy of PyTorch's loader is seen as PyTorch's own: tests/programs/copied_loader.py."""
import json

import harness


def test_copies_are_seen(tracer, tmp_path):
    outcome, trace = tracer.trace(harness.program("copied_loader", tmp_path))
    assert outcome.code == 0, outcome.stderr
    told = json.loads(outcome.stdout)
    rows = [row for row in trace.batches if row["consumed_at_ns"] is not None]
    assert len(rows) == told["batches"] and sum(row["samples"] for row in rows) == told["samples"]
    assert sorted((row["epoch"], row["batch"]) for row in rows) == [(e, b) for e in range(2) for b in range(10)]
    for moment in ("wait_ns", "received_at_ns", "queued_at_ns", "fetch_ns", "deserialize_ns"):
        assert all(row[moment] is not None for row in rows), moment
    report = trace.report
    assert report["wait"]["count"] == told["batches"]
    assert len(report["workers"]) == 4 and all(worker["batches"] == 5 for worker in report["workers"])
    loader, = report["loaders"]
    assert (loader["epochs"], loader["batches"], loader["workers"]) == (2, told["batches"], 2)
