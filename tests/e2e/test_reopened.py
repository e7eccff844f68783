"""Files that are opened again for each sample."""
import json

import pytest

import harness


def run(kind, workers, tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace([*harness.program("reopened"), kind, tmp_path / "data", str(workers)])
    assert outcome.code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout), trace


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["archive", "json", "cheap"])
def test_opened_again(kind, workers, tmp_path, tracers):
    truth, trace = run(kind, workers, tmp_path, tracers)
    [told] = trace.report["reopened"]
    assert told["path"] == truth["path"]
    assert told["opens"] == truth["opens"]
    assert told["processes"] == max(1, workers)
    if kind == "archive":  # is read to its end for the list of members, and again up to the one that is wanted
        assert truth["opens"] * truth["size"] <= told["bytes"] <= 2 * truth["opens"] * truth["size"]
    else:
        assert told["bytes"] == truth["opens"] * truth["size"]
    text = harness.run([harness.ANALYZE, "report", trace.path], COLUMNS=250).stdout.decode()  # no path is broken
    assert f"opened again: {truth['path']} {truth['opens']} times" in " ".join(text.split())


@pytest.mark.parametrize("kind", ["archive_once", "json_once", "different"])
def test_opened_once(kind, tmp_path, tracers):
    _, trace = run(kind, 2, tmp_path, tracers)
    assert trace.report["reopened"] == []
    assert "opened again" not in trace.text


@pytest.mark.parametrize("kind", ["archive", "json", "arrays"])
def test_cause_is_what_is_repeated(kind, tmp_path, tracers):
    truth, trace = run(kind, 2, tmp_path, tracers)
    verdict = trace.report["verdict"]
    assert verdict["cause"] == "repeated", verdict
    assert truth["path"] in verdict["message"]
    facts = {row["fact"]: row["value"] for row in verdict["evidence"]}
    assert facts["opened"] == truth["opens"]


@pytest.mark.parametrize("kind", ["archive_once", "json_once", "different", "cheap"])
def test_cause_is_something_else(kind, tmp_path, tracers):
    _, trace = run(kind, 2, tmp_path, tracers)
    assert "repeated" not in [cause["cause"] for cause in trace.report["verdict"]["causes"]]
