"""Some of CPython's own tests inside a traced sample: same outcomes. For all: tests/cpython/compare."""
import subprocess

import pytest

import harness

COMPARE = harness.SOURCE / "tests/cpython/compare"
HAS_TESTS = subprocess.run([harness.PYTHON, "-c", "import test.libregrtest"], capture_output=True).returncode == 0


@pytest.mark.skipif(not HAS_TESTS, reason=f"{harness.PYTHON} has no tests of its own (libpython3.11-testsuite)")
def test_quick_selection():
    outcome = harness.run([COMPARE, "--quick", "--python", harness.PYTHON], timeout=600, LOTUS_BUILD=harness.BUILD)
    assert outcome.code == 0, outcome.stdout.decode() + outcome.stderr.decode()
    rows = [line.split("|") for line in outcome.stdout.decode().splitlines()[2:]]
    assert sum(int(row[2]) for row in rows) > 200, "hardly a test ran"
