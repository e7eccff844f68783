"""A test whose times do not agree runs again, in an empty directory; one that is wrong each time, or otherwise, fails."""
import collections

import pytest

import checks
import conftest
import harness

runs = collections.Counter()


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


def test_so_often():
    assert runs == {"once": 2, "each": conftest.RUNS, "otherwise": 1}


def test_programs_run_anew(pair, photos):
    made = [pair("list", harness.program("plain_list", data=photos))]
    made.append(pair("list", harness.program("plain_list", data=photos)))
    pair.forget()
    made.append(pair("list", harness.program("plain_list", data=photos)))
    assert made[0] is made[1] and made[2] is not made[0]
