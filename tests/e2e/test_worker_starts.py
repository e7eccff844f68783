"""What the start of a worker is made of is told, by phase."""
import json

import pytest

import checks
import harness


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_phases_of_a_start(method, tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace([*harness.program("worker_starts"), method])
    assert outcome.code == 0, outcome.stderr.decode()
    truth = json.loads(outcome.stdout)
    verdict = trace.report["verdict"]
    assert verdict["cause"] == "startup", verdict
    told = {fact["fact"]: fact["value"] for fact in verdict["evidence"]}

    def one(beginning):
        (value,) = [value for fact, value in told.items() if fact.startswith(beginning)]
        return value

    checks.near(one("a worker, from its loop until"), truth["preparing"], slack=0.1)
    whole = one("a worker, from the fork or execution")
    if method == "fork":
        checks.agree(whole < 0.5, whole)
        assert not any("pickl" in fact for fact in told)
        return
    checks.near(one("of it, unpickling"), truth["unpickling"], slack=0.1)
    checks.agree(whole >= truth["unpickling"] + truth["importing"], whole, truth)
    checks.agree(whole < truth["seconds"] / 2, whole, truth)  # one epoch's workers began long after the fork server
    assert one("of it, from the import of PyTorch") >= truth["unpickling"]
    checks.near(one("pickling for a worker"), truth["pickling"], slack=0.1)
    assert one("pickled for a worker") == pytest.approx(truth["pickled"], rel=0.05)
    assert "unpickling 3.0 MB" in verdict["message"] or "imports" in verdict["message"], verdict["message"]
