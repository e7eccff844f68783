"""What the process that makes batches uses: memory of its own, page faults, collections, threads that compute."""
import json

import pytest

import checks
import harness


@pytest.fixture(scope="module")
def used(tmp_path_factory, tracers):
    tracers.append(harness.Tracer(tmp_path_factory.mktemp("process_use")))
    outcome, trace = tracers[-1].trace([*harness.program("process_use"), "10"])
    assert outcome.code == 0, outcome.stderr.decode()
    return json.loads(outcome.stdout), trace.report


def test_faults_between_batches(used):
    truth, report = used
    told = report["faults"]
    assert told["batches"] == truth["batches"] - 1
    assert told["minor"] == pytest.approx(truth["faults"][-1] - truth["faults"][0], rel=0.1)


def test_collections_of_all_objects(used):
    truth, report = used
    assert report["garbage"]["batches"] == truth["batches"]
    assert report["garbage"]["old_collections"] == truth["collections"] - 1  # the first is before the first look


def test_collections_that_the_dataset_asks_for(used):
    truth, report = used
    assert report["garbage"]["calls"] == truth["batches"]
    assert report["garbage"]["called_s"] == pytest.approx(truth["collected"], rel=0.05, abs=0.02)


def test_threads_that_compute_for_the_batch(used):
    truth, report = used
    told = report["threads"]
    assert told["most"] >= truth["threads"] - 1  # the helper may be at its end
    assert told["others_percent"] == pytest.approx(100 * (1 - truth["thread"] / truth["process"]), abs=5)
    assert told["at_once"] == pytest.approx(truth["process"] / truth["wall"], rel=0.1)


def test_private_memory_grows(used):
    truth, report = used
    told = report["memory"]
    checks.agree(told["pid"] is not None, "on a busy machine a look takes long, and then there is no second one")
    # What it is estimated from are 512 pages of all that is writable.
    for key in ("private_first_bytes", "private_last_bytes"):
        assert min(truth["memory"]) - (48 << 20) < told[key] < max(truth["memory"]) + (48 << 20)
    grown = told["batches"] * truth["pages"] * 4096
    assert told["private_last_bytes"] - told["private_first_bytes"] == pytest.approx(grown, rel=0.3, abs=16 << 20)
