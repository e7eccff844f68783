"""Batches that cost much to move, and garbage that is collected while they are made."""
import pytest

import situations


@pytest.mark.parametrize("name", ["arrays_through_a_pipe", "objects_through_a_pipe"])
def test_moving_batches(name, tracer):
    situations.is_told(tracer, "transfer", name)


@pytest.mark.parametrize("name", ["big_heap", "by_itself"])
def test_collecting_garbage(name, tracer):
    situations.is_told(tracer, "gc", name, "garbage")
