"""Two installations beside each other: each starts its own collector, and a line says so where the other's serves."""
import os
import pathlib
import shutil
import subprocess

import pytest

import harness

TREE = harness.BUILD / "wheel/lotus_trace"
INITIAL_PID_NAMESPACE = 0xEFFFFFFC
# Serves a directory of segments as the collector of another version does, with segments that are not as ours, for as
# long as the command runs. In this mount namespace, /dev/shm is empty.
OTHER_VERSION = """
import fcntl, os, subprocess, sys
place, command = sys.argv[1], sys.argv[2:]
if place == "/dev/shm":
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    inode = os.stat("/proc/self/ns/pid").st_ino
    place += f"/lotus-{os.geteuid()}" + (f"-{inode}" if inode != INITIAL else "")
os.mkdir(place, 0o700)
lock = open(f"{place}/collector.lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
lock.write(f"{os.getpid()} 3 0123456789abcdef\\n")
lock.flush()
done = subprocess.run(command)
print(sorted(os.listdir(place)))
sys.exit(done.returncode)
""".replace("INITIAL", str(INITIAL_PID_NAMESPACE))


@pytest.fixture
def installations(tmp_path):
    """Two copies of what the wheel installs."""
    return [pathlib.Path(shutil.copytree(TREE, tmp_path / name / "lotus_trace")) for name in ("one", "two")]


def variables(tracer, package, name):
    return {"LD_PRELOAD": str(package / "lib/liblotus.so"), "LOTUS_DIR": str(tracer.segments),
            "LOTUS_OUTPUT": str(tracer.directory / f"{name}.lotus")}


def start_training(tracer, package):
    """A program that is traced until it is told to end."""
    code = "from torch.utils.data import DataLoader; import sys; print(len([*DataLoader([1, 2, 3])]), flush=True); sys.stdin.read()"
    known = harness.clean_environment(**variables(tracer, package, "first"), PYTHONPATH=harness.FAKE_TORCH)
    process = subprocess.Popen([harness.PYTHON, "-c", code], env=known, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"3\n"
    return process


def test_each_starts_its_own_collector_and_names_that_of_the_other(installations, tracer, texts):
    one, two = installations
    process = start_training(tracer, one)
    harness.wait_until(tracer.collector_pid, "the collector")
    pid = tracer.collector_pid()
    assert os.readlink(f"/proc/{pid}/exe") == str(one / "bin/lotus-collector")
    second = harness.run(harness.pure_program(data=texts), **variables(tracer, two, "second"))
    line = f" (by the collector of another installation: {one / 'bin/lotus-collector'}, pid {pid})\n"
    assert second.code == 0 and second.stderr.decode().endswith(line)
    _, told = process.communicate()
    assert process.returncode == 0 and b"another installation" not in told
    tracer.wait_for_collector()
    assert all(harness.is_complete(tracer.directory / f"{name}.lotus") for name in ("first", "second"))
    alone = harness.run(harness.pure_program(data=texts), **variables(tracer, two, "third"))
    assert alone.code == 0 and b"another installation" not in alone.stderr


def test_a_collector_of_another_version_is_passed_by(tracer, texts):
    """Segments go to the next place, with a collector of our own; none comes under the eyes of the other one."""
    if why := harness.cannot_unshare("-m"):
        pytest.skip(why)
    trace = tracer.directory / "x.lotus"
    command = ["env", f"LD_PRELOAD={harness.LIBRARY}", *harness.pure_program(data=texts)]
    told = harness.run(["unshare", "-m", harness.PYTHON, "-c", OTHER_VERSION, "/dev/shm", *command], HOME=tracer.directory,
                       TMPDIR=tracer.directory, XDG_RUNTIME_DIR="", LOTUS_DIR=None, LOTUS_OUTPUT=trace)
    assert told.code == 0, told.stderr.decode()
    assert told.stdout.endswith(b"['collector.lock']\n") and f"tracing to {trace}\n" in told.stderr.decode()
    harness.wait_until(lambda: harness.is_complete(trace), "our own collector")
    assert harness.Trace(trace).report["batches"]["count"] > 0


def test_where_there_is_no_other_place_nothing_is_traced(tracer, texts):
    bare = harness.run(harness.pure_program(data=texts))
    command = ["env", f"LD_PRELOAD={harness.LIBRARY}", *harness.pure_program(data=texts)]
    told = harness.run([harness.PYTHON, "-c", OTHER_VERSION, tracer.segments, *command], LOTUS_DIR=tracer.segments,
                       LOTUS_OUTPUT=tracer.directory / "x.lotus")
    assert told.code == 0 and told.stdout == bare.stdout + b"['collector.lock']\n"
    assert b"the collector of another version of Lotus (pid " in told.stderr and b"set LOTUS_DIR" in told.stderr
    assert list(tracer.directory.glob("*.lotus")) == []
