"""Programs of public reports: threads and workers that want more cores than there are, and workers that wait."""
import pytest

import situations


@pytest.mark.parametrize("cause, name", [
    ("threads", "opencv_threads"),
    ("oversubscribed", "many_workers"),
    ("lock", "one_lock"),
    ("lock", "table_for_each_join"),
    ("slow_worker", "one_slow_stream"),
])
def test_the_cause_is_told_first(cause, name, tracer, cases_data):
    situations.case_is_told(tracer, cause, name, cases_data)
