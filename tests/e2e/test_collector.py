"""The collector beside real programs: started by itself, by hand, later, and while traces grow."""
import contextlib
import os
import pathlib
import signal
import subprocess

import pytest

import harness


@pytest.fixture
def command(texts):
    return harness.pure_program("--epochs", "1", "--workers", "1", data=texts)


@pytest.fixture
def daemon(tracer):
    """A collector that is started by hand; its output is checked at the end."""
    tracer.segments.mkdir(mode=0o700)
    process = subprocess.Popen([harness.COLLECTOR, "--dir", tracer.segments], stderr=subprocess.PIPE,
                               env=harness.clean_environment(), text=True)
    harness.wait_until(lambda: tracer.collector_pid() == process.pid, "the collector to serve")
    yield process
    if process.poll() is None:
        process.kill()
    process.wait()
    process.stderr.close()


def open_files(pid, descriptors=None):
    """The files behind these descriptors of a process (default: all); it may close some meanwhile."""
    files = set()
    for descriptor in descriptors or os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            files.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    return files


def test_started_by_itself_it_holds_nothing_of_the_target(tracer, photos):
    """No descriptors, session or LD_PRELOAD of the target: a reader of its pipe must see the end of file."""
    script = tracer.directory / "pause.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(harness.PROGRAMS)!r})\n"
                      "import support, timed, torch\nfrom torch.utils.data import DataLoader\n"
                      "list(DataLoader(torch.arange(8), batch_size=4, num_workers=1))\n"
                      "print('ready', flush=True)\nsys.stdin.readline()\n")
    with subprocess.Popen([harness.PYTHON, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True,
                          env=harness.clean_environment(**tracer.environment(
                              LOTUS_OUTPUT=tracer.directory / "x.lotus"))) as process:
        assert process.stdout.readline() == b"ready\n"
        collector = harness.wait_until(tracer.collector_pid, "a collector")
        assert not open_files(process.pid, (0, 1, 2)) & open_files(collector)
        assert b"LD_PRELOAD=" not in pathlib.Path(f"/proc/{collector}/environ").read_bytes()
        assert os.getsid(collector) != os.getsid(process.pid)
        assert int(pathlib.Path(f"/proc/{collector}/stat").read_text().split()[3]) != process.pid
        process.communicate(b"\n")
    assert process.returncode == 0


def test_several_programs_one_collector_by_hand(tracer, daemon, command):
    """Two programs at once, then a third: one trace each, and no second collector."""
    traces = [tracer.directory / f"{name}.lotus" for name in "abc"]
    running = [subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=harness.clean_environment(
                                    **tracer.environment(LOTUS_OUTPUT=trace)))
               for trace in traces[:2]]
    assert [process.wait(harness.PATIENCE) for process in running] == [0, 0]
    tracer.run(command, output=traces[2])
    for trace in traces:
        harness.wait_until(lambda: harness.is_complete(trace), f"{trace} to be complete")
        assert harness.Trace(trace).report["batches"]["count"] == 10
    assert tracer.collector_pid() == daemon.pid
    daemon.send_signal(signal.SIGTERM)
    said = daemon.stderr.read()
    assert daemon.wait(harness.PATIENCE) == 0
    for trace in traces:
        assert any(line.startswith(f"lotus: {trace}: ") and "0 lost" in line for line in said.splitlines())
    assert list(tracer.segments.glob("*.segment")) == []


def test_second_collector_by_hand_says_who_serves(tracer, daemon):
    outcome = harness.run([harness.COLLECTOR, "--dir", tracer.segments])
    assert outcome.code == 0
    assert f"already serving {tracer.segments} (pid {daemon.pid})" in outcome.stderr.decode()


def test_drained_later(tracer, command):
    """Without a collector the segments are a flight recorder."""
    traced, trace = tracer.run(command, LOTUS_AUTOSTART="0")
    assert traced.code == 0 and not trace.exists()
    assert len(list(tracer.segments.glob("*.segment"))) == 2
    drained = harness.run([harness.COLLECTOR, "--drain", "--dir", tracer.segments])
    assert drained.code == 0
    assert harness.Trace(trace).report["batches"]["count"] == 10
    assert harness.Trace(trace).report["trace"]["lost_events"] == 0
    assert list(tracer.segments.glob("*.segment")) == []


def test_killed_and_started_again(tracer, texts):
    """Killing a collector loses nothing: the next one continues the same trace."""
    command = harness.pure_program("--epochs", "4", "--kind", "uneven", data=texts)
    trace = tracer.directory / "x.lotus"
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env=harness.clean_environment(
                                   **tracer.environment(LOTUS_OUTPUT=trace)))
    for line in process.stdout:
        if line.startswith(b"1 "):
            break
    os.kill(harness.wait_until(tracer.collector_pid, "a collector"), signal.SIGKILL)
    process.communicate()
    assert process.returncode == 0
    harness.run([harness.COLLECTOR, "--drain", "--dir", tracer.segments])
    harness.wait_until(lambda: harness.is_complete(trace), "the trace to be complete")
    report = harness.Trace(trace).report
    assert report["batches"]["count"] == report["wait"]["count"] == 40
    assert report["trace"]["lost_events"] == 0


def test_trace_can_be_read_while_it_grows(tracer, texts):
    """A report meanwhile says that the trace is cut off, and has the data written until then."""
    trace = tracer.directory / "x.lotus"
    command = harness.pure_program("--epochs", "8", "--kind", "uneven", data=texts)
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=harness.clean_environment(**tracer.environment(LOTUS_OUTPUT=trace)))
    for line in process.stdout:
        if line.startswith(b"4 "):
            break
    outcome = harness.run([harness.ANALYZE, "report", "--json", trace])
    assert outcome.code == 0
    running = harness.Trace(trace).report
    process.communicate()
    assert process.returncode == 0
    harness.wait_until(lambda: harness.is_complete(trace), "the trace to be complete")
    ended = harness.Trace(trace).report
    assert running["trace"]["truncated"] is True and ended["trace"]["truncated"] is False
    assert 0 < running["batches"]["count"] <= ended["batches"]["count"] == 80


@pytest.mark.parametrize("options", [(), ("--persistent",)], ids=["new workers", "persistent workers"])
def test_epoch_that_is_over_is_in_the_trace(options, tracer):
    """The program and its workers stay alive and idle."""
    trace = tracer.directory / "x.lotus"
    process = subprocess.Popen([str(word) for word in harness.program("resting", *options)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=harness.clean_environment(**tracer.environment(LOTUS_OUTPUT=trace)))

    def whole():
        report = harness.Trace(trace).report if trace.exists() else None
        return report and (report["batches"]["count"], report["wait"]["count"]) == (10, 10)

    try:
        assert process.stdout.readline() == b"over\n"
        harness.wait_until(whole, "all batches to be in the trace")
        assert process.poll() is None
        process.communicate()
        assert process.returncode == 0
    finally:
        process.kill()
