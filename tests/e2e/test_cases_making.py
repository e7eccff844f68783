"""Programs of public reports: what making a batch costs."""
import pytest

import situations


@pytest.mark.parametrize("cause, name", [
    ("op", "row_of_a_dataframe"),
    ("op", "whole_column"),
    ("op", "deep_copy"),
    ("own_code", "directory_for_each_sample"),
    ("batching", "rows_in_memory"),
    ("gc", "collects_garbage"),
    ("memory", "list_of_records"),
])
def test_the_cause_is_told_first(cause, name, tracer, cases_data):
    situations.case_is_told(tracer, cause, name, cases_data)
