"""Too few workers, and workers that have nothing to do."""
import pytest

import situations


@pytest.mark.parametrize("name", ["one_worker", "no_workers", "validation_without_workers"])
def test_too_few_workers(name, tracer):
    situations.is_told(tracer, "workers", name)


@pytest.mark.parametrize("name, conditional", [("slow_stream", True), ("one_worker", False)])
def test_workers_of_a_stream_are_advised_if_it_deals_out(name, conditional, tracer):
    """One that does not would give each sample several times."""
    advice = situations.traced(tracer, "workers", name, "bad")["advice"]
    said = [one["message"] for one in advice if one["action"] == "workers"]
    assert said and all(("get_worker_info()" in message) == conditional for message in said), advice


@pytest.mark.parametrize("name", ["long_videos", "bursts"])
def test_uneven_batches(name, tracer):
    situations.is_told(tracer, "uneven", name)


@pytest.mark.parametrize("name", ["fewer_shards_than_workers", "fewer_batches_than_workers"])
def test_workers_without_work(name, tracer):
    situations.is_told(tracer, "idle_workers", name)
