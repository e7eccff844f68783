"""Errors of the program, and ends of its streams, reach it as without Lotus, wherever they come from."""
import pytest

import harness


@pytest.mark.parametrize("more", [{}, {"LOTUS_TRY": "prefetch_factor=3"}], ids=["plain", "trial"])
def test_errors_are_the_programs_own(tracer, more):
    plain = harness.run(harness.program("errors"))
    assert plain.code == 0, plain.stderr.decode()
    traced, _ = tracer.trace(harness.program("errors"), **more)
    assert traced.code == 0, traced.stderr.decode()
    assert traced.stdout.decode().splitlines() == plain.stdout.decode().splitlines()
    assert b"Planned" in plain.stdout and b"SystemError" not in traced.stderr
