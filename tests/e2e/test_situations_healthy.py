"""Pipelines that keep up with training get no advice."""
import pytest

import situations

HEALTHY = ["two_workers", "in_the_training_process", "streams", "persistent_workers", "photographs",
           "rows_in_whole_batches", "training_and_validation", "small_arrays", "a_lock_and_some_garbage",
           "uneven_samples", "large_index_in_a_tensor", "weights_trained"]


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_advised(name, tracer):
    situations.is_healthy(tracer, name)
