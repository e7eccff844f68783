"""A program that cannot be traced says so once, not for each process that it starts."""
import harness

NOWHERE = "/proc/nowhere"


def test_the_launcher_says_it_for_its_ranks(tracer):
    traced, trace = tracer.run(harness.program("launches_itself"), LOTUS_DIR=NOWHERE)
    assert traced.code == 0 and len(traced.stdout.split()) == 3
    line, = traced.lotus_lines
    assert f"not tracing process {traced.pid}:" in line
    assert not trace.exists()


def test_two_programs_say_it_twice(tracer):
    runs = [tracer.run(harness.program("launches_itself", "rank"), LOTUS_DIR=NOWHERE)[0] for _ in range(2)]
    assert [len(run.lotus_lines) for run in runs] == [1, 1]
