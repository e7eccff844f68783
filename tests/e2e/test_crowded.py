"""Other programs use the cores: the report tells how long fetches waited for one, and blames nothing else."""
import pytest

import checks
import harness


@pytest.fixture
def crowded(measured):
    return measured("crowded", harness.program("crowded"))


def test_waiting_for_a_core_is_told_from_sleeping(crowded):
    off = crowded.truth["off_percent"]
    checks.agree(off > 25, "the others did not run")
    checks.near(crowded.trace.report["core_wait_percent"], off, share=0, slack=10)


def test_what_lies_between_operations_is_not_blamed(crowded):
    assert "outside any operation" not in crowded.trace.report["verdict"]["message"]
    work = crowded.trace.ops()["Burns.work"]
    checks.agree(work["share_percent"] > 50, work)


def test_cpu_time_of_an_operation_is_its_own(crowded):
    checks.near(crowded.trace.ops()["Burns.work"]["cpu_s"], 0.02 * crowded.truth["batches"], share=0.15)
