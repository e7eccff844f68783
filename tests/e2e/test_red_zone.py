"""Stacks at a function's end, where its caller's saved registers lie below the stack pointer."""
import shutil
import subprocess

import pytest

import harness

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")


def test_stacks_go_on_behind_a_function_at_its_end(tmp_path, tracers):
    library = tmp_path / "libend.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, harness.PROGRAMS / "native/at_its_end.c"], check=True)
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace([*harness.program("at_its_end"), library])
    assert outcome.code == 0, outcome.stderr.decode()
    found = {stack: used for stack, used in trace.stacks.items() if "at_its_end" in stack}
    assert sum(found.values()) > 100_000  # µs
    for stack in found:
        assert stack[:2] == ("Spin", "Spin.__call__") and stack[-2:] == ("with_a_frame", "at_its_end"), found
        assert "(cut off)" not in stack, found
