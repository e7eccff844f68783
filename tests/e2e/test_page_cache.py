"""A first epoch that reads from disk, and later ones from the page cache."""
import json

import pytest

import checks
import harness

BYTES = 12288 * 4096  # of the file


def run(kind, workers, tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace([*harness.program("page_cache"), kind, tmp_path / "rows", str(workers)])
    assert outcome.code == 0, outcome.stderr.decode()
    truth = json.loads(outcome.stdout)
    if kind != "warm" and truth["read"][0] < BYTES / 2:
        pytest.skip("the files are in memory here, or nobody counts what is read from storage")
    [loader] = trace.report["loaders"]
    return truth, loader, trace.report["verdict"]


@pytest.mark.parametrize("workers", [0, 2])
def test_first_epoch_from_disk(workers, tmp_path, tracers):
    truth, loader, verdict = run("cold", workers, tmp_path, tracers)
    first, later = loader["first_epoch"], loader["later_epochs"]
    assert first["batches"] == later["batches"] / 3 == 24
    # What a process has read before its first look at the counters, after a batch, is not known without workers.
    assert first["read_bytes"] == pytest.approx(truth["read"][0], rel=0.15)
    assert later["read_bytes"] <= sum(truth["read"][1:]) + BYTES / 10
    assert first["loop_s"] <= truth["seconds"][0]
    assert later["loop_s"] <= sum(truth["seconds"][1:])
    checks.agree(truth["seconds"][0] > 2 * max(truth["seconds"][1:]), "this disk is as quick as memory, or busy", truth)
    assert verdict["cause"] == "page_cache", verdict
    assert "epoch 0: " in verdict["message"]
    assert [advice["action"] for advice in verdict["advice"]] == ["none"]
    assert "storage" not in [cause["cause"] for cause in verdict["causes"]]


def test_all_epochs_from_memory(tmp_path, tracers):
    truth, loader, verdict = run("warm", 2, tmp_path, tracers)
    assert loader["first_epoch"]["read_bytes"] <= truth["read"][0]
    assert "page_cache" not in [cause["cause"] for cause in verdict["causes"]]


def test_all_epochs_from_disk(tmp_path, tracers):
    truth, loader, verdict = run("every", 2, tmp_path, tracers)
    assert loader["first_epoch"]["read_bytes"] == pytest.approx(truth["read"][0], rel=0.15)
    assert loader["later_epochs"]["read_bytes"] == pytest.approx(sum(truth["read"][1:]), rel=0.15)
    assert "page_cache" not in [cause["cause"] for cause in verdict["causes"]]
