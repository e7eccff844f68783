"""A real training in containers, services and with other tools: same results, complete trace."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import harness
import native_reader
import sound

PHOTOS = 64
BATCHES = 8
NOBODY = "65534"
SMALL_MEMORY = 'mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm && exec "$@"'
# With shared memory of its own: else its collector, which can write nowhere else, would serve the conditions beside it.
READ_ONLY = 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && mount --bind "$TMPDIR" "$TMPDIR" && mount -o remount,ro,bind / && cd / && exec "$@"'
MALLOCS = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4"}


class Place:
    """Copies that all users may read: the library, its collector, the programs and the photographs."""

    def __init__(self, photos):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="lotus-test-", dir="/var/tmp"))
        self.path.chmod(0o755)
        for directory, file in ("lib", harness.LIBRARY), ("bin", harness.COLLECTOR):
            (self.path / directory).mkdir()
            shutil.copy(file, self.path / directory)
        self.library = self.path / "lib" / harness.LIBRARY.name
        shutil.copytree(harness.PROGRAMS, self.path / "programs")
        shutil.copytree(photos, self.path / "photos")
        restrict = harness.PROGRAMS / "hostile/c/restrict.c"
        if shutil.which("gcc"):
            subprocess.run(["gcc", "-o", self.path / "restrict", restrict], check=True)

    def command(self):
        return [harness.PYTHON, self.path / "programs/classify.py", "--data", self.path / "photos", "--epochs", "1"]

    def new(self):
        directory = pathlib.Path(tempfile.mkdtemp(dir=self.path))
        directory.chmod(0o777)
        return directory


class Condition:
    """`before`: words before the command. `settings`: environment variables. `needs`: programs or libraries.

    In these, `{place}` is the directory of the copies; `{rw}` one that everybody may write to, the working
    directory.
    """

    def __init__(self, name, *before, needs=(), preload="{lotus}", **settings):
        self.name, self.before, self.needs, self.preload = name, before, needs, preload
        self.settings = {"LOTUS_OUTPUT": "{rw}/trace.lotus", "TMPDIR": "{rw}", **settings}

    def why_not(self):
        for need in self.needs:
            if need == "root" and os.geteuid() != 0:
                return "only root may do this"
            if need.endswith((".so.2", ".so.4")):
                if not pathlib.Path("/usr/lib/x86_64-linux-gnu", need).exists():
                    return f"no {need} here"
            elif need != "root" and not shutil.which(need):
                return f"no {need} here"
        return None


def with_malloc(name, library):
    return [Condition(f"{name} before", preload=library + " {lotus}", needs=[library]),
            Condition(f"{name} after", preload="{lotus} " + library, needs=[library])]


CONDITIONS = [
    Condition("64 MiB of shared memory", "unshare", "-m", "sh", "-c", SMALL_MEMORY, "sh", needs=["root", "unshare"]),
    Condition("system calls refused", "{place}/restrict", needs=["gcc"], LOTUS_SAMPLE_CLOCK="perf"),
    Condition("read-only root", "unshare", "-m", "sh", "-c", READ_ONLY, "sh", needs=["root", "unshare"],
              LOTUS_OUTPUT=None),
    Condition("another user without home", "setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups",
              needs=["root", "setpriv"], HOME="/nonexistent"),
    Condition("all at once", "unshare", "-m", "sh", "-c", SMALL_MEMORY, "sh", "setpriv", "--reuid", NOBODY, "--regid", NOBODY,
              "--clear-groups", "{place}/restrict", needs=["root", "unshare", "setpriv", "gcc"], HOME=None),
    *with_malloc("jemalloc", MALLOCS["jemalloc"]),
    *with_malloc("tcmalloc", MALLOCS["tcmalloc"]),
    Condition("fixed addresses", "setarch", "-R", needs=["setarch"]),
    Condition("first process of a container", "unshare", "--pid", "--mount-proc", "--fork", needs=["root", "unshare"],
              LOTUS_DIR="{rw}/segments"),
    Condition("nohup", "nohup", needs=["nohup"]),
    Condition("cron's environment", "env", "-i", "HOME=/", "LOGNAME=root", "SHELL=/bin/sh", "PATH=/usr/bin:/bin",
              "LD_PRELOAD={preload}", "LOTUS_OUTPUT={rw}/trace.lotus", "sh", "-c", 'exec "$@"', "sh"),
    Condition("a service's environment", "env", "-i", "LD_PRELOAD={preload}", "LOTUS_OUTPUT={rw}/trace.lotus",
              "INVOCATION_ID=0123456789abcdef", "JOURNAL_STREAM=8:1", "setsid", "-w", needs=["setsid"]),
]


@pytest.fixture(scope="module")
def place(photos):
    made = Place(photos)
    yield made
    shutil.rmtree(made.path)


class Run:
    def __init__(self, condition, place):
        rw = place.new()
        preload = condition.preload.format(lotus=place.library)
        names = {"place": place.path, "rw": rw, "preload": preload}
        before = [word.format(**names) if "{" in word and '"$@"' not in word else word for word in condition.before]
        settings = {name: value if value is None else value.format(**names) for name, value in condition.settings.items()}
        self.outcome = harness.run([*before, *place.command()], cwd=rw, timeout=120, LD_PRELOAD=preload, **settings)


@pytest.fixture(scope="module")
def bare(place):
    return harness.run(place.command())


@pytest.fixture(scope="module")
def runs(request, place, bare):
    wanted = {item.callspec.params.get("name") for item in request.session.items if item.module is request.module}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield {condition.name: pool.submit(Run, condition, place) for condition in CONDITIONS
               if condition.name in wanted and condition.why_not() is None}


@pytest.mark.parametrize("name", [condition.name for condition in CONDITIONS])
def test_training(name, runs, bare):
    condition = next(condition for condition in CONDITIONS if condition.name == name)
    if condition.why_not() is not None:
        pytest.skip(condition.why_not())
    outcome = runs[name].result().outcome
    if outcome.code != 0 and b"permitted" in outcome.stderr:
        pytest.skip(outcome.stderr.decode())
    assert outcome.visible == bare.visible and bare.code == 0
    assert len(outcome.lotus_lines) == 1
    path = pathlib.Path(re.match(r"lotus: tracing to ([^; ]+)", outcome.lotus_lines[0]).group(1))
    harness.wait_until(lambda: harness.is_complete(path), f"the collector to finish {path}")
    trace = harness.Trace(path)
    assert sound.problems(trace) == []
    assert trace.report["trace"]["lost_definitions"] == 0
    assert trace.report["batches"]["count"] == trace.report["wait"]["count"] == BATCHES
    assert trace.ops()["Loader"]["count"] == PHOTOS
    assert trace.info["records"]["stack_sample"] > 0
    counted = native_reader.totals(native_reader.entries(trace))
    assert counted["ImagingDecoder.decode"].calls >= counted["jpeg_read_header"].calls == PHOTOS


QUOTAS = {"unified": {"cpu.max": "50000 100000"}, "version 1": {"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "100000"},
          "no limit": {"cpu.max": "max 100000", "cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}}


@pytest.mark.parametrize("kind", QUOTAS)
def test_cores_that_a_control_group_grants(kind, tmp_path, tracers, photos):
    """With control group files as in a container, the granted cores count, not those of the machine."""
    if why := harness.cannot_unshare("-m"):
        pytest.skip(why)
    write = "".join(f'mkdir -p "$(dirname {name})" && echo {text} > {name} && ' for name, text in QUOTAS[kind].items())
    limited = f'mount -t tmpfs tmpfs /sys/fs/cgroup && cd /sys/fs/cgroup && {write} cd / && exec "$@"'
    tracers.append(harness.Tracer(tmp_path))
    outcome, trace = tracers[-1].trace(["unshare", "-m", "sh", "-c", limited, "sh", *harness.program("classify", data=photos)])
    assert outcome.code == 0, outcome.stderr.decode()
    assert trace.report["trace"]["cores"] == (len(os.sched_getaffinity(0)) if kind == "no limit" else 1)
