"""Samplers that work in training's process, and samples that are fetched one by one."""
import pytest

import situations


@pytest.mark.parametrize("name", ["balanced", "drawn_at_epochs_start", "batches_by_length"])
def test_samplers(name, tracer):
    situations.is_told(tracer, "sampler", name)


@pytest.mark.parametrize("name", ["rows_of_tensors", "rows_of_a_table"])
def test_rows_in_memory(name, tracer):
    situations.is_told(tracer, "batching", name)
