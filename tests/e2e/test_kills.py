"""Killed at any moment, on a full disk, with its end cut off: what was finished is in the trace.

The same runs in greater number: python3 tests/e2e/kills.py --runs 500
"""
import pytest

import kills

RUNS = 16


@pytest.mark.parametrize("seed", range(RUNS))
def test_killed(seed):
    try:
        run = kills.one(kills.mode_of(seed), seed)
    except kills.Cannot as reason:
        pytest.skip(str(reason))
    assert run.problems == [], f"{run.victim} killed; files in {run.directory}"
