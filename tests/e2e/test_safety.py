"""Samples at 4999 Hz during forks, dlopen, exceptions, recursion, signals, threads. Longer: tests/safety."""
import shutil

import pytest

import harness


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
def test_results_never_change():
    outcome = harness.run([harness.PYTHON, harness.SOURCE / "tests/safety", "--quick"], timeout=600,
                          LOTUS_BUILD=harness.BUILD)
    rows = outcome.stdout.decode().splitlines()[2:]
    assert outcome.code == 0 and len(rows) == 12, outcome.stdout.decode() + outcome.stderr.decode()
    assert sum(int(row.split("|")[6].replace(",", "")) for row in rows) > 100, "hardly a sample was taken"
