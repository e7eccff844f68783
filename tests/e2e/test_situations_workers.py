"""Too few workers, and workers that have nothing to do."""
import pytest

import situations


@pytest.mark.parametrize("name", ["one_worker"])
def test_too_few_workers(name, tracer):
    situations.is_told(tracer, "workers", name)
