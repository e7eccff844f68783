"""Workers that take long to start, or are started for a batch or two."""
import pytest

import situations


@pytest.mark.parametrize("name", ["spawned", "slow_init", "lazy_open", "made_for_each_epoch"])
def test_starting_workers(name, tracer):
    situations.is_told(tracer, "startup", name)


@pytest.mark.parametrize("name", ["next_of_iter", "left_after_two", "loader_for_each_step"])
def test_iterators_for_a_batch(name, tracer):
    situations.is_told(tracer, "iterators", name)
