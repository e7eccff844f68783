"""A test whose times differ runs again, in an empty directory; other errors, or the last run, fail it."""
import collections

import pytest

import checks
import conftest
import harness

runs = collections.Counter()
traces = []


@pytest.fixture(autouse=True, scope="module")
def told(tmp_path_factory):
    """Logs repetitions of these tests in a file of their own, so that tools/test does not show them."""
    path = tmp_path_factory.mktemp("told") / "disturbed.txt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness, "DISTURBED", path)
        yield path


def test_disturbed_once(tmp_path):
    runs["once"] += 1
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "left").touch()
    checks.agree(runs["once"] > 1, "the first run")


@pytest.mark.xfail(raises=checks.Disturbed, strict=True)
def test_disturbed_each_time():
    runs["each"] += 1
    checks.agree(False)


@pytest.mark.xfail(raises=AssertionError, strict=True)
def test_wrong_otherwise():
    runs["otherwise"] += 1
    assert runs["otherwise"] != 1


def test_so_often(told):
    assert runs == {"once": 2, "each": conftest.RUNS, "otherwise": 1}
    assert [line.split("::")[1].split(":")[0] for line in told.read_text().splitlines()] == [
        "test_disturbed_once, run 1", *(f"test_disturbed_each_time, run {run}" for run in range(1, conftest.RUNS))]


@pytest.fixture
def listed(pair, photos):
    return pair("list", harness.program("plain_list", data=photos))


def test_programs_run_anew(listed, pair, photos):
    """Programs of other fixtures run again, too."""
    assert pair("list", harness.program("plain_list", data=photos)) is listed
    runs["programs"] += 1
    traces.append(listed.trace.path)
    checks.same(listed)
    checks.whole(listed)
    checks.agree(runs["programs"] > 1, "the first run")
    assert traces[0] != traces[1]


@pytest.fixture
def locks(measured):
    return measured("locks", harness.program("locks"))


def test_program_with_its_own_truth_runs_anew(locks, measured):
    assert measured("locks", harness.program("locks")) is locks
    runs["measured"] += 1
    traces.append(locks.trace.path)
    assert locks.truth["event"] >= 0.2
    checks.agree(runs["measured"] > 1, "the first run")
    assert traces[-2] != traces[-1]
