"""Native functions have their names while the program runs, also where it is killed with its collector."""
import contextlib
import os
import signal
import subprocess

import harness
import map_reader


def functions(trace, operation):
    """{function: samples} of an operation, of a trace that may still be written."""
    if not trace.exists():
        return {}
    found = map_reader.read(trace).ops.get(operation)
    return {function.name: function.samples for function in found.functions} if found else {}


def test_names_of_a_program_that_lives_on(tracer, photos):
    trace = tracer.directory / "x.lotus"
    process = subprocess.Popen([str(word) for word in harness.program("sampled_then_resting", data=photos)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                               env=harness.clean_environment(**tracer.environment(LOTUS_OUTPUT=trace, LOTUS_SAMPLE_HZ="999")))
    try:
        assert process.stdout.readline() == b"over\n"
        harness.wait_until(lambda: "libjpeg.so.62!?" in functions(trace, "Loader"), "samples to be in the trace")
        harness.wait_until(lambda: "ImagingResampleHorizontal_8bpc" in functions(trace, "RandomResizedCrop"), "names")
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
        assert sum(found.values()) > 20
        assert not any(name.endswith("!?") for name in found), found
    assert not harness.is_complete(trace)
