"""Operations, and the dataset's own code."""
import pytest

import situations


@pytest.mark.parametrize("name", ["directory_for_each_sample", "permutation_for_each_sample", "sorted_for_each_sample"])
def test_own_code(name, tracer):
    situations.is_told(tracer, "own_code", name)


@pytest.mark.parametrize("name", ["slow_transform", "large_photographs", "search_for_each_sample"])
def test_operations(name, tracer):
    situations.is_told(tracer, "op", name)
