"""Errors of the program, and ends of its streams, reach it as without Lotus, wherever they come from."""
import harness


def test_errors_are_the_programs_own(tracer):
    plain = harness.run(harness.program("errors"))
    assert plain.code == 0, plain.stderr.decode()
    traced, _ = tracer.trace(harness.program("errors"))
    assert traced.code == 0, traced.stderr.decode()
    assert traced.stdout.decode().splitlines() == plain.stdout.decode().splitlines()
    assert b"Planned" in plain.stdout and b"SystemError" not in traced.stderr
