"""Slow workers, slow storage, uneven batches, and memory that is copied."""
import pytest

import situations


@pytest.mark.parametrize("name", ["slow_stream", "slow_part_of_a_dataset"])
def test_one_slow_worker(name, tracer):
    situations.is_told(tracer, "slow_worker", name)


@pytest.mark.parametrize("name", ["files_far_away"])
def test_slow_storage(name, tracer):
    situations.is_told(tracer, "storage", name)
