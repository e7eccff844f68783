"""Programs of public reports: what happens in training's process, and the start of workers."""
import pytest

import situations


@pytest.mark.parametrize("cause, name", [
    ("sampler", "drawn_one_by_one"),
    ("startup", "spawned_each_epoch"),
    ("startup", "slow_worker_init"),
    ("iterators", "iterator_for_each_step"),
    ("transfer", "arrays_through_a_pipe"),
    ("dataset_in_step", "length_in_each_step"),
])
def test_the_cause_is_told_first(cause, name, tracer, cases_data):
    situations.case_is_told(tracer, cause, name, cases_data)
