"""Loaders that are not PyTorch's: training's wait for each batch, and the program's functions that they call."""
import json

import pytest

import checks
import harness

KINDS = {"threads": "_Batches", "fork": "_Batches", "pool": "Loader._pooled", "inline": "Loader._inline",
         "shown": "_Batches", "measured": "_Measured"}
BATCH = 4


def traced(tracer, kind):
    outcome, trace = tracer.trace(harness.program("other_loaders", kind))
    assert outcome.code == 0, outcome.stderr
    return json.loads(outcome.stdout), trace


@pytest.mark.parametrize("kind", KINDS)
def test_batches_and_functions(kind, tracer):
    truth, trace = traced(tracer, kind)
    waits, spent, report = truth["waits"], truth["spent"], trace.report
    [loader] = report["loaders"]
    assert loader["dataset"] in (KINDS[kind], KINDS[kind].split(".")[-1])  # qualified names came with Python 3.11
    assert (loader["library"], loader["workers"]) == ("batchworks", None)
    assert (loader["epochs"], loader["batches"]) == (2, len(waits))
    assert report["wait"]["count"] == len(waits)
    # The trace begins when the second batch has come: that is in the program's measurement of it, and not in its wait.
    # Behind the bar so is making the loader's iterator, for the first batch.
    others = sum(wait for number, wait in enumerate(waits) if number % (len(waits) // 2) > 1)
    checks.agree(0.9 * others <= report["wait"]["total_s"] <= sum(waits) + 1e-3, "wait")
    op = trace.ops()["load"]
    # What makes batches in training's own thread is known to do so when the second one has come.
    spent = spent[2 * BATCH:] if kind == "inline" else spent
    assert op["count"] == len(spent)
    checks.agree(0.9 * sum(spent) <= op["total_s"] <= sum(spent) + len(spent) * 1e-3, "load")
    assert (report["verdict"]["cause"], report["verdict"]["bound"]) == ("op", "input")
    assert "load takes" in report["verdict"]["message"]
    assert report["trace"]["lost_events"] == report["trace"]["gaps"] == 0


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_begin_anew(method, tracer):
    """They know whom they work for when their parent does; what they made ahead before is not seen."""
    truth, trace = traced(tracer, method)
    spent, report, op = truth["spent"], trace.report, trace.ops()["load"]
    [loader] = report["loaders"]
    assert (loader["library"], loader["batches"]) == ("batchworks", len(truth["waits"]))
    assert len(spent) / 3 <= op["count"] < len(spent)
    assert op["total_s"] >= op["count"] * 0.002  # which it sleeps
    checks.agree(op["total_s"] <= sum(spent) + len(spent) * 1e-3, "load")
    # Two workers an epoch, of which the first to be there may take all the work; and training.
    assert 3 <= len(trace.info["processes"]) <= 5
    assert report["trace"]["lost_events"] == report["trace"]["gaps"] == 0


def test_what_hands_on_pytorchs_batches_is_no_loader(tracer):
    truth, trace = traced(tracer, "torch")
    [loader] = trace.report["loaders"]
    assert (loader["dataset"], loader["library"]) == ("Loaded", None)
    assert loader["batches"] == len(truth["waits"])


def test_a_packages_view_before_pytorchs_loader_is_none(tracer):
    truth, trace = traced(tracer, "moved")
    [loader] = trace.report["loaders"]
    assert (loader["dataset"], loader["library"]) == ("Loaded", None)
    assert loader["batches"] == len(truth["waits"])


@pytest.mark.parametrize("kind", ["trained", "evaluated"])
def test_batches_that_the_package_takes_itself(kind, tracer):
    """Steps of an optimizer between them tell, or calls of a model where there is no optimizer."""
    truth, trace = traced(tracer, kind)
    waits, spent, report = truth["waits"], truth["spent"], trace.report
    [loader] = report["loaders"]
    assert (loader["dataset"], loader["library"]) == ("_Batches", "batchworks")
    assert (loader["epochs"], loader["batches"]) == (2, len(waits))
    assert report["wait"]["count"] == len(waits)
    # The trace begins when the third has come, in the program's measurement of it.
    checks.agree(0.9 * (sum(waits) - waits[2]) - 1e-3 <= report["wait"]["total_s"] <= sum(waits) + 1e-3, "wait")
    assert trace.ops()["load"]["count"] == len(spent)
    assert report["trace"]["lost_events"] == report["trace"]["gaps"] == 0


def test_a_training_that_a_packages_thread_calls_is_no_operation(tracer):
    truth, trace = traced(tracer, "launched")
    [loader] = trace.report["loaders"]
    assert (loader["dataset"], loader["library"]) == ("Loaded", None)
    assert set(trace.ops()) <= {"load", "Collation", "(outside ops)"} and trace.ops()["load"]["count"] == len(truth["spent"])


def test_a_generator_of_parameters_is_none(tracer):
    command = harness.program("other_loaders", "none")
    outcome = harness.run(command, cwd=tracer.directory, **tracer.environment())
    assert json.loads(outcome.stdout) == {"parameters": 6}
    assert "no batch was seen" in outcome.lotus_lines[0] and tracer.left() == []


def test_what_a_model_iterates_over_is_none(tracer):
    """Layers in a generator, whose results have a gradient, and results that have none."""
    outcome = harness.run(harness.program("other_loaders", "model"), cwd=tracer.directory, **tracer.environment())
    assert json.loads(outcome.stdout) == {"rows": [8] * 6}
    assert "no batch was seen" in outcome.lotus_lines[0] and tracer.left() == []
