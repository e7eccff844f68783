"""Fixtures: photographs, tracers, and programs that run with and without the tracer."""
import json
import shutil
import signal
import subprocess

import pytest

pytest.register_assert_rewrite("checks", "harness")

import checks  # noqa: E402
import harness  # noqa: E402
import truth_reader  # noqa: E402

# Background jobs of a shell inherit an ignored SIGINT; the programs must run as from a terminal.
signal.signal(signal.SIGINT, signal.default_int_handler)

RUNS = 3  # at most, of a test whose times do not agree


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Calls the test. On Disturbed, runs its programs anew and calls it again; other errors fail at once.

    Repetitions are logged in harness.DISTURBED, which tools/test shows at its end.
    """
    given = pyfuncitem.funcargs
    for run in range(1, RUNS + 1):
        try:
            pyfuncitem.obj(**{name: given[name] for name in pyfuncitem._fixtureinfo.argnames})
            return True
        except checks.Disturbed as disturbed:
            if run == RUNS:
                raise
            with open(harness.DISTURBED, "a") as told:
                print(f"{pyfuncitem.nodeid}, run {run}: {disturbed}", file=told)
        for used in (given[name] for name in ("pair", "measured") if name in given):
            used.measure()
        if "tmp_path" in given:
            shutil.rmtree(given["tmp_path"])
            given["tmp_path"].mkdir()


@pytest.fixture(scope="session", autouse=True)
def built():
    for path in (harness.LIBRARY, harness.COLLECTOR, harness.ANALYZE):
        if not path.is_file():
            pytest.exit(f"{path} is missing: build first, or name the build directory in LOTUS_BUILD", 1)


@pytest.fixture(scope="session")
def photos():
    """64 photographs in 8 classes."""
    directory = harness.BUILD / "tests/photos"
    subprocess.run([harness.SOURCE / "tools/photos", directory, "64"], check=True)
    return directory


@pytest.fixture(scope="session")
def cases_data():
    """The data of programs/cases."""
    directory = harness.BUILD / "tests/cases"
    subprocess.run([harness.PROGRAMS / "cases/make_data.py", directory], check=True)
    return directory


@pytest.fixture(scope="session")
def texts(tmp_path_factory):
    """40 files of text: 10 batches of the pipeline in pure Python."""
    directory = tmp_path_factory.mktemp("texts")
    for number in range(40):
        lines = [f"{value}\n" for value in range(7 * number, 7 * number + 300)]
        (directory / f"{number:02}.txt").write_text("".join(lines))
    return directory


@pytest.fixture(scope="module")
def tracers():
    """The tracers of a module, closed at its end: their lingering collectors then end in parallel."""
    used = []
    yield used
    for tracer in used:
        tracer.close()


@pytest.fixture
def tracer(tmp_path, tracers):
    tracers.append(harness.Tracer(tmp_path))
    return tracers[-1]


class _Measured:
    """Something that is measured under the tracer, and can be measured again."""

    def __init__(self, place, tracers, command, environment):
        """`place`: a function that makes an empty directory. `command`: also a function of that directory."""
        self._of = place, tracers, command, environment
        self.measure()

    def measure(self):
        """Replaces all earlier results."""
        place, tracers, command, environment = self._of
        directory = place()
        self.tracer = harness.Tracer(directory)
        tracers.append(self.tracer)
        self._measure(directory, command(directory) if callable(command) else command, environment)


class Pair(_Measured):
    """A program run without (`bare`) and with the tracer (`traced`), with the trace and the truth file."""

    def _measure(self, directory, command, environment):
        self.bare = harness.run([*command, "--truth", directory / "bare"], **environment)
        self.traced, self.trace = self.tracer.trace([*command, "--truth", directory / "truth"], **environment)
        self.truth = truth_reader.read(directory / "truth")


class Run(_Measured):
    """A program run with the tracer, its trace, and the truth, which it prints as JSON."""

    def _measure(self, directory, command, environment):
        outcome, self.trace = self.tracer.trace(command, **environment)
        assert outcome.code == 0, outcome.stderr.decode()
        self.truth = json.loads(outcome.stdout)


def _made_once(kind, tmp_path_factory, tracers):
    made = {}

    def make(name, command, **environment):
        if name not in made:
            made[name] = kind(lambda: tmp_path_factory.mktemp("measured"), tracers, command, environment)
        return made[name]

    return make


def _measurable(make):
    """`make`, whose measure() measures again what this test has used."""
    used = {}

    def get(name, command, **environment):
        used[name] = make(name, command, **environment)
        return used[name]

    def measure():
        for one in used.values():
            one.measure()

    get.measure = measure
    return get


@pytest.fixture(scope="module")
def pairs(tmp_path_factory, tracers):
    """pairs(name, command): a Pair, made once per module for each name."""
    return _made_once(Pair, tmp_path_factory, tracers)


@pytest.fixture
def pair(pairs):
    """Like `pairs`; runs them again where times do not agree."""
    return _measurable(pairs)


@pytest.fixture(scope="module")
def runs(tmp_path_factory, tracers):
    """runs(name, command): a Run, made once per module for each name."""
    return _made_once(Run, tmp_path_factory, tracers)


@pytest.fixture
def measured(runs):
    """Like `runs`; runs them again where times do not agree."""
    return _measurable(runs)
