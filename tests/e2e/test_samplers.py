"""What a sampler takes in training's process is told, at the starts of epochs and for later batches."""
import json

import pytest

import checks
import harness


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["lazy", "eager"])
def test_time_of_the_sampler(kind, workers, tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace([*harness.program("samplers"), kind, str(workers)])
    assert outcome.code == 0, outcome.stderr.decode()
    truth = json.loads(outcome.stdout)
    told = trace.report["sampler"]
    assert trace.report["loaders"][0]["sampler"] == kind.capitalize()
    assert told["calls"] >= truth["batches"]
    checks.near(told["first_s"], truth["first"])
    checks.near(told["later_s"], truth["later"])
    assert told["total_s"] == pytest.approx(told["first_s"] + told["later_s"])
    assert told["waited_s"] <= told["total_s"] + 1e-9
    if workers == 0:  # then all is drawn inside of next(), but for the sampler's iterator
        checks.near(told["waited_s"], truth["later"] + (truth["first"] if kind == "lazy" else 0))
