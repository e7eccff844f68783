"""Loaders that a program has written itself, and what looks like one and is none: tests/programs/own_loaders.py."""
import json

import pytest

import checks
import harness

BATCH, EPOCH = 4, 12  # samples of a batch, batches of an epoch
SLEEP = 0.002  # s, in each call of load()
PROGRAM, PYTHON = "the program", "Python"
# Whose it is, its iterators, and how many batches came when it was known to be a loader.
LOADERS = {"generator": (PROGRAM, 2, 3), "iterator": (PROGRAM, 2, 3), "iterable": (PROGRAM, 2, 3), "thread": (PROGRAM, 2, 3),
           "prefetch": (PROGRAM, 2, 3), "map": (PYTHON, 2, 3), "sums": (PROGRAM, 2, 5), "both": (PROGRAM, 14, 3),
           "beside_view": (PROGRAM, 2, 3), "thread_pool": (PROGRAM, 2, 3)}
AHEAD = {"iterable": 2, "thread": 4, "prefetch": 1, "map": EPOCH - 3}  # batches that may be made or begun then, and not given yet
PROCESSES = ["processes", "spawned", "executor", "workers"]
OTHERS = ["time_steps", "parameters", "parts", "measurements", "predictions", "training", "folds", "layers", "view"]


@pytest.mark.parametrize("kind", LOADERS)
def test_batches_and_functions(kind, tracer):
    owner, iterators, known_after = LOADERS[kind]
    outcome, trace = tracer.trace(harness.program("own_loaders", f"of_{kind}"))
    assert outcome.code == 0, outcome.stderr
    truth, report = json.loads(outcome.stdout), trace.report
    waits, spent = truth["waits"], truth["spent"]
    [loader] = report["loaders"]
    assert loader["library"] == owner
    name = "map" if kind == "map" else f"of_{kind}"
    assert name in loader["dataset"] or loader["dataset"] in ("__iter__", "result_iterator")  # qualified names came with 3.11
    assert (loader["epochs"], loader["batches"], loader["workers"]) == (iterators, len(waits), None)
    assert report["wait"]["count"] == len(waits)
    # The trace begins when it is known, while the program waits.
    others = sum(waits) - waits[known_after - 1]
    checks.agree(0.9 * others - 1e-3 <= report["wait"]["total_s"] <= sum(waits) + 1e-3, "wait")
    # What was made before is not seen.
    op = trace.ops()["made" if kind == "map" else "load"]
    calls = len(spent) // BATCH if kind == "map" else len(spent)
    known = known_after if kind == "map" else known_after * BATCH
    ahead = AHEAD.get(kind, 0) if kind == "map" else AHEAD.get(kind, 0) * BATCH
    assert calls - known - ahead <= op["count"] <= calls - known
    assert op["total_s"] >= op["count"] * SLEEP * len(spent) / calls
    checks.agree(op["total_s"] <= sum(spent) + calls * 1e-3, name)
    assert (report["verdict"]["cause"], report["verdict"]["bound"]) == ("op", "input")
    assert report["trace"]["lost_events"] == report["trace"]["gaps"] == 0


@pytest.mark.parametrize("kind", ["methods", "method_loop"])
def test_methods_of_the_loader(kind, tracer):
    """They are operations inside of one another, but for those that last as long as their thread, wait for others or take no time."""
    outcome, trace = tracer.trace(harness.program("own_loaders", f"of_{kind}"))
    assert outcome.code == 0, outcome.stderr
    truth, ops = json.loads(outcome.stdout), trace.ops()
    by_method = {name.split(".")[-1]: op for name, op in ops.items()}
    by_method.pop("give", None)  # it may take a while without waiting
    assert set(by_method) == {"made", "loaded", "load"}
    calls = len(truth["spent"])
    # Each is looked at for some calls before it is recorded; what was made before the loader was known is not seen at all.
    assert calls / 2 <= by_method["load"]["count"] <= calls
    assert calls / 2 <= by_method["loaded"]["count"] <= calls
    assert calls / BATCH / 2 <= by_method["made"]["count"] <= calls / BATCH
    assert by_method["load"]["total_s"] >= by_method["load"]["count"] * SLEEP
    assert trace.report["verdict"]["message"].find("load takes") >= 0


@pytest.mark.parametrize("kind", PROCESSES)
def test_functions_in_processes(kind, tracer):
    """They know whom they work for when their parent does; what they made ahead before is not seen."""
    outcome, trace = tracer.trace(harness.program("own_loaders", f"of_{kind}"))
    assert outcome.code == 0, outcome.stderr
    truth, report = json.loads(outcome.stdout), trace.report
    [loader] = report["loaders"]
    assert (loader["dataset"], loader["library"], loader["batches"]) == (f"of_{kind}", PROGRAM, len(truth["waits"]))
    of_batch = BATCH if kind != "workers" else 1
    op, calls = trace.ops()["load" if kind == "workers" else "made"], len(truth["spent"]) // of_batch
    assert calls / 4 <= op["count"] < calls
    assert op["total_s"] >= op["count"] * SLEEP * of_batch
    checks.agree(op["total_s"] <= sum(truth["spent"]) + calls * 1e-3, kind)
    assert len(outcome.lotus_lines) == 1
    assert report["trace"]["lost_events"] == report["trace"]["gaps"] == 0


def test_processes_of_others_are_left_alone(tracer):
    """A pool of processes beside PyTorch's own loader: what it calls is not the loader's."""
    outcome, trace = tracer.trace(harness.program("own_loaders", "beside_pytorchs"))
    assert outcome.code == 0, outcome.stderr
    assert "load" not in trace.ops() and len(trace.info["processes"]) == 1


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_loader(kind, tracer):
    # Steps of training are recorded without a loader, too.
    outcome = harness.run(harness.program("own_loaders", f"no_{kind}"), cwd=tracer.directory,
                          **tracer.environment(LOTUS_STEPS="0"))
    assert outcome.code == 0, outcome.stderr
    [line] = outcome.lotus_lines
    assert "no batch was seen" in line and "optimizer" in line
    assert tracer.left() == []
