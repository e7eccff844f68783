"""Operations, and the dataset's own code."""
import pytest

import situations


@pytest.mark.parametrize("name", ["directory_for_each_sample"])
def test_own_code(name, tracer):
    situations.is_told(tracer, "own_code", name)
