"""Threads, workers and other programs that want more cores than there are."""
import pytest

import situations


@pytest.mark.parametrize("name, pool", [("pool_of_torch", "OpenMP"), ("pool_of_its_own", "Python")])
def test_pools_of_threads(name, pool, tracer):
    verdict = situations.is_told(tracer, "threads", name)
    assert f"mostly of {pool}" in verdict["message"], verdict


@pytest.mark.parametrize("name", ["photographs", "computing"])
def test_more_workers_than_cores(name, tracer):
    situations.is_told(tracer, "oversubscribed", name)


@pytest.mark.parametrize("name", ["two_busy_programs", "four_busy_programs", "two_workers_beside_others"])
def test_crowded_machines(name, tracer):
    """Only with the cause: whether others use the machine that runs the tests is not known."""
    assert situations.traced(tracer, "crowded", name, "bad")["cause"] == "crowded"
