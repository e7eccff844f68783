"""Programs that use every signal, including that of stack samples, behave the same under the tracer."""
import pytest

import harness

CASES = ["defaults", "ignored", "handled", "one_handled", "asked", "awaited", "suspended", "described", "forked",
         "interrupted", "replaced", "killed"]
# Cases that use SIGSTKFLT, which perf's clock sends.
OF_PERF = ["defaults", "awaited", "described", "interrupted", "replaced"]


@pytest.mark.parametrize("clock, case", [("timer", case) for case in CASES] + [("perf", case) for case in OF_PERF])
def test_same_with_and_without(clock, case, tracer):
    command = harness.program("signals", "--case", case)
    log = tracer.directory / "log"
    bare = harness.run(command)
    traced, trace = tracer.trace(command, LOTUS_SAMPLE_HZ="4999", LOTUS_SAMPLE_CLOCK=clock,
                                 LOTUS_LOG=log)
    assert traced.visible == bare.visible
    assert bare.code == (-63 if case == "killed" else 0)
    assert trace.info["records"]["stack"] > 10, "nothing was sampled"
    if trace.info["sampling"]["clock"] != clock:
        pytest.skip("perf events are not permitted here")
    # Sampling goes on as long as the program leaves a signal unused.
    ended = log.exists() and "stack sampling ended" in log.read_text()
    assert ended == (case in ("ignored", "handled"))
