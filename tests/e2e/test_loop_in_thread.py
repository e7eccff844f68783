"""A thread of training's process goes through a DataLoader: tests/programs/loop_in_thread.py."""
import json

import pytest

import harness

BATCHES, SAMPLES = 32, 128  # of both epochs


def traced(tracer, kind, workers, **environment):
    outcome, trace = tracer.trace(harness.program("loop_in_thread", kind, str(workers)), **environment)
    assert outcome.code == 0, outcome.stderr
    return json.loads(outcome.stdout), trace


@pytest.mark.parametrize("workers", [0, 2])
def test_a_thread_hands_batches_on(workers, tracer):
    """What it waits for is no wait of training's, and is not told as one."""
    truth, trace = traced(tracer, "prefetch", workers)
    assert truth == {"batches": BATCHES, "samples": SAMPLES}
    report = trace.report
    verdict, [loader] = report["verdict"], report["loaders"]
    assert loader["taken_elsewhere"] is True and loader["batches"] == BATCHES
    assert (verdict["cause"], verdict["waited_percent"], verdict["workers_needed"]) == ("too_little", None, None)
    assert loader["waited_percent"] is None and loader["train_step_ms"]["mean"] is None and report["wait"]["count"] == 0
    assert [(advice["action"], advice["gain_percent"]) for advice in verdict["advice"]] == [("none", None)]
    assert "images_per_s" not in verdict
    evidence = {fact["fact"]: fact["value"] for fact in verdict["evidence"]}
    assert evidence["thread that takes the batches"] != loader["pid"]
    assert 0 < evidence["steps that other threads made meanwhile"] <= BATCHES
    words = " ".join(trace.text.split())
    assert "How long training waits for its data is not known" in words and "loop_in_thread.py" in words
    assert "input-bound" not in words and "What to change" not in words
    told = harness.run([harness.ANALYZE, "whatif", "--workers", "4", trace.path])
    assert told.code != 0 and b"another thread than training's takes the batches" in told.stderr


def told(*arguments):
    outcome = harness.run([harness.ANALYZE, *arguments])
    assert outcome.code == 0, outcome.stderr
    return json.loads(outcome.stdout)


def test_views_that_compare_leave_its_waits_out(tracer):
    """Beside a run whose training takes its batches itself."""
    rank = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "2"}
    _, handed_on = traced(tracer, "prefetch", 0, **rank)
    _, itself = traced(tracer, "whole", 0, **rank)
    difference = told("diff", "--json", handed_on.path, itself.path)
    assert difference["training"] is None or difference["training"]["waited_percent"][0] is None
    text = harness.run([harness.ANALYZE, "diff", handed_on.path, itself.path]).stdout.decode()
    assert "is not known of the former run" in " ".join(text.split())
    for trace, known in [(handed_on, False), (itself, True)]:
        [rank] = told("report", "--by-rank", "--json", trace.path)["ranks"]
        assert (rank["batches"], rank["samples"]) == (BATCHES, SAMPLES)
        for key in ("images_per_s", "waited_s", "waited_percent", "wait_mean_ms", "train_step_mean_ms"):
            assert (rank[key] is not None) == known, key
    _, tried = traced(tracer, "prefetch", 0, LOTUS_TRY="num_workers=1")
    against = told("report", "--json", "--against", handed_on.path, tried.path)["tried"]["against"]
    assert against["before"] == against["came"] == {"images_per_s": None, "waited_percent": None}
    assert against["predicted"] is None


@pytest.mark.parametrize("kind, loaders", [("whole", 1), ("two", 2), ("backward", 1), ("alone", 1)])
def test_the_thread_that_takes_batches_trains(kind, loaders, tracer):
    """A training that runs as a whole in a thread is told as any other; so is what has no steps."""
    truth, trace = traced(tracer, kind, 0)
    report = trace.report
    assert truth == {"batches": BATCHES * loaders, "samples": SAMPLES * loaders}
    assert sum(loader["batches"] for loader in report["loaders"]) == BATCHES * loaders
    assert not any(loader["taken_elsewhere"] for loader in report["loaders"])
    assert all(loader["waited_percent"] > 0 for loader in report["loaders"])
    assert report["verdict"]["cause"] != "too_little" and report["verdict"]["waited_percent"] > 0
