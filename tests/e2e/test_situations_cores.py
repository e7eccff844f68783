"""Threads, workers and other programs that want more cores than there are."""
import pytest

import situations


@pytest.mark.parametrize("name", ["pool_of_torch", "pool_of_its_own"])
def test_pools_of_threads(name, tracer):
    situations.is_told(tracer, "threads", name)


@pytest.mark.parametrize("name", ["photographs", "computing"])
def test_more_workers_than_cores(name, tracer):
    situations.is_told(tracer, "oversubscribed", name)


@pytest.mark.parametrize("name", ["two_busy_programs", "four_busy_programs", "two_workers_beside_others"])
def test_crowded_machines(name, tracer):
    """Only with the cause: whether others use the machine that runs the tests is not known."""
    assert situations.traced(tracer, "crowded", name, "bad")["cause"] == "crowded"
