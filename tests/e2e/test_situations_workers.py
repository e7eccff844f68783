"""Too few workers, and workers that have nothing to do."""
import pytest

import situations


@pytest.mark.parametrize("name", ["one_worker", "no_workers", "validation_without_workers"])
def test_too_few_workers(name, tracer):
    situations.is_told(tracer, "workers", name)


@pytest.mark.parametrize("name", ["long_videos", "bursts"])
def test_uneven_batches(name, tracer):
    situations.is_told(tracer, "uneven", name)


@pytest.mark.parametrize("name", ["fewer_shards_than_workers", "fewer_batches_than_workers"])
def test_workers_without_work(name, tracer):
    situations.is_told(tracer, "idle_workers", name)
