"""Killed at any time, on a full disk, with a truncated trace: finished batches are in the trace.

For more of these runs: python3 tests/e2e/kills.py --runs 500
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
