"""Native functions get names while the program runs, so also if it is killed with its collector."""
import contextlib
import os
import signal
import subprocess

import pytest

import harness
import map_reader


def functions(trace, operation):
    """{function: samples} of an operation. The trace may still be written."""
    if not trace.exists():
        return {}
    found = map_reader.read(trace).ops.get(operation)
    return {function.name: function.samples for function in found.functions} if found else {}


@pytest.mark.parametrize("epochs", [4, 1_000_000], ids=["resting", "busy"])
def test_names_of_a_program_that_lives_on(epochs, tracer, photos):
    trace = tracer.directory / "x.lotus"
    command = harness.program("sampled_then_resting", "--epochs", epochs, data=photos)
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True,
                               env=harness.clean_environment(**tracer.environment(LOTUS_OUTPUT=trace, LOTUS_SAMPLE_HZ="999")))
    try:
        harness.wait_until(lambda: functions(trace, "Loader"), "samples to be in the trace")
        harness.wait_until(lambda: "ImagingResampleHorizontal_8bpc" in functions(trace, "RandomResizedCrop"), "names",
                           2 * harness.PATIENCE)
        assert process.poll() is None and not harness.is_complete(trace)
    finally:
        collector = tracer.collector_pid()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if collector:
            os.kill(collector, signal.SIGKILL)
        process.communicate()
    for operation in "Loader", "RandomResizedCrop":
        found = functions(trace, operation)
        unnamed = sum(samples for name, samples in found.items() if name.endswith("!?"))
        assert sum(found.values()) > 20
        assert unnamed <= (sum(found.values()) / 5 if epochs > 4 else 0), found
    assert not harness.is_complete(trace)
