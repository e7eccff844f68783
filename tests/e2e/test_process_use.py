"""What the process that makes batches uses: memory of its own, page faults, collections, threads that compute."""
import pytest

import checks
import harness


@pytest.fixture
def used(measured):
    return measured("process_use", harness.program("process_use", "10"))


def test_faults_between_batches(used):
    truth, report = used.truth, used.trace.report
    told = report["faults"]
    assert told["batches"] == truth["batches"] - 1
    assert told["minor"] == pytest.approx(truth["faults"][-1] - truth["faults"][0], rel=0.1)


def test_collections_of_all_objects(used):
    truth, report = used.truth, used.trace.report
    assert report["garbage"]["batches"] == truth["batches"]
    assert report["garbage"]["old_collections"] == truth["collections"] - 1  # the first is before the first look


def test_collections_that_the_dataset_asks_for(used):
    truth, report = used.truth, used.trace.report
    assert report["garbage"]["calls"] == truth["batches"]
    checks.near(report["garbage"]["called_s"], truth["collected"], share=0.05)


def test_threads_that_compute_for_the_batch(used):
    truth, report = used.truth, used.trace.report
    told = report["threads"]
    assert told["most"] >= truth["threads"] - 1  # the helper may be at its end
    checks.near(told["others_percent"], 100 * (1 - truth["thread"] / truth["process"]), share=0, slack=5)
    checks.near(told["at_once"], truth["process"] / truth["wall"])


def test_private_memory_grows(used):
    truth, report = used.truth, used.trace.report
    told = report["memory"]
    checks.agree(told["pid"] is not None, "on a busy machine a look takes long, and then there is no second one")
    # What it is estimated from are 512 pages of all that is writable.
    for key in ("private_first_bytes", "private_last_bytes"):
        assert min(truth["memory"]) - (48 << 20) < told[key] < max(truth["memory"]) + (48 << 20)
    grown = told["batches"] * truth["pages"] * 4096
    assert told["private_last_bytes"] - told["private_first_bytes"] == pytest.approx(grown, rel=0.3, abs=16 << 20)
