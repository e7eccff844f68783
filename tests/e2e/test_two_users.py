"""Another user of the machine cannot read, inject, delete, or block by creating names first.

Runs as root, and acts as two users: ADA traces, EVE attacks.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

import harness

ADA, EVE = 61001, 61002
NAMESPACE = os.stat("/proc/self/ns/pid").st_ino
SUFFIX = "" if NAMESPACE == 0xEFFFFFFC else f"-{NAMESPACE}"  # as in a container
SHARED_MEMORY = pathlib.Path(f"/dev/shm/lotus-{ADA}{SUFFIX}")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play two users")


def as_user(user, command, **environment):
    """Runs a command as a user; the environment has only the given variables. Returns the Outcome."""
    everything = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, user=user, group=user, extra_groups=[], umask=0o022, cwd="/",
                               start_new_session=True, env={name: str(value) for name, value in everything.items()})
    try:
        stdout, stderr = process.communicate(timeout=harness.PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return harness.Outcome(process, stdout, stderr)


def attack(code, *arguments):
    """Runs Python code as EVE. Returns the name of the exception that ended it, or `done`."""
    script = f"import os, sys\ntry:\n    {code}\n    print('done')\nexcept OSError as error:\n    print(type(error).__name__)"
    return as_user(EVE, ["/usr/bin/python3", "-c", script, *arguments]).stdout.decode().strip()


class World:
    """Files that both can read, and a directory of ADA's own."""

    def __init__(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="lotus-users-"))
        self.place.chmod(0o755)
        for source, target in ((harness.LIBRARY, "lib"), (harness.COLLECTOR, "bin"), (harness.ANALYZE, "bin")):
            (self.place / target).mkdir(exist_ok=True)
            shutil.copy(source, self.place / target)
        shutil.copytree(harness.FAKE_TORCH, self.place / "fake_torch")
        shutil.copy(harness.PROGRAMS / "logged.py", self.place)
        shutil.copytree(harness.PROGRAMS / "runners", self.place / "runners")
        self.common = self.directory("common", 0, 0o1777)  # as /tmp
        self.home = self.directory("home", ADA, 0o700)
        self.output = self.home / "x.lotus"

    def directory(self, name, owner, mode):
        path = self.place / name
        path.mkdir()
        os.chown(path, owner, owner)
        path.chmod(mode)
        return path

    def trace(self, **environment):
        """Runs ADA's program under the tracer to its end."""
        variables = {"LD_PRELOAD": self.place / "lib/liblotus.so", "LOTUS_OUTPUT": self.output, "HOME": self.home,
                     "TMPDIR": self.common, "PYTHONPATH": self.place / "fake_torch", **environment}
        return as_user(ADA, ["/usr/bin/python3", self.place / "logged.py", "--log", self.home / "log", "--batches", "5"],
                       **variables)

    def collector(self, user, *options):
        return as_user(user, [self.place / "bin/lotus-collector", *options], HOME=self.home, TMPDIR=self.common)

    def is_complete(self):
        harness.wait_until(lambda: harness.is_complete(self.output), "the collector to finish")
        info = harness.Trace(self.output).info
        assert info["lost_events"] == info["damaged"]["count"] == info["unrecorded_workers"] == 0
        return harness.Trace(self.output).report["batches"]["count"] == 10


@pytest.fixture
def world():
    if SHARED_MEMORY.is_dir() and not SHARED_MEMORY.is_symlink():
        shutil.rmtree(SHARED_MEMORY)
    made = World()
    yield made
    for lock in (SHARED_MEMORY, made.common / f"lotus-{ADA}{SUFFIX}", made.home / f".lotus{SUFFIX}"):
        try:
            pid = int((lock / "collector.lock").read_text().split()[0])
            harness.wait_until(lambda: not pathlib.Path(f"/proc/{pid}").exists(), "the collector to end")
        except (OSError, ValueError, IndexError):
            pass
    if SHARED_MEMORY.is_symlink() or SHARED_MEMORY.is_file():
        SHARED_MEMORY.unlink()
    else:
        shutil.rmtree(SHARED_MEMORY, ignore_errors=True)
    shutil.rmtree(made.place)


@pytest.fixture
def recorded(world):
    """ADA's segments, which no collector has served."""
    assert world.trace(LOTUS_AUTOSTART="0").code == 0
    segments = sorted(SHARED_MEMORY.glob("*.segment"))
    assert segments
    return segments


def test_read(world, recorded):
    assert attack("os.listdir(sys.argv[1])", SHARED_MEMORY) == "PermissionError"
    assert attack("open(sys.argv[1], 'rb')", recorded[0]) == "PermissionError"
    assert attack("open(sys.argv[1], 'rb')", SHARED_MEMORY / "collector.lock") in ("PermissionError", "FileNotFoundError")
    shared = world.common / "x.lotus"
    assert world.trace(LOTUS_OUTPUT=shared).code == 0
    harness.wait_until(lambda: harness.is_complete(shared), "the collector to finish")
    assert attack("open(sys.argv[1], 'rb')", shared) == "PermissionError"
    assert b"Permission denied" in as_user(EVE, [world.place / "bin/lotus-collector", "--status", "--dir", SHARED_MEMORY]).stdout


def test_delete_and_change(world, recorded):
    for code in ("os.unlink(sys.argv[1])", "os.truncate(sys.argv[1], 0)", "open(sys.argv[1], 'r+b')",
                 "os.chmod(sys.argv[1], 0o666)", "os.rename(sys.argv[1], '/dev/shm/mine')",
                 "os.link(sys.argv[1], '/dev/shm/mine')"):
        assert attack(code, recorded[0]) == "PermissionError", code
    for code in ("os.rename(sys.argv[1], '/dev/shm/mine')", "os.rmdir(sys.argv[1])", "os.chmod(sys.argv[1], 0o777)",
                 "open(sys.argv[1] + '/1-1.segment', 'x')"):
        assert attack(code, SHARED_MEMORY) == "PermissionError", code
    assert world.collector(ADA, "--drain").code == 0
    assert world.is_complete()


@pytest.mark.parametrize("user", [EVE, 0])
def test_collector_serves_its_own_user_only(user, world, recorded):
    outcome = world.collector(user, "--drain", "--dir", SHARED_MEMORY)
    assert b"belongs to user" in outcome.stderr or b"Permission denied" in outcome.stderr
    assert sorted(SHARED_MEMORY.glob("*.segment")) == recorded
    assert not world.output.exists()


PLANTS = {"directory for all": "os.mkdir(sys.argv[1]); os.chmod(sys.argv[1], 0o777)",
          "private directory": "os.mkdir(sys.argv[1], 0o700)",
          "file": "open(sys.argv[1], 'x').close()",
          "link": "os.mkdir(sys.argv[1] + '-mine'); os.chmod(sys.argv[1] + '-mine', 0o777);"
                  " os.symlink(sys.argv[1] + '-mine', sys.argv[1])",
          "dangling link": "os.symlink('/nonexistent', sys.argv[1])"}


@pytest.fixture
def planted():
    """plant(kind): EVE creates the default name of ADA's shared memory before ADA does."""
    mine = pathlib.Path(f"{SHARED_MEMORY}-mine")

    def plant(kind, path=SHARED_MEMORY):
        assert attack(PLANTS[kind], path) == "done"
        return mine if kind == "link" else path

    yield plant
    shutil.rmtree(mine, ignore_errors=True)


@pytest.mark.parametrize("kind", sorted(PLANTS))
def test_name_taken_first(kind, world, planted):
    """ADA's program and its workers use another directory, out of EVE's reach."""
    place = planted(kind)
    assert world.trace().code == 0
    assert world.is_complete()
    assert not place.is_dir() or list(place.iterdir()) == []


def test_all_guessable_names_taken_first(world, planted):
    """ADA's home is used, where nobody else can create files."""
    planted("private directory")
    planted("private directory", world.common / f"lotus-{ADA}{SUFFIX}")
    traced = world.trace()
    assert traced.code == 0
    assert world.is_complete(), traced.stderr


def test_trace_planted_first(world):
    """A link or a file where the trace would go is neither followed nor overwritten."""
    target = world.directory("eve", EVE, 0o777) / "target"
    output = world.common / "x.lotus"
    assert attack("os.symlink(sys.argv[2], sys.argv[1])", output, target) == "done"
    assert world.trace(LOTUS_OUTPUT=output).code == 0
    world.output = world.common / "x.lotus.1"
    assert world.is_complete()
    assert not target.exists()
    assert attack("open(sys.argv[1], 'rb')", world.output) == "PermissionError"
