"""gdb passes samples on without a stop when it is told to, as docs/running.md says."""
import re
import shutil

import pytest

import harness

SPINS = """
import time
from torch.utils.data import DataLoader

class Data:
    def __len__(self):
        return 8

    def __getitem__(self, index):
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass
        return index

print(len(list(DataLoader(Data(), batch_size=2))))
"""


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_command_of_the_docs(tracer):
    handle = re.search(r"`(handle SIG\d+ nostop noprint pass)`", (harness.SOURCE / "docs/running.md").read_text())[1]
    trace = tracer.directory / "x.lotus"
    variables = tracer.environment(LOTUS_OUTPUT=trace, PYTHONPATH=harness.FAKE_TORCH).items()
    wrapper = " ".join(["set exec-wrapper env", *(f"{name}={value}" for name, value in variables)])
    outcome = harness.run(["gdb", "-nx", "-batch", "-ex", wrapper, "-ex", handle, "-ex", "run",
                           "--args", harness.PYTHON, "-c", SPINS])
    told = outcome.stdout.decode()
    if "exited normally" not in told and "received signal" not in told:
        pytest.skip(f"gdb cannot run programs here: {outcome.stderr.decode()}")
    assert "received signal" not in told and "\n4\n" in told
    harness.wait_until(lambda: harness.is_complete(trace), "the collector")
    assert harness.Trace(trace).named("stack_sample")
