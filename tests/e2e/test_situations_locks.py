"""Workers that wait for each other."""
import pytest

import situations


@pytest.mark.parametrize("name", ["lock_of_multiprocessing", "lock_of_threading", "lock_of_a_file", "one_server"])
def test_locks(name, tracer):
    situations.is_told(tracer, "lock", name)
