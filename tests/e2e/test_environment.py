"""Invalid settings, and paths that cannot be written to: one clear message, and the target is unharmed."""
import contextlib
import os
import pathlib
import shutil
import subprocess

import pytest

import harness

INITIAL_PID_NAMESPACE = 0xEFFFFFFC


@pytest.fixture(scope="module")
def command(texts):
    return harness.pure_program("--epochs", "1", data=texts)


@pytest.fixture(scope="module")
def bare(command):
    return harness.run(command)


def unharmed(bare, traced):
    assert traced.visible == bare.visible


@pytest.mark.parametrize("setting, words", [
    ({"LOTUS_AUTOSTART": "maybe"}, ["LOTUS_AUTOSTART", "maybe", "0 or 1"]),
    ({"LOTUS_OFF": "perhaps"}, ["LOTUS_OFF", "perhaps", "0 or 1"]),
    ({"LOTUS_SAMPLE_HZ": "fast"}, ["LOTUS_SAMPLE_HZ", "fast", "number"]),
    ({"LOTUS_SAMPLE_HZ": "-1"}, ["LOTUS_SAMPLE_HZ", "-1"]),
    ({"LOTUS_SAMPLE_HZ": "1" * 400}, ["LOTUS_SAMPLE_HZ"]),
    ({"LOTUS_SAMPLE_CLOCK": "sundial"}, ["LOTUS_SAMPLE_CLOCK", "sundial", "timer or perf"]),
    ({"LOTUS_TORCH_OPS": "some"}, ["LOTUS_TORCH_OPS", "some", "0, auto, top or all"]),
    ({"LOTUS_REGION": "train.py:forward"}, ["LOTUS_REGION", "train.py:forward", "a function's qualified name"]),
    ({"LOTUS_REGION": "n" * 600}, ["LOTUS_REGION"]),
    ({"LOTUS_CONTROL_FLOW": "yes"}, ["LOTUS_CONTROL_FLOW", "yes", "0 or 1"]),
    ({"LOTUS_OUPUT": "x.lotus"}, ["LOTUS_OUPUT is no variable of Lotus"]),
    ({"LOTUS_\x1b[31m" + "N" * 400: "x", "LOTUS_OF": "1", "LOTUS_OFFF": ""}, ["LOTUS_OF is no", "LOTUS_OFFF is no"]),
    ({f"LOTUS_UNKNOWN_{i}": "1" for i in range(40)}, ["LOTUS_UNKNOWN_"]),
    ({"LOTUS_AUTOSTART": "\x1b[31m\n", "LOTUS_SAMPLE_HZ": "\udcff"}, ["LOTUS_AUTOSTART", "LOTUS_SAMPLE_HZ"]),
])
def test_nonsense_is_named_and_ignored(setting, words, command, bare, tracer):
    traced, trace = tracer.trace(command, **setting)
    unharmed(bare, traced)
    assert len(traced.lotus_lines) <= 1
    for word in words:
        assert word in traced.lotus_lines[0]
    assert b"\x1b" not in traced.stderr
    assert trace.report["batches"]["count"] == 10


def test_empty_values_count_as_unset(command, bare, tracer):
    traced, trace = tracer.trace(command, LOTUS_OFF="", LOTUS_AUTOSTART="", LOTUS_SAMPLE_HZ="", LOTUS_LOG="",
                                 LOTUS_TORCH_OPS="")
    unharmed(bare, traced)
    assert traced.lotus_lines == [f"lotus: tracing to {trace.path}"]
    assert trace.report["batches"]["count"] == 10


def test_name_of_the_trace_without_output(command, bare, tracer):
    """lotus-<program>-<pid>.lotus in the working directory; in a container, also with the host's name."""
    traced = harness.run(command, cwd=tracer.directory, **tracer.environment())
    unharmed(bare, traced)
    host = f"-{os.uname().nodename}" if os.stat("/proc/self/ns/pid").st_ino != INITIAL_PID_NAMESPACE else ""
    path = tracer.directory / f"lotus-pure{host}-{traced.pid}.lotus"
    harness.wait_until(lambda: harness.is_complete(path), f"{path} to be complete")
    assert traced.lotus_lines == [f"lotus: tracing to {path}"]
    assert harness.run([harness.ANALYZE, "report"], cwd=tracer.directory).code == 0


def test_containers_that_share_a_directory(command, bare, tracers, tmp_path):
    """Python is pid 1 in each container; still no trace replaces another."""
    if why := harness.cannot_unshare("--uts", "--pid", "--mount-proc", "--fork"):
        pytest.skip(why)
    shared = tmp_path / "shared"
    shared.mkdir()
    hosts = ["train-0", "train-1", "train-2"]
    for host in hosts:
        inside = ["unshare", "--uts", "--pid", "--mount-proc", "--fork", "sh", "-c", f'hostname {host} && exec "$@"', "sh"]
        tracers.append(harness.Tracer(tmp_path))
        traced, _ = tracers[-1].run([*inside, *command], output=shared)
        unharmed(bare, traced)
    assert sorted(path.name for path in shared.iterdir()) == [f"lotus-pure-{host}-1.lotus" for host in hosts]
    assert all(harness.is_complete(path) for path in shared.iterdir())


@pytest.mark.parametrize("output", ["/proc/no/such.lotus", "/no-such-directory/of/mine.lotus"])
def test_output_that_cannot_be_written(output, command, bare, tracer):
    """The trace goes elsewhere or is not made, with one message."""
    log = tracer.directory / "log"
    traced, _ = tracer.run(command, output=output, LOTUS_LOG=log, TMPDIR=tracer.directory)
    unharmed(bare, traced)
    assert len(traced.lotus_lines) == 1
    tracer.wait_for_collector()
    assert f"LOTUS_OUTPUT={output} cannot be written" in log.read_text() + traced.lotus_lines[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_output_directory_without_permission(command, bare, tracer):
    closed = tracer.directory / "closed"
    closed.mkdir(mode=0o500)
    traced, _ = tracer.run(command, output=closed / "x.lotus")
    unharmed(bare, traced)
    assert str(closed) in traced.lotus_lines[0]


def test_output_is_a_directory(command, bare, tracer):
    (tracer.directory / "taken.lotus").mkdir()
    traced, _ = tracer.run(command, output=tracer.directory / "taken.lotus", TMPDIR=tracer.directory)
    unharmed(bare, traced)
    assert len(traced.lotus_lines) == 1


def test_another_file_in_the_way_is_left_alone(command, bare, tracer):
    path = tracer.directory / "notes.lotus"
    path.write_text("not a trace\n")
    traced, _ = tracer.run(command, output=path)
    unharmed(bare, traced)
    tracer.wait_for_collector()
    assert path.read_text() == "not a trace\n"
    beside = tracer.directory / "notes.lotus.1"
    assert harness.Trace(beside).report["batches"]["count"] == 10


@contextlib.contextmanager
def disk(directory, size):
    """Mounts a file system of this size."""
    directory.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", directory],
                             capture_output=True)
    if mounted.returncode != 0:
        pytest.skip(f"no mount here: {mounted.stderr.decode()}")
    yield directory
    subprocess.run(["umount", "-l", directory], check=True)


@pytest.fixture
def tiny(tmp_path):
    """A full disk."""
    with disk(tmp_path / "tiny", "64k") as directory:
        yield directory


def test_trace_on_a_read_only_disk(tiny, command, bare, tracer):
    subprocess.run(["mount", "-o", "remount,ro", tiny], check=True)
    log = tracer.directory / "log"
    traced, _ = tracer.run(command, output=tiny / "x.lotus", LOTUS_LOG=log, TMPDIR=tracer.directory)
    unharmed(bare, traced)
    tracer.wait_for_collector()
    assert str(tiny) in log.read_text() + traced.lotus_lines[0]


def test_segments_on_a_full_disk(tiny, command, bare, tracer):
    traced, trace = tracer.run(command, LOTUS_DIR=tiny)
    unharmed(bare, traced)
    assert len(traced.lotus_lines) == 1
    assert str(tiny) in traced.lotus_lines[0]
    assert list(tiny.glob("*.segment")) == []


@pytest.mark.parametrize("used_mib, recorded", [(20, True), (26, False)])
def test_the_last_quarter_of_shared_memory_is_left_to_the_program(used_mib, recorded, tmp_path, command, bare, tracer):
    with disk(tmp_path / "memory", "32m") as memory:
        (memory / "tensors").write_bytes(bytes(used_mib << 20))
        traced, trace = tracer.run(command, LOTUS_DIR=memory)
        unharmed(bare, traced)
        assert ("No space left on device" in "".join(traced.lotus_lines)) == (not recorded)
        if recorded:
            tracer.wait_for_collector()
        assert trace.exists() == recorded


def test_trace_on_a_full_disk(tiny, command, bare, tracer):
    log = tracer.directory / "log"
    traced, _ = tracer.run(command, output=tiny / "x.lotus", LOTUS_LOG=log, TMPDIR=tracer.directory)
    unharmed(bare, traced)
    tracer.wait_for_collector()
    assert (tiny / "x.lotus").exists()


@pytest.mark.parametrize("place", ["/proc/lotus", "/dev/null/lotus"])
def test_directory_of_segments_that_cannot_be_made(place, command, bare, tracer):
    traced, trace = tracer.run(command, LOTUS_DIR=place)
    unharmed(bare, traced)
    assert len(traced.lotus_lines) == 1
    assert place in traced.lotus_lines[0]
    assert not trace.exists()


def test_directory_of_segments_of_somebody_else(command, bare, tracer):
    """A directory that others may write to is not used."""
    shared = tracer.directory / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    traced, trace = tracer.run(command, LOTUS_DIR=shared)
    unharmed(bare, traced)
    assert str(shared) in traced.lotus_lines[0]
    assert list(shared.iterdir()) == [] and not trace.exists()


def test_no_collector_beside_the_library(command, bare, tracer):
    """The segments keep the records; a collector can turn them into a trace later."""
    alone = tracer.directory / "alone"
    alone.mkdir()
    tracer.library = pathlib.Path(shutil.copy(harness.LIBRARY, alone))
    traced, trace = tracer.run(command)
    unharmed(bare, traced)
    assert len(traced.lotus_lines) == 1 and "lotus-collector" in traced.lotus_lines[0]
    assert not trace.exists()
    drained = harness.run([harness.COLLECTOR, "--drain"], LOTUS_DIR=tracer.segments)
    assert drained.code == 0
    assert harness.Trace(trace).report["batches"]["count"] == 10


def test_collector_that_does_not_stay(texts, tracer):
    """The collector fails to start, as with the libc of an older container: one second message says so."""
    alone = tracer.directory / "alone"
    alone.mkdir()
    tracer.library = pathlib.Path(shutil.copy(harness.LIBRARY, alone))
    broken = alone / "lotus-collector"
    broken.write_text("#!/bin/sh\necho GLIBC_9.99 not found >&2\nexit 1\n")
    broken.chmod(0o755)
    command = harness.pure_program("--epochs", "10", "--kind", "uneven", data=texts)  # 4 s
    traced, trace = tracer.run(command)
    unharmed(harness.run(command), traced)
    assert not trace.exists()
    assert len(traced.lotus_lines) == 2, traced.lotus_lines
    assert str(broken) in traced.lotus_lines[1] and "--drain" in traced.lotus_lines[1]
    assert harness.run([harness.COLLECTOR, "--drain"], LOTUS_DIR=tracer.segments).code == 0
    assert harness.Trace(trace).report["batches"]["count"] == 100


def test_relative_path_of_the_library(command, bare, tracer):
    """LD_PRELOAD with a relative path: the collector is found although it starts in another directory."""
    tracer.library = pathlib.Path(os.path.relpath(harness.LIBRARY))
    traced, trace = tracer.run(command)
    unharmed(bare, traced)
    assert trace.exists(), traced.lotus_lines


def test_stderr_closed_or_moved(command, tracer):
    """A program that closes or redirects its stderr does not get our message in it."""
    script = tracer.directory / "moved.py"
    script.write_text(f"import os, runpy, sys\n"
                      f"os.close(2)\n"
                      f"file = os.open({str(tracer.directory / 'own')!r}, os.O_WRONLY | os.O_CREAT)\n"
                      f"assert file == 2\n"
                      f"sys.path.insert(0, {str(harness.PROGRAMS)!r})\n"
                      f"sys.path.insert(0, {str(harness.FAKE_TORCH)!r})\n"
                      f"sys.argv = {[str(word) for word in command[3:]]!r}\n"
                      f"runpy.run_path(sys.argv[0], run_name='__main__')\n")
    traced, trace = tracer.trace([harness.PYTHON, script])
    assert traced.code == 0 and traced.stderr == b""
    assert (tracer.directory / "own").read_bytes() == b""
    assert trace.report["batches"]["count"] == 10
