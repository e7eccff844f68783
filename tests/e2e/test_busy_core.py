"""On a busy machine the kernel preempts threads that read a CPU clock: that counts for no operation."""
import shutil
import subprocess
import types

import pytest

import checks
import harness
import truth_reader

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")


def test_what_runs_while_the_clock_is_read_is_not_the_operations_time(tracer, photos, tmp_path):
    slow = tmp_path / "slow_cpu_clock.so"
    source = harness.PROGRAMS / "native/slow_cpu_clock.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", slow, source], check=True)
    command = harness.program("runner", "--style", "monai", "--start-method", "fork", data=photos)
    outcome, trace = tracer.trace([*command, "--truth", tmp_path / "truth"], LD_PRELOAD=f"{tracer.library}:{slow}")
    assert outcome.code == 0
    run = types.SimpleNamespace(trace=trace, truth=truth_reader.read(tmp_path / "truth"))
    # Collations are so long that the CPU time of all but each worker's first is measured.
    assert sum(record["kind"] == "cpu" for record in trace.records) > len(run.truth.ops["Collation"])
    checks.ops(run, ["Collation"])
